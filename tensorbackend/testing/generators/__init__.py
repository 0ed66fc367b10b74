"""Calls of ops with drawn arguments, by family, and what their generators share."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

from ...dtypes import ALL_DTYPES, DType, as_dtype, bool_, iinfo
from ...ops.elementwise.basic import where
from ...tensor import Tensor
from ..calls import Invocation
from ..strategies import Draw, shapes, tensors

INDEX_DTYPES = tuple(map(as_dtype, ("int8", "int16", "int32", "int64", "uint8", "uint64")))


def call(*arguments: Any, **options: Any) -> Invocation:
    """An invocation whose name is entered later."""
    return Invocation("", arguments, options)


def with_axis(draw: Draw, dtype: DType, *, tame: bool = False, smallest: int = 0) -> tuple[Tensor, int]:
    """A tensor of at least one axis, and the position of one."""
    x = draw(tensors(dtype, shapes(least=1, smallest=smallest), tame=tame))
    return x, draw(st.integers(0, x.ndim - 1))


def integers(draw: Draw, shape: tuple[int, ...], low: int, high: int, names: Any = None) -> Tensor:
    """Integers of a drawn dtype from `low` to `high`, as far as the dtype can hold them."""
    dtype = draw(st.sampled_from(INDEX_DTYPES))
    limits = iinfo(dtype)
    low, high = max(low, limits.min), min(high, limits.max)
    return draw(tensors(dtype, shape, names=names, values=st.integers(low, max(low, high))))


def second(draw: Draw, dtype: DType) -> DType:
    """The dtype of another operand: sometimes another one, with which the first is promoted or refused."""
    return draw(st.sampled_from([dtype, dtype, dtype, *ALL_DTYPES]))


def missing_in(draw: Draw, drawn: Invocation) -> Invocation:
    """A call of whose first operand none, some or all elements are NaN."""
    x, *others = drawn.arguments
    return call(some_missing(draw, x), *others, **drawn.options)


def some_missing(draw: Draw, x: Tensor) -> Tensor:
    """x, where none, some or all elements are NaN."""
    if not x.dtype.is_inexact or not draw(st.booleans()):
        return x
    return where(draw(tensors(bool_, x.shape, names=x.names)), math.nan, x)


QUANTILES = st.sampled_from([0.0, 1.0, 0.5, 0.25, 0.3, 1 / 3])

MODES = st.sampled_from(["error", "error", "clip", "fill"])
