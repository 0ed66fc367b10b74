"""Comparison of results in ulps: units in the last place of the dtype."""

from __future__ import annotations

import cmath
import math
import struct
from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Any, NamedTuple

from ..dtypes import REAL_OF, DType, finfo
from ..dtypes.packing import pack, unpack
from ..tensor import Tensor
from .calls import Invocation
from .failures import Disagreement, Kind

_LETTERS = {16: "h", 32: "i", 64: "q"}


class Mismatch(NamedTuple):
    """An element on which two results differ."""

    at: tuple[int, ...]
    actual: object
    wanted: object
    ulps: float
    """The distance of the two elements in ulps; infinite for a NaN and a number, and for elements of an exact dtype."""
    absolute: float = 0.0
    """The absolute error that is allowed, however many ulps that is."""


def distance(actual: float, wanted: float, dtype: DType) -> float:
    """The distance between two floats, counted in floats of their dtype; infinite for a NaN and a number.

    0.0 and -0.0 are one apart, so that a bound of 0 distinguishes them.

    Parameters
    ----------
    actual, wanted : float
        The numbers.
    dtype : DType
        A floating dtype.

    Returns
    -------
    float
        The distance.

    Examples
    --------
    >>> from tensorbackend.dtypes import float32
    >>> distance(1.0, 1.0 + 2**-23, float32), distance(0.0, -0.0, float32)
    (1, 1)
    """
    if actual != actual or wanted != wanted:
        return 0 if actual != actual and wanted != wanted else math.inf
    return abs(_position(actual, dtype) - _position(wanted, dtype))


def _position(value: float, dtype: DType) -> int:
    """The position of a float among the floats of its dtype in ascending order."""
    (bits,) = struct.unpack(_LETTERS[dtype.bits], pack([value], dtype))
    return int(bits) if bits >= 0 else -(1 << (dtype.bits - 1)) - int(bits) - 1


def unit(size: float, dtype: DType) -> float:
    """The distance between adjacent floats of a dtype at the magnitude `size`; at 0, between its smallest floats.

    >>> from tensorbackend.dtypes import float32
    >>> unit(1.5, float32) == 2**-23
    True
    """
    least = finfo(dtype).smallest_normal
    return math.ldexp(finfo(dtype).eps, math.frexp(max(abs(size), least))[1] - 1)


def element_distance(actual: Any, reference: Any, dtype: DType) -> float:
    """The distance of two elements in ulps; of complex numbers, the maximum of the distances of their two parts.

    The parts of a finite complex number are measured in ulps of its larger part, as both are rounded together.
    """
    if dtype.is_floating:
        return distance(actual, reference, dtype)
    if dtype.is_narrow and dtype.kind == "float":
        return 0 if pack([actual], dtype) == pack([reference], dtype) else math.inf  # of NaN the sign counts too
    if not dtype.is_complex:
        return 0 if actual == reference else math.inf
    part = REAL_OF[dtype]
    pairs = ((actual.real, reference.real), (actual.imag, reference.imag))
    apart = max(distance(*pair, part) for pair in pairs)
    if apart <= 1 or not (cmath.isfinite(actual) and cmath.isfinite(reference)):
        return apart
    error: float = max(abs(a - b) for a, b in pairs)
    return min(apart, max(1.0, error / unit(max(abs(reference.real), abs(reference.imag)), part)))


def farthest(actual: Tensor, wanted: Tensor, *, absolute: float | Sequence[float] = 0.0) -> Mismatch | None:
    """The element with the largest distance among those that differ by more than `absolute`; `None` if none does.

    `absolute` is one bound, or one for each element; an infinite bound allows NaN as well. The two tensors must have
    equal templates.

    Parameters
    ----------
    actual : Tensor
        The result to check.
    wanted : Tensor
        The expected result.
    absolute : float or sequence of float, default 0.0
        Additional allowed distances: one, or one for each element.

    Returns
    -------
    Mismatch or None
        The element.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> farthest(tb.tensor([1, 2, 3]), tb.tensor([1, 2, 4]))
    Mismatch(at=(2,), actual=3, wanted=4, ulps=inf, absolute=0.0)
    """
    return max(mismatches(actual, wanted, absolute=absolute), key=lambda mismatch: mismatch.ulps, default=None)


