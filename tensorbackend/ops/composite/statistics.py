"""Averages and other summaries along axes, written in public ops."""

from __future__ import annotations

import math

from ...dispatch import composite
from ...dtypes import DType, default_dtype, float32, promote_types
from ...rules.broadcasting import check_dtype
from ...rules.reduction import reduction
from ...template import Template
from ...tensor import Axes, Tensor
from ..conversion import astype
from ..elementwise_binary import add, divide, multiply, subtract
from ..elementwise_ternary import where
from ..elementwise_unary import exp, isinf, isnan, log, sqrt
from ..reduction import max, sum
from ..shape import permute_dims, reshape, slice_
from ..sorting import sort
from .elementwise import isfinite


def _count(x: Tensor, axis: Axes) -> float:
    """How many elements a normalised reduction takes together; the axes are positions by now."""
    assert isinstance(axis, tuple)
    return float(math.prod(x.shape[each] for each in axis if isinstance(each, int)))


def _result(x: Tensor) -> DType:
    return x.dtype if x.dtype.is_inexact else default_dtype("float")


def _wide(x: Tensor) -> Tensor:
    """In at least float32: neither a sum of float16 nor a count of elements may overflow."""
    return astype(x, promote_types(_result(x), float32))


@composite
def mean(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Arithmetic mean; of integers and bool in the default floating dtype, of none NaN.

    >>> import tensorbackend as tb
    >>> tb.mean(tb.asarray([True, False])).item()
    0.5
    """
    total = sum(_wide(x), axis=axis, keepdims=keepdims)
    return astype(divide(total, _count(x, axis)), _result(x))


@composite
def var(x: Tensor, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Mean of the squared distances from the mean, the divisor reduced by `correction`; NaN if nothing is left of it.

    >>> import tensorbackend as tb
    >>> tb.var(tb.asarray([1.0, 3.0])).item(), tb.var(tb.asarray([1.0, 3.0]), correction=1).item()
    (1.0, 2.0)
    """
    check_dtype(x.dtype, "real")
    wide = _wide(x)
    centred = subtract(wide, mean(wide, axis=axis, keepdims=True))
    squares = sum(multiply(centred, centred), axis=axis, keepdims=keepdims)
    divisor = _count(x, axis) - correction
    return astype(divide(squares, divisor if divisor > 0 else math.nan), _result(x))


@composite
def std(x: Tensor, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Square root of the variance, whose divisor is reduced by `correction`.

    >>> import tensorbackend as tb
    >>> tb.std(tb.asarray([[1.0, 3.0], [1.0, 5.0]], names=("row", "n")), axis="n").tolist()
    [1.0, 2.0]
    """
    return astype(sqrt(var(_wide(x), axis=axis, correction=correction, keepdims=keepdims)), _result(x))


@composite
def logsumexp(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Logarithm of the sum of exp(x), computed without overflow; of none -inf.

    >>> import tensorbackend as tb
    >>> tb.logsumexp(tb.asarray([1000.0, -1000.0])).item()
    1000.0
    """
    check_dtype(x.dtype, "real or bool")
    wide = _wide(x)
    if not _count(x, axis):
        return astype(log(sum(wide, axis=axis, keepdims=keepdims)), _result(x))
    greatest = max(wide, axis=axis, keepdims=True)
    shift = where(isfinite(greatest), greatest, 0)
    total = sum(exp(subtract(wide, shift)), axis=axis, keepdims=keepdims)
    return astype(add(log(total), reshape(shift, total.shape, names=total.names)), _result(x))


@composite
def median(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The element in the middle of the order, the mean of the two there for an even number; NaN if there is one.

    Integers and bool give the default floating dtype. Raises `ShapeError` for axes without elements.

    >>> import tensorbackend as tb
    >>> tb.median(tb.asarray([3, 1, 2])).item(), tb.median(tb.asarray([4.0, 1.0, 2.0, 3.0])).item()
    (2.0, 2.5)
    """
    check_dtype(x.dtype, "real or bool")
    ordered, out = ordered_along(x, axis, keepdims)
    count = ordered.shape[-1]
    low, high, last = (_at(ordered, place) for place in ((count - 1) // 2, count // 2, count - 1))
    found = where(isnan(last), math.nan, _middle(low, high) if count % 2 == 0 else low)
    return reshape(astype(found, _result(x)), out.shape, names=out.names)


def ordered_along(x: Tensor, axis: Axes, keepdims: bool) -> tuple[Tensor, Template]:
    """The elements along some axes in order on one last axis, in a floating dtype, and the template reduced by them.

    Raises `ShapeError` where there are none.
    """
    out = reduction(x.template, axis, keepdims, identity=False).out
    assert isinstance(out, Template)
    assert isinstance(axis, tuple)  # by the dispatcher
    kept = tuple(each for each in range(x.ndim) if each not in axis)
    flat = reshape(permute_dims(x, (*kept, *axis)), (*(x.shape[each] for each in kept), int(_count(x, axis))))
    return _wide(sort(flat, axis=-1)), out


def _at(x: Tensor, place: int) -> Tensor:
    """The entry at a place of the last axis, which goes."""
    lead = x.shape[:-1]
    entry = slice_(x, starts=(*(0 for _ in lead), place), lengths=(*lead, 1), strides=(1,) * x.ndim)
    return reshape(entry, lead)


def _middle(low: Tensor, high: Tensor) -> Tensor:
    """Half of a sum, of halves where that overflows: those of great numbers are exact."""
    total = add(low, high)
    halves = add(multiply(low, 0.5), multiply(high, 0.5))
    return where(isinf(total), halves, multiply(total, 0.5))
