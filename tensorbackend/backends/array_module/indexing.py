"""Slices, gathers and scatters.

Index vectors become positions along one axis, into which the indexed axes of x are merged, so that `gather` and the
scatters share their code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import nan, prod
from operator import getitem
from typing import Any, NamedTuple

from ...annotations import Ints
from ...dtypes import DType, as_dtype, iinfo, int64, uint64
from ...interchange import numpy_dtype
from ...protocol import Kernel, planned
from ...protocol.indexing import Mode
from ...protocol.workspace import takes
from ...rules.data_errors import index_out_of_range
from ...template import Template
from .base import Array, ArrayBase, flagless_kernel, itself
from .precision import accumulator_dtype
from .workspace_bytes import accumulator_bytes, int64_copy_bytes


class _PositionBytes(NamedTuple):
    """The bytes that positions take while they are computed, and afterwards."""

    most: int
    kept: int


def _located_space(indices: Template, mode: Mode) -> _PositionBytes:
    """The bytes that `_located` takes."""
    count = indices.size
    if mode == "fill":
        return _PositionBytes(10 * count + int64_copy_bytes(indices), 9 * count)
    if mode == "clip":
        return _PositionBytes((24 if indices.dtype is uint64 else 8) * count + int64_copy_bytes(indices), 8 * count)
    return _PositionBytes(int64_copy_bytes(indices), int64_copy_bytes(indices))


def merged_space(indices: Template, mode: Mode) -> _PositionBytes:
    """The bytes that `_merged` takes: with several axes, the positions so far, a product and a sum exist at once."""
    *shape, depth = indices.shape
    column = indices.replace(shape=tuple(shape), names=indices.names[:-1])
    most, kept = _located_space(column, mode)
    positions = 8 * column.size
    if depth == 0:
        return _PositionBytes(positions, positions)
    if depth == 1:
        return _PositionBytes(most, kept)
    return _PositionBytes(kept + 3 * positions, positions + (column.size if mode == "fill" else 0))


def _taken_space(out: Template, x: Template, indices: Template, /, *, axis: int, mode: Mode) -> int:
    """The bytes of positions, and in the mode "fill" of a second array of the result's size."""
    most, kept = _located_space(indices, mode)
    if not x.size:
        return max(most - out.nbytes, 0)
    return max(most - out.nbytes, kept + (out.nbytes if mode == "fill" else 0))


def _taken_along_space(out: Template, x: Template, indices: Template, /, *, axis: int, mode: Mode) -> int:
    """The bytes of positions along an axis, and of a counter for each other axis."""
    return _taken_space(out, x, indices, axis=axis, mode=mode) + 8 * (sum(out.shape) - out.shape[axis])


def gathered_space(out: Template, x: Template, indices: Template, /, *, mode: Mode) -> int:
    most, kept = merged_space(indices, mode)
    if not x.size:
        return max(most - out.nbytes, 0)
    return max(most - out.nbytes, kept + (out.nbytes if mode == "fill" and indices.shape[-1] else 0))


