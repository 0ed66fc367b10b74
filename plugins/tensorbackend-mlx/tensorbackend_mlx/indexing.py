"""Slices, gathers and scatters. Index vectors become positions in an x whose indexed axes are merged into one."""

from __future__ import annotations

from math import prod
from typing import Any

from tensorbackend import Template
from tensorbackend.annotations import Ints
from tensorbackend.dtypes import float32, float64, int64
from tensorbackend.extending import index_out_of_range
from tensorbackend.protocol import Kernel
from tensorbackend.protocol.indexing import Mode

from .casting import caster
from .kernels import NARROW, Function, MlxBase, kernel, tracing
from .library import Array, mx

_WIDE_UPDATES = 1 << 7
"""From this number of updates on, float32 is added in float64 where the device has it."""


class MlxIndexing(MlxBase):
    """What reads and writes by index."""

    def indexing(self, x: Template, structure: tuple[Any, ...], /) -> Kernel | None:
        """MLX's slices, without index tensors, whose indices MLX does not check."""
        return None if any(isinstance(kind, Template) for kind in structure) else _sliced

    @kernel()
    def slice(self, out: Template, x: Template, *, starts: Ints, lengths: Ints, strides: Ints) -> Function:
        """Every `strides[i]`-th element from `starts[i]` on."""
        steps = zip(starts, lengths, strides, strict=True)
        key = tuple(slice(start, start + length * stride, stride) for start, length, stride in steps)
        return lambda values: values[key]

    @kernel()
    def put_slice(self, out: Template, x: Template, update: Template, *, starts: tuple[int, ...]) -> Function:
        """x with the block written."""
        axes = tuple(range(x.ndim))
        if not x.ndim:
            return lambda values, block: block
        if not update.size:
            return lambda values, block: values
        first = mx.array(starts, mx.int32)
        return lambda values, block: mx.slice_update(values, block, first, axes)

    @kernel()
    def take(self, out: Template, x: Template, indices: Template, *, axis: int, mode: Mode) -> Function:
        """Entries of x along `axis`."""
        locate, shape = _locator(self, indices, x.shape[axis], mode), out.shape
        trailing = [1] * (x.ndim - axis - 1)

        def take(values: Array, places: Array) -> Array:
            positions, inside = locate(places)
            if not values.size:
                return mx.zeros(shape, values.dtype)
            taken = mx.take(values, positions, axis)
            return taken if inside is None else _filled(inside.reshape((*inside.shape, *trailing)), taken)

        return take

    @kernel()
    def take_along_axis(self, out: Template, x: Template, indices: Template, *, axis: int, mode: Mode) -> Function:
        """Entries of x along `axis`, with separate indices for each place on the other axes."""
        locate, shape = _locator(self, indices, x.shape[axis], mode), out.shape

        def take(values: Array, places: Array) -> Array:
            positions, inside = locate(places)
            if not values.size or not places.size:
                return mx.zeros(shape, values.dtype)
            taken = mx.take_along_axis(values, positions, axis)
            return taken if inside is None else _filled(inside, taken)

        return take

    @kernel()
    def gather(self, out: Template, x: Template, indices: Template, *, mode: Mode) -> Function:
        """Elements of x at index vectors."""
        depth, shape = indices.shape[-1], out.shape
        locate, inner = _merging(self, indices, x.shape[:depth], mode), x.shape[depth:]

        def gather(values: Array, vectors: Array) -> Array:
            positions, inside = locate(vectors)
            if not values.size:
                return mx.zeros(shape, values.dtype)
            taken = mx.take(values.reshape((-1, *inner)), positions, 0)
            return taken if inside is None else _filled(inside.reshape((*inside.shape, *[1] * len(inner))), taken)

        return gather

    @kernel()
    def indexed_add(self, out: Template, x: Template, indices: Template, updates: Template, *, mode: Mode) -> Function:
        """x with the updates added."""
        many = prod(indices.shape[:-1]) > _WIDE_UPDATES and self.has_float64 and out.dtype.is_floating
        wide = float64 if many else float32 if out.dtype in NARROW else out.dtype
        enter, leave = caster(self, out, wide), caster(self, out.replace(dtype=wide), out.dtype)
        write = _writing(self, x, indices, mode, lambda target, places, rows: target.at[places].add(rows))
        return lambda values, vectors, rows: leave(write(enter(values), vectors, enter(rows)))

    @kernel()
    def indexed_put(self, out: Template, x: Template, indices: Template, updates: Template, *, mode: Mode) -> Function:
        """x with the updates written; of repeated indices, only the last update is written."""

        def put(target: Array, places: Array, rows: Array) -> Array:
            turns = mx.arange(places.size, dtype=mx.int32)
            last = mx.zeros((target.shape[0],), mx.int32).at[places].maximum(turns)
            written = target[...]
            written[places] = rows[last[places]]  # whoever comes last, it is the same row
            return written

        return _writing(self, x, indices, mode, put)


