"""Gradients of ops that order elements along an axis."""

from __future__ import annotations

from ...ops.indexing.taking import take_along_axis
from ...ops.padding import pad
from ...ops.sorting import argsort
from ...tensor import Tensor
from .registry import Cotangents, rule


def _unsort(cotangent: Tensor, x: Tensor, axis: int, descending: bool) -> Tensor:
    """The cotangent of each element of x, read from the position to which sorting has moved the element."""
    places = argsort(argsort(x, axis=axis, descending=descending), axis=axis)
    return take_along_axis(cotangent, places, axis=axis)


@rule("sort")
def _sort(cotangent: Tensor, out: Tensor, x: Tensor, *, axis: int, descending: bool) -> Cotangents:
    return (_unsort(cotangent, x, axis, descending),)


@rule("top_k")
def _top_k(
    cotangents: tuple[Tensor | None, Tensor | None], out: tuple[Tensor, Tensor], x: Tensor, *, k: int
) -> Cotangents:
    cotangent, last = cotangents[0], x.ndim - 1
    if cotangent is None:
        return (None,)
    return (_unsort(pad(cotangent, {last: (0, x.shape[last] - k)}), x, last, descending=True),)
