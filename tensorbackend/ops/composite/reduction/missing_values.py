"""Summaries along axes that leave NaN out, written in public ops.

Integers and bool have no NaN: their results are those of `sum`, `mean` and so on. No gradient flows to elements that
are NaN, and none of them makes another gradient NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ....annotations import Axes
from ....declarations.argument_errors import check_arguments
from ....dispatch import composite
from ....dtypes import REAL_OF, DTypeLike, float32, float64, promote_types
from ....errors import ArgumentError, expected
from ....rules.accuracy import PRODUCT, SUM, Bound
from ....rules.broadcasting import check_dtype, result_type, to_floating
from ....tensor import Tensor, TensorLike
from ...elementwise.basic import astype, floor, isnan, where
from ...elementwise.binary import maximum, minimum, multiply
from ...elementwise.transcendental import sqrt
from ...indexing.taking import take_along_axis_at
from ...reduction import all, max, min, prod, sum
from ...shape import reshape
from ..shape.arranging import stack
from ..sorting.order_statistics import between, median, middle, quantiles_of, sort_axes
from . import cast_to_float32, mean, spread_weights, std, var


def _replace_nan(x: Tensor, value: float) -> Tensor:
    """x with a value in place of NaN."""
    return where(isnan(x), value, x) if x.dtype.is_inexact else x


@composite.within(SUM)
def nansum(x: Tensor, /, *, axis: Axes = None, dtype: DTypeLike | None = None, keepdims: bool = False) -> Tensor:
    """The sum of the elements that are not NaN; 0 if there are none.

    >>> tb.nansum(tb.asarray([1.0, float("nan"), 2.0])).item()
    3.0
    """
    return sum(_replace_nan(x, 0), axis=axis, dtype=dtype, keepdims=keepdims)


@composite.within(PRODUCT)
def nanprod(x: Tensor, /, *, axis: Axes = None, dtype: DTypeLike | None = None, keepdims: bool = False) -> Tensor:
    """The product of the elements that are not NaN; 1 if there are none.

    >>> tb.nanprod(tb.asarray([3.0, float("nan"), 2.0])).item()
    6.0
    """
    return prod(_replace_nan(x, 1), axis=axis, dtype=dtype, keepdims=keepdims)


def _extreme(op: Callable[..., Tensor], x: Tensor, worst: float, axis: Axes, keepdims: bool) -> Tensor:
    """The largest or smallest of the elements that are not NaN."""
    if not x.dtype.is_floating:
        return op(x, axis=axis, keepdims=keepdims)
    none = all(isnan(x), axis=axis, keepdims=keepdims)
    return where(none, math.nan, op(_replace_nan(x, worst), axis=axis, keepdims=keepdims))


@composite
def nanmax(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The largest of the elements that are not NaN; NaN if all are. Raises `ShapeError` for axes without elements.

    >>> tb.nanmax(tb.asarray([[1.0, float("nan")], [3.0, 2.0]]), axis=1).tolist()
    [1.0, 3.0]
    """
    return _extreme(max, x, -math.inf, axis, keepdims)


