"""Converts elements between Python numbers and bytes (row-major, native byte order), in one way for every dtype.

`float16`, `bfloat16` and narrower floats are unpacked as Python floats, complex numbers as Python complex. Numbers to
pack must be in the dtype's range (`check_scalar`), except floats, which round to infinity, and integers of narrow
dtypes, which wrap.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from ..caching.memos import remembers_calls
from . import (
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
from .narrow import code_values, encoder

if TYPE_CHECKING:
    import numpy

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
"""The format characters of `struct`, for the dtypes that it knows."""


def unpack(data: bytes | memoryview, dtype: DType) -> tuple[Any, ...]:
    """The elements that bytes hold, in row-major order and native byte order.

    Parameters
    ----------
    data : bytes or memoryview
        The bytes of whole elements.
    dtype : DType
        Their dtype.

    Returns
    -------
    tuple of bool, int, float or complex
        An element for each `dtype.itemsize` bytes.

    Examples
    --------
    >>> from tensorbackend.dtypes import bfloat16
    >>> unpack(pack([1.5, -2.0], bfloat16), bfloat16)
    (1.5, -2.0)
    """
    return reader(dtype, len(data) // dtype.itemsize)(data)


def iterable(data: bytes, dtype: DType) -> Sequence[Any]:
    """The elements that bytes hold, for one pass; they are made one by one if `memoryview` supports the dtype."""
    if dtype in LETTERS and dtype is not float16:
        return memoryview(data).cast(LETTERS[dtype])  # type: ignore[call-overload,no-any-return] # any letter
    return unpack(data, dtype)


def pack(elements: Iterable[Any], dtype: DType) -> bytes:
    """The bytes of elements in row-major order and native byte order, floats rounded once to nearest even.

    Parameters
    ----------
    elements : iterable of bool, int, float or complex
        Numbers of the kind of the dtype.
    dtype : DType
        The dtype of the bytes.

    Returns
    -------
    bytes
        `dtype.itemsize` bytes for each element.

    Raises
    ------
    struct.error
        For an integer that the dtype does not hold.

    Examples
    --------
    >>> pack([1.0, 2.0], float32).hex()
    '0000803f00000040'
    """
    values = elements if isinstance(elements, tuple | list) else tuple(elements)
    return writer(dtype, len(values))(*values)


@lru_cache(maxsize=2048)
def _layout(dtype: DType, count: int) -> struct.Struct:
    return struct.Struct(f"{count}{LETTERS[dtype]}")


@lru_cache(maxsize=2048)
def reader(dtype: DType, count: int) -> Callable[[bytes | memoryview], tuple[Any, ...]]:
    """The function that unpacks `count` elements of a dtype; cached, as making it costs more than a few elements do."""
    if dtype in LETTERS:
        return _layout(dtype, count).unpack
    if dtype.is_narrow:
        value_of = code_values(dtype).__getitem__
        return lambda data: tuple(map(value_of, data))
    if dtype is bfloat16:
        single = reader(float32, count)
        return lambda data: single(widen_bfloat16(data))
    both = reader(REAL_OF[dtype], 2 * count)

    def read(data: bytes | memoryview) -> tuple[complex, ...]:
        parts = both(data)
        return tuple(map(complex, parts[0::2], parts[1::2]))

    return read


@lru_cache(maxsize=2048)
def writer(dtype: DType, count: int) -> Callable[..., bytes]:
    """The function that packs `count` elements of a dtype, each given as an argument."""
    if dtype is bfloat16:
        return _bfloat16_writer(count)
    if dtype.is_narrow:
        encode = encoder(dtype)
        return lambda *values: bytes(map(encode, values))
    if dtype in _INFINITE and _is_refused(dtype):
        return _rounding_writer(_layout(dtype, count).pack, _INFINITE[dtype])
    if dtype in LETTERS:
        return _layout(dtype, count).pack
    both, real, imaginary = writer(REAL_OF[dtype], 2 * count), attrgetter("real"), attrgetter("imag")

    def write(*values: complex) -> bytes:
        parts = [0.0] * (2 * count)
        parts[0::2], parts[1::2] = map(real, values), map(imaginary, values)
        return both(*parts)

    return write


remembers_calls("readers and writers of elements", _layout, reader, writer)


def widen_bfloat16(data: bytes | memoryview) -> bytes:
    """The same values as float32, whose upper half a bfloat16 is: two zero bytes are inserted below each element."""
    wide = bytearray(2 * len(data))
    wide[2::4], wide[3::4] = data[0::2], data[1::2]
    return bytes(wide)


def bfloat16_bits(value: float) -> int:
    """The bits of the bfloat16 nearest to a Python float, ties to even, rounded once.

    Rounding to float32 first could create a tie, so the bits that float32 drops are kept as a
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


