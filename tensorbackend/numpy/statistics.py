"""Statistics: averages, quantiles, covariances, histograms, and the functions that leave NaN out."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy

import tensorbackend as tb

from ..errors import ArgumentError
from ..tensor import Tensor
from .arrays import box, functions, ndarray, result, tensor_of
from .conversion import asarray, back, cast, host, tensor
from .dtypes import dtype_of
from .functions import PUBLIC, Array, Out, function, public
from .reductions import NO_VALUE
from .ufuncs import written


@function
def ptp(a: Array, axis: Any = None, out: Out = None, keepdims: Any = False) -> Array:
    """The range: the largest less the least element along axes."""
    return tb.max(a, axis=axis, keepdims=keepdims) - tb.min(a, axis=axis, keepdims=keepdims)


@public
def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False) -> Any:
    """The mean along axes, weighted if weights are given."""
    x = asarray(a)
    if weights is None:
        made = functions["mean"](x, axis, keepdims=keepdims)
        count = x.size / max(functions["size"](made), 1)
        return (made, functions["full"](numpy.shape(made), count)[()]) if returned else made
    w = asarray(weights)
    if not x._template().dtype.is_inexact:
        x = x.astype(functions["result_type"](x.dtype, w.dtype, float))
    if w.shape != x.shape:
        if axis is None:
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        axes = [each % x.ndim for each in (axis if isinstance(axis, tuple) else (axis,))]
        if w.shape != tuple([x.shape[each] for each in axes]):
            raise ArgumentError("Shape of weights must be consistent with shape of a along specified axis.")
        order = sorted(range(len(axes)), key=axes.__getitem__)
        w = w.transpose(order) if w.ndim else w
        w = w.reshape([size if place in axes else 1 for place, size in enumerate(x.shape)])
        w = functions["broadcast_to"](w, x.shape)
    total = functions["sum"](w, axis, x.dtype, keepdims=keepdims)
    if bool(functions["any"](total == 0)):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    made = functions["sum"](x * w, axis, keepdims=keepdims) / total
    return (made, functions["broadcast_to"](total, numpy.shape(made))[()]) if returned else made


_METHODS = {"linear": "linear", "lower": "lower", "higher": "higher", "midpoint": "midpoint", "nearest": "nearest"}


def _quantile(a: Any, q: Any, axis: Any, out: Any, method: str, keepdims: bool, scale: float, weights: Any) -> Any:
    x = tensor(a)
    if x.dtype.is_complex:
        raise TypeError("a must be an array of real numbers")
    share = numpy.asarray(host(q), dtype=float) / scale
    if ((share < 0) | (share > 1)).any():
        raise ArgumentError(
            "Percentiles must be in the range [0, 100]" if scale == 100 else "Quantiles must be in the range [0, 1]"
        )
    if method not in _METHODS or weights is not None:
        made = back(numpy.quantile(host(box(x)), share, axis, method=method, keepdims=keepdims, weights=host(weights)))
        return made if out is None else written("quantile", out, tensor(made))
    x = x if x.dtype.is_floating else cast(x, tb.float64)
    shape = share.shape
    q = share.ravel().tolist() if shape else float(share)
    made = tb.quantile(x, q, axis=axis, keepdims=bool(keepdims), method=method)
    if len(shape) > 1:
        made = tb.reshape(made, shape + made.shape[1:])
    return result(made) if out is None else written("quantile", out, made)


@public
def quantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """The quantiles along axes."""
    return _quantile(a, q, axis, out, method, keepdims, 1, weights)


@public
def percentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """The percentiles along axes."""
    return _quantile(a, q, axis, out, method, keepdims, 100, weights)


@public
def cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None, fweights: Any = None,
    aweights: Any = None, *, dtype: Any = None,
) -> Any:  # fmt: skip
    """The covariances of variables, a row for each."""
    x = _variables(m, rowvar)
    if y is not None:
        x = functions["concatenate"]((x, _variables(y, rowvar)))
    x = x.astype(dtype if dtype is not None else float if not x._template().dtype.is_inexact else x.dtype)
    ddof = (0 if bias else 1) if ddof is None else ddof
    if ddof != int(ddof):
        raise ArgumentError("ddof must be integer")
    w: Any = None
    for weights, name in ((fweights, "fweights"), (aweights, "aweights")):
        if weights is not None:
            each = asarray(weights)
            if each.ndim > 1:
                raise RuntimeError(f"cannot handle multidimensional {name}")
            if each.shape[0] != x.shape[1]:
                raise RuntimeError(f"incompatible numbers of samples and {name}")
            if bool(functions["any"](each < 0)):
                raise ArgumentError(f"{name} cannot be negative")
            w = each * 1.0 if w is None else w * each
    center, total = average(x, 1, w, returned=True)
    total = total[0] if numpy.ndim(total) else total
    if w is None:
        factor = x.shape[1] - ddof
    elif ddof == 0:
        factor = total
    elif aweights is None:
        factor = total - ddof
    else:
        factor = total - ddof * functions["sum"](w * asarray(aweights)) / total
    x = x - functions["reshape"](center, (-1, 1))
    other = x.T if w is None else (x * w).T
    made = functions["dot"](x, functions["conjugate"](other) if x._template().dtype.is_complex else other)
    made = (
        made / max(float(factor), 0.0)
        if float(factor) > 0
        else made * numpy.divide(1.0, 0.0, where=True, out=numpy.array(numpy.nan))
    )
    return functions["squeeze"](made)[()]


def _variables(m: Any, rowvar: bool) -> ndarray:
    x = asarray(m)
    if x.ndim > 2:
        raise ArgumentError("m has more than 2 dimensions")
    x = x.reshape(1, -1) if x.ndim < 2 else x
    return x.T if not rowvar and x.shape[0] != 1 else x


@public
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    """The correlations of variables, a row for each."""
    c = cov(x, y, rowvar, dtype=dtype)
    if not numpy.ndim(c):
        return c / c
    deviation = functions["sqrt"](functions["real"](functions["diagonal"](c)))
    c = c / deviation[:, None] / deviation[None, :]
    if c._template().dtype.is_complex:
        t = tensor_of(c)
        return box(tb.complex(tb.clip(tb.real(t), -1, 1), tb.clip(tb.imag(t), -1, 1)))
    return functions["clip"](c, -1, 1)


@public
def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    """How often each non-negative int occurs, or the sums of its weights."""
    t = tensor(x)
    if t.dtype is tb.bool:
        t = cast(t, tb.int64)
    if not t.dtype.is_integer:
        if t.size:
            raise TypeError(
                "Cannot cast array data from dtype('float64') to dtype('int64') according to the rule 'safe'"
            )
        t = cast(t, tb.int64)
    if t.ndim != 1:
        raise ArgumentError(
            "object too deep for desired array" if t.ndim else "object of too small depth for desired array"
        )
    if operator.index(minlength) < 0:
        raise ArgumentError("'minlength' must not be negative")
    if t.shape[0] and t.backend.is_concrete(t) and int(tb.min(t)) < 0:
        raise ArgumentError("'list' argument must have no negative elements")
    w = None if weights is None else cast(tensor(weights), tb.float64)
    if w is not None and w.shape != t.shape:
        raise ArgumentError("The weights and list don't have the same length.")
    return box(tb.bincount(t, weights=w, minlength=operator.index(minlength)))


def _edges(x: Tensor, bins: Any, range: Any, weights: Any) -> Any:
    """The edges of bins as NumPy chooses them, a NumPy array where they are computed."""
    if isinstance(bins, str):
        return numpy.histogram_bin_edges(host(box(x)), bins, range, host(weights))
    if numpy.ndim(host(bins)) == 0:
        count = operator.index(host(bins)) if not isinstance(bins, int) else bins
        if count < 1:
            raise ArgumentError("`bins` must be positive, when an integer")
        if range is not None:
            low, high = map(float, range)
            if low > high:
                raise ArgumentError("max must be larger than min in range parameter.")
        elif not x.size:
            low, high = 0.0, 1.0
        else:
            low, high = float(tb.min(x)), float(tb.max(x))
        if not (numpy.isfinite(low) and numpy.isfinite(high)):
            raise ArgumentError(
                f"{'supplied' if range is not None else 'autodetected'} range of [{low}, {high}] is not finite"
            )
        if low == high:
            low, high = low - 0.5, high + 0.5
        return numpy.linspace(low, high, count + 1)
    edges = numpy.asarray(host(bins))
    if edges.ndim != 1:
        raise ArgumentError("`bins` must be 1d, when an array")
    if (edges[:-1] > edges[1:]).any():
        raise ArgumentError("`bins` must increase monotonically, when an array")
    return edges


@public
def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> tuple[Any, Any]:
    """The numbers of elements in bins, and the edges of the bins."""
    x = tensor(a)
    w = None if weights is None else tb.reshape(tensor(weights), (-1,))
    if w is not None and tensor(weights).shape != x.shape:
        raise ArgumentError("weights should have the same shape as a.")
    x = tb.reshape(x, (-1,))
    x = cast(x, tb.uint8) if x.dtype is tb.bool else x
    edges = _edges(x, bins, range, weights)
    even = isinstance(bins, int) and x.dtype in (tb.float32, tb.float64) and len(edges) > 1
    counted, _ = _counts([x], [edges], w, even)
    if density:
        widths = tb.asarray(numpy.diff(edges).astype(float))
        counted = counted / widths / tb.sum(counted)
    return box(counted), back(edges)


def _even_places(x: Tensor, line: Tensor, low: float, high: float, count: int) -> Tensor:
    """The bins of equal width that values fall into, computed as NumPy does and set right next to the edges."""
    place = cast(tb.clip((x - low) * (count / (high - low)), 0.0, float(count - 1)), tb.int64)
    lower, upper = tb.take(line, place, axis=0), tb.take(line, place + 1, axis=0)
    place = tb.where(tb.less(x, lower), place - 1, place)
    return tb.where(tb.logical_and(tb.greater_equal(x, upper), place < count - 1), place + 1, place)


def _counts(
    columns: list[Tensor], edges: list[Any], weights: Tensor | None, even: bool = False
) -> tuple[Tensor, list[int]]:
    """The (weighted) numbers of points in the cells of a grid."""
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
        within = tb.logical_and(tb.greater_equal(x, line[0]), tb.less_equal(x, line[-1]))
        inside = within if inside is None else tb.logical_and(inside, within)
        places.append(tb.clip(place, 0, count - 1))
    sizes = [len(e) - 1 for e in edges]
    flat = places[0]
    for place, size in zip(places[1:], sizes[1:], strict=True):
        flat = flat * size + place
    cells = 1
    for size in sizes:
        cells *= size
    flat = tb.where(inside, flat, cells)
    if weights is not None and weights.dtype.is_complex:
        counted = tb.complex(_sums(flat, tb.real(weights), cells), _sums(flat, tb.imag(weights), cells))
    elif weights is not None:
        counted = _sums(flat, weights, cells)
    else:
        counted = tb.bincount(flat, size=cells + 1)[:cells]
    return tb.reshape(counted, sizes), sizes


def _sums(flat: Tensor, weights: Tensor, cells: int) -> Tensor:
    sums = tb.bincount(flat, weights=cast(weights, tb.float64), size=cells + 1)[:cells]
    return cast(sums, weights.dtype) if weights.dtype.is_integer else sums


@public
def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    """The edges of the bins of `histogram`."""
    return back(_edges(tb.reshape(tensor(a), (-1,)), bins, range, weights))


@public
def histogramdd(sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """The numbers of points in the cells of a grid, and the edges along each axis."""
    if sample.__class__ is ndarray or isinstance(sample, numpy.ndarray):
        x = tensor(sample)
        x = tb.reshape(x, (-1, 1)) if x.ndim < 2 else x
    else:
        x = tb.stack([cast(tensor(each), tb.float64) for each in sample], axis=1)
    count = x.shape[1]
    each_bins = list(bins) if isinstance(bins, list | tuple) or numpy.ndim(host(bins)) else [bins] * count
    if len(each_bins) != count:
        raise ArgumentError("The dimension of bins must be equal to the dimension of the sample x.")
    ranges = [None] * count if range is None else list(range)
    if len(ranges) != count:
        raise ArgumentError("range argument must have one entry per dimension")
    columns = [x[:, number] for number in builtin_range(count)]
    edges = [_edges(c, b, r, None) for c, b, r in zip(columns, each_bins, ranges, strict=True)]
    w = None if weights is None else tensor(weights)
    counted, sizes = _counts(columns, edges, w)
    counted = cast(counted, tb.float64)
    if density:
        for number, e in enumerate(edges):
            shape = [1] * count
            shape[number] = sizes[number]
            counted = counted / tb.reshape(tb.asarray(numpy.diff(e).astype(float)), shape)
        counted = counted / (tb.sum(cast(_counts(columns, edges, w)[0], tb.float64)))
    return box(counted), tuple(map(back, edges))


builtin_range = range


@public
def histogram2d(x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """The numbers of points in the cells of a grid of two axes, and the edges along both."""
    if len(x) != len(y):
        raise ArgumentError("x and y must have the same length.")
    if numpy.ndim(host(bins)) == 1 and len(bins) not in (1, 2):
        bins = [bins, bins]
    counted, edges = histogramdd([x, y], bins, range, density, weights)
    return counted, edges[0], edges[1]


# Functions that leave NaN out


def _without_nan(a: Any, value: Any) -> tuple[Any, Tensor]:
    """An array with a value in place of NaN, and where it was NaN."""
    x = tensor(a)
    if not x.dtype.is_inexact:
        return box(x), tb.zeros(x.shape, dtype=tb.bool)
    missing = tb.isnan(x)
    return box(tb.where(missing, value, x)), missing


def _filled(name: str, value: float) -> Callable[..., Any]:
    def filled(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE,
               initial: Any = NO_VALUE, where: Any = NO_VALUE) -> Any:  # fmt: skip
        options = {"keepdims": keepdims, "initial": initial, "where": where}
        given = {option: each for option, each in options.items() if each is not NO_VALUE}
        return functions[name](_without_nan(a, value)[0], axis, dtype, out, **given)

    filled.__name__ = f"nan{name}"
    filled.__doc__ = f"`{name}` of the elements that are not NaN."
    return filled


nansum, nanprod = public(_filled("sum", 0.0)), public(_filled("prod", 1.0))


def _running(name: str, value: float) -> Callable[..., Any]:
    def running(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        return functions[name](_without_nan(a, value)[0], axis, dtype, out)

    running.__name__ = f"nan{name}"
    running.__doc__ = f"`{name}` with {value:g} in place of NaN."
    return running


nancumsum, nancumprod = public(_running("cumsum", 0.0)), public(_running("cumprod", 1.0))


def _extreme(name: str, value: float) -> Callable[..., Any]:
    def extreme(a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE,
                where: Any = NO_VALUE) -> Any:  # fmt: skip
        options = {"keepdims": keepdims, "initial": initial, "where": where}
        given = {option: each for option, each in options.items() if each is not NO_VALUE}
        x, missing = _without_nan(a, value)
        made = tensor(functions[name](x, axis, **given))
        if initial is NO_VALUE and made.dtype.is_floating:
            keep = keepdims is not NO_VALUE and bool(keepdims)
            made = tb.where(tb.all(missing, axis=axis, keepdims=keep), numpy.nan, made)
        return result(made) if out is None else written(name, out, made)

    extreme.__name__ = f"nan{name}"
    extreme.__doc__ = f"`{name}` of the elements that are not NaN; NaN where all are."
    return extreme


nanmax, nanmin = public(_extreme("max", -numpy.inf)), public(_extreme("min", numpy.inf))


def _place(name: str, value: float) -> Callable[..., Any]:
    def place(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NO_VALUE) -> Any:
        x, missing = _without_nan(a, value)
        every = tb.all(missing, axis=axis)
        if every.backend.is_concrete(every) and bool(tb.any(every)):
            raise ArgumentError("All-NaN slice encountered")
        given = {} if keepdims is NO_VALUE else {"keepdims": keepdims}
        return functions[name](x, axis, out, **given)

    place.__name__ = f"nan{name}"
    place.__doc__ = f"`{name}` of the elements that are not NaN."
    return place


nanargmax, nanargmin = public(_place("argmax", -numpy.inf)), public(_place("argmin", numpy.inf))


@public
def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE, *, where: Any = NO_VALUE
) -> Any:
    """The mean of the elements that are not NaN."""
    x, present = _present(a, where)
    keep = keepdims is not NO_VALUE and bool(keepdims)
    x = x if dtype is None else cast(x, dtype_of(dtype))
    count = tb.sum(present, axis=axis, keepdims=keep)
    total = tb.sum(tb.where(present, x, 0), axis=axis, keepdims=keep)
    made = tb.divide(total, cast(count, total.dtype))
    return result(made) if out is None else written("nanmean", out, made)


def _present(a: Any, where: Any) -> tuple[Tensor, Tensor]:
    x = tensor(a)
    x = x if x.dtype.is_inexact else cast(x, tb.float64)
    present = tb.logical_not(tb.isnan(x))
    return x, present if where is NO_VALUE else tb.logical_and(present, cast(tensor(where), tb.bool))


def _spread(name: str) -> Callable[..., Any]:
    def spread(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = NO_VALUE, *,
               where: Any = NO_VALUE, mean: Any = NO_VALUE, correction: Any = NO_VALUE) -> Any:  # fmt: skip
        x, present = _present(a, where)
        x = x if dtype is None else cast(x, dtype_of(dtype))
        real = tb.float64 if x.dtype.bits > 64 or x.dtype is tb.float64 else x.dtype
        count = cast(tb.sum(present, axis=axis, keepdims=True), real if not real.is_complex else tb.float32)
        center = tb.sum(tb.where(present, x, 0), axis=axis, keepdims=True) / count if mean is NO_VALUE else tensor(mean)
        squares = tb.where(present, tb.square(tb.abs(x - center)), 0)
        left = count - (ddof if correction is NO_VALUE else correction)
        total = tb.sum(squares, axis=axis, keepdims=True)
        made = tb.where(left > 0, total / tb.where(left > 0, left, 1), numpy.nan)
        made = tb.sqrt(made) if name == "std" else made
        if keepdims is NO_VALUE or not keepdims:
            axes = tuple(range(x.ndim)) if axis is None else axis
            made = tb.squeeze(made, axis=axes)
        return result(made) if out is None else written(name, out, made)

    spread.__name__ = f"nan{name}"
    spread.__doc__ = f"`{name}` of the elements that are not NaN."
    return spread


nanvar, nanstd = public(_spread("var")), public(_spread("std"))


def _nan_quantile(a: Any, q: Any, axis: Any, out: Any, method: str, keepdims: Any, scale: float) -> Any:
    """Quantiles of the elements that are not NaN, by sorting and reading at positions of their own."""
    x = tensor(a)
    x = x if x.dtype.is_floating else cast(x, tb.float64)
    share = numpy.asarray(host(q), dtype=float) / scale
    if ((share < 0) | (share > 1)).any():
        raise ArgumentError(
            "Quantiles must be in the range [0, 1]" if scale == 1 else "Percentiles must be in the range [0, 100]"
        )
    axes = (
        tuple(range(x.ndim))
        if axis is None
        else tuple([each % x.ndim for each in (axis if isinstance(axis, tuple) else (axis,))])
    )
    if method != "linear":
        made = back(numpy.nanquantile(host(box(x)), share, axis, method=method, keepdims=bool(keepdims)))
        return made if out is None else written("nanquantile", out, tensor(made))
    kept = [size for place, size in enumerate(x.shape) if place not in axes]
    moved = tb.reshape(tb.moveaxis(x, axes, tuple(range(-len(axes), 0))), (*kept, -1)) if axes else x[..., None]
    ordered = tb.sort(moved, axis=-1)
    count = tb.sum(tb.logical_not(tb.isnan(moved)), axis=-1)
    parts = []
    for each in share.ravel().tolist():
        position = cast(tb.maximum(count - 1, 0), tb.float64) * each
        low = cast(tb.floor(position), tb.int64)
        high = tb.minimum(low + 1, tb.maximum(count - 1, 0))
        first, last = (tb.take_along_axis(ordered, place[..., None], axis=-1)[..., 0] for place in (low, high))
        rest = cast(position - cast(low, tb.float64), x.dtype)
        parts.append(tb.where(count > 0, first + (last - first) * rest, numpy.nan))
    made = tb.reshape(tb.stack(parts), (*share.shape, *kept))
    if keepdims:
        made = tb.reshape(made, (*share.shape, *[1 if place in axes else size for place, size in enumerate(x.shape)]))
    return result(made) if out is None else written("nanquantile", out, made)


@public
def nanquantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: Any = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """The quantiles of the elements that are not NaN."""
    return _nan_quantile(a, q, axis, out, method, keepdims, 1)


@public
def nanpercentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: Any = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """The percentiles of the elements that are not NaN."""
    return _nan_quantile(a, q, axis, out, method, keepdims, 100)


@public
def nanmedian(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False) -> Any:
    """The median of the elements that are not NaN."""
    return _nan_quantile(a, 0.5, axis, out, "linear", keepdims, 1)


_ = PUBLIC
