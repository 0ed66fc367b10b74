"""Slices, gathers and scatters.

Index vectors become positions in an x whose indexed axes are merged into one, so that `gather` and the scatters share
their code.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from tensorbackend import Template
from tensorbackend.annotations import Ints
from tensorbackend.dtypes import bool_, int64, uint64
from tensorbackend.extending import index_out_of_range
from tensorbackend.protocol import Kernel, planned
from tensorbackend.protocol.indexing import Mode, Write

from . import extremes
from .casting import as_int64
from .kernels import TorchBase, kernel
from .library import torch
from .ways import UNSIGNED, Array, add_rows, bits_of, dtype_of, torch_dtype, wide
from .writing import viewed, write


class TorchIndexing(TorchBase):
    """What reads and writes by index."""

    def indexing(self, x: Template, structure: tuple[Any, ...], /) -> Kernel | None:
        """Uses PyTorch's indexing for views, and on the CPU for index tensors.

        Not for index tensors together with ints, for which PyTorch orders the axes differently; nor on a GPU, which
        does not say which index is out of bounds.
        """
        tensors = [kind for kind in structure if isinstance(kind, Template)]
        if not tensors:
            return viewed
        if self.place.type != "cpu" or int in structure or any(kind.dtype is uint64 for kind in tensors):
            return None
        if x.dtype not in UNSIGNED and all(kind.dtype in (int64, bool_) for kind in tensors):
            return _indexed
        result_dtype = torch_dtype(x.dtype)
        return lambda values, key: bits_of(values)[tuple(map(_part, key))].view(result_dtype)

    def assignment(self, x: Template, structure: tuple[Any, ...], value: Template | type, /) -> Write | None:
        """PyTorch's assignment, on the CPU."""
        return write(x, structure, value) if self.place.type == "cpu" else None

    def positions(self, x: Template, /) -> Kernel | None:
        """Finds the positions of nonzero elements by PyTorch."""
        if x.dtype in UNSIGNED:
            return lambda values: bits_of(values).nonzero(as_tuple=True)
        return lambda values: values.nonzero(as_tuple=True)

    @planned
    def slice(self, out: Template, x: Template, /, *, starts: Ints, lengths: Ints, strides: Ints) -> Kernel:
        """A view of every `strides[i]`-th element from `starts[i]` on."""
        steps = zip(starts, lengths, strides, strict=True)
        key = (*(slice(start, start + length * stride, stride) for start, length, stride in steps), ...)
        return lambda values: values[key]

    @kernel(unsigned="bits")
    def put_slice(self, out: Template, x: Array, update: Array, *, starts: tuple[int, ...]) -> Array:
        """A copy of x with the block written."""
        result = x.clone()
        blocks = zip(starts, update.shape, strict=True)
        result[tuple(slice(start, start + size) for start, size in blocks)] = update
        return result

    @kernel(unsigned="own")
    def take(self, out: Template, x: Array, indices: Array, *, axis: int, mode: Mode) -> Array:
        """Entries of x along `axis`."""
        positions, inside = _located(indices, x.shape[axis], mode)
        if not x.numel():
            return bits_of(x).new_zeros(out.shape)
        taken = torch.index_select(bits_of(x), axis, positions.reshape(-1)).reshape(out.shape)
        if inside is None:
            return taken
        return torch.where(inside.reshape((*inside.shape, *[1] * (x.ndim - axis - 1))), taken, 0)

    @kernel(unsigned="own")
    def take_along_axis(self, out: Template, x: Array, indices: Array, *, axis: int, mode: Mode) -> Array:
        """Entries of x along `axis`, with separate indices for each place on the other axes."""
        positions, inside = _located(indices, x.shape[axis], mode)
        if not x.numel():
            return bits_of(x).new_zeros(out.shape)
        taken = torch.take_along_dim(bits_of(x), positions, axis)
        return taken if inside is None else torch.where(inside, taken, 0)

    @kernel(unsigned="own")
    def gather(self, out: Template, x: Array, indices: Array, *, mode: Mode) -> Array:
        """Elements of x at index vectors."""
        depth = indices.shape[-1]
        positions, inside = _merged(indices, x.shape[:depth], mode)
        if not x.numel():
            return bits_of(x).new_zeros(out.shape)
        rows = bits_of(x).reshape(prod(x.shape[:depth]), *x.shape[depth:])
        taken = rows[positions]
        if inside is None:
            return taken
        return torch.where(inside.reshape((*inside.shape, *[1] * (x.ndim - depth))), taken, 0)

    @kernel(unsigned="own")
    def indexed_add(self, out: Template, x: Array, indices: Array, updates: Array, *, mode: Mode) -> Array:
        """x with the updates added, the narrow floats in float32."""
        positions, rows = _writes(x, indices, wide(bits_of(updates), out.dtype), mode)
        target = wide(bits_of(x), out.dtype).reshape(prod(x.shape[: indices.shape[-1]]), rows.shape[1]).clone()
        return add_rows(target, positions, rows).reshape(out.shape)

    @kernel(unsigned="own")
    def indexed_put(self, out: Template, x: Array, indices: Array, updates: Array, *, mode: Mode) -> Array:
        """x with the updates written; of repeated indices, only the last update is written."""
        positions, rows = _writes(x, indices, bits_of(updates), mode)
        target = bits_of(x).reshape(prod(x.shape[: indices.shape[-1]]), rows.shape[1]).clone()
        turn = torch.arange(len(positions), device=self.place)
        last = turn.new_full((len(target),), -1).scatter_reduce_(0, positions, turn, "amax")
        kept = last[positions] == turn
        target[positions[kept]] = rows[kept]
        return target.reshape(out.shape)

    # Overrides of composites

    @kernel(unsigned="own")
    def indexed_max(self, out: Template, x: Array, indices: Array, updates: Array, *, mode: Mode) -> Array:
        """Compares integers in the order of the elements: PyTorch leaves open which of two zeros is greater."""
        depth = indices.shape[-1]
        update_shape = indices.shape[:-1] + x.shape[depth:]
        line = extremes.in_line(self.cast(updates, out).expand(update_shape))
        positions, rows = _writes(x, indices, line, mode)
        width = rows.shape[1]
        places = (positions[:, None] * width + torch.arange(width, device=self.place)).reshape(-1)
        maxima = extremes.in_line(self.cast(x, out)).reshape(-1).clone()
        maxima.scatter_reduce_(0, places, rows.reshape(-1), "amax")
        return extremes.out_of_line(maxima, torch_dtype(out.dtype)).reshape(out.shape)

    @kernel(unsigned="bits")
    def argwhere(self, out: Template, x: Array, *, size: int, fill_value: int) -> Array:
        """The index vectors of the nonzero elements, cut or filled up to a size."""
        places = torch.argwhere(x)[:size]
        if len(places) == size:
            return places
        filled = places.new_full(out.shape, fill_value)
        filled[: len(places)] = places
        return filled