def mismatches(actual: Tensor, reference: Tensor, *, absolute: float | Sequence[float] = 0.0) -> Iterator[Mismatch]:
    """The elements that differ by more than `absolute`, in row-major order."""
    left, right = actual.to_binary(), reference.to_binary()
    if left == right:
        return
    dtype = reference.dtype
    bounds: Iterator[float] = iter(absolute) if isinstance(absolute, Sequence) else repeat(absolute)
    for place, (a, b, bound) in enumerate(zip(unpack(left, dtype), unpack(right, dtype), bounds, strict=False)):
        if bound and dtype.is_inexact and (bound == math.inf or _error(a, b) <= bound):
            continue
        apart = element_distance(a, b, dtype)
        if apart > 0:
            yield Mismatch(_index(place, reference.shape), a, b, apart, bound)


def _error(actual: Any, reference: Any) -> float:
    """The absolute error; parts of complex numbers that are the same infinity or both NaN have an error of 0."""
    if not isinstance(reference, complex):
        return float(abs(actual - reference))
    pairs = ((actual.real, reference.real), (actual.imag, reference.imag))
    return math.hypot(*(0.0 if a == b or (a != a and b != b) else abs(a - b) for a, b in pairs))


def _index(place: int, shape: Sequence[int]) -> tuple[int, ...]:
    """The index of a row-major position: 5 in (2, 3) is (1, 2)."""
    coordinates: list[int] = []
    for size in reversed(shape):
        place, along = divmod(place, size)
        coordinates.append(along)
    return tuple(reversed(coordinates))


def assert_equal(
    actual: Tensor,
    wanted: Tensor,
    *,
    ulps: float = 0,
    absolute: float | Sequence[float] = 0.0,
    call: Invocation | None = None,
) -> float:
    """The largest distance in ulps of two tensors; raises `Disagreement` unless templates are equal and elements close.

    The error states the position of the first wrong element, both values, their distance in ulps, and the number of
    wrong elements; it shows the `call` as a program.

    Parameters
    ----------
    actual, wanted, absolute
        As for `farthest`.
    ulps : float, default 0
        The allowed distance of elements in units in the last place.
    call : Invocation, optional
        The call of the result, for the text.

    Returns
    -------
    float
        The largest distance in ulps.

    Raises
    ------
    Disagreement
        If the templates differ, or elements are farther apart than allowed.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> assert_equal(tb.tensor([1.0, 2.0]), tb.tensor([1.0, 2.5]))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    tensorbackend.testing.failures.Disagreement: expected 2.5 at (1,) of f32[2], got 2.0, 2097152 ulps away where ...
    """
    if actual.template is not wanted.template:
        raise _disagreement("template", f"expected {wanted.template}, got {actual.template}", actual, call)
    unequal_elements = list(mismatches(actual, wanted, absolute=absolute))
    wrong = [mismatch for mismatch in unequal_elements if mismatch.ulps > ulps]
    if wrong:
        raise _disagreement("value", _describe(wrong, wanted, ulps), actual, call)
    return max((mismatch.ulps for mismatch in unequal_elements), default=0)


def _describe(wrong: Sequence[Mismatch], reference: Tensor, ulps: float) -> str:
    """Describes wrong elements: the first of them and the farthest."""
    first, worst = wrong[0], max(wrong, key=lambda mismatch: mismatch.ulps)
    beside = f", or an error of {first.absolute:.3g}" if first.absolute else ""
    distance = f"{first.ulps:.10g} ulps away where {ulps:g} are allowed{beside}"
    if not reference.dtype.is_inexact:
        distance = "which must be equal"
    text = (
        f"expected {first.wanted!r} at {first.at} of {reference.template}, got {first.actual!r}, {distance}; "
        f"{len(wrong)} of {reference.size} elements {'differs' if len(wrong) == 1 else 'differ'} by more"
    )
    if worst.ulps > first.ulps:
        text += f", the farthest by {worst.ulps:.10g} ulps at {worst.at}: {worst.actual!r}, not {worst.wanted!r}"
    return text


def _disagreement(kind: Kind, detail: str, actual: Tensor, call: Invocation | None) -> Disagreement:
    return Disagreement(kind, detail) if call is None else call.disagreement(kind, detail, actual.backend)
