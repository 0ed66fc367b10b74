"""The bits of all elements at once: a payload is one long integer, so that no element costs a step of Python.

Bytes are little-endian, as everywhere in the backend.
"""

from __future__ import annotations

from typing import Any

from ...dtypes import DType, uint8, uint16, uint32, uint64
from ...dtypes.packing import element_type, pack

UNSIGNED: dict[int, DType] = {8: uint8, 16: uint16, 32: uint32, 64: uint64}
"""The unsigned dtype of each width, which shows the bits of an integer of that width."""

_TRUTH = bytes([0]) + bytes([1]) * 255
_NEGATION = bytes([1]) + bytes(255)
_FILLED = bytes([0]) + bytes([255]) * 255
_SIGN = bytes(128) + bytes([1]) * 128


def to_integer(data: bytes | bytearray) -> int:
    """A payload as one integer."""
    return int.from_bytes(data, "little")


def to_payload(value: int, size: int) -> bytes:
    """The `size` bytes of an integer, as a payload."""
    return value.to_bytes(size, "little")


def _repeat(value: Any, dtype: DType, size: int) -> int:
    """A payload of `size` bytes in which each element is `value`, as one integer."""
    return to_integer(pack([element_type(dtype)(value)], dtype) * (size // dtype.itemsize))


def signs(dtype: DType, size: int) -> int:
    """A mask of the sign bits in `size` bytes of floats, or of both parts of complex numbers."""
    return _repeat(complex(-0.0, -0.0) if dtype.is_complex else -0.0, dtype, size)


def magnitude(data: bytes, dtype: DType) -> bytes:
    """Floats without their signs."""
    return to_payload(to_integer(data) & ~signs(dtype, len(data)), len(data))


def negate(data: bytes, dtype: DType) -> bytes:
    """Floats or complex numbers with the other sign."""
    return to_payload(to_integer(data) ^ signs(dtype, len(data)), len(data))


def conjugate(data: bytes, dtype: DType) -> bytes:
    """Complex numbers whose imaginary parts have the other sign."""
    return to_payload(to_integer(data) ^ _repeat(complex(0.0, -0.0), dtype, len(data)), len(data))


def copy_signs(data: bytes, of: bytes, dtype: DType) -> bytes:
    """Floats with the signs of others."""
    mask = signs(dtype, len(data))
    return to_payload(to_integer(data) & ~mask | to_integer(of) & mask, len(data))


def sign_bits(data: bytes, width: int) -> bytes:
    """Whether each number of `width` bytes has its sign bit set, as bools."""
    return data[width - 1 :: width].translate(_SIGN)


def truth(data: bytes) -> bytes:
    """Bools that were made elsewhere, with 1 for each byte that is not 0."""
    return data.translate(_TRUTH)


def negation(data: bytes) -> bytes:
    """Bools negated."""
    return data.translate(_NEGATION)


def invert(data: bytes) -> bytes:
    """Integers with all bits flipped."""
    return to_payload(to_integer(data) ^ to_integer(b"\xff" * len(data)), len(data))


def cut(data: bytes, width: int, new_width: int) -> bytes:
    """Keep the low `new_width` of the `width` bytes of each integer."""
    if width == new_width:
        return data
    result = bytearray(len(data) // width * new_width)
    for place in range(new_width):
        result[place::new_width] = data[place::width]
    return bytes(result)


def chosen(condition: bytes, first: bytes, second: bytes, width: int) -> bytes:
    """Elements of `first` where a condition holds, else of `second`."""
    filled, mask = condition.translate(_FILLED), bytearray(len(first))
    for place in range(width):
        mask[place::width] = filled
    left, right = to_integer(first), to_integer(second)
    return to_payload(right ^ (left ^ right) & to_integer(mask), len(first))


def parts(data: bytes, part: DType) -> tuple[bytes, bytes]:
    """The real and the imaginary parts of complex numbers."""
    numbers = memoryview(data).cast("B").cast("I" if part.itemsize == 4 else "Q")
    return numbers[0::2].tobytes(), numbers[1::2].tobytes()


def add_imaginary_zeros(data: bytes, part: DType) -> bytes:
    """Complex numbers with these real parts, and zeros as imaginary parts."""
    width = part.itemsize
    result = bytearray(2 * len(data))
    for place in range(width):
        result[place :: 2 * width] = data[place::width]
    return bytes(result)
