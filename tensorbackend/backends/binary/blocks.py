"""Blocks of elements put together: padding, joining, writing into. Runs along the last axis move as one slice."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ...protocol import Backend, Payload
from ...template import Shape, Template
from ...tensor import Tensor
from .shape import steps


def write_block(target: bytearray, shape: Shape, start: Sequence[int], block: Tensor, spacing: Sequence[int]) -> None:
    """Writes the elements of a block into those of a shape, from `start` on, `spacing` apart along each axis."""
    width = block.dtype.itemsize
    if not block.size:
        return
    apart = steps(shape)
    if not shape:
        target[:width] = block.data
        return
    length = block.shape[-1]
    offsets = [sum(first * step for first, step in zip(start, apart, strict=True))]
    for size, gap, step in list(zip(block.shape, spacing, apart, strict=True))[:-1]:
        offsets = [offset + position * gap * step for offset in offsets for position in range(size)]
    row = length * width
    for number, offset in enumerate(offsets):
        run = block.data[number * row : (number + 1) * row]
        if spacing[-1] == 1:
            target[offset * width : offset * width + row] = run
        else:
            for byte in range(width):  # an extended slice takes one byte of every element
                first, gap = offset * width + byte, spacing[-1] * width
                target[first : first + (length - 1) * gap + 1 : gap] = run[byte::width]


class BinaryBlocks(Backend):
    """What of the families `protocol.shape` and `protocol.indexing` puts blocks together."""

    def eye(self, out: Template, /, *, offset: int) -> Payload:
        """See the protocol."""
        rows, columns = out.shape[-2:]
        one: bytes = self.constant(out.replace(shape=(), names=()), value=1)
        zero = bytes(len(one))
        matrix = b"".join(
            zero * at + one + zero * (columns - at - 1) if 0 <= at < columns else zero * columns
            for at in range(offset, offset + rows)
        )
        return matrix * math.prod(out.shape[:-2])

    def pad(
        self, out: Template, x: Tensor, pad_value: Tensor, /, *, padding: tuple[tuple[int, int, int], ...]
    ) -> Payload:
        """See the protocol."""
        kept = [list(_kept(size, *each)) for size, each in zip(x.shape, padding, strict=True)]
        if any(not positions for positions in kept):
            return pad_value.data * out.size
        shape = tuple(map(len, kept))
        inside = x
        if shape != x.shape:
            template = x.template.replace(shape=shape)
            starts, ones = tuple(positions[0][0] for positions in kept), (1,) * x.ndim
            inside = Tensor(template, self, self.slice(template, x, starts=starts, lengths=shape, strides=ones))
        target = bytearray(pad_value.data * out.size)
        first = [positions[0][1] for positions in kept]
        write_block(target, out.shape, first, inside, [interior + 1 for _, _, interior in padding])
        return bytes(target)

    def concatenate(self, out: Template, tensors: Sequence[Tensor], /, *, axis: int) -> Payload:
        """See the protocol."""
        rows = math.prod(out.shape[:axis])
        runs = [(x.data, len(x.data) // rows if rows else 0) for x in tensors]
        return b"".join([data[row * run : (row + 1) * run] for row in range(rows) for data, run in runs])

    def put_slice(self, out: Template, x: Tensor, update: Tensor, /, *, starts: tuple[int, ...]) -> Payload:
        """See the protocol."""
        target = bytearray(x.data)
        write_block(target, x.shape, starts, update, (1,) * x.ndim)
        return bytes(target)


def _kept(size: int, low: int, high: int, interior: int) -> Iterator[tuple[int, int]]:
    """The positions along an axis that padding leaves, each with its place in the result."""
    total = low + size + max(size - 1, 0) * interior + high
    for position in range(size):
        place = low + position * (interior + 1)
        if 0 <= place < total:
            yield position, place