def _indexed(values: Array, key: tuple[Any, ...]) -> Array:
    return values[key]


def _part(part: Any) -> Any:
    """Converts index tensors in a key to int64, because PyTorch takes uint8 for a mask."""
    return part.to(torch.int64) if isinstance(part, torch.Tensor) and part.dtype is not torch.bool else part


def _located(indices: Array, size: int, mode: Mode) -> tuple[Array, Array | None]:
    """Returns indices in bounds, and a mask of those that were in bounds before; `None` if no mask is needed."""
    dtype = dtype_of(indices.dtype)
    indices = as_int64(indices, dtype)
    if dtype is uint64:  # from 2**63 on they look negative
        indices = torch.where(indices < 0, torch.iinfo(torch.int64).max, indices)
    inside = (indices >= 0) & (indices < size)
    if mode == "error":
        if not inside.all():
            raise index_out_of_range(int(indices[~inside].reshape(-1)[0]), size)
        return indices, None
    if mode == "clip" and size:
        return indices.clamp(0, size - 1), None
    return torch.where(inside, indices, 0), inside


def _merged(indices: Array, sizes: Sequence[int], mode: Mode) -> tuple[Array, Array | None]:
    """Convert index vectors to positions in row-major order along axes of these sizes; modes are as in `_located`."""
    positions = torch.zeros(indices.shape[:-1], dtype=torch.int64, device=indices.device)
    within = None
    for axis, size in enumerate(sizes):
        along, inside = _located(indices[..., axis], size, mode)
        positions = positions * size + along
        if inside is not None:
            within = inside if within is None else within & inside
    return positions, within


def _writes(x: Array, indices: Array, updates: Array, mode: Mode) -> tuple[Array, Array]:
    """Return the positions to write, in order, and the row for each; leave out positions outside of x."""
    depth = indices.shape[-1]
    positions, inside = _merged(indices, x.shape[:depth], mode)
    positions = positions.reshape(-1)
    rows = updates.reshape(len(positions), prod(x.shape[depth:]))
    if inside is None:
        return positions, rows
    kept = inside.reshape(-1)
    return positions[kept], rows[kept]
