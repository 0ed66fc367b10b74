"""Gradient rules of changes of shape and order: cotangents are moved back to where the elements came from."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from ...ops.indexing.slices import slice_
from ...ops.padding import pad
from ...ops.reduction import sum
from ...ops.shape import flip, permute_dims, reshape
from ...tensor import Tensor
from .reduction import inverse
from .registry import Cotangents, rule

Positions = tuple[int, ...]


@rule("reshape", "squeeze")
def _reshape(cotangent: Tensor, out: Tensor, x: Tensor, *, axes: Positions = ()) -> Cotangents:
    return (reshape(cotangent, x.shape, names=x.names),)


@rule("broadcast")
def _broadcast(cotangent: Tensor, out: Tensor, x: Tensor, *, axes: Positions) -> Cotangents:
    kept = {axis for axis, size in zip(axes, x.shape, strict=True) if size == out.shape[axis]}
    repeated = tuple(axis for axis in range(out.ndim) if axis not in kept)
    return (reshape(sum(cotangent, axis=repeated, dtype=x.dtype), x.shape, names=x.names),)


@rule("transpose")
def _transpose(cotangent: Tensor, out: Tensor, x: Tensor, *, axes: Positions) -> Cotangents:
    return (permute_dims(cotangent, inverse(axes)),)


@rule("pad")
def _pad(
    cotangent: Tensor, out: Tensor, x: Tensor, pad_value: Tensor, *, padding: tuple[tuple[int, int, int], ...]
) -> Cotangents:
    within = pad(cotangent, [(-low, -high, 0) for low, high, _ in padding])
    of_x = slice_(
        within, starts=(0,) * x.ndim, lengths=x.shape, strides=tuple(interior + 1 for _, _, interior in padding)
    )
    return of_x, sum(cotangent) - sum(of_x)


@rule("reverse")
def _reverse(cotangent: Tensor, out: Tensor, x: Tensor, *, axes: Positions) -> Cotangents:
    return (flip(cotangent, axis=axes),)


@rule("concatenate")
def _concatenate(cotangent: Tensor, out: Tensor, tensors: Sequence[Tensor], *, axis: int) -> Cotangents:
    ends = accumulate((x.shape[axis] for x in tensors), initial=0)
    return (tuple(_block(cotangent, x, axis, start) for x, start in zip(tensors, ends, strict=False)),)


def _block(cotangent: Tensor, x: Tensor, axis: int, start: int) -> Tensor:
    """The part of a cotangent that belongs to x, which begins at `start` along an axis."""
    starts = tuple(start if position == axis else 0 for position in range(x.ndim))
    return slice_(cotangent, starts=starts, lengths=x.shape, strides=(1,) * x.ndim)
