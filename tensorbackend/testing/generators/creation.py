"""Calls of ops that make tensors only from numbers."""

from __future__ import annotations

from hypothesis import strategies as st

from ...dtypes import DType
from ..calls import Invocation, generates
from ..strategies import Draw, axis_names, elements, shapes


@generates("full")
def full(draw: Draw, dtype: DType) -> Invocation:
    """A drawn number for all elements."""
    shape = draw(shapes())
    value = draw(elements(dtype))
    return Invocation("", (shape, value), {"dtype": dtype, "names": axis_names(len(shape))}, creates=True)


@generates("ones", "zeros")
def zeros(draw: Draw, dtype: DType) -> Invocation:
    """A shape, for ops that fill a tensor with a number."""
    shape = draw(shapes())
    return Invocation("", (shape,), {"dtype": dtype, "names": axis_names(len(shape))}, creates=True)


@generates("iota")
def iota(draw: Draw, dtype: DType) -> Invocation:
    """Indices along one axis or all."""
    shape = draw(shapes())
    axis = draw(st.none() | st.integers(0, len(shape) - 1)) if shape else None
    return Invocation("", (shape,), {"dtype": dtype, "axis": axis}, creates=True)


@generates("eye")
def eye(draw: Draw, dtype: DType) -> Invocation:
    """Matrices of ones on some diagonal, batches of them too."""
    rows, columns = draw(st.integers(0, 4)), draw(st.none() | st.integers(0, 4))
    batch = draw(shapes(most=1))
    options = {"k": draw(st.integers(-5, 5)), "batch_shape": batch, "dtype": dtype}
    return Invocation("", (rows, columns), options, creates=True)


@generates("arange")
def arange(draw: Draw, dtype: DType) -> Invocation:
    """Integers, or quarters, which every floating dtype holds."""
    scale = 1 if dtype.is_integer else 0.25
    start, stop = (draw(st.integers(-9, 9)) * scale for _ in range(2))
    step = draw(st.integers(-4, 4).filter(bool)) * scale
    return Invocation("", (start, stop, step), {"dtype": dtype}, creates=True)


@generates("linspace")
def linspace(draw: Draw, dtype: DType) -> Invocation:
    """Draws small numbers as the ends."""
    start, stop = (draw(st.integers(-9, 9)) * 0.5 for _ in range(2))
    options = {"dtype": dtype, "endpoint": draw(st.booleans())}
    return Invocation("", (start, stop, draw(st.integers(0, 9))), options, creates=True)


@generates("tri")
def tri(draw: Draw, dtype: DType) -> Invocation:
    """Matrices of ones and zeros."""
    rows, columns = draw(st.integers(0, 4)), draw(st.none() | st.integers(0, 4))
    return Invocation("", (rows, columns), {"k": draw(st.integers(-5, 5)), "dtype": dtype}, creates=True)
