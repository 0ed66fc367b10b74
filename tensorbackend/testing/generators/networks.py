"""Generators of calls for functions of `tb.nn` that call several ops."""

from __future__ import annotations

from hypothesis import strategies as st

from ...dtypes import DType, as_dtype
from ..calls import Invocation, generates
from ..strategies import Draw, axes_of, shapes, tensors
from . import call, with_axis
from .random import keys

# Parts


@generates("glu")
def glu(draw: Draw, dtype: DType) -> Invocation:
    """An axis of an even size, sometimes of an odd one."""
    x, axis = with_axis(draw, dtype, tame=True)
    if x.shape[axis] % 2 and draw(st.integers(0, 3)):
        shape = tuple(2 * size if place == axis else size for place, size in enumerate(x.shape))
        x = draw(tensors(dtype, shape, names=x.names, tame=True))
    return call(x, axis=axis)


@generates("one_hot")
def one_hot(draw: Draw, dtype: DType) -> Invocation:
    """Indices within the size and outside of it, with the new axis at every position."""
    x = draw(tensors(dtype, shapes(most=2), values=st.integers(0, 5) if dtype.is_integer else None))
    axis = draw(st.integers(-x.ndim - 1, x.ndim))
    kind = draw(st.sampled_from([None, as_dtype("int8"), as_dtype("bool"), as_dtype("complex64")]))
    return call(x, draw(st.integers(0, 4)), axis=axis, dtype=kind)


@generates("dropout")
def dropout(draw: Draw, dtype: DType) -> Invocation:
    """Draws rates, one of them above 1, for single elements and for whole entries."""
    x = draw(tensors(dtype, tame=True))
    rate = draw(st.sampled_from([0.0, 0.25, 0.5, 1.0, 1.5]))
    return call(keys(draw), x, rate, axis=draw(axes_of(x, "Axes")))


# Positions


@generates("relative_shift")
def relative_shift(draw: Draw, dtype: DType) -> Invocation:
    """Scores by distance, sometimes of fewer distances than there are queries."""
    count = draw(st.integers(0, 3))
    shape = (*draw(shapes(most=1)), count, max(0, count + draw(st.integers(-1, 3))))
    return call(draw(tensors(dtype, shape, names=(None,) * len(shape))))
