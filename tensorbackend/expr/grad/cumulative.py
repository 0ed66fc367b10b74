"""Gradients of ops that accumulate along an axis. Cumulative products and extremes have those of their parts."""

from __future__ import annotations

from ...dtypes import DType
from ...ops.composite.cumulative import cumulative_sum
from ...ops.indexing.slices import slice_basic
from ...tensor import Tensor
from .registry import Cotangents, rule


@rule("cumulative_sum")
def _cumulative_sum(
    cotangent: Tensor, out: Tensor, x: Tensor, *, axis: int, dtype: DType | None, include_initial: bool, reverse: bool
) -> Cotangents:
    if include_initial:
        cotangent = slice_basic(cotangent, (slice(None),) * axis + (slice(-1) if reverse else slice(1, None),))
    return (cumulative_sum(cotangent, axis=axis, reverse=not reverse),)