def _bfloat16_writer(count: int) -> Callable[..., bytes]:
    """The function that rounds all elements by a sum of long integers, whose 32-bit lanes are the elements as float32.

    An element is rounded separately only if rounding to float32 first may have created a tie, and for NaN.
    """
    ones, low_half, below_tie, tie = (_lanes(bits, count) for bits in (1, 0xFFFF, 0x7FFF, 0x8000))
    single, size = writer(float32, count), 4 * count

    def write(*values: float) -> bytes:
        known, nans, total = values, [], sum(values)
        if total != total:
            nans = [place for place, value in enumerate(values) if value != value]
            known = tuple(0.0 if value != value else value for value in values)
        bits = int.from_bytes(single(*known), "little")
        rounded = (bits + below_tie + (bits >> 16 & ones)).to_bytes(size, "little")
        result = bytearray(2 * count)
        result[0::2], result[1::2] = rounded[2::4], rounded[3::4]
        apart = (((bits & low_half) ^ tie) + low_half) >> 16 & ones
        if nans or apart != ones:
            ties = [place for place, one in enumerate(apart.to_bytes(size, "little")[0::4]) if not one]
            for place in ties + nans:
                result[2 * place : 2 * place + 2] = bfloat16_bits(values[place]).to_bytes(2, "little")
        return bytes(result)

    return write


def _lanes(bits: int, count: int) -> int:
    """The same 32 bits, repeated `count` times."""
    return int.from_bytes(bits.to_bytes(4, "little") * count, "little")


_INFINITE: Final = {float16: 65520.0, float32: 2.0**128 - 2.0**103}
"""From which number on a float rounds to infinity: halfway from the largest finite number to the next power of two."""


def _is_refused(dtype: DType) -> bool:
    """Whether `struct` refuses floats that round to infinity: float16 everywhere, float32 from Python 3.14 on."""
    try:
        _layout(dtype, 1).pack(_INFINITE[dtype])
    except (OverflowError, struct.error):
        return True
    return False


def _rounding_writer(write: Callable[..., bytes], infinite: float) -> Callable[..., bytes]:
    """A writer of floats that makes infinities of those that `write` refuses, as they are so large."""

    def saturated(value: float) -> float:
        return math.copysign(math.inf, value) if abs(value) >= infinite else value

    def run(*values: float) -> bytes:
        try:
            return write(*values)
        except (OverflowError, struct.error):  # the latter for integers
            return write(*map(saturated, values))

    return run


def element_type(dtype: DType) -> Callable[[Any], bool | int | float | complex]:
    """The Python type of a dtype's elements.

    Parameters
    ----------
    dtype : DType
        Any dtype.

    Returns
    -------
    type
        `bool`, `int`, `float` or `complex`.

    Examples
    --------
    >>> from tensorbackend.dtypes import bfloat16, uint8
    >>> element_type(bfloat16), element_type(uint8)
    (<class 'float'>, <class 'int'>)
    """
    if dtype is bool_:
        return bool
    if dtype.kind in ("int", "uint"):
        return int
    return complex if dtype in (complex64, complex128) else float


def pack_codes(codes: numpy.ndarray[Any, Any], bits: int) -> numpy.ndarray[Any, Any]:
    """Codes of 2, 4 or 8 bits, as uint8, packed into bytes along one axis, as files hold them.

    The first code is in the lowest bits, and the last byte is filled up with zeros.

    >>> import numpy
    >>> pack_codes(numpy.array([1, 2, 3], "uint8"), 4).tolist()
    [33, 3]
    """
    import numpy

    each, flat = 8 // bits, codes.reshape(-1)
    if each == 1:
        return flat
    rows = numpy.zeros((-(-flat.size // each), each), numpy.uint8)
    rows.reshape(-1)[: flat.size] = flat
    shifts = bits * numpy.arange(each, dtype=numpy.uint8)
    data: numpy.ndarray[Any, Any] = numpy.bitwise_or.reduce(rows << shifts, axis=1)
    return data


def unpack_codes(data: numpy.ndarray[Any, Any], bits: int, count: int) -> numpy.ndarray[Any, Any]:
    """The first `count` codes in bytes that hold several of them, as `pack_codes` packs them.

    Parameters
    ----------
    data : numpy.ndarray
        Bytes, along one axis.
    bits : {2, 4, 8}
        The bits of a code.
    count : int
        The number of codes.

    Returns
    -------
    numpy.ndarray
        The codes, as uint8.

    Examples
    --------
    >>> import numpy
    >>> unpack_codes(numpy.array([33, 3], "uint8"), 4, 3).tolist()
    [1, 2, 3]
    """
    import numpy

    each = 8 // bits
    if each == 1:
        return data[:count]
    spread = (data[:, None] >> (bits * numpy.arange(each, dtype=numpy.uint8))) & ((1 << bits) - 1)
    return spread.reshape(-1)[:count]
