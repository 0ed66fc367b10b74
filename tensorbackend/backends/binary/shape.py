"""Moves of whole elements between positions, on memoryviews of machine-sized integers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...protocol import Backend, Payload
from ...template import Shape, Template, intern_template
from ...tensor import Tensor
from .storage import broadcast_bytes

# An element is moved as an integer of its width: two for a complex128.
_FORMATS = {1: "B", 2: "H", 4: "I", 8: "Q"}


def _items(x: Tensor) -> Sequence[Any]:
    """The elements as what can be moved: integers of their width, bytes of complex128."""
    width = x.dtype.itemsize
    if width in _FORMATS:
        return memoryview(x.data).cast(_FORMATS[width])  # type: ignore[call-overload,no-any-return] # any letter
    return [x.data[start : start + width] for start in range(0, len(x.data), width)]


def steps(shape: Shape) -> list[int]:
    """How many elements apart neighbours along each axis lie, row-major: (2, 3, 4) has 12, 4, 1."""
    return [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]


def strided(x: Tensor, out: Template, start: int, strides: Sequence[int]) -> bytes:
    """The elements that lie at `start` plus index times stride, for every index of the output shape.

    Runs along the last axis are slices; a stride of 0 repeats, a negative one turns round.
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
    """The families `protocol.shape` and, of `protocol.indexing`, what needs no index tensor."""

    def reshape(self, out: Template, x: Tensor, /) -> Payload:
        """See the protocol."""
        return x.data

    def squeeze(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...]) -> Payload:
        """See the protocol."""
        return x.data

    def transpose(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...]) -> Payload:
        """See the protocol."""
        apart = steps(x.shape)
        return strided(x, out, 0, [apart[axis] for axis in axes])

    def broadcast(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...]) -> Payload:
        """See the protocol."""
        if list(axes) == sorted(axes):
            sizes = dict(zip(axes, x.shape, strict=True))
            aligned = tuple(sizes.get(axis, 1) for axis in range(out.ndim))
            return broadcast_bytes(x.data, intern_template(aligned, x.dtype, (None,) * out.ndim), out.shape)
        apart = [0] * out.ndim
        for size, step, axis in zip(x.shape, steps(x.shape), axes, strict=True):
            apart[axis] = step if size != 1 else 0
        return strided(x, out, 0, apart)

    def reverse(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...]) -> Payload:
        """See the protocol."""
        apart = steps(x.shape)
        start = sum(apart[axis] * (x.shape[axis] - 1) for axis in axes)
        return strided(x, out, start, [-step if axis in axes else step for axis, step in enumerate(apart)])

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
        """See the protocol."""
        apart = steps(x.shape)
        start = sum(first * step for first, step in zip(starts, apart, strict=True))
        return strided(x, out, start, [stride * step for stride, step in zip(strides, apart, strict=True)])
