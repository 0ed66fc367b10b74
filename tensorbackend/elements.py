"""Elements as Python numbers and as bytes: row-major, native byte order, one road for every dtype.

`float16` and `bfloat16` come out as Python floats, complex numbers as Python complex. What goes in
must lie in the dtype's range (`check_scalar`), but for floats, which round to infinity.
"""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .dtypes import DType, bfloat16, bool_, complex64, complex128, float16, float32, float64

FORMATS: dict[str, str] = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "int32": "i",
    "int64": "q",
    "uint8": "B",
    "uint16": "H",
    "uint32": "I",
    "uint64": "Q",
    "float32": "f",
    "float64": "d",
}
"""The `memoryview` formats of the dtypes that Python has."""


def unpack(data: bytes | memoryview, dtype: DType) -> Sequence[Any]:
    """The elements in a buffer, without a copy where Python has the dtype.

    >>> from tensorbackend.dtypes import bfloat16
    >>> list(unpack(pack([1.5, -2.0], bfloat16), bfloat16))
    [1.5, -2.0]
    """
    letter = FORMATS.get(dtype.name)
    if letter is not None:
        return memoryview(data).cast("B").cast(letter)  # type: ignore[call-overload, no-any-return] # any letter
    if dtype is float16:
        return struct.unpack(f"{len(data) // 2}e", data)
    if dtype is bfloat16:
        return widen_bfloat16(data)
    parts = memoryview(data).cast("B").cast("f" if dtype is complex64 else "d")
    return list(map(complex, parts[0::2], parts[1::2]))


def pack(elements: Iterable[Any], dtype: DType) -> bytes:
    """The bytes of elements, floats rounded once to nearest even.

    >>> pack([1.0, 2.0], float32).hex()
    '0000803f00000040'
    """
    if dtype is bool_:
        return bytes(map(bool, elements))
    letter = FORMATS.get(dtype.name)
    if letter is not None:
        return array(letter, elements).tobytes()
    if dtype is float16:
        return _pack_float16(elements if isinstance(elements, list) else list(elements))
    if dtype is bfloat16:
        return array("H", map(bfloat16_bits, elements)).tobytes()
    part = float32 if dtype is complex64 else float64
    numbers = [number for element in elements for number in (element.real, element.imag)]
    return pack(numbers, part)


def widen_bfloat16(data: bytes | memoryview) -> Sequence[float]:
    """bfloat16 is the upper half of float32: the bytes are spread out, two zeros below each two."""
    wide = bytearray(2 * len(data))
    wide[2::4], wide[3::4] = data[0::2], data[1::2]
    return memoryview(bytes(wide)).cast("f")


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


def _pack_float16(elements: Sequence[float]) -> bytes:
    try:
        return struct.pack(f"{len(elements)}e", *elements)
    except OverflowError:  # struct refuses what rounds to infinity
        return struct.pack(f"{len(elements)}e", *map(_saturate_float16, elements))


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
