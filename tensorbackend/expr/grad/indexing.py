"""Gradient rules of reading and writing by index.

The cotangents of elements that were read are added where the elements were; overwritten elements have none.
"""

from __future__ import annotations

from ...ops.composite.indexing.updates import add_along_axis_at
from ...ops.creation.filled import full, iota, zeros_like
from ...ops.elementwise.basic import where
from ...ops.indexing.scatter import gather, indexed_add, indexed_put
from ...ops.indexing.slices import put_slice, slice_
from ...ops.indexing.taking import take_along_axis_at
from ...ops.padding import pad
from ...ops.shape import expand_dims, permute_dims, reshape
from ...protocol.indexing import Mode
from ...tensor import Tensor
from .reduction import inverse
from .registry import Cotangents, rule

Positions = tuple[int, ...]


@rule("slice")
def _slice(
    cotangent: Tensor, out: Tensor, x: Tensor, *, starts: Positions, lengths: Positions, strides: Positions
) -> Cotangents:
    spans = ((length - 1) * stride + 1 if length else 0 for length, stride in zip(lengths, strides, strict=True))
    padding = [
        (start, size - start - span, stride - 1)
        for start, size, span, stride in zip(starts, x.shape, spans, strides, strict=True)
    ]
    return (pad(cotangent, padding),)


@rule("put_slice")
def _put_slice(cotangent: Tensor, out: Tensor, x: Tensor, update: Tensor, *, starts: Positions) -> Cotangents:
    block = slice_(cotangent, starts=starts, lengths=update.shape, strides=(1,) * x.ndim)
    return put_slice(cotangent, zeros_like(update), starts=starts), block


@rule("take")
def _take(cotangent: Tensor, out: Tensor, x: Tensor, indices: Tensor, *, axis: int, mode: Mode) -> Cotangents:
    front = (axis, *(other_axis for other_axis in range(x.ndim) if other_axis != axis))
    taken = range(axis, axis + indices.ndim)
    order = (*taken, *(other_axis for other_axis in range(cotangent.ndim) if other_axis not in taken))
    blank = zeros_like(permute_dims(x, front))
    gradient = indexed_add(blank, expand_dims(indices, axis=-1), permute_dims(cotangent, order), mode=mode)
    return permute_dims(gradient, inverse(front)), None


@rule("take_along_axis")
def _take_along_axis(
    cotangent: Tensor, out: Tensor, x: Tensor, indices: Tensor, *, axis: int, mode: Mode
) -> Cotangents:
    return add_along_axis_at(zeros_like(x), indices, cotangent, axis=axis, mode=mode), None


@rule("add_along_axis")
def _add_along_axis(
    cotangent: Tensor, out: Tensor, x: Tensor, indices: Tensor, updates: Tensor, *, axis: int, mode: Mode
) -> Cotangents:
    return cotangent, None, take_along_axis_at(cotangent, indices, axis=axis, mode=mode)


@rule("gather")
def _gather(cotangent: Tensor, out: Tensor, x: Tensor, indices: Tensor, *, mode: Mode) -> Cotangents:
    return indexed_add(zeros_like(x), indices, cotangent, mode=mode), None


@rule("indexed_add")
def _indexed_add(
    cotangent: Tensor, out: Tensor, x: Tensor, indices: Tensor, updates: Tensor, *, mode: Mode
) -> Cotangents:
    return cotangent, None, gather(cotangent, indices, mode=mode)


@rule("indexed_put")
def _indexed_put(
    cotangent: Tensor, out: Tensor, x: Tensor, indices: Tensor, updates: Tensor, *, mode: Mode
) -> Cotangents:
    # Of several updates for one place, the last is written. To find it, each update writes its number: only an update
    # that reads its own number back has a gradient.
    places, inner = indices.shape[:-1], updates.shape[indices.ndim - 1 :]
    numbers = iota(places, dtype="int64")
    written = indexed_put(full(x.shape[: indices.shape[-1]], 0, dtype="int64"), indices, numbers, mode=mode)
    last = reshape(gather(written, indices, mode=mode) == numbers, (*places, *(1 for _ in inner)))
    blank = indexed_put(cotangent, indices, zeros_like(updates), mode=mode)
    return blank, None, where(last, gather(cotangent, indices, mode=mode), 0)