@composite
def nanmin(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The smallest of the elements that are not NaN; NaN if all are. Raises `ShapeError` for axes without elements.

    >>> tb.nanmin(tb.asarray([[1.0, float("nan")], [3.0, 2.0]]), axis=1).tolist()
    [1.0, 2.0]
    """
    return _extreme(min, x, math.inf, axis, keepdims)


def _count(x: Tensor, axis: Axes, keepdims: bool) -> Tensor:
    """The number of elements that are not NaN, in the floating dtype of x."""
    count = sum(~isnan(x), axis=axis, keepdims=keepdims)
    return astype(count, REAL_OF.get(x.dtype, x.dtype))


@composite.within(SUM)
def nanmean(x: Tensor, /, *, axis: Axes = None, dtype: DTypeLike | None = None, keepdims: bool = False) -> Tensor:
    """Arithmetic mean of the elements that are not NaN, converted to `dtype` if it is given; NaN if there are none.

    >>> tb.nanmean(tb.asarray([1.0, float("nan"), 2.0])).item()
    1.5
    """
    x = x if dtype is None else astype(x, dtype)
    if not x.dtype.is_inexact:
        return mean(x, axis=axis, keepdims=keepdims)
    wide = cast_to_float32(x)
    total = sum(_replace_nan(wide, 0), axis=axis, keepdims=keepdims)
    return astype(total / _count(wide, axis, keepdims), x.dtype)


@composite.within(Bound(16, "a quotient of sums", "operand", tame=True))
def weighted_nanmean(x: Tensor, weights: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Mean of the elements that are not NaN, with weights as in `weighted_mean`; NaN if there are none.

    >>> tb.weighted_nanmean(tb.asarray([1.0, float("nan"), 3.0]), tb.asarray([3, 5, 1])).item()
    1.5
    """
    dtype = to_floating(result_type([x.template, weights.template]))
    work = promote_types(dtype, float32)
    wide = astype(x, work)
    known = where(isnan(wide), 0, spread_weights(astype(weights, work), wide, axis))
    products = _replace_nan(wide, 0) * known
    total = sum(known, axis=axis, keepdims=keepdims)
    return astype(sum(products, axis=axis, keepdims=keepdims) / total, dtype)


def _convert(x: Tensor, dtype: DTypeLike | None) -> Tensor:
    check_dtype(x.dtype, "real")
    x = x if dtype is None else astype(x, dtype)
    check_dtype(x.dtype, "real")
    return x


def _one_of(correction: float, ddof: float | None) -> float:
    if ddof is None:
        return correction
    if correction:
        raise ArgumentError(expected("correction or ddof", correction=correction, ddof=ddof))
    return ddof


@composite.within(Bound(16, "a sum of squares of differences", "square", tame=True))
def nanvar(
    x: Tensor,
    /,
    *,
    axis: Axes = None,
    dtype: DTypeLike | None = None,
    correction: float = 0.0,
    ddof: float | None = None,
    keepdims: bool = False,
) -> Tensor:
    """Variance of the elements that are not NaN.

    The divisor is the number of these elements minus `correction`; the result is NaN where that is not positive.

    >>> tb.nanvar(tb.asarray([1.0, float("nan"), 3.0])).item()
    1.0
    """
    x, correction = _convert(x, dtype), _one_of(correction, ddof)
    if not x.dtype.is_floating:
        return var(x, axis=axis, correction=correction, keepdims=keepdims)
    wide = astype(x, promote_types(x.dtype, float32))
    known = _replace_nan(wide, 0)
    average = sum(known, axis=axis, keepdims=True) / maximum(_count(wide, axis, True), 1)
    centred = where(isnan(wide), 0, known - average)
    squares = sum(centred * centred, axis=axis, keepdims=keepdims)
    divisor = _count(wide, axis, keepdims) - correction
    enough = divisor > 0
    return astype(where(enough, squares / where(enough, divisor, 1), math.nan), x.dtype)


@composite.within(Bound(16, "the root of a sum of squares of differences", "operand", tame=True))
def nanstd(
    x: Tensor,
    /,
    *,
    axis: Axes = None,
    dtype: DTypeLike | None = None,
    correction: float = 0.0,
    ddof: float | None = None,
    keepdims: bool = False,
) -> Tensor:
    """Standard deviation of the elements that are not NaN: the square root of `nanvar`.

    >>> tb.nanstd(tb.asarray([[1.0, float("nan"), 3.0]], names=("row", "n")), axis="n").tolist()
    [1.0]
    """
    x, correction = _convert(x, dtype), _one_of(correction, ddof)
    if not x.dtype.is_floating:
        return std(x, axis=axis, correction=correction, keepdims=keepdims)
    wide = astype(x, promote_types(x.dtype, float32))
    variance = nanvar(wide, axis=axis, correction=correction, keepdims=keepdims)
    zero = variance == 0  # where the gradient of the root is infinite
    return astype(where(zero, 0, sqrt(where(zero, 1, variance))), x.dtype)


@composite
def nanmedian(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The median of the elements that are not NaN; NaN if there are none.

    >>> tb.nanmedian(tb.asarray([3.0, float("nan"), 1.0, 2.0])).item()
    2.0
    """
    check_dtype(x.dtype, "real or bool")
    if not x.dtype.is_floating:
        return median(x, axis=axis, keepdims=keepdims)
    ordered, out = sort_axes(x, axis, keepdims)  # NaN comes last
    count = sum(~isnan(ordered), axis=-1, keepdims=True)
    below, above = maximum(count - 1, 0) // 2, count // 2
    low, high = (take_along_axis_at(ordered, place, axis=-1, mode="clip") for place in (below, above))
    medians = where(count == 0, math.nan, where(below == above, low, middle(low, high)))
    return reshape(astype(medians, to_floating(x.dtype)), out.shape, names=out.names)


@composite.calls("nanquantile")
def _nanquantile(x: Tensor, /, q: Sequence[float], *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """See `nanquantile`."""
    return _nanquantiles_at(x, q, axis=axis, keepdims=keepdims)


def _nanquantiles_at(x: Tensor, q: Sequence[Any], *, axis: Axes, keepdims: bool) -> Tensor:
    """The quantiles of shares that are numbers, or tensors without axes."""
    ordered, out = sort_axes(x, axis, keepdims)  # NaN comes last
    count = sum(~isnan(ordered), axis=-1, keepdims=True)
    last = maximum(count - 1, 0)

    def entry(place: Tensor) -> Tensor:
        return take_along_axis_at(ordered, place, axis=-1, mode="clip")

    quantiles = []
    for share in q:
        place = multiply(astype(last, float64), share)  # in float32 it would be wrong by a step above 2**24 elements
        below = astype(floor(place), last.dtype)
        low, high = entry(below), entry(minimum(below + 1, last))
        rest = astype(place - below, ordered.dtype)
        known = where(rest == 0.5, middle(low, high), between(low, high, rest))
        known = where(rest == 0, low, known)  # infinity times 0 is NaN
        quantile = where(count == 0, math.nan, known)
        quantiles.append(reshape(astype(quantile, to_floating(x.dtype)), out.shape, names=out.names))
    return stack(quantiles, axis=0)


@check_arguments
def nanquantile(
    x: TensorLike, q: float | Sequence[float] | Tensor, /, *, axis: Axes = None, keepdims: bool = False
) -> Tensor:
    """Quantiles of the elements that are not NaN, by linear interpolation as in `quantile`; NaN if there are none.

    >>> tb.nanquantile(tb.asarray([[3.0, float("nan"), 1.0]], names=("site", "time")), (0, 0.25), axis="time").tolist()
    [[1.0], [1.5]]
    """
    return quantiles_of(_nanquantile, _nanquantiles_at, x, q, 1, axis=axis, keepdims=keepdims)


@check_arguments
def nanpercentile(
    x: TensorLike, q: float | Sequence[float] | Tensor, /, *, axis: Axes = None, keepdims: bool = False
) -> Tensor:
    """Percentiles of the elements that are not NaN: `nanquantile` with q in percent.

    >>> tb.nanpercentile(tb.asarray([3.0, float("nan"), 1.0]), 50).item()
    2.0
    """
    return quantiles_of(_nanquantile, _nanquantiles_at, x, q, 100, axis=axis, keepdims=keepdims)
