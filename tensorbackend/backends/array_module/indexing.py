"""Slices, gathers and scatters.

Index vectors become positions in an x whose indexed axes are merged into one, so that one road serves
`gather` and the scatters.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...dtypes import float32, iinfo, int64, promote_types, uint64
from ...interchange import numpy_dtype
from ...protocol import Payload
from ...protocol.indexing import Mode
from ...rules.data_errors import index_out_of_range
from ...template import Template
from ...tensor import Tensor
from .base import NARROW, Array, ArrayBase, kernel


class ArrayIndexing(ArrayBase):
    """What reads and writes by index."""

    def slice(
        self,
        out: Template,
        x: Tensor,
        /,
        *,
        starts: tuple[int, ...],
        lengths: tuple[int, ...],
        strides: tuple[int, ...],
    ) -> Payload:
        """A view of every `strides[i]`-th element from `starts[i]` on."""
        steps = zip(starts, lengths, strides, strict=True)
        return x.data[(*(slice(start, start + length * stride, stride) for start, length, stride in steps), ...)]

    def put_slice(self, out: Template, x: Tensor, update: Tensor, /, *, starts: tuple[int, ...]) -> Payload:
        """A copy of x with the block written."""
        result = x.data.copy()
        blocks = zip(starts, update.shape, strict=True)
        result[(*(slice(start, start + size) for start, size in blocks), ...)] = update.data
        return result

    @kernel
    def take(self, out: Template, x: Tensor, indices: Tensor, /, *, axis: int, mode: Mode) -> Payload:
        """Entries of x along `axis`."""
        positions, inside = self._located(indices.data, x.shape[axis], mode)
        if not x.size:
            return self.xp.zeros(out.shape, numpy_dtype(out.dtype))
        taken = self.xp.take(x.data, positions, axis=axis)
        if inside is None:
            return taken
        return self._zero_outside(taken, inside.reshape(indices.shape + (1,) * (x.template.ndim - axis - 1)))

    @kernel
    def take_along_axis(self, out: Template, x: Tensor, indices: Tensor, /, *, axis: int, mode: Mode) -> Payload:
        """Entries of x along `axis`, at indices of their own for each place on the other axes."""
        positions, inside = self._located(indices.data, x.shape[axis], mode)
        if not x.size:
            return self.xp.zeros(out.shape, numpy_dtype(out.dtype))
        taken = self.xp.take_along_axis(x.data, positions, axis)
        return taken if inside is None else self._zero_outside(taken, inside)

    @kernel
    def gather(self, out: Template, x: Tensor, indices: Tensor, /, *, mode: Mode) -> Payload:
        """Elements of x at index vectors."""
        depth = indices.shape[-1]
        positions, inside = self._merged(indices.data, x.shape[:depth], mode)
        if not x.size:
            return self.xp.zeros(out.shape, numpy_dtype(out.dtype))
        rows = x.data.reshape((-1, *x.shape[depth:]))
        taken = self.xp.take(rows, positions, axis=0)
        if inside is None:
            return taken
        return self._zero_outside(taken, inside.reshape(inside.shape + (1,) * (x.template.ndim - depth)))

    @kernel
    def indexed_add(self, out: Template, x: Tensor, indices: Tensor, updates: Tensor, /, *, mode: Mode) -> Payload:
        """x with the updates added one by one, the narrow floats in float32."""
        positions, rows = self._writes(x, indices, self.widened(updates), mode)
        # One index an element: ufunc.at is quick for one axis only.
        width = rows.shape[1]
        elements = positions[:, None] * width + self.xp.arange(width)
        result = self.widened(x).copy().reshape(-1)
        self.add_at(result, elements.reshape(-1), rows.reshape(-1))
        return self.narrowed(result.reshape(out.shape), out)

    @kernel
    def indexed_put(self, out: Template, x: Tensor, indices: Tensor, updates: Tensor, /, *, mode: Mode) -> Payload:
        """x with the updates written in order, so that the last of repeated ones stays."""
        positions, rows = self._writes(x, indices, updates.data, mode)
        result = x.data.copy().reshape((prod(x.shape[: indices.shape[-1]]), rows.shape[1]))
        self.put_at(result, positions, rows)
        return result.reshape(out.shape)

    # Overrides of composites

    @kernel
    def argwhere(self, out: Template, x: Tensor, /, *, size: int, fill_value: int) -> Payload:
        """The index vectors of what is not zero, cut or filled up to a size."""
        flat = len(x.shape) == 1
        found = self.xp.flatnonzero(x.data)[:size, None] if flat else self.xp.argwhere(x.data)[:size]
        if len(found) == size:
            return found.astype(numpy_dtype(out.dtype), copy=False)
        result = self.xp.full(out.shape, fill_value, numpy_dtype(out.dtype))
        result[: len(found)] = found
        return result

    @kernel
    def searchsorted(self, out: Template, x1: Tensor, x2: Tensor, /, *, side: str) -> Payload:
        """Where values would go; the array module has NaN greatest, too."""
        dtype = promote_types(x1.dtype, x2.dtype)
        line, values = (self.cast(x.data, x.dtype, float32 if dtype in NARROW else dtype) for x in (x1, x2))
        return self.xp.searchsorted(line, values, side=side).astype(numpy_dtype(out.dtype), copy=False)

    # Helpers

    def _located(self, indices: Array, size: int, mode: Mode) -> tuple[Array, Array | None]:
        """Indices within an axis, and where they were so from the start; `None` if all must be."""
        xp = self.xp
        if indices.dtype != numpy_dtype(uint64):
            indices = indices.astype(numpy_dtype(int64), copy=False)
        if mode == "error":
            # As unsigned numbers the negative ones are the greatest.
            if indices.size and int(indices.view(numpy_dtype(uint64)).max()) >= size:
                outside = (indices < 0) | (indices >= size)
                raise index_out_of_range(int(indices[outside].reshape(-1)[0]), size)
            return indices.view(numpy_dtype(int64)), None
        inside = (indices >= 0) & (indices < size)
        if indices.dtype == numpy_dtype(uint64):
            indices = xp.minimum(indices, iinfo(int64).max).astype(numpy_dtype(int64))
        if mode == "clip" and size:
            return xp.clip(indices, 0, size - 1), None
        return xp.where(inside, indices, 0), inside

    def _merged(self, indices: Array, sizes: Sequence[int], mode: Mode) -> tuple[Array, Array | None]:
        """Positions of index vectors in the row-major order of axes of some sizes, as in `_located`."""
        positions = self.xp.zeros(indices.shape[:-1], numpy_dtype(int64))
        within = None
        for axis, size in enumerate(sizes):
            along, inside = self._located(indices[..., axis], size, mode)
            positions = positions * size + along
            if inside is not None:
                within = inside if within is None else within & inside
        return positions, within

    def _writes(self, x: Tensor, indices: Tensor, updates: Array, mode: Mode) -> tuple[Array, Array]:
        """Positions to write, in order, and the rows for them; those outside are left out."""
        depth = indices.shape[-1]
        positions, inside = self._merged(indices.data, x.shape[:depth], mode)
        positions = positions.reshape(-1)
        rows = updates.reshape((positions.size, prod(x.shape[depth:])))
        if inside is None:
            return positions, rows
        kept = inside.reshape(-1)
        return positions[kept], rows[kept]

    def _zero_outside(self, values: Array, inside: Array) -> Array:
        return self.xp.where(inside, values, self.xp.zeros((), values.dtype))
