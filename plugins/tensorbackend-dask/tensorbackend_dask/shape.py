"""Ops that move blocks, or move elements between blocks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from tensorbackend import Template, Tensor
from tensorbackend.dtypes import DType
from tensorbackend.extending import align_axes
from tensorbackend.protocol import Payload

from .base import DaskBase, lazily
from .blocks import Array
from .chunks import Chunks
from .graphs import Lazy, Place, aligned, by_labels, known, layer, named, put_together, rechunked, single
from .library import da, np


class Spread:
    """Broadcasts a block to the shape of the result's block; axis i of the block becomes axis `axes[i]`."""

    def __init__(self, axes: tuple[int, ...]) -> None:
        self.axes = axes

    def __call__(self, block: Array, at: tuple[tuple[int, ...], tuple[int, ...]]) -> Array:
        _, lined_up = align_axes(block.shape, self.axes, len(at[1]))
        return np.broadcast_to(block.reshape(lined_up), at[1])


def spread(x: Lazy, dtype: DType, chunks: Chunks, axes: tuple[int, ...]) -> Lazy:
    """Broadcasts a payload to the blocks `chunks`; axis i of the payload becomes axis `axes[i]`."""
    shape = tuple(map(sum, chunks))
    matching_chunks = tuple(
        chunks[axis] if size == shape[axis] else sizes
        for axis, sizes, size in zip(axes, x.chunks, x.shape, strict=True)
    )
    labels = tuple(range(len(chunks)))
    operands = [(rechunked(x, matching_chunks), axes), (Place(chunks), labels)]
    return layer(Spread(axes), named("broadcast"), labels, chunks, dtype, operands)


def concatenated(pieces: Sequence[Lazy], axis: int, dtype: DType) -> Lazy:
    """Concatenates payloads along an axis, along which they keep their blocks."""
    filled = [x for x in pieces if x.shape[axis]] or list(pieces[:1])
    if len(filled) == 1:
        return filled[0]
    ndim = filled[0].ndim
    # Each payload has its own label for `axis`, so that it keeps its blocks along this axis.
    labels = [tuple(ndim + number if i == axis else i for i in range(ndim)) for number in range(len(filled))]
    filled = aligned(filled, labels)
    grid: dict[tuple[int, ...], tuple[Any, ...]] = {}
    first, sizes = 0, ()
    for x in filled:
        for place in product(*map(range, x.numblocks)):
            grid[(*place[:axis], place[axis] + first, *place[axis + 1 :])] = (x.name, *place)
        first, sizes = first + x.numblocks[axis], sizes + x.chunks[axis]
    chunks = filled[0].chunks
    return put_together(grid, filled, (*chunks[:axis], sizes, *chunks[axis + 1 :]), dtype)


def part(x: Lazy, axis: int, start: int, stop: int) -> Lazy:
    """Returns the entries of a payload from `start` to `stop` along an axis."""
    if start == 0 and stop == x.shape[axis]:
        return x
    return x[(*(slice(None),) * axis, slice(start, stop))]


class DaskShaping(DaskBase):
    """Changes of shape and order."""

    @lazily
    def reshape(self, out: Template, x: Tensor, /) -> Payload:
        """Keeps blocks of whole rows, and merges other blocks first."""
        if not out.size:
            return known(np.empty(out.shape, x.data.dtype))
        if out.ndim == 0:
            return by_labels("reshape", out, [(single(x.data), x.dtype, tuple(range(x.ndim)))], [()])
        if x.ndim == 0:
            return by_labels("reshape", out, [(x.data, x.dtype, ())], [tuple(range(out.ndim))])
        return da.reshape(x.data, out.shape)

    @lazily
    def squeeze(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...]) -> Payload:
        """Removes axes of size 1."""
        labels = tuple(range(x.ndim))
        kept = tuple(label for label in labels if label not in axes)
        return by_labels("squeeze", out, [(x.data, x.dtype, labels)], [kept], options={"axes": axes})

    @lazily
    def broadcast(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...]) -> Payload:
        """Repeats elements along new axes, which the rules cut into blocks."""
        chunks = list(self.chunks_for(out))
        for axis, sizes, size in zip(axes, x.data.chunks, x.shape, strict=True):
            if size == out.shape[axis]:
                chunks[axis] = sizes
        return spread(x.data, x.dtype, tuple(chunks), axes)

    @lazily
    def transpose(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...]) -> Payload:
        """Reorders the blocks, and transposes each block."""
        return by_labels("transpose", out, [(x.data, x.dtype, tuple(range(x.ndim)))], [axes], options={"axes": axes})

    @lazily
    def reverse(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...]) -> Payload:
        """Reverses the order of the blocks, and of the elements in each block."""
        if not out.size:
            return x.data
        return x.data[tuple(slice(None, None, -1 if axis in axes else 1) for axis in range(x.ndim))]

    @lazily
    def concatenate(self, out: Template, tensors: Sequence[Tensor], /, *, axis: int) -> Payload:
        """Puts the blocks of the tensors one after another."""
        return concatenated([x.data for x in tensors], axis, out.dtype)

    @lazily
    def pad(
        self, out: Template, x: Tensor, pad_value: Tensor, /, *, padding: tuple[tuple[int, int, int], ...]
    ) -> Payload:
        """Puts blocks of the pad value before and after x. Interior padding merges the blocks along all padded axes."""
        if not out.size:
            return known(np.empty(out.shape, x.data.dtype))
        padded = x.data
        if any(interior for _, _, interior in padding):
            labels = tuple(range(x.ndim))
            whole = [axis for axis, widths in enumerate(padding) if widths != (0, 0, 0)]
            operands = [(padded, x.dtype, labels), (pad_value.data, x.dtype, ())]
            return by_labels("pad", out, operands, [labels], whole=whole, options={"padding": padding})
        for axis, (low, high, _) in enumerate(padding):
            start, stop = max(-low, 0), padded.shape[axis] + min(high, 0)
            padded = part(padded, axis, min(start, stop), stop) if start <= stop else part(padded, axis, 0, 0)
            pieces = [padded]
            for place, count in ((0, low), (len(pieces), high)):
                if count > 0:
                    edge = tuple((count,) if i == axis else sizes for i, sizes in enumerate(padded.chunks))
                    value = spread(pad_value.data, x.dtype, edge, ())
                    pieces.insert(0 if place == 0 else len(pieces), value)
            padded = concatenated(pieces, axis, out.dtype)
        if padded.shape != out.shape:  # negative padding removed more than there was
            labels = tuple(range(x.ndim))
            operands = [(x.data, x.dtype, labels), (pad_value.data, x.dtype, ())]
            return by_labels("pad", out, operands, [labels], whole=labels, options={"padding": padding})
        return padded
