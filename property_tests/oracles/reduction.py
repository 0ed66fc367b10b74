"""Oracles of reductions, counts and statistics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy
from hypothesis import strategies as st

from tensorbackend.dtypes import DType
from tensorbackend.rules.accuracy import Bound
from tensorbackend.testing import Invocation
from tensorbackend.testing.generators import call
from tensorbackend.testing.strategies import Draw, shapes, tensors
from tensorbackend.testing.strategies import axes_of as drawn_axes

from .elementwise import cast, double, isclose, of_parts, unjudged
from .table import FLOATING, INEXACT, INTEGER, Refusal, reference, wide

Axes = int | Sequence[int] | None


def listed(axis: Any) -> Sequence[Any]:
    """The axes of an option that may be one axis."""
    return axis if isinstance(axis, list | tuple) else [axis]


def position(call: Invocation, axis: Any) -> int:
    """The position of an axis of a call's first tensor that is given by its position or name."""
    x = call.tensors[0]
    return x.names.index(axis) if isinstance(axis, str) else axis % x.ndim


def options(call: Invocation, **defaults: Any) -> tuple[Any, ...]:
    """The options of a call, or their defaults."""
    return tuple(call.options.get(name, default) for name, default in defaults.items())


def axes_of(x: Any, axis: Axes) -> tuple[int, ...]:
    """The positions of axes, all of them for `None`."""
    if axis is None:
        return tuple(range(x.ndim))
    return tuple(sorted(at % x.ndim for at in ([axis] if isinstance(axis, int) else axis)))


@reference("sum", by="NumPy")
def sum_(x: Any, /, *, axis: Axes = None, dtype: DType | None = None, keepdims: bool = False) -> Any:
    return numpy.sum(summand(x, dtype), axis=axes_of(x, axis), keepdims=keepdims)


@reference("prod", by="NumPy")
def prod(x: Any, /, *, axis: Axes = None, dtype: DType | None = None, keepdims: bool = False) -> Any:
    x, axes = summand(x, dtype), axes_of(x, axis)
    if x.dtype.kind != "c":
        return numpy.prod(x, axis=axes, keepdims=keepdims)
    # From the first element to the last in row-major order, each product as (ac - bd) + (ad + bc)j: docs/semantics.md.
    kept = [at for at in range(x.ndim) if at not in axes]
    count = math.prod(x.shape[at] for at in axes)
    columns = numpy.moveaxis(x, kept, range(len(kept))).reshape(*(x.shape[at] for at in kept), count)
    rows = columns.reshape(math.prod(columns.shape[:-1]), columns.shape[-1]).tolist()
    out = numpy.array([reduce(multiply, row) if row else 1 for row in rows])
    shape = [1 if at in axes else x.shape[at] for at in range(x.ndim) if keepdims or at not in axes]
    return out.astype(complex).reshape(shape)


def multiply(x: complex, y: complex) -> complex:
    """The product of complex numbers by its definition, for infinities and NaN too."""
    return complex(x.real * y.real - x.imag * y.imag, x.real * y.imag + x.imag * y.real)


def summand(x: Any, dtype: DType | None) -> Any:
    """Elements in the dtype of a sum or product: that given, or by the standard 64 bits for small integers."""
    if dtype is not None:
        return cast(x, dtype)
    return x.astype({"b": "int64", "i": "int64", "u": "uint64"}.get(x.dtype.kind, x.dtype))


@reference("max", by="NumPy")
def max_(x: Any, /, *, axis: Axes = None, keepdims: bool = False) -> Any:
    return numpy.max(x, axis=axes_of(x, axis), keepdims=keepdims)


@reference("min", by="NumPy")
def min_(x: Any, /, *, axis: Axes = None, keepdims: bool = False) -> Any:
    return numpy.min(x, axis=axes_of(x, axis), keepdims=keepdims)


@reference("all", by="NumPy")
def all_(x: Any, /, *, axis: Axes = None, keepdims: bool = False) -> Any:
    return numpy.all(x, axis=axes_of(x, axis), keepdims=keepdims)


