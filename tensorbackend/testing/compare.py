"""Comparison of results in ulps: units in the last place of the dtype."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..dtypes import REAL_OF, DType
from ..elements import pack, unpack
from ..tensor import Tensor

_LETTERS = {16: "h", 32: "i", 64: "q"}


class Mismatch(NamedTuple):
    """The first element on which two results differ."""

    at: tuple[int, ...]
    actual: object
    wanted: object
    ulps: float
    """How far apart they are; infinite for a NaN and a number, and for what is exact."""


def distance(actual: float, wanted: float, dtype: DType) -> float:
    """How many floats of a dtype apart two of them are; infinite for a NaN and a number.

    Zeros of two signs are one apart, so that a bound of 0 tells them apart.

    >>> from tensorbackend.dtypes import float32
    >>> distance(1.0, 1.0 + 2**-23, float32), distance(0.0, -0.0, float32)
    (1, 1)
    """
    if actual != actual or wanted != wanted:
        return 0 if actual != actual and wanted != wanted else math.inf
    return abs(_position(actual, dtype) - _position(wanted, dtype))


def _position(value: float, dtype: DType) -> int:
    """The place of a float among those of its dtype in ascending order."""
    (bits,) = struct.unpack(_LETTERS[dtype.bits], pack([value], dtype))
    return int(bits) if bits >= 0 else -(1 << (dtype.bits - 1)) - int(bits) - 1


def _element_distance(actual: Any, wanted: Any, dtype: DType, absolute: float) -> float:
    if dtype.is_complex:
        part = REAL_OF[dtype]
        # A rounding of the larger part is as large for the smaller one.
        near = max(absolute, 0.0)
        pairs = ((actual.real, wanted.real), (actual.imag, wanted.imag))
        return max(_element_distance(a, b, part, near) for a, b in pairs)
    if dtype.is_floating:
        return 0 if abs(actual - wanted) <= absolute else distance(actual, wanted, dtype)
    return 0 if actual == wanted else math.inf


def mismatch(actual: Tensor, wanted: Tensor, *, ulps: float = 0, absolute: float = 0.0) -> Mismatch | None:
    """The first element that is more than `ulps` and more than `absolute` away; `None` if there is none.

    The templates are equal; complex numbers are compared by parts.
    """
    dtype = wanted.dtype
    pairs = zip(*(unpack(x.to_binary(), dtype) for x in (actual, wanted)), strict=True)
    for place, (a, b) in enumerate(pairs):
        apart = _element_distance(a, b, dtype, absolute)
        if apart > ulps:
            return Mismatch(_index(place, wanted.shape), a, b, apart)
    return None


def _index(place: int, shape: Sequence[int]) -> tuple[int, ...]:
    """The index of a row-major position: 5 in (2, 3) is (1, 2)."""
    found: list[int] = []
    for size in reversed(shape):
        place, along = divmod(place, size)
        found.append(along)
    return tuple(reversed(found))


def assert_equal(actual: Tensor, wanted: Tensor, *, ulps: float = 0, absolute: float = 0.0, call: str = "") -> None:
    """Raises `AssertionError` unless two tensors have one template, names and all, and near elements.

    The text says where the first bad element is, both values, how many ulps they are apart, and the `call`
    that gave them.

    >>> import tensorbackend as tb
    >>> assert_equal(tb.tensor([1.0, 2.0]), tb.tensor([1.0, 2.5]))
    Traceback (most recent call last):
        ...
    AssertionError: expected 2.5 at (1,) of f32[2], got 2.0, 2097152 ulps away where 0 are allowed
    """
    of = f" from {call}" if call else ""
    if actual.template is not wanted.template:
        raise AssertionError(f"expected {wanted.template}{of}, got {actual.template}")
    found = mismatch(actual, wanted, ulps=ulps, absolute=absolute)
    if found is not None:
        raise AssertionError(
            f"expected {found.wanted!r} at {found.at} of {wanted.template}{of}, "
            f"got {found.actual!r}, {found.ulps} ulps away where {ulps} are allowed"
        )