def _added_space(out: Template, x: Template, indices: Template, updates: Template, /, *, mode: Mode) -> int:
    """The bytes of positions of rows, then of elements, and of sums and updates in a wider dtype."""
    most, kept = merged_space(indices, mode)
    width = prod(x.shape[indices.shape[-1] :])
    if width != 1:
        kept += 8 * (indices.size // max(indices.shape[-1], 1)) * width
    wider = accumulator_bytes(prod(indices.shape[:-1]), out, updates)
    return max(most - out.nbytes, kept) + (updates.nbytes if mode == "fill" else 0) + wider


def _put_space(out: Template, x: Template, indices: Template, updates: Template, /, *, mode: Mode) -> int:
    most, kept = merged_space(indices, mode)
    return max(most - out.nbytes, kept + (updates.nbytes if mode == "fill" else 0))


def _added_along_space(
    out: Template, x: Template, indices: Template, updates: Template, /, *, axis: int, mode: Mode
) -> int:
    """The bytes of positions along the axis, in all of x, and of those inside; the rest is as in `_added_space`."""
    most, kept = _located_space(indices, mode)
    positions, inside = 8 * indices.size, (indices.size if mode == "fill" else 0)
    chosen = updates.nbytes if mode == "fill" else 0
    before = max(most, kept + positions, inside + (2 * positions if inside else positions) + chosen)
    return max(before - out.nbytes, positions + inside + chosen) + accumulator_bytes(indices.shape[axis], out, updates)


class ArrayIndexing(ArrayBase):
    """Callbacks that read and write by index."""

    def indexing(self, x: Template, structure: tuple[Any, ...], /) -> Kernel | None:
        """The module's own indexing, for views only: not every module checks index tensors before it uses them."""
        return None if any(isinstance(kind, Template) for kind in structure) else getitem

    @planned
    def slice(self, out: Template, x: Template, /, *, starts: Ints, lengths: Ints, strides: Ints) -> Kernel:
        """A view of every `strides[i]`-th element from `starts[i]` on."""
        steps = zip(starts, lengths, strides, strict=True)
        key = (*(slice(start, start + length * stride, stride) for start, length, stride in steps), ...)
        return flagless_kernel(lambda values: values[key])

    @planned
    def put_slice(self, out: Template, x: Template, update: Template, /, *, starts: tuple[int, ...]) -> Kernel:
        """A copy of x with `update` written into the block at `starts`."""
        block = (*(slice(start, start + size) for start, size in zip(starts, update.shape, strict=True)), ...)

        def put(values: Array, part: Array) -> Array:
            result = values.copy()
            result[block] = part
            return result

        return put

    @takes(_taken_space)
    @planned
    def take(self, out: Template, x: Template, indices: Template, /, *, axis: int, mode: Mode) -> Kernel:
        """Entries of x at indices along `axis`."""
        spread = indices.shape + (1,) * (x.ndim - axis - 1)
        return self._taken(out, x, mode, self._located(indices, x.shape[axis], mode), self._entries(axis), spread)

    @takes(_taken_along_space)
    @planned
    def take_along_axis(self, out: Template, x: Template, indices: Template, /, *, axis: int, mode: Mode) -> Kernel:
        """Entries of x along `axis`, with separate indices for each place on the other axes."""
        locate, entries = self._located(indices, x.shape[axis], mode), self._entries_along(axis)
        return self._taken(out, x, mode, locate, entries, indices.shape)

    @takes(gathered_space)
    @planned
    def gather(self, out: Template, x: Template, indices: Template, /, *, mode: Mode) -> Kernel:
        """Elements of x at index vectors."""
        depth = indices.shape[-1]
        locate, rows = self._merged(indices, x.shape[:depth], mode), (-1, *x.shape[depth:])
        entries = along = self._entries(0)
        if depth != 1:
            entries = lambda values, positions: along(values.reshape(rows), positions)  # noqa: E731 # next to its use
        spread = indices.shape[:-1] + (1,) * (x.ndim - depth)
        return self._taken(out, x, mode if depth else "error", locate, entries, spread)

    @takes(_added_space)
    @planned
    def indexed_add(self, out: Template, x: Template, indices: Template, updates: Template, /, *, mode: Mode) -> Kernel:
        """x with all updates added, also several at one place; many are added in a wider dtype, and rounded once."""
        written = self._writes(x, indices, mode)
        accumulator = accumulator_dtype(out.dtype, prod(indices.shape[:-1]))
        shape, dtype, working = out.shape, numpy_dtype(out.dtype), numpy_dtype(accumulator)
        narrow = accumulator is not out.dtype
        width, arange, add_at = prod(x.shape[indices.shape[-1] :]), self.xp.arange, self.add_at

        def add(values: Array, places: Array, addends: Array) -> Array:
            positions, rows = written(places, addends)
            if width != 1:  # a position for each element, as ufunc.at is only quick for one axis
                positions = (positions[:, None] * width + arange(width)).reshape(-1)
            result = values.astype(working).reshape(-1)
            add_at(result, positions, (rows.astype(working) if narrow else rows).reshape(-1))
            result = result.reshape(shape)
            return result.astype(dtype) if narrow else result

        return add

    @takes(_put_space)
    @planned
    def indexed_put(self, out: Template, x: Template, indices: Template, updates: Template, /, *, mode: Mode) -> Kernel:
        """x with the updates written in order: the last of several updates for one place wins."""
        written, put_at, depth, shape = self._writes(x, indices, mode), self.put_at, indices.shape[-1], out.shape
        table = (prod(x.shape[:depth]), *x.shape[depth:])

        def put(values: Array, places: Array, replacements: Array) -> Array:
            positions, rows = written(places, replacements)
            result = values.copy().reshape(table)
            put_at(result, positions, rows)
            return result.reshape(shape)

        return put

    # Overrides of composites

    @takes(_added_along_space)
    @planned
    def add_along_axis(
        self, out: Template, x: Template, indices: Template, updates: Template, /, *, axis: int, mode: Mode
    ) -> Kernel:
        """x with all updates added, at positions in the flattened x; many are added in a wider dtype."""
        locate, arange = self._located(indices, x.shape[axis], mode), self.xp.arange
        working, dtype = numpy_dtype(accumulator_dtype(out.dtype, indices.shape[axis])), numpy_dtype(out.dtype)
        before, size, after = prod(x.shape[:axis]), x.shape[axis], prod(x.shape[axis + 1 :])
        block = before, indices.shape[axis], after

        def add(values: Array, places: Array, addends: Array) -> Array:
            positions, inside = locate(places)
            positions = positions.reshape(block) + arange(before)[:, None, None] * size
            if after != 1:
                positions *= after
                positions += arange(after)
            positions, addends = positions.reshape(-1), addends.reshape(-1)
            if inside is not None:
                kept = inside.reshape(-1)
                positions, addends = positions[kept], addends[kept]
            result = values.astype(working).reshape(-1)
            self.add_at(result, positions, addends.astype(working, copy=False))
            return result.reshape(out.shape).astype(dtype, copy=False)

        return add

    @takes(lambda out, x, **options: x.size * (16 * x.ndim if x.ndim > 1 else 8))
    @planned
    def argwhere(self, out: Template, x: Template, /, *, size: int, fill_value: int) -> Kernel:
        """The index vectors of the nonzero elements, cut or filled up to `size` vectors."""
        xp, dtype, flat = self.xp, numpy_dtype(out.dtype), x.ndim == 1

        def find(values: Array) -> Array:
            vectors = xp.flatnonzero(values)[:size, None] if flat else xp.argwhere(values)[:size]
            if len(vectors) == size:
                return vectors.astype(dtype, copy=False)
            result = xp.full(out.shape, fill_value, dtype)
            result[: len(vectors)] = vectors
            return result

        return find

    # Helpers

    def largest_index(self, indices: Array) -> int:
        """The largest of some unsigned integers, at least one."""
        return int(indices.max())

    def _entries(self, axis: int) -> Kernel:
        """A kernel that takes entries at positions along an axis."""
        return lambda values, positions: values.take(positions, axis)

    def _entries_along(self, axis: int) -> Kernel:
        """A kernel that takes entries along an axis, with separate positions for each place on the other axes."""
        along = self.xp.take_along_axis
        return lambda values, positions: along(values, positions, axis)

    def _located(self, indices: Template, size: int, mode: Mode) -> Callable[[Array], tuple[Array, Any]]:
        """A function that converts indices to positions inside an axis; for the mode "fill" it also returns flags of
        those that were in bounds. It moves indices that are out of bounds inside, or in the mode "error" raises."""
        xp, long, unsigned = self.xp, numpy_dtype(int64), numpy_dtype(uint64)
        # Read as unsigned numbers, negative ones are the largest, so one comparison finds all that are outside.
        wide = unsigned if indices.dtype is uint64 else long

        largest = self.largest_index

        def require(places: Array) -> tuple[Array, Any]:
            places = places.astype(wide, copy=False)
            if largest(places.view(unsigned)) >= size:
                raise index_error(places, size)
            return (places if wide is long else places.view(long)), None

        def clip(places: Array) -> tuple[Array, Any]:
            if wide is unsigned:
                places = xp.minimum(places, iinfo(int64).max)
            return xp.clip(places.astype(long, copy=False), 0, size - 1), None

        def fill(places: Array) -> tuple[Array, Any]:
            inside = (places >= 0) & (places < size)
            return xp.where(inside, places, 0).astype(long, copy=False), inside

        if mode == "error":
            return require if indices.size else lambda places: (places.astype(long), None)
        return clip if mode == "clip" and size else fill

    def _merged(self, indices: Template, sizes: Sequence[int], mode: Mode) -> Callable[[Array], tuple[Array, Any]]:
        """A function that converts index vectors to positions in the row-major order of axes of given sizes, and
        returns flags as that of `_located` does."""
        shape, dtype = indices.shape[:-1], numpy_dtype(int64)
        column = Template(shape, indices.dtype)
        locate = [self._located(column, size, mode) for size in sizes]
        if len(sizes) == 1:
            (only,) = locate
            return lambda places: only(places[..., 0])

        def merge(places: Array) -> tuple[Array, Any]:
            positions, within = self.xp.zeros(shape, dtype), None
            for axis, (size, along) in enumerate(zip(sizes, locate, strict=True)):
                coordinates, inside = along(places[..., axis])
                positions = positions * size + coordinates
                if inside is not None:
                    within = inside if within is None else within & inside
            return positions, within

        return merge

    def _writes(self, x: Template, indices: Template, mode: Mode) -> Callable[[Array, Array], tuple[Array, Array]]:
        """A function that returns the positions to write, in order, and their rows, without those out of bounds."""
        depth = indices.shape[-1]
        locate, one_axis = self._merged(indices, x.shape[:depth], mode), indices.ndim == 2
        table = (prod(indices.shape[:-1]), *x.shape[depth:])

        def written(places: Array, updates: Array) -> tuple[Array, Array]:
            positions, inside = locate(places)
            if not one_axis:
                positions, updates = positions.reshape(-1), updates.reshape(table)
            if inside is None:
                return positions, updates
            kept = inside.reshape(-1)
            return (positions, updates) if kept.all() else (positions[kept], updates[kept])

        return written

    def _taken(
        self, out: Template, x: Template, mode: Mode, locate: Callable[[Array], tuple[Array, Any]], entries: Kernel,
        spread: tuple[int, ...],
    ) -> Kernel:  # fmt: skip
        """A kernel that takes entries at located positions; zeros where none is inside, or x has no elements.

        `spread` is the shape in which the flags of what is inside are broadcast to the result.
        """
        xp, dtype = self.xp, numpy_dtype(out.dtype)
        if not x.size:
            entries, mode = lambda values, positions: xp.zeros(out.shape, dtype), "error"
        if mode != "fill":
            return lambda values, places: entries(values, locate(places)[0])
        zero = xp.zeros((), dtype)

        def fill(values: Array, places: Array) -> Array:
            positions, inside = locate(places)
            return xp.where(inside.reshape(spread), entries(values, positions), zero)

        return fill


def index_error(places: Array, size: int) -> Exception:
    """The error for the first of the indices that is outside an axis of a size."""
    wrong = (places < 0) | (places >= size)
    return index_out_of_range(int(places[wrong].reshape(-1)[0]), size)


def order_keys(xp: Any, dtype: DType) -> tuple[Kernel, Kernel]:
    """A kernel that maps numbers of a dtype to new integers of the same order, -0.0 before 0.0 and NaN last, and its
    inverse.

    The bits of floats, read as integers, have the order of the floats; those of negative floats have the reverse order.
    """
    if not dtype.is_floating:
        return lambda values: values.copy(), itself
    floating, integer = numpy_dtype(dtype), numpy_dtype(as_dtype(f"int{dtype.bits}"))
    sign, most, missing = dtype.bits - 1, (1 << dtype.bits - 1) - 1, floating.type(nan).view(integer)

    def flip_negative(bits: Array) -> Array:
        return bits ^ ((bits >> sign) & most)

    return (
        lambda values: xp.where(values == values, flip_negative(values.view(integer)), missing),
        lambda bits: flip_negative(bits).view(floating),
    )