@reference("any", by="NumPy")
def any_(x: Any, /, *, axis: Axes = None, keepdims: bool = False) -> Any:
    return numpy.any(x, axis=axes_of(x, axis), keepdims=keepdims)


@reference("count_nonzero", by="NumPy")
def count_nonzero(x: Any, /, *, axis: Axes = None, keepdims: bool = False) -> Any:
    return numpy.asarray(numpy.sum(x != 0, axis=axes_of(x, axis), keepdims=keepdims))


def _draw_mean(draw: Draw, dtype: DType) -> Invocation:
    x = draw(tensors(dtype))
    axis = draw(drawn_axes(x, "Axes")) if x.ndim else None
    return call(x, axis=axis, keepdims=draw(st.booleans()))


@reference("mean", by="NumPy", draw=_draw_mean)
def mean(x: Any, /, *, axis: Axes = None, keepdims: bool = False) -> Any:
    x, axes = double(x), axes_of(x, axis)
    if x.dtype.kind != "c":
        return numpy.mean(x, axis=axes, keepdims=keepdims)
    # NumPy divides by a complex number, which makes NaN of the other part of an infinity.
    return of_parts(*(numpy.mean(part, axis=axes, keepdims=keepdims) for part in (x.real, x.imag)))


def deviation(x: Any, axes: tuple[int, ...], correction: float, keepdims: bool) -> Any:
    """The sample variance; NaN for no more elements than the correction."""
    count = math.prod(x.shape[at] for at in axes)
    centred = x - numpy.mean(x, axis=axes, keepdims=True)
    total = numpy.sum(numpy.abs(centred) ** 2, axis=axes, keepdims=keepdims)
    return total / (count - correction) if count > correction else numpy.full_like(total, numpy.nan)


