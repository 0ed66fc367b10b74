"""Calls of ops that run along an axis."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from ...dtypes import DType
from ..calls import Invocation, generates, moderate
from ..strategies import Draw, shapes, tensors
from . import call, with_axis


@generates("diff")
def diff(draw: Draw, dtype: DType) -> Invocation:
    """Differences of order 0 to 3, with and without entries before and after."""
    x, axis = with_axis(draw, dtype)
    options: dict[str, Any] = {"axis": axis, "n": draw(st.integers(0, 3))}
    for name in ("prepend", "append"):
        if draw(st.booleans()):
            shape = list(x.shape)
            shape[axis] = draw(st.integers(0, 2))
            options[name] = draw(tensors(dtype, tuple(shape)))
    return call(x, **options)


@generates("trapezoid")
def trapezoid(draw: Draw, dtype: DType) -> Invocation:
    """Evenly spaced values, values at places along the axis, and at places of their own."""
    y, axis = with_axis(draw, dtype, tame=True)
    (y,) = moderate(draw, [y], inexact=True)
    kind = draw(st.sampled_from(["even", "along", "each"]))
    if kind == "even":
        return call(y, dx=draw(st.sampled_from([1.0, 0.5])), axis=axis)
    shape = (y.shape[axis],) if kind == "along" else y.shape
    x = draw(tensors(dtype, shape, names=(None,) * len(shape), tame=True))
    return call(y, *moderate(draw, [x], inexact=True), axis=axis)


@generates("unwrap")
def unwrap(draw: Draw, dtype: DType) -> Invocation:
    """Multiples of quarters of the period, so that there are jumps by half a period."""
    shape = draw(shapes(least=1, largest=5))
    values = st.integers(0, 12) if dtype.kind != "bool" else st.booleans()
    x = draw(tensors(dtype, shape, values=values))
    options = {"period": draw(st.sampled_from([4, 4.0, 5, 6.0])), "discontinuity": draw(st.sampled_from([None, 3.5]))}
    return call(x, axis=draw(st.integers(-x.ndim, x.ndim - 1)), **options)
