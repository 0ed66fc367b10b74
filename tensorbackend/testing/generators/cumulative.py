"""Calls of ops that run along an axis."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from ...dtypes import DType
from ..calls import Invocation, generates
from ..strategies import Draw, tensors
from .common import call, with_axis


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
