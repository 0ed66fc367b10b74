"""Counts of each integer, and counts in intervals."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from operator import index
from typing import NamedTuple

from ..declarations.argument_errors import check_arguments
from ..dispatch.direct import direct
from ..dispatch.kernels import Shaped
from ..dispatch.ready_calls import ReadyCall
from ..dtypes import DType, float32, promote_types
from ..errors import ArgumentError, DTypeError, ShapeError, expected
from ..rules.accuracy import Bound, declare_bound
from ..rules.broadcasting import check_dtype, result_type, to_floating
from ..rules.data_errors import negative_number
from ..rules.plan import flag
from ..tensor import Tensor, TensorLike
from ..tensor.missing_names import explain_missing
from .composite.elementwise.functions import isfinite
from .composite.indexing.positions import check_size, read_count
from .composite.sorting.searching import searchsorted
from .creation.filled import asarray, full, iota, zeros
from .creation.values import operand_tensors
from .elementwise.basic import astype, where
from .elementwise.binary import logical_or
from .indexing.scatter import indexed_add
from .indexing.slices import slice_
from .reduction import max, min, sum
from .shape import broadcast_to, expand_dims, laid_flat, reshape


def _sum_at(places: Tensor, weights: Tensor | None, size: int) -> Tensor:
    """The sum of the weights, or without weights the number of elements, at each place below `size`; ignores others."""
    count = places.size
    if weights is None:
        weights = broadcast_to(asarray(1, dtype="int64", backend=places.backend), (count,))
    start = zeros(size, dtype=weights.dtype, backend=places.backend)
    return indexed_add(start, reshape(places, (count, 1)), laid_flat(weights), mode="fill")


def _check_weights(x: TensorLike, weights: TensorLike | None) -> tuple[Tensor, Tensor | None]:
    """A tensor and its weights, which must have its shape; `None` where there are no weights."""
    if weights is None:
        return asarray(x), None
    x, weights = operand_tensors(x, weights)
    if weights.shape != x.shape:
        raise ShapeError(expected(f"a weight for each element of {x.template!r}", weights=weights.template))
    check_dtype(weights.dtype, "numeric")
    return x, weights


def _plan(
    result: Tensor, x: TensorLike, /, *, weights: TensorLike | None = None, minlength: int = 0, size: int | None = None
) -> ReadyCall | None:
    if weights is not None or size is not None or not isinstance(x, Tensor) or not x.size:
        return None
    kernel = x.backend.counts(x.template)
    return None if kernel is None else ReadyCall(Shaped(result.template), kernel)


@declare_bound(Bound(64, "the order of additions of weights is the backend's", "operand", tame=True))
@direct(_plan, number="minlength")
def bincount(
    x: TensorLike, /, *, weights: TensorLike | None = None, minlength: int = 0, size: int | None = None
) -> Tensor:
    """Count the occurrences of each integer from 0 up, or sum the weights of its occurrences.

    The result has max(x) + 1 entries, at least `minlength`. With `size` it has `size` entries, and larger elements are
    ignored. Without a `size`, raises `DataError` for a negative element and `TemplateDataError` for a template tensor.

    >>> tb.bincount(tb.asarray([0, 3, 3])).tolist(), tb.bincount(tb.asarray([0, 3, 3]), size=3).tolist()
    ([1, 0, 0, 2], [1, 0, 0])
    """
    x, amounts = _check_weights(x, weights)
    at_least = check_size(minlength)
    if not x.dtype.is_integer:
        raise DTypeError(expected("a tensor of an integer dtype to count", "cast it with astype()", dtype=x.dtype))
    if size is not None:
        length = check_size(size)
    elif x.size:
        least = read_count(min(x), "bincount()")
        if least < 0:
            raise negative_number(least).met("bincount", [x.template])
        length = builtins.max(read_count(max(x), "bincount()") + 1, at_least)
    else:
        length = at_least
    return _sum_at(laid_flat(x), amounts, length)


@explain_missing
class HistogramResult(NamedTuple):
    """The result of `histogram`."""

    counts: Tensor
    edges: Tensor


@declare_bound(Bound(64, "the order of additions of weights is the backend's", "operand", tame=True))
@check_arguments
def histogram(
    x: TensorLike,
    /,
    *,
    bins: int | Sequence[float] | Tensor = 10,
    range: tuple[float, float] | None = None,
    weights: TensorLike | None = None,
    density: bool = False,
) -> HistogramResult:
    """Count the elements in each interval, or sum their weights; returns the edges of the intervals too.

    `bins` is a number of equal intervals that divide `range`, by default from the smallest to the largest finite
    element; or it is the edges in ascending order. An interval includes its lower edge but not its upper edge, the last
    one includes both; elements outside, infinite ones and NaN are ignored.
    With `density` the counts are divided by their sum and the widths. Raises `ArgumentError` for fewer than one
    interval, and for a given `range` that is not finite and ascending.

    >>> counts, edges = tb.histogram(tb.asarray([0.0, 1.0, 1.5, 4.0]), bins=4)
    >>> counts.tolist(), edges.tolist()
    ([1, 2, 0, 1], [0.0, 1.0, 2.0, 3.0, 4.0])
    """
    x, amounts = _check_weights(x, weights)
    as_density = flag(density=density)
    check_dtype(x.dtype, "real")
    flat = laid_flat(x)
    edges = _edges(flat, bins, range)
    count = edges.size - 1
    edges = astype(edges, to_floating(result_type([x.template, edges.template])))
    if not as_density:
        return HistogramResult(_sum_at(_intervals(flat, edges), amounts, count), edges)
    dtype = _density_dtype(amounts, edges)
    wide = promote_types(dtype, float32)
    counts = astype(_sum_at(_intervals(flat, edges), _widened(amounts, wide), count), wide)
    return HistogramResult(astype(counts / (_widths(astype(edges, wide)) * sum(counts)), dtype), edges)


def _density_dtype(weights: Tensor | None, *operands: Tensor) -> DType:
    """The dtype of densities: that of the operands and the weights, where these are not whole numbers."""
    if weights is not None and weights.dtype.is_inexact:
        operands = (*operands, weights)
    return to_floating(result_type([each.template for each in operands]))


def _widened(weights: Tensor | None, dtype: DType) -> Tensor | None:
    """Weights in the dtype in which they are summed; whole numbers as they are."""
    return weights if weights is None or not weights.dtype.is_inexact else astype(weights, dtype)


@explain_missing
class Histogram2DResult(NamedTuple):
    """The result of `histogram2d`."""

    counts: Tensor
    x_edges: Tensor
    y_edges: Tensor


Bins = int | Sequence[float] | Tensor


@declare_bound(Bound(64, "the order of additions of weights is the backend's", "operand", tame=True))
@check_arguments
def histogram2d(
    x: TensorLike,
    y: TensorLike,
    /,
    *,
    bins: int | tuple[Bins, Bins] = 10,
    range: tuple[tuple[float, float], tuple[float, float]] | None = None,
    weights: TensorLike | None = None,
    density: bool = False,
) -> Histogram2DResult:
    """Count the points (x, y) in each cell of a grid, or sum their weights; returns the edges of the cells too.

    Parameters
    ----------
    x, y : Tensor
        The coordinates of the points: tensors of the same shape.
    bins : int or pair, default 10
        A number of equal intervals along both axes; or for each axis a number, or the edges in ascending order.
    range : pair of pairs of floats, optional
        For each axis the range that its equal intervals divide; by default from the least to the largest coordinate.
    weights : Tensor, optional
        A weight for each point; by default each weight is 1.
    density : bool, default False
        Whether to divide the counts by their sum and the areas of the cells.

    Returns
    -------
    Histogram2DResult
        `counts`, of shape (bins of x, bins of y), `x_edges` and `y_edges`. Which points a cell includes is as in
        `histogram`.

    Raises
    ------
    ShapeError
        For coordinates or weights of other shapes.
    ArgumentError
        For less than one interval, and for a range that is not finite and ascending.

    Examples
    --------
    >>> counts, x_edges, y_edges = tb.histogram2d(tb.asarray([0.0, 1.0, 2.0]), tb.asarray([0.0, 5.0, 5.0]), bins=2)
    >>> counts.tolist(), x_edges.tolist()
    ([[1, 0], [0, 2]], [0.0, 1.0, 2.0])
    """
    x, amounts = _check_weights(x, weights)
    x, y = operand_tensors(x, y)
    if x.shape != y.shape:
        raise ShapeError(expected("coordinates of the same shape", x=x.template, y=y.template))
    as_density = flag(density=density)
    pair = bins if isinstance(bins, tuple | list) else (bins, bins)
    ranges = (None, None) if range is None else range
    if len(pair) != 2 or len(ranges) != 2:
        raise ArgumentError(expected("one option for each of two axes", bins=bins, range=range))
    columns = [laid_flat(part) for part in (x, y)]
    for column in columns:
        check_dtype(column.dtype, "real")
    edges = [_edges(column, each, limits) for column, each, limits in zip(columns, pair, ranges, strict=True)]
    rows, width = edges[0].size - 1, edges[1].size - 1
    first, second = (_intervals(column, line) for column, line in zip(columns, edges, strict=True))
    cell = first * width + second
    outside = logical_or(first == rows, second == width)
    places = where(outside, rows * width, cell)
    if not as_density:
        return Histogram2DResult(reshape(_sum_at(places, amounts, rows * width), (rows, width)), *edges)
    dtype = _density_dtype(amounts, x, y, *edges)
    wide = promote_types(dtype, float32)
    counts = astype(reshape(_sum_at(places, _widened(amounts, wide), rows * width), (rows, width)), wide)
    sides = [_widths(astype(line, wide)) for line in edges]
    areas = expand_dims(sides[0], axis=1) * sides[1]
    return Histogram2DResult(astype(counts / (areas * sum(counts)), dtype), *edges)


def _intervals(values: Tensor, edges: Tensor) -> Tensor:
    """The interval of each value; their number where the value is in none."""
    count = edges.size - 1
    dtype = to_floating(result_type([values.template, edges.template]))
    values, edges = astype(values, dtype), astype(edges, dtype)
    place = searchsorted(edges, values, side="right") - 1
    last = slice_(edges, starts=(count,), lengths=(1,), strides=(1,))
    place = where(values == last, count - 1, place)
    # Indices must not be negative, so elements below the first edge are placed past the end, where they are ignored.
    return where(place < 0, count, place)


def _widths(edges: Tensor) -> Tensor:
    """The widths of intervals."""
    count = edges.size - 1
    upper, lower = (slice_(edges, starts=(start,), lengths=(count,), strides=(1,)) for start in (1, 0))
    return upper - lower


def _limits(x: Tensor) -> tuple[Tensor, Tensor]:
    """The smallest and the largest finite element; 0 and 1 where there is none."""
    finite = isfinite(x)
    least, largest = min(where(finite, x, math.inf)), max(where(finite, x, -math.inf))
    some = isfinite(least)
    return where(some, least, 0), where(some, largest, 1)


def _edges(x: Tensor, bins: int | Sequence[float] | Tensor, limits: tuple[float, float] | None) -> Tensor:
    """The edges of intervals: those given, or equally spaced ones."""
    if isinstance(bins, Tensor | Sequence) or hasattr(bins, "__array__"):
        edges = asarray(bins, backend=None if isinstance(bins, Tensor) else x.backend)
        if edges.ndim != 1 or edges.size < 2:
            raise ShapeError(expected("at least two edges on one axis", bins=edges.template))
        return edges.rename(None)
    count = index(bins)
    if count < 1:
        raise ArgumentError(expected("at least one interval", bins=bins))
    dtype = to_floating(x.dtype)
    if limits is not None:
        low, high = map(float, limits)
        if not low < high or not math.isfinite(high - low):
            raise ArgumentError(expected("a range of two finite numbers in ascending order", range=limits))
        least, largest = (full((), limit, dtype=dtype, backend=x.backend) for limit in (low, high))
    elif not x.size:
        least, largest = (full((), limit, dtype=dtype, backend=x.backend) for limit in (0.0, 1.0))
    else:
        least, largest = _limits(astype(x, dtype))
        # All elements equal: an interval of width 1 about them.
        alone = least == largest
        least = where(alone, least - 0.5, least)
        largest = where(alone, largest + 0.5, largest)
    place = astype(iota(count + 1, backend=x.backend), dtype)
    spaced = least + place / count * (largest - least)
    return where(place == count, largest, spaced)  # rounding must not miss the last edge