@reference("var", by="NumPy")
def var(x: Any, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    return deviation(double(x), axes_of(x, axis), correction, keepdims)


@reference("std", by="NumPy")
def std(x: Any, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    return numpy.sqrt(deviation(double(x), axes_of(x, axis), correction, keepdims))


def _draw_extreme(draw: Draw, dtype: DType) -> Invocation:
    x = draw(tensors(dtype, shapes(least=1)))
    options = {"keepdims": draw(st.booleans()), "tie_break": draw(st.sampled_from(["low", "high"]))}
    return call(x, axis=draw(st.none() | st.integers(-x.ndim, x.ndim - 1)), **options)


@reference("argmax", "argmin", by="brute force", raw=True, draw=_draw_extreme)
def extreme_index(call: Invocation) -> Any:
    x, (axis, keepdims, tie_break) = wide(call.tensors[0]), options(call, axis=None, keepdims=False, tie_break="low")
    if axis is None:
        flat, shape = x.reshape(1, -1), (1,) * x.ndim if keepdims else ()
    else:
        at = position(call, axis)
        moved = numpy.moveaxis(x, at, -1)
        flat = moved.reshape(math.prod(moved.shape[:-1]), moved.shape[-1])
        shape = x.shape[:at] + (1,) * keepdims + x.shape[at + 1 :]
    sign = 1 if call.name == "argmax" else -1
    out = [best(row, sign, last=tie_break == "high") for row in flat.tolist()]
    return numpy.array(out, "int64").reshape(shape)


def best(row: list[Any], sign: int, *, last: bool) -> int:
    """The index of the first or last element that is a NaN, or else that is a maximum."""
    wanted = [place for place, value in enumerate(row) if value != value]
    wanted = wanted or [place for place, value in enumerate(row) if all(sign * value >= sign * other for other in row)]
    return wanted[-1 if last else 0]


def log_of_sum(x: Any, axes: tuple[int, ...], keepdims: bool, scale: Any = 1.0) -> Any:
    """log(sum(scale * exp(x))), shifted by the maximum."""
    top = numpy.max(x.real, axis=axes, keepdims=True, initial=-numpy.inf)
    top = numpy.where(numpy.isfinite(top), top, 0)
    out = numpy.log(numpy.sum(scale * numpy.exp(x - top), axis=axes, keepdims=True)) + top
    return out if keepdims else numpy.squeeze(out, axes)


def _draw_logsumexp(draw: Draw, dtype: DType) -> Invocation:
    """Numbers that are equal or far apart, infinite ones; weights of one sign and of both."""
    x = draw(tensors(dtype, tame=draw(st.booleans())))
    options: dict[str, Any] = {"axis": draw(drawn_axes(x, "Axes")), "keepdims": draw(st.booleans())}
    if dtype.is_floating and draw(st.booleans()):
        options["scale"] = draw(tensors(dtype, x.shape, values=st.sampled_from([0.0, 0.5, 1.0, 3.0])))
    return call(x, **options)


@reference("logsumexp", by="NumPy", draw=_draw_logsumexp)
def logsumexp(x: Any, /, *, axis: Axes = None, keepdims: bool = False, scale: Any = 1.0) -> Any:
    return log_of_sum(double(x), axes_of(x, axis), keepdims, scale)


@reference("softmax", by="NumPy")
def softmax(x: Any, /, *, axis: Axes = -1) -> Any:
    x = double(x)
    total = log_of_sum(x, axes_of(x, axis), True)
    return unjudged(numpy.exp(x - total), total == math.inf)  # all elements may be NaN


@reference("log_softmax", by="NumPy")
def log_softmax(x: Any, /, *, axis: Axes = -1) -> Any:
    x = double(x)
    total = log_of_sum(x, axes_of(x, axis), True)
    return unjudged(x - total, total == math.inf)  # all elements may be NaN


@reference("weighted_mean", by="NumPy", raw=True)
def weighted_mean(call: Invocation) -> Any:
    x, weights = map(double, map(wide, call.tensors))
    axis, keepdims = options(call, axis=None, keepdims=False)
    axes = axes_of(x, None if axis is None else tuple(position(call, at) for at in listed(axis)))
    if weights.ndim == 1 and x.shape != weights.shape and len(axes) == 1:
        weights = weights.reshape([-1 if at == axes[0] else 1 for at in range(x.ndim)])
    totals = numpy.sum(numpy.broadcast_to(weights, x.shape), axis=axes, keepdims=keepdims)
    out = numpy.sum(x * weights, axis=axes, keepdims=keepdims) / totals
    return unjudged(out, ~numpy.isfinite(out)) if out.dtype.kind == "c" else out


@reference("weighted_nanmean", by="NumPy", raw=True)
def weighted_nanmean(call: Invocation) -> Any:
    x, weights = map(double, map(wide, call.tensors))
    axis, keepdims = options(call, axis=None, keepdims=False)
    axes = axes_of(x, None if axis is None else tuple(position(call, at) for at in listed(axis)))
    if weights.ndim == 1 and x.shape != weights.shape and len(axes) == 1:
        weights = weights.reshape([-1 if at == axes[0] else 1 for at in range(x.ndim)])
    weights = numpy.where(numpy.isnan(x), 0, weights)
    products = numpy.sum(numpy.where(numpy.isnan(x), 0, x) * weights, axis=axes, keepdims=keepdims)
    out = products / numpy.sum(weights, axis=axes, keepdims=keepdims)
    return unjudged(out, ~numpy.isfinite(out)) if out.dtype.kind == "c" else out


@reference("all_close", by="NumPy", raw=True)
def all_close(call: Invocation) -> Any:
    near = isclose(call)
    sure, open_ = numpy.all(near.filled(False)), numpy.any(near.mask)
    return unjudged(sure, open_ & numpy.all(near.filled(True)))


# Counts and statistics


@reference("bincount", by="NumPy")
def bincount(x: Any, /, *, weights: Any = None, minlength: int = 0, size: int | None = None) -> Any:
    flat = x.ravel()
    if (flat < 0).any() and size is None:
        raise Refusal("a negative number")
    length = max([minlength, *(flat.tolist() and [int(flat.max()) + 1])]) if size is None else size
    out = numpy.zeros(length, "int64" if weights is None else weights.dtype)
    for place, number in enumerate(flat.tolist()):
        if 0 <= number < length:
            out[number] += 1 if weights is None else weights.ravel()[place]
    return out


@reference("histogram", by="NumPy")
def histogram(x: Any, /, *, bins: Any = 10, range: Any = None, weights: Any = None, density: bool = False) -> Any:
    x, bins = double(x), bins if isinstance(bins, int) else double(numpy.asarray(bins))
    if not isinstance(bins, int) or range is not None or numpy.isfinite(x).all():
        counts, edges = numpy.histogram(x, bins, range, density, weights)
        held = weights is None or numpy.isfinite(weights).all()
        return (counts if held else unjudged(counts, True)), edges  # NumPy takes differences of running sums
    # The edges are not finite, either. NumPy refuses them.
    return tuple(unjudged(part, True) for part in numpy.histogram(numpy.zeros_like(x), bins, range, density, weights))


@reference("covariance", by="NumPy", bound=Bound(32, "a sum of squares of differences", "square"))
def covariance(x: Any, /, *, mean: Any = None, correction: float = 0.0) -> Any:
    x = double(x)
    centred = x - (numpy.mean(x, axis=-2, keepdims=True) if mean is None else double(mean)[..., None, :])
    divisor = x.shape[-2] - correction
    products = numpy.swapaxes(centred, -1, -2) @ numpy.conj(centred)
    out = products / divisor if divisor > 0 else numpy.full_like(products, numpy.nan)
    return unjudged(out, ~numpy.isfinite(out)) if out.dtype.kind == "c" else out  # which of the parts are NaN


def _draw_histogram2d(draw: Draw, dtype: DType) -> Invocation:
    """Numbers of intervals of all points or of ranges, or edges; with and without weights."""
    x, y = (draw(tensors(dtype, (7,), names=(None,), values=st.integers(0, 9))) for _ in range(2))
    edges = sorted(draw(st.lists(st.sampled_from([0, 1, 2, 5, 9]), min_size=2, max_size=4, unique=True)))
    options: dict[str, Any] = {"bins": draw(st.sampled_from([3, (2, 4), (edges, 3)])), "density": draw(st.booleans())}
    options["range"] = draw(st.sampled_from([None, ((0.0, 5.0), (-1.0, 9.0))]))
    if draw(st.booleans()):
        options["weights"] = draw(tensors(dtype, x.shape, names=(None,), values=st.integers(1, 3)))
    return call(x, y, **options)


@reference("histogram2d", by="NumPy", draw=_draw_histogram2d, dtypes=[*FLOATING, *INTEGER])
def histogram2d(
    x: Any, y: Any, /, *, bins: Any = 10, range: Any = None, weights: Any = None, density: bool = False
) -> Any:
    counts, *edges = numpy.histogram2d(double(x), double(y), bins, range, density, weights)
    if not density and (weights is None or weights.dtype.kind != "f"):
        counts = counts.astype("int64" if weights is None else weights.dtype)
    given = isinstance(bins, tuple) and isinstance(bins[0], list)
    return counts, edges[0].astype(int) if given else edges[0], edges[1]


def _draw_correlation(draw: Draw, dtype: DType) -> Invocation:
    """A few observations more than variables, which differ."""
    shape = (*draw(st.sampled_from([(), (2,)])), draw(st.integers(2, 5)), draw(st.integers(1, 3)))
    return call(draw(tensors(dtype, shape, values=st.integers(0, 20))))


@reference("correlation", by="NumPy", draw=_draw_correlation, dtypes=[*INEXACT, *INTEGER])
def correlation(x: Any, /) -> Any:
    x = double(x)
    stacks = [numpy.corrcoef(matrix, rowvar=False) for matrix in x.reshape(-1, *x.shape[-2:])]
    out = numpy.array(stacks).reshape(*x.shape[:-2], x.shape[-1], x.shape[-1])
    return unjudged(out, numpy.isnan(out)) if out.dtype.kind == "c" else out  # which of the parts are NaN
