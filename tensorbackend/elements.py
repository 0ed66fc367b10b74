"""Elements as Python numbers and as bytes: row-major, native byte order, one road for every dtype.

`float16` and `bfloat16` come out as Python floats, complex numbers as Python complex. What goes in
must lie in the dtype's range (`check_scalar`), but for floats, which round to infinity.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

from .dtypes import (
    REAL_OF,
    DType,
    bfloat16,
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)

LETTERS: dict[DType, str] = {
    bool_: "?",
    int8: "b",
    int16: "h",
    int32: "i",
    int64: "q",
    uint8: "B",
    uint16: "H",
    uint32: "I",
    uint64: "Q",
    float16: "e",
    float32: "f",
    float64: "d",
}
"""The formats of `struct` for the dtypes that Python has."""


@lru_cache(maxsize=1024)
def _layout(dtype: DType, count: int) -> struct.Struct:
    """How so many elements lie in bytes; remembered, as a new one costs more than a few elements do."""
    return struct.Struct(f"{count}{LETTERS[dtype]}")


def unpack(data: bytes | memoryview, dtype: DType) -> tuple[Any, ...]:
    """The elements in bytes.

    >>> from tensorbackend.dtypes import bfloat16
    >>> unpack(pack([1.5, -2.0], bfloat16), bfloat16)
    (1.5, -2.0)
    """
    if dtype in LETTERS:
        return _layout(dtype, len(data) // dtype.itemsize).unpack(data)
    if dtype is bfloat16:
        return unpack(widen_bfloat16(data), float32)
    parts = unpack(data, REAL_OF[dtype])
    return tuple(map(complex, parts[0::2], parts[1::2]))


def pack(elements: Iterable[Any], dtype: DType) -> bytes:
    """The bytes of elements, floats rounded once to nearest even.

    Raises `struct.error` for an integer that the dtype does not hold.

    >>> pack([1.0, 2.0], float32).hex()
    '0000803f00000040'
    """
    values = elements if isinstance(elements, tuple | list) else tuple(elements)
    if dtype is bfloat16:
        return _pack_bfloat16(values)
    if dtype in LETTERS:
        try:
            return _layout(dtype, len(values)).pack(*values)
        except OverflowError:
            if dtype is not float16:  # of which `struct` refuses what rounds to infinity
                raise
            return _layout(dtype, len(values)).pack(*map(_saturate_float16, values))
    parts = [0.0] * (2 * len(values))
    parts[0::2] = [value.real for value in values]
    parts[1::2] = [value.imag for value in values]
    return pack(parts, REAL_OF[dtype])


def widen_bfloat16(data: bytes | memoryview) -> bytes:
    """The same values as float32, whose upper half bfloat16 is: two zeros below each two bytes."""
    wide = bytearray(2 * len(data))
    wide[2::4], wide[3::4] = data[0::2], data[1::2]
    return bytes(wide)


def bfloat16_bits(value: float) -> int:
    """The bits of the bfloat16 nearest to a Python float, ties to even, rounded once.

    Rounding to float32 first could make a tie of what was none, so what float32 drops is kept as a
    sticky last bit ("round to odd"; Boldo and Melquiond, 2008).
    """
    if value != value:
        return 0x7FC0 if math.copysign(1.0, value) > 0 else 0xFFC0
    try:
        (bits,) = _UINT32.unpack(_FLOAT32.pack(value))
    except OverflowError:
        return 0x7F80 if value > 0 else 0xFF80
    (back,) = _FLOAT32.unpack(_UINT32.pack(bits))
    if back != value:
        if abs(back) > abs(value):
            bits -= 1  # towards zero
        bits |= 1
    return int((bits + 0x7FFF + (bits >> 16 & 1)) >> 16)


_FLOAT32, _UINT32 = struct.Struct("<f"), struct.Struct("<I")


def _pack_bfloat16(values: Sequence[float]) -> bytes:
    """Rounds all elements by one sum of long integers, whose 32-bit lanes are the elements as float32.

    The element alone is asked only where rounding to float32 first might make a tie of what is none, and for NaN.
    """
    nans: list[int] = []
    known, total = values, sum(values)
    if total != total:
        nans = [place for place, value in enumerate(values) if value != value]
        known = [0.0 if value != value else value for value in values]
    single = _layout(float32, len(known)).pack(*known)
    lanes = int.from_bytes(single, "little")
    last = lanes >> 16 & int.from_bytes(b"\1\0\0\0" * len(known), "little")
    below_half = int.from_bytes(b"\xff\x7f\0\0" * len(known), "little")
    rounded = (lanes + below_half + last).to_bytes(len(single), "little")
    result = bytearray(2 * len(known))
    result[0::2], result[1::2] = rounded[2::4], rounded[3::4]
    dropped = unpack(single, uint16)[0::2]
    ties = [place for place, bits in enumerate(dropped) if bits == 0x8000] if 0x8000 in dropped else []
    for place in ties + nans:
        result[2 * place : 2 * place + 2] = bfloat16_bits(values[place]).to_bytes(2, "little")
    return bytes(result)


def _saturate_float16(value: float) -> float:
    # 65519.99 still rounds to the largest value 65504; from 65520 on it is infinity.
    return math.copysign(math.inf, value) if abs(value) >= 65520.0 else value


def element_type(dtype: DType) -> Callable[[Any], bool | int | float | complex]:
    """The Python type of a dtype's elements."""
    if dtype is bool_:
        return bool
    if dtype.is_integer:
        return int
    return complex if dtype in (complex64, complex128) else float
