"""Counts of ints, and of elements in bins."""

from __future__ import annotations

import builtins
import math
import operator
from typing import Any

import numpy

import tensorbackend as tb

from ..dtypes import bool_
from ..errors import ArgumentError, TemplateDataError, expected
from ..tensor import Tensor
from .arrays import box, functions, ndarray
from .conversion import back, cast, host, tensor
from .dtypes import dtype_of, numpy_dtype
from .functions import public
from .selection import as_integers


@public
def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    """Count the occurrences of each non-negative int, or sum its weights."""
    t = tensor(x)
    if t.dtype is bool_:
        t = cast(t, tb.int64)
    if t.ndim != 1:
        raise ArgumentError(f"object {'too deep' if t.ndim else 'of too small depth'} for desired array")
    t = as_integers(t)
    if operator.index(minlength) < 0:
        raise ArgumentError("'minlength' must not be negative")
    if t.shape[0] and t.backend.is_concrete(t) and int(tb.min(t)) < 0:
        raise ArgumentError("'list' argument must have no negative elements")
    w = None if weights is None else cast(tensor(weights), tb.float64)
    if w is not None and w.shape != t.shape:
        raise ArgumentError("The weights and list don't have the same length.")
    return box(tb.bincount(t, weights=w, minlength=operator.index(minlength)))


def _edges(x: Tensor, bins: Any, range: Any, weights: Any, grid: bool = False) -> Any:
    """The edges of bins as NumPy chooses them, a NumPy array if they are computed.

    They have the dtype of floating-point elements, but float64 if a range is given for an axis of a grid.
    """
    if isinstance(bins, str):
        sample = host(box(x))
    else:  # of the elements only the ends count
        keeps = x.dtype.is_floating and (not grid or (range is None and x.size))
        ends = [tb.min(x), tb.max(x)] if x.size and range is None and numpy.ndim(host(bins)) == 0 else []
        sample, weights = numpy.array([*map(float, ends)], numpy_dtype(x.dtype) if keeps else float), None
    try:
        return numpy.histogram_bin_edges(sample, host(bins), range, host(weights))
    except ValueError as error:
        raise ArgumentError(str(error)) from error


@public
def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> tuple[Any, Any]:
    """The numbers of elements in bins, and the edges of the bins."""
    x = tensor(a)
    w = None if weights is None else tb.reshape(tensor(weights), (-1,))
    if w is not None and tensor(weights).shape != x.shape:
        raise ArgumentError("weights should have the same shape as a.")
    x = _flat(x)
    if range is None and isinstance(bins, int) and not x.backend.is_concrete(x):
        raise TemplateDataError(expected("a range of the bins, as a traced array has no ends", "write range=(0, 1)"))
    edges = _edges(x, bins, range, weights)
    even = isinstance(bins, int) and x.dtype in (tb.float32, tb.float64) and len(edges) > 1
    counted, _ = _counts([x], [edges], w, even, whole=even and range is None)
    if density:
        widths = tb.asarray(numpy.diff(edges).astype(float))
        counted = counted / widths / tb.sum(counted)
    return box(counted), _shown(bins, edges)


def _flat(x: Tensor) -> Tensor:
    """The elements along one axis, bools as numbers."""
    x = tb.reshape(x, (-1,))
    return cast(x, tb.uint8) if x.dtype is bool_ else x


def _shown(bins: Any, edges: Any) -> Any:
    """The edges that a function returns: the array itself that says what they are."""
    return bins if bins.__class__ is ndarray and bins.shape else back(edges)


def _even_places(x: Tensor, line: Tensor, low: float, high: float, count: int) -> Tensor:
    """The bins of equal width of the values, computed as in NumPy and corrected next to the edges."""
    place = cast(tb.clip((x - low) * (count / (high - low)), 0.0, float(count - 1)), tb.int64)
    lower, upper = tb.take(line, place, axis=0), tb.take(line, place + 1, axis=0)
    place = place - cast(tb.less(x, lower), tb.int64)  # a quarter of the time of `where` on data without order
    return place + cast(tb.logical_and(tb.greater_equal(x, upper), place < count - 1), tb.int64)


