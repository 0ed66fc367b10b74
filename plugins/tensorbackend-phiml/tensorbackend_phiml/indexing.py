"""Functions that read and write entries at indices.

A negative index counts from the end. An index out of bounds is an error if its data can be read. In a compiled
function, reading clips it to the nearest index within bounds, and writing ignores it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorbackend as tb
from tensorbackend.dtypes import bool_

from .base import Base, Operand

SCATTERS: dict[str, Callable[..., tb.Tensor]] = {
    "add": tb.indexed_add,
    "update": tb.indexed_put,
    "max": tb.indexed_max,
    "min": tb.indexed_min,
}
"""Our function for each of PhiML's scatter modes."""


BOUNDARIES = {
    "undefined": "edge",
    "boundary": "edge",
    "periodic": "periodic",
    "symmetric": "symmetric",
    "reflect": "reflect",
}
"""The `boundary` of `tb.grid_sample` for each of PhiML's extrapolations except "zeros"."""


class Indexing(Base):
    """Functions that read and write entries at indices."""

    def gather(self, values: Operand, indices: Operand, axis: int) -> Any:
        """Take the entries at indices along an axis."""
        x = self._tensor(values)
        return tb.take(x, self._inside(indices, x.shape[axis]), axis=axis)

    def gather_1d(self, values: Operand, indices: Operand) -> Any:
        """Take the entries at indices along the first axis."""
        return self.gather(values, indices, 0)

    def gather_by_component_indices(self, values: Operand, *component_indices: Operand) -> Any:
        """Take the elements at indices; there is one tensor of indices for each axis."""
        x = self._tensor(values)
        return x[tuple(map(self._inside, component_indices, x.shape))]

    def gather_nd(self, values: Operand, indices: Operand) -> Any:
        """Take the entries at index vectors. Axes beyond the length of the vectors are channels."""
        x = self._tensor(values)
        return x[self._components(indices, x.shape)]

    def batched_gather_nd(self, values: Operand, indices: Operand) -> Any:
        """Apply `gather_nd` to each example. A single example of values or indices is used for all."""
        x, vectors = self._tensor(values), self._indices(indices)
        assert vectors.shape[-1] == x.ndim - 2, f"expected vectors of {x.ndim - 2} indices, got {vectors.shape}"
        columns = self._components(vectors, x.shape[1:])
        if x.shape[0] == 1:
            return x[0][columns]
        return x[(self._examples(x.shape[0], vectors.ndim - 1), *columns)]

    def batched_gather_1d(self, values: Operand, indices: Operand) -> Any:
        """Take entries of each example. A single example of values or indices is used for all."""
        x = self._tensor(values)
        places = self._inside(indices, x.shape[1])
        return x[0][places] if x.shape[0] == 1 else x[self._examples(x.shape[0], 2), places]

    def _components(self, vectors: Operand, shape: Sequence[int]) -> tuple[Any, ...]:
        """Split index vectors into a tensor of indices for each axis."""
        return tuple(map(self._inside, tb.unstack(self._indices(vectors), axis=-1), shape))

    def _inside(self, indices: Operand, length: int) -> Any:
        """Clip indices of a trace, which cannot be checked, to the bounds of an axis; return other indices unchanged.

        PhiML's compiled functions rely on this: they gather at the indices in the unused part of a buffer and discard
        the results.
        """
        places = self._indices(indices)
        if self.is_available(places):
            return places
        return tb.clip(tb.where(places < 0, places + length, places), 0, max(length - 1, 0))

    def _examples(self, count: int, axes: int) -> Any:
        """The numbers of `count` examples along the first of `axes` axes."""
        return tb.reshape(tb.arange(count, backend=self.base), (count, *[1] * (axes - 1)))

    def _indices(self, indices: Operand) -> Any:
        places = self._tensor(indices)
        return self.to_int64(places) if places.dtype is bool_ or places.dtype.is_inexact else places

    def batch_gather(self, tensor: Operand, batches: Any) -> Any:
        """Take examples of a batch."""
        return self._tensor(tensor)[[batches] if isinstance(batches, int) else self._indices(batches)]

    def multi_slice(self, tensor: Operand, slices: tuple[Any, ...]) -> Any:
        """Index a tensor by slices, ints and integer tensors without axes."""
        return self._tensor(tensor)[slices]

    def boolean_mask(
        self, x: Operand, mask: Operand, axis: int = 0, new_length: int | None = None, fill_value: Operand = 0
    ) -> Any:
        """Select the entries along an axis for which a mask holds; `new_length` of them, if it is given."""
        return tb.compress(self._tensor(mask), self._tensor(x), axis=axis, size=new_length, fill_value=fill_value)

    def nonzero(self, values: Operand, length: int | None = None, fill_value: int = -1) -> Any:
        """The index vectors of the nonzero elements; `length` of them, if it is given."""
        return tb.argwhere(self._tensor(values), size=length, fill_value=fill_value)

    def unravel_index(self, flat_index: Operand, shape: Sequence[int]) -> Any:
        """Convert flat indices to index vectors."""
        return tb.stack(tb.unravel_index(self._tensor(flat_index), tuple(map(int, shape)), mode="clip"), axis=-1)

    def ravel_multi_index(self, multi_index: Operand, shape: Operand, mode: str | int = "undefined") -> Any:
        """Convert index vectors to flat indices. If `mode` is an int, vectors out of bounds get it as their index."""
        vectors = self._indices(multi_index)
        ways: dict[str | int, Any] = {"undefined": "clip", "clamp": "clip", "periodic": "wrap"}
        options = {"mode": ways[mode]} if mode in ways else {"mode": "fill", "fill_value": int(mode)}
        if options["mode"] == "fill":  # PhiML counts a negative index as outside
            vectors = tb.where(vectors < 0, tb.iinfo(vectors.dtype).max, vectors)
        columns = tb.unstack(vectors, axis=-1)
        if not self.is_available(shape):
            lengths = tb.unstack(self._cast(shape, vectors.dtype))
            return self._raveled(columns, lengths, mode)
        shape = tuple(int(size) for size in shape)
        return self._cast(tb.ravel_multi_index(columns, shape, **options), self._dtype(multi_index))

    def _raveled(self, columns: Sequence[Any], lengths: Sequence[Any], mode: str | int) -> Any:
        """Convert index vectors to flat indices for a shape that is data of a trace."""
        number: Any = 0
        inside: Any = True
        for column, length in zip(columns, lengths, strict=True):
            inside = tb.logical_and(inside, (column >= 0) & (column < length))
            if mode == "periodic":
                column = column % length
            elif mode == "clamp":
                column = tb.clip(column, 0, length - 1)
            number = number * length + column
        return tb.where(inside, number, mode) if isinstance(mode, int) else number

    def scatter(self, base_grid: Operand, indices: Operand, values: Operand, mode: str) -> Any:
        """Copy a batch and write values at index vectors. Examples, values and channels broadcast if there is one."""
        kept = self._dtype(base_grid)
        grid, updates = self.auto_cast(base_grid, values, bool_to_int=True)
        vectors = self._indices(indices)
        size = self.determine_size([grid, updates, vectors], 0)
        count = max(vectors.shape[1], updates.shape[1]) if min(vectors.shape[1], updates.shape[1]) else 0
        grid = self.tile_to(grid, 0, size)
        # Indices out of bounds are ignored if their data cannot be read.
        outside = "error" if self.is_available(vectors) else "fill"
        updates = tb.broadcast_to(updates, (size, count, grid.shape[-1]))
        vectors = tb.broadcast_to(vectors, (size, count, vectors.shape[-1]))
        if size == 1:
            vectors = self._count_from_start(vectors[0], grid.shape[1:-1])
            scattered = SCATTERS[mode](grid[0], vectors, updates[0], mode=outside)[None]
        else:
            vectors = tb.reshape(self._count_from_start(vectors, grid.shape[1:-1]), (size * count, -1))
            examples = tb.repeat(tb.arange(size, backend=self.base), count)
            vectors = tb.concat([examples[:, None], self.to_int64(vectors)], axis=1)
            updates = tb.reshape(updates, (size * count, grid.shape[-1]))
            scattered = SCATTERS[mode](grid, vectors, updates, mode=outside)
        return self._cast(scattered, bool_) if kept is bool_ and scattered.dtype is tb.int32 else scattered

    def _count_from_start(self, vectors: Any, shape: Sequence[int]) -> Any:
        """Replace negative indices, which count from the end, by indices from the start."""
        lengths = tb.asarray(list(shape), dtype=vectors.dtype, backend=self.base)
        return tb.where(vectors < 0, vectors + lengths, vectors)

    def scatter_nd(self, base_grid: Operand, indices: Operand, values: Operand, mode: str) -> Any:
        """Apply `scatter` to one example."""
        grid, vectors, updates = map(self._tensor, (base_grid, indices, values))
        return self.scatter(grid[None], vectors[None], updates[None], mode)[0]

    def scatter_1d_scalar(self, base_grid: Operand, indices: Operand, values: Operand, mode: str) -> Any:
        """Apply `scatter` to one example with one axis and without channels."""
        grid, places, updates = map(self._tensor, (base_grid, indices, values))
        return self.scatter(grid[None, :, None], places[None, :, None], updates[None, :, None], mode)[0, :, 0]

    def scatter_nd_scalar(self, base_grid: Operand, indices: Operand, values: Operand, mode: str) -> Any:
        """Apply `scatter` to one example without channels."""
        grid, vectors, updates = map(self._tensor, (base_grid, indices, values))
        return self.scatter(grid[None, ..., None], vectors[None], updates[None, :, None], mode)[0, ..., 0]

    def indexed_segment_sum(self, x: Operand, indices: Operand, axis: int) -> Any:
        """Sum the entries along an axis from each index up to the next one, for each example."""
        x, starts = self._tensor(x), self._indices(indices)
        count, length = starts.shape[1], x.shape[axis]

        def summed(x: tb.Tensor, starts: tb.Tensor) -> tb.Tensor:
            places = tb.arange(length, backend=self.base)
            segments = tb.searchsorted(starts, places, side="right") - 1
            return tb.segment_sum(x, segments, size=count, axis=axis - 1)

        return tb.vmap(summed)(x, starts)

    def grid_sample(self, grid: Operand, coordinates: Operand, extrapolation: str) -> Any:
        """Interpolate grids linearly; return `NotImplemented` for an unknown extrapolation, as PhiML expects."""
        if extrapolation != "zeros" and extrapolation not in BOUNDARIES:
            return NotImplemented
        grid, coordinates = self.auto_cast(grid, coordinates, int_to_float=True)
        axes = tuple(range(1, 1 + coordinates.shape[-1]))
        if extrapolation == "zeros":
            # As in PhiML, values fall linearly to zero beyond the ends. This also decides the slope at the last entry.
            grid, coordinates, extrapolation = tb.pad(grid, dict.fromkeys(axes, (1, 1))), coordinates + 1, "boundary"
        return tb.grid_sample(grid, coordinates, axes=axes, boundary=BOUNDARIES[extrapolation])
