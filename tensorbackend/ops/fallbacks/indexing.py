"""Gathers by `take` at row-major positions, and scatters by masks.

The time of a scatter grows with the number of updates times the size of the tensor that it writes to.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ...dispatch.fallbacks import fallback
from ...dtypes import bool_, int64
from ...protocol.indexing import Mode
from ...template import Shape, Template
from ...tensor import Tensor
from ..creation.filled import full, zeros
from ..elementwise.basic import astype, bitwise_invert, where
from ..elementwise.binary import add, equal, less, logical_and, maximum, multiply
from ..indexing.taking import take_at
from ..reduction import any as some
from ..reduction import max as largest
from ..reduction import sum as total
from ..shape import broadcast_to, reshape
from .common import accumulator_dtype, shape_along, strides_of, tensor_of_numbers


class _Places(NamedTuple):
    """The positions at which index vectors read or write."""

    positions: Tensor
    """Row-major positions, int64."""
    inside: Tensor | None
    """Whether each vector leads to a position; `None` where all of them do."""


def _locate(indices: Tensor, size: int, mode: Mode) -> _Places:
    """Look up indices among the positions of an axis, so that the backend's `take` raises errors for those outside."""
    read: Mode = "error" if mode == "error" else "clip"
    positions = take_at(tensor_of_numbers(range(size)), indices, axis=0, mode=read)
    inside = take_at(full(size, True, dtype=bool_), indices, axis=0, mode="fill") if mode == "fill" else None
    return _Places(positions, inside)


def _merge(indices: Tensor, sizes: Shape, mode: Mode) -> _Places:
    """The row-major positions, in axes of the given sizes, of the vectors along the last axis of `indices`."""
    shape = indices.shape[:-1]
    positions, inside = zeros(shape, dtype=int64), None
    for axis, size in enumerate(sizes):
        column = take_at(indices, tensor_of_numbers([axis]), axis=indices.ndim - 1, mode="clip")
        places = _locate(reshape(column, shape), size, mode)
        positions = add(multiply(positions, size), places.positions)
        if places.inside is not None:
            inside = places.inside if inside is None else logical_and(inside, places.inside)
    return _Places(positions, inside)


def _read(x: Tensor, places: _Places) -> Tensor:
    """Rows of x at positions, zeros where a vector is outside."""
    rows = take_at(x, places.positions, axis=0, mode="clip")
    if places.inside is None:
        return rows
    inside = reshape(places.inside, (*places.inside.shape, *(1,) * (x.ndim - 1)))
    return where(inside, rows, zeros((), dtype=x.dtype))


@fallback("gather")
def _gather(out: Template, x: Tensor, indices: Tensor, /, *, mode: Mode) -> Tensor:
    depth = indices.shape[-1]
    rows = reshape(x, (math.prod(x.shape[:depth]), *x.shape[depth:]))
    return _read(rows, _merge(indices, x.shape[:depth], mode))


@fallback("take_along_axis")
def _take_along_axis(out: Template, x: Tensor, indices: Tensor, /, *, axis: int, mode: Mode) -> Tensor:
    places = _locate(indices, x.shape[axis], mode)
    steps = strides_of(x.shape)
    positions = multiply(places.positions, steps[axis])
    for other_axis, size in enumerate(x.shape):
        if other_axis != axis:
            offsets = tensor_of_numbers(
                [place * steps[other_axis] for place in range(size)], shape=shape_along(other_axis, x.ndim, size)
            )
            positions = add(positions, offsets)
    return _read(reshape(x, (x.size,)), _Places(positions, places.inside))


class _Writes(NamedTuple):
    """The writes to the rows of a tensor."""

    rows: Tensor
    """The tensor, a row for each position."""
    updates: Tensor
    """A row for each update."""
    hits: Tensor
    """Whether an update (column) is for a position (row)."""


def _writes(x: Tensor, indices: Tensor, updates: Tensor, mode: Mode) -> _Writes | None:
    """The writes of updates to the rows of a tensor, `None` where nothing is written."""
    depth = indices.shape[-1]
    places = _merge(indices, x.shape[:depth], mode)
    count, width, size = math.prod(indices.shape[:-1]), math.prod(x.shape[depth:]), math.prod(x.shape[:depth])
    if not (x.size and count):
        return None
    hits = equal(tensor_of_numbers(range(size), shape=(size, 1)), reshape(places.positions, (1, count)))
    if places.inside is not None:
        hits = logical_and(hits, reshape(places.inside, (1, count)))
    return _Writes(reshape(x, (size, width)), reshape(updates, (count, width)), hits)


@fallback("indexed_put")
def _indexed_put(out: Template, x: Tensor, indices: Tensor, updates: Tensor, /, *, mode: Mode) -> Tensor:
    writes = _writes(x, indices, updates, mode)
    if writes is None:
        return x
    count = writes.updates.shape[0]
    last = largest(where(writes.hits, tensor_of_numbers(range(count)), -1), axis=1)
    written = take_at(writes.updates, maximum(last, 0), axis=0, mode="clip")
    kept = reshape(less(last, 0), (last.size, 1))
    return reshape(where(kept, writes.rows, written), x.shape)


@fallback("indexed_add")
def _indexed_add(out: Template, x: Tensor, indices: Tensor, updates: Tensor, /, *, mode: Mode) -> Tensor:
    writes = _writes(x, indices, updates, mode)
    if writes is None:
        return x
    wide = accumulator_dtype(out.dtype)
    count, width = writes.updates.shape
    size = writes.rows.shape[0]
    spread_updates = broadcast_to(reshape(astype(writes.updates, wide), (1, count, width)), (size, count, width))
    added = total(
        where(reshape(writes.hits, (size, count, 1)), spread_updates, zeros((), dtype=wide)), axis=1, dtype=wide
    )
    result = astype(add(astype(writes.rows, wide), added), out.dtype)
    untouched = reshape(bitwise_invert(some(writes.hits, axis=1)), (size, 1))
    return reshape(where(untouched, writes.rows, result), x.shape)


@fallback("slice")
def _slice(
    out: Template, x: Tensor, /, *, starts: tuple[int, ...], lengths: tuple[int, ...], strides: tuple[int, ...]
) -> Tensor:
    for axis, (start, length, stride) in enumerate(zip(starts, lengths, strides, strict=True)):
        if length != x.shape[axis]:
            x = take_at(x, tensor_of_numbers(range(start, start + length * stride, stride)), axis=axis, mode="clip")
    return x


@fallback("put_slice")
def _put_slice(out: Template, x: Tensor, update: Tensor, /, *, starts: tuple[int, ...]) -> Tensor:
    if not math.prod(update.shape):
        return x
    inside = None
    for axis, (start, length) in enumerate(zip(starts, update.shape, strict=True)):
        size = x.shape[axis]
        if length == size:
            continue
        update = take_at(update, tensor_of_numbers([place - start for place in range(size)]), axis=axis, mode="clip")
        block = [start <= place < start + length for place in range(size)]
        here = tensor_of_numbers(block, bool_, shape_along(axis, x.ndim, size))
        inside = here if inside is None else logical_and(inside, here)
    return update if inside is None else where(inside, update, x)
