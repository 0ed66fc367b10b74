"""Moves of whole elements between positions, on memoryviews of machine-sized integers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from ...protocol import Backend, Payload
from ...template import Shape, Template, intern_template
from ...tensor import Tensor
from .storage import broadcast_bytes

# An element is moved as an integer of its width; a complex128, which is wider than these, as bytes.
_FORMATS = {1: "B", 2: "H", 4: "I", 8: "Q"}


def _items(x: Tensor) -> Sequence[Any]:
    """The elements in a form that can be moved: integers of their width, or bytes for complex128."""
    width = x.dtype.itemsize
    if width in _FORMATS:
        return memoryview(x.data).cast(_FORMATS[width])  # type: ignore[call-overload,no-any-return] # any letter
    return [x.data[start : start + width] for start in range(0, len(x.data), width)]


def steps(shape: Shape) -> list[int]:
    """The distance of neighbours along each axis, in elements of a row-major array: (2, 3, 4) has 12, 4, 1."""
    return [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]


def take_strided(x: Tensor, out: Template, start: int, strides: Sequence[int]) -> bytes:
    """The elements at `start` plus index times stride, for every index of the output shape.

    Runs along the last axis are slices; a stride of 0 repeats an element, a negative stride reverses the order.
    """
    if out.size == 0:
        return b""
    items = _items(x)
    offsets = [start]
    for size, stride in list(zip(out.shape, strides, strict=True))[:-1]:
        offsets = [offset + position * stride for offset in offsets for position in range(size)]
    length, step = (out.shape[-1], strides[-1]) if out.shape else (1, 1)
    pieces = []
    for offset in offsets:
        if step == 0:
            piece = bytes(_run(items, offset, 1, 1)) * length
        elif step > 0:
            piece = _run(items, offset, length, step)
        else:
            piece = _run(items[::-1], len(items) - 1 - offset, length, -step)
        pieces.append(piece)
    return b"".join(pieces)


def _run(items: Sequence[Any], start: int, length: int, step: int) -> bytes:
    run = items[start : start + (length - 1) * step + 1 : step]
    return b"".join(run) if isinstance(run, list) else run.tobytes()  # type: ignore[attr-defined] # a memoryview


class BinaryShaping(Backend):
    """The family `protocol.shape`."""

    def reshape(self, out: Template, x: Tensor, /) -> Payload:
        return x.data

    def squeeze(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...]) -> Payload:
        return x.data

    def transpose(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...]) -> Payload:
        apart = steps(x.shape)
        return take_strided(x, out, 0, [apart[axis] for axis in axes])

    def broadcast(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...]) -> Payload:
        if list(axes) == sorted(axes):
            sizes = dict(zip(axes, x.shape, strict=True))
            aligned = tuple(sizes.get(axis, 1) for axis in range(out.ndim))
            return broadcast_bytes(x.data, intern_template(aligned, x.dtype, (None,) * out.ndim), out.shape)
        apart = [0] * out.ndim
        for size, step, axis in zip(x.shape, steps(x.shape), axes, strict=True):
            apart[axis] = step if size != 1 else 0
        return take_strided(x, out, 0, apart)

    def reverse(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...]) -> Payload:
        apart = steps(x.shape)
        start = sum(apart[axis] * (x.shape[axis] - 1) for axis in axes)
        return take_strided(x, out, start, [-step if axis in axes else step for axis, step in enumerate(apart)])

    def pad(
        self, out: Template, x: Tensor, pad_value: Tensor, /, *, padding: tuple[tuple[int, int, int], ...]
    ) -> Payload:
        kept = [list(_remaining_positions(size, *widths)) for size, widths in zip(x.shape, padding, strict=True)]
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
        rows = math.prod(out.shape[:axis])
        runs = [(x.data, len(x.data) // rows if rows else 0) for x in tensors]
        return b"".join([data[row * run : (row + 1) * run] for row in range(rows) for data, run in runs])


def _remaining_positions(size: int, low: int, high: int, interior: int) -> Iterator[tuple[int, int]]:
    """The positions along an axis that negative padding does not cut off, each with its place in the result."""
    total = low + size + max(size - 1, 0) * interior + high
    for position in range(size):
        place = low + position * (interior + 1)
        if 0 <= place < total:
            yield position, place


def write_block(target: bytearray, shape: Shape, start: Sequence[int], block: Tensor, spacing: Sequence[int]) -> None:
    """Writes the elements of a block into an array of a shape, from `start` on, `spacing` apart along each axis."""
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
