"""Reads and writes at index vectors, on rows of bytes: the entries of the axes after the indexed ones move together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import compress, islice

from ...annotations import Ints
from ...dtypes.packing import iterable, pack
from ...protocol import Backend, Payload
from ...protocol.indexing import Mode
from ...rules.data_errors import index_out_of_range
from ...template import Shape, Template
from ...tensor import Tensor
from .bits import UNSIGNED
from .shape import steps, take_strided, write_block
from .storage import elements, store


def locate(indices: Sequence[int], size: int, mode: Mode) -> Sequence[int | None]:
    """Indices in an axis of length `size`; for an index outside, by `mode`, an error, the nearest end or `None`."""
    if not indices or (min(indices) >= 0 and max(indices) < size):
        return indices
    if mode == "error":
        raise index_out_of_range(next(index for index in indices if not 0 <= index < size), size)
    if mode == "clip" and size:
        return [min(max(index, 0), size - 1) for index in indices]
    return [index if 0 <= index < size else None for index in indices]


def merge(indices: Tensor, sizes: Shape, mode: Mode) -> list[int | None]:
    """The row-major positions of index vectors in axes of these sizes: (1, 2) in (3, 4) is 6."""
    values, depth = elements(indices), len(sizes)
    positions: list[int | None] = [0] * math.prod(indices.shape[:-1])
    for axis, size in enumerate(sizes):
        column = locate(values[axis::depth], size, mode)
        positions = [
            None if position is None or index is None else position * size + index
            for position, index in zip(positions, column, strict=True)
        ]
    return positions


def pick_rows(data: bytes, width: int, places: Sequence[int | None]) -> bytes:
    """The rows of `width` bytes at these places, zeros for a place of `None`."""
    if 8 * width in UNSIGNED and None not in places:
        dtype = UNSIGNED[8 * width]
        return pack(list(map(iterable(data, dtype).__getitem__, places)), dtype)  # type: ignore[arg-type] # no None
    outside = bytes(width)
    return b"".join([outside if at is None else data[at * width : (at + 1) * width] for at in places])


class BinaryIndexing(Backend):
    """The family `protocol.indexing`."""

    def take(self, out: Template, x: Tensor, indices: Tensor, /, *, axis: int, mode: Mode) -> Payload:
        length, outer = x.shape[axis], math.prod(x.shape[:axis])
        places = locate(elements(indices), length, mode)
        if outer != 1:
            places = [None if at is None else block * length + at for block in range(outer) for at in places]
        return pick_rows(x.data, math.prod(x.shape[axis + 1 :]) * x.dtype.itemsize, places)

    def take_along_axis(self, out: Template, x: Tensor, indices: Tensor, /, *, axis: int, mode: Mode) -> Payload:
        length, inner = x.shape[axis], math.prod(x.shape[axis + 1 :])
        span = indices.shape[axis] * inner
        places = [
            None if at is None else (position // span * length + at) * inner + position % inner
            for position, at in enumerate(locate(elements(indices), length, mode))
        ]
        return pick_rows(x.data, x.dtype.itemsize, places)

    def gather(self, out: Template, x: Tensor, indices: Tensor, /, *, mode: Mode) -> Payload:
        depth = indices.shape[-1]
        return pick_rows(x.data, math.prod(x.shape[depth:]) * x.dtype.itemsize, merge(indices, x.shape[:depth], mode))

    def indexed_add(self, out: Template, x: Tensor, indices: Tensor, updates: Tensor, /, *, mode: Mode) -> Payload:
        depth = indices.shape[-1]
        width, result, added = math.prod(x.shape[depth:]), list(elements(x)), elements(updates)
        start = 0
        for at in merge(indices, x.shape[:depth], mode):
            if at is not None:
                for offset in range(width):
                    result[at * width + offset] += added[start + offset]
            start += width
        return store(result, out.dtype)

    def indexed_put(self, out: Template, x: Tensor, indices: Tensor, updates: Tensor, /, *, mode: Mode) -> Payload:
        depth = indices.shape[-1]
        width, result, written = math.prod(x.shape[depth:]) * x.dtype.itemsize, bytearray(x.data), updates.data
        start = 0
        for at in merge(indices, x.shape[:depth], mode):
            if at is not None:
                result[at * width : (at + 1) * width] = written[start : start + width]
            start += width
        return bytes(result)

    # An override of a composite, and callbacks without index tensors

    def argwhere(self, out: Template, x: Tensor, /, *, size: int, fill_value: int) -> Payload:
        """The index vectors of the nonzero elements, cut off or filled up to `size`."""
        places = list(islice(compress(range(x.size), elements(x)), size))
        missing = [fill_value] * (size - len(places))
        columns: list[list[int]] = []
        for length in reversed(x.shape):
            columns.append([place % length for place in places] + missing)
            places = [place // length for place in places]
        return store([index for vector in zip(*columns[::-1], strict=True) for index in vector], out.dtype)

    def put_slice(self, out: Template, x: Tensor, update: Tensor, /, *, starts: tuple[int, ...]) -> Payload:
        target = bytearray(x.data)
        write_block(target, x.shape, starts, update, (1,) * x.ndim)
        return bytes(target)

    def slice(self, out: Template, x: Tensor, /, *, starts: Ints, lengths: Ints, strides: Ints) -> Payload:
        apart = steps(x.shape)
        start = sum(first * step for first, step in zip(starts, apart, strict=True))
        return take_strided(x, out, start, [stride * step for stride, step in zip(strides, apart, strict=True)])
