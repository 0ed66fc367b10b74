"""Calls of ops that sort and search."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from ...dtypes import REAL_OF, DType
from ...ops.composite.sorting.order_statistics import METHODS
from ...ops.shape import flip
from ...ops.sorting import argsort, sort
from ..calls import Invocation, generates, moderate
from ..strategies import Draw, axes_of, shapes, tensors
from . import QUANTILES, call, second, with_axis
from .indexing import SIZES


@generates("sort", "argsort")
def ordering(draw: Draw, dtype: DType) -> Invocation:
    """Up to 6 elements along an axis, often special ones, so that there are ties."""
    x = draw(tensors(dtype, shapes(least=1, largest=6)))
    return call(x, axis=draw(axes_of(x, "Axis")), descending=draw(st.booleans()))


@generates("searchsorted")
def searchsorted(draw: Draw, dtype: DType) -> Invocation:
    """Values that x1 has and others, where x1 is sorted or comes with the order that sorts it."""
    x1 = draw(tensors(dtype, shapes(least=1, most=1, largest=8)))
    x2 = draw(tensors(dtype))
    options: dict[str, Any] = {"side": draw(st.sampled_from(["left", "right"]))}
    if dtype.is_complex:
        return call(x1, x2, **options)
    if draw(st.booleans()):
        return call(x1, x2, sorter=argsort(x1).rename(None), **options)
    return call(sort(x1), draw(st.sampled_from([x2, x1])), **options)


@generates("digitize")
def digitize(draw: Draw, dtype: DType) -> Invocation:
    """Edges in either order, with equal ones among them; elements that are edges, and others."""
    edges = (
        sort(draw(tensors(dtype, (draw(st.integers(0, 5)),)))) if not dtype.is_complex else draw(tensors(dtype, (2,)))
    )
    edges = flip(edges) if draw(st.booleans()) else edges
    return call(draw(st.sampled_from([draw(tensors(dtype)), edges])), edges, right=draw(st.booleans()))


@generates("top_k")
def top_k(draw: Draw, dtype: DType) -> Invocation:
    """None, some or all of the elements along an axis, sometimes one more."""
    x, axis = with_axis(draw, dtype)
    k = draw(st.integers(0, x.shape[axis] + draw(st.sampled_from([0, 0, 0, 1]))))
    return call(x, k, axis=axis, largest=draw(st.sampled_from([True, True, False])))


@generates("unique_all", "unique_counts", "unique_inverse", "unique_values")
def unique(draw: Draw, dtype: DType) -> Invocation:
    """Draws a size, or none for all that are different; compares elements, or entries along an axis."""
    x = draw(tensors(dtype, shapes(largest=5)))
    axis = draw(st.none() | st.integers(-x.ndim, x.ndim - 1)) if x.ndim else None
    return call(x, axis=axis, size=draw(SIZES), fill_value=draw(st.sampled_from([0, 1])))


@generates("isin")
def isin(draw: Draw, dtype: DType) -> Invocation:
    """Looks for the elements of a tensor in the tensor itself, or in another one, sometimes of another dtype."""
    x = draw(tensors(dtype))
    other = draw(tensors(second(draw, dtype)))
    return call(x, draw(st.sampled_from([x, other])), invert=draw(st.booleans()))


@generates("quantile")
def quantile(draw: Draw, dtype: DType) -> Invocation:
    """One probability or several, by every method."""
    x = draw(tensors(dtype))
    q = draw(QUANTILES | st.lists(QUANTILES, min_size=1, max_size=3).map(tuple))
    options = {"keepdims": draw(st.booleans()), "method": draw(st.sampled_from(sorted(METHODS)))}
    return call(x, q, axis=draw(axes_of(x, "Axes")), **options)


@generates("percentile")
def percentile(draw: Draw, dtype: DType) -> Invocation:
    """Whole percentages."""
    x = draw(tensors(dtype))
    return call(x, draw(st.integers(0, 100)), axis=draw(axes_of(x, "Axes")))


@generates("mode")
def mode(draw: Draw, dtype: DType) -> Invocation:
    """Few different integers, so that there are ties; any elements of other dtypes."""
    few = st.integers(0, 2) if dtype.is_integer else None
    x = draw(tensors(dtype, shapes(largest=5), values=few))
    return call(x, axis=draw(axes_of(x, "Axis | None")), keepdims=draw(st.booleans()))


@generates("interp")
def interp(draw: Draw, dtype: DType) -> Invocation:
    """Places of the points and others, near them, inside and outside; equal places too."""
    few = st.sampled_from([0, 1, 2, 3, 5, 6])
    size = draw(st.integers(1, 5))
    real = dtype if not dtype.is_complex else draw(st.sampled_from([dtype, *3 * [REAL_OF[dtype]]]))
    places = draw(tensors(real, (size,), names=(None,), values=few.map(bool) if real.kind == "bool" else few))
    x = draw(tensors(real, values=few.map(bool) if real.kind == "bool" else few))
    values = draw(tensors(dtype, (size,), names=(None,), tame=True))
    options: dict[str, Any] = {}
    if draw(st.booleans()):
        options = {"left": draw(st.sampled_from([None, -1.0])), "right": draw(st.sampled_from([None, 0.5]))}
    if draw(st.integers(0, 2)) == 0:
        options["period"] = draw(st.sampled_from([4.0, 2.5, 7.0]))
    return call(x, places if real.is_complex else sort(places), *moderate(draw, [values], inexact=True), **options)