def _sliced(values: Array, key: tuple[Any, ...]) -> Array:
    """A view at ints and slices. MLX checks no int, and takes numbers of 32 bits."""
    parts, axis = [], 0
    for part in key:
        if part is Ellipsis:
            axis += values.ndim - sum(other is not None and other is not Ellipsis for other in key)
        elif part is not None:
            size = values.shape[axis]
            axis += 1
            if part.__class__ is slice:
                start, stop, step = part.indices(size)
                end = None if stop < 0 else stop  # where it runs backwards to the first element
                part = slice(start, end, max(min(step, size + 1), -size - 1))
            elif not -size <= part < size:
                raise IndexError(f"expected an index from {-size} to {size - 1}")
        parts.append(part)
    return values[tuple(parts)]


def _locator(backend: MlxBase, indices: Template, size: int, mode: Mode) -> Function:
    """The function that brings indices into bounds; its second result says which were, where that matters."""
    limit = max(size - 1, 0)
    wide = caster(backend, indices, int64)
    unsigned = indices.dtype.kind == "uint"

    def locate(places: Array) -> tuple[Array, Array | None]:
        if mode == "error" and _has_data(places):
            check(places, size)
            return places.astype(mx.int64), None
        if unsigned:
            clipped = mx.minimum(places.astype(mx.uint64), mx.array(limit, mx.uint64)).astype(mx.int64)
            return clipped, places.astype(mx.uint64) < size if mode == "fill" else None
        places = wide(places)
        clipped = mx.clip(places, 0, limit)
        return clipped, (places >= 0) & (places < size) if mode == "fill" else None

    return locate


def _filled(inside: Array, taken: Array) -> Array:
    """What was taken, zero where the index was out of bounds."""
    return mx.where(inside, taken, mx.zeros((), taken.dtype))


def check(indices: Array, size: int) -> None:
    """Raises an error for the first index that is out of bounds; it waits for the indices."""
    import numpy

    values = numpy.array(indices, copy=False)
    if values.size and not (values.min() >= 0 and values.max() < size):
        flat = values.reshape(-1)
        raise index_out_of_range(int(flat[(flat < 0) | (flat >= size)][0]), size)


def _has_data(indices: Array) -> bool:
    """Whether indices can be read; those that are traced cannot."""
    if not tracing.on:
        return True
    try:
        mx.eval(indices)
    except ValueError:
        return False
    return True


def _merging(backend: MlxBase, indices: Template, sizes: tuple[int, ...], mode: Mode) -> Function:
    """The function that turns index vectors into positions on one axis, for which the indexed axes are merged."""
    scalar = indices.replace(shape=indices.shape[:-1])
    locators = [_locator(backend, scalar, size, mode) for size in sizes]
    shape = indices.shape[:-1]

    def merge(vectors: Array) -> tuple[Array, Array | None]:
        positions, inside = mx.zeros(shape, mx.int64), None
        for place, (size, locate) in enumerate(zip(sizes, locators, strict=True)):
            index, within = locate(vectors[..., place])
            positions = positions * size + index
            if within is not None:
                inside = within if inside is None else inside & within
        return positions, inside

    return merge


def _writing(backend: MlxBase, x: Template, indices: Template, mode: Mode, write: Function) -> Function:
    """The function that writes rows at index vectors. What is out of bounds goes to a row that is cut off again."""
    depth = indices.shape[-1]
    locate, shape = _merging(backend, indices, x.shape[:depth], mode), x.shape
    count, inner, updates = prod(shape[:depth]), prod(shape[depth:]), prod(indices.shape[:-1])

    def written(values: Array, vectors: Array, rows: Array) -> Array:
        positions, inside = locate(vectors)
        if not (values.size and updates):
            return values
        positions = positions.reshape(-1)
        target, rows = values.reshape((count, inner)), rows.reshape((updates, inner))
        if inside is None:
            whole: Array = write(target, positions, rows).reshape(shape)
            return whole
        target = mx.concatenate([target, mx.zeros((1, inner), target.dtype)])
        positions = mx.where(inside.reshape(-1), positions, count)
        kept: Array = write(target, positions, rows)[:count].reshape(shape)
        return kept

    return written