def _counts(
    columns: list[Tensor], edges: list[Any], weights: Tensor | None, even: bool = False, whole: bool = False
) -> tuple[Tensor, list[int]]:
    """The (weighted) numbers of points in the cells of a grid.

    `even` says that bins are of one width, `whole` that they hold all values.
    """
    places: list[Tensor] = []
    inside: Any = None
    for x, e in zip(columns, edges, strict=True):
        line = tb.asarray(e)
        if x.dtype is not line.dtype:
            common = dtype_of(numpy.result_type(x.dtype.dtype, e.dtype))
            x, line = cast(x, common), cast(line, common)
        count = len(e) - 1
        if even:
            place = _even_places(x, line, float(e[0]), float(e[-1]), count)
        else:
            place = tb.searchsorted(line, x, side="right") - 1
            place = tb.where(tb.equal(x, line[-1]), count - 1, place)
        if not whole:
            within = tb.logical_and(tb.greater_equal(x, line[0]), tb.less_equal(x, line[-1]))
            inside = within if inside is None else tb.logical_and(inside, within)
        places.append(place if even else tb.clip(place, 0, count - 1))
    sizes = [len(e) - 1 for e in edges]
    flat = places[0]
    for place, size in zip(places[1:], sizes[1:], strict=True):
        flat = flat * size + place
    cells = math.prod(sizes)
    flat = flat if inside is None else tb.where(inside, flat, cells)
    if weights is not None and weights.dtype.is_complex:
        counted = tb.complex(_sums(flat, tb.real(weights), cells), _sums(flat, tb.imag(weights), cells))
    elif weights is not None:
        counted = _sums(flat, weights, cells)
    else:
        counted = tb.bincount(flat, size=cells + 1)[:cells]
    return tb.reshape(counted, sizes), sizes


def _sums(flat: Tensor, weights: Tensor, cells: int) -> Tensor:
    sums = tb.bincount(flat, weights=cast(weights, tb.float64), size=cells + 1)[:cells]
    return cast(cast(sums, tb.int64) if weights.dtype.is_integer else sums, weights.dtype)


@public
def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    """The edges of the bins of `histogram`."""
    return _shown(bins, _edges(_flat(tensor(a)), bins, range, weights))


@public
def histogramdd(sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """The numbers of points in the cells of a grid, and the edges along each axis."""
    if sample.__class__ is ndarray or isinstance(sample, numpy.ndarray):
        x = tensor(sample)
        x = tb.reshape(x, (-1, 1)) if x.ndim < 2 else x
    else:
        x = tensor(functions["stack"](list(sample), axis=1))
    x = cast(x, tb.uint8) if x.dtype is bool_ else x
    count = x.shape[1]
    each_bins = list(bins) if isinstance(bins, list | tuple) or numpy.ndim(host(bins)) else [bins] * count
    if len(each_bins) != count:
        raise ArgumentError("The dimension of bins must be equal to the dimension of the sample x.")
    ranges = [None] * count if range is None else list(range)
    if len(ranges) != count:
        raise ArgumentError("range argument must have one entry per dimension")
    columns = [x[:, number] for number in builtins.range(count)]
    edges = [_edges(c, b, r, None, grid=True) for c, b, r in zip(columns, each_bins, ranges, strict=True)]
    w = None if weights is None else tensor(weights)
    counted, sizes = _counts(columns, edges, w)
    counted = cast(counted, tb.float64)
    if density:
        total = tb.sum(counted)
        for number, e in enumerate(edges):
            shape = [1] * count
            shape[number] = sizes[number]
            counted = counted / tb.reshape(tb.asarray(numpy.diff(e).astype(float)), shape)
        counted = counted / total
    return box(counted), tuple(map(_shown, each_bins, edges))


@public
def histogram2d(x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """The numbers of points in the cells of a grid of two axes, and the edges along both."""
    if len(x) != len(y):
        raise ArgumentError("x and y must have the same length.")
    try:
        count = len(bins)
    except TypeError:
        count = 1
    if count not in (1, 2):
        bins = [bins, bins]
    counted, edges = histogramdd([x, y], bins, range, density, weights)
    return counted, edges[0], edges[1]
