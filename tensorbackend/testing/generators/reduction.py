"""Calls of reductions, counts, losses and statistics."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from ...dtypes import DType, as_dtype, complex128, float64
from ...ops.sorting import sort
from ..calls import Invocation, generates
from ..strategies import Draw, axes_of, shapes, tensors
from . import QUANTILES, call, integers, missing_in, some_missing, with_axis
from .indexing import SIZES

WEIGHTS = st.sampled_from([0, 1, 2, 3])


@generates("bincount")
def bincount(draw: Draw, dtype: DType) -> Invocation:
    """Small integers, negative ones too.

    A dtype that is not an integer one is that of the weights, of integers or of numbers of that dtype, which are
    refused.
    """
    if not dtype.is_integer:
        x = draw(st.sampled_from([draw(tensors(dtype)), integers(draw, draw(shapes()), 0, 6)]))
        weights = draw(tensors(dtype, x.shape, names=x.names, tame=True))
        return call(x, weights=weights, size=draw(SIZES), minlength=draw(st.integers(0, 3)))
    low = draw(st.sampled_from([0, 0, -2])) if dtype.kind == "int" else 0
    x = draw(tensors(dtype, shapes(), values=st.integers(low, 6)))
    return call(x, size=draw(SIZES), minlength=draw(st.integers(0, 9)))


@generates("histogram")
def histogram(draw: Draw, dtype: DType) -> Invocation:
    """Draws a number of intervals, of a range or of all elements, or their edges; with and without weights."""
    x = draw(tensors(dtype, values=st.integers(0, 9)) if dtype.is_integer else tensors(dtype, tame=True))
    options: dict[str, Any] = {"bins": draw(st.integers(1, 4)), "density": draw(st.booleans())}
    kind = draw(st.sampled_from(["all", "range", "edges"]))
    if kind == "range":
        options["range"] = draw(st.sampled_from([(0.0, 4.0), (-1.0, 0.5), (1.0, 1.0)]))
    elif kind == "edges" and not dtype.is_complex:
        options["bins"] = sort(draw(tensors(dtype, (4,), names=(None,), values=st.sampled_from([0, 1, 2, 5, 9]))))
    if dtype.is_inexact and draw(st.booleans()):
        options["weights"] = draw(tensors(dtype, x.shape, tame=True))
    return call(x, **options)


@generates("weighted_mean")
def weighted_mean(draw: Draw, dtype: DType) -> Invocation:
    """Weights from 0 up: for every element, or for the entries along one axis."""
    x = draw(tensors(dtype, tame=True))
    other = draw(st.sampled_from([dtype, as_dtype("int32"), as_dtype("float32")]))
    values = WEIGHTS.map(bool) if other.kind == "bool" else WEIGHTS
    if x.ndim and draw(st.booleans()):
        axis = draw(st.integers(0, x.ndim - 1))
        return call(x, draw(tensors(other, (x.shape[axis],), names=(None,), values=values)), axis=axis)
    options = {"axis": draw(axes_of(x, "Axes")), "keepdims": draw(st.booleans())}
    return call(x, draw(tensors(other, x.shape, values=values)), **options)


@generates("weighted_nanmean")
def weighted_nanmean(draw: Draw, dtype: DType) -> Invocation:
    """As `weighted_mean`, where none, some or all elements are NaN."""
    return missing_in(draw, weighted_mean(draw, dtype))


@generates("masked_softmax")
def masked_softmax(draw: Draw, dtype: DType) -> Invocation:
    """A mask of the whole shape, or one that broadcasts."""
    x = draw(tensors(dtype, tame=True))
    shape = tuple(draw(st.sampled_from([size, 1])) for size in x.shape)
    mask = draw(tensors(as_dtype("bool"), shape, names=x.names))
    return call(x, mask, axis=draw(axes_of(x, "Axes")))


@generates("layer_norm", "rms_norm")
def layer_norm(draw: Draw, dtype: DType) -> Invocation:
    """Draws with a scale or without."""
    x = draw(tensors(dtype, tame=True))
    scale = draw(tensors(dtype, x.shape[-1:], names=(None,) * len(x.shape[-1:]), tame=True))
    scales = (scale,) if draw(st.booleans()) else ()
    return call(x, *scales, axis=draw(axes_of(x, "Axes")))


@generates("cross_entropy")
def cross_entropy(draw: Draw, dtype: DType) -> Invocation:
    """Targets from 0 up, some of them 0."""
    x = draw(tensors(dtype, shapes(least=1), tame=True))
    values = WEIGHTS.map(bool) if dtype.kind == "bool" else WEIGHTS
    targets = draw(tensors(dtype, x.shape, names=x.names, values=values))
    return call(x, targets, axis=draw(axes_of(x, "Axis")), label_smoothing=draw(st.sampled_from([0.0, 0.25])))


@generates("sparse_cross_entropy")
def sparse_cross_entropy(draw: Draw, dtype: DType) -> Invocation:
    """A class for each position, sometimes a number that is not a class."""
    x, axis = with_axis(draw, dtype, tame=True)
    shape, names = x.shape[:axis] + x.shape[axis + 1 :], x.names[:axis] + x.names[axis + 1 :]
    labels = integers(draw, shape, 0, x.shape[axis] - 1 + draw(st.sampled_from([0, 0, 0, 1])), names)
    options = {} if draw(st.booleans()) else {"ignore_index": draw(st.sampled_from([0, 1, -100]))}
    return call(x, labels, axis=axis, label_smoothing=draw(st.sampled_from([0.0, 0.25])), **options)


@generates("covariance")
def covariance(draw: Draw, dtype: DType) -> Invocation:
    """Observations of a few variables, batches of them too."""
    values = st.booleans() if dtype.kind == "bool" else st.integers(0, 9)
    x = draw(tensors(dtype, shapes(least=2), values=values))
    options: dict[str, Any] = {"correction": draw(st.sampled_from([0, 1, 0.5]))}
    if draw(st.booleans()):
        options["mean"] = draw(tensors(dtype, (*x.shape[:-2], x.shape[-1]), values=values))
    return call(x, **options)


@generates("nanmax", "nanmin", "nanmedian")
def reductions(draw: Draw, dtype: DType) -> Invocation:
    """Numbers of moderate size, of which none, some or all are NaN."""
    x = some_missing(draw, draw(tensors(dtype, tame=True)))
    return call(x, axis=draw(axes_of(x, "Axes")), keepdims=draw(st.booleans()))


@generates("nanquantile", "nanpercentile")
def nanquantile(draw: Draw, dtype: DType) -> Invocation:
    """As `reductions`, with one share or several, from 0 to 1 for both functions."""
    drawn = reductions(draw, dtype)
    q = draw(QUANTILES | st.lists(QUANTILES, min_size=1, max_size=3).map(tuple))
    return call(drawn.arguments[0], q, **drawn.options)


@generates("nanmean")
def means(draw: Draw, dtype: DType) -> Invocation:
    """With a dtype too."""
    drawn = reductions(draw, dtype)
    return call(*drawn.arguments, **drawn.options, dtype=draw(st.sampled_from([None, float64, complex128])))


@generates("nanvar", "nanstd")
def spreads(draw: Draw, dtype: DType) -> Invocation:
    """With a dtype and a correction, by either name, too."""
    drawn = reductions(draw, dtype)
    name = draw(st.sampled_from(["correction", "ddof"]))
    options = {name: draw(st.sampled_from([0.0, 1.0, 0.5])), "dtype": draw(st.sampled_from([None, float64]))}
    return call(*drawn.arguments, **drawn.options, **options)


@generates("nansum", "nanprod")
def sums(draw: Draw, dtype: DType) -> Invocation:
    """With a dtype too; integers are then small."""
    drawn = reductions(draw, dtype)
    if draw(st.booleans()):
        return drawn
    x: Any = drawn.arguments[0]
    if dtype.is_integer:
        x = draw(tensors(dtype, x.shape, names=x.names, values=st.integers(0, 3)))
    return call(x, **drawn.options, dtype=draw(st.sampled_from([None, float64, complex128])))
