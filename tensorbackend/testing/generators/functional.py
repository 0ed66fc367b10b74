"""Calls of ops that take a function of tensors without axes."""

from __future__ import annotations

from hypothesis import strategies as st

from ...dtypes import ALL_DTYPES, DType
from ..calls import Invocation, generates
from ..strategies import Draw, axes_of, tensors
from . import call
from .window import FOLDS, MAPS, initial_value


@generates("reduce")
def reduce(draw: Draw, dtype: DType) -> Invocation:
    """Valid functions, and some invalid ones."""
    x = draw(tensors(dtype, tame=True))
    options = {"axis": draw(axes_of(x, "Axes")) if x.ndim else None, "keepdims": draw(st.booleans())}
    return call(x, initial_value(draw, dtype), function=draw(st.sampled_from(FOLDS)), **options)


@generates("map")
def map_(draw: Draw, dtype: DType) -> Invocation:
    """Functions of one element, their results cast or not."""
    return call(
        draw(tensors(dtype, tame=True)),
        function=draw(st.sampled_from(MAPS)),
        dtype=draw(st.none() | st.sampled_from(ALL_DTYPES)),
    )
