"""Callbacks that move elements: views wherever the array module gives one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...protocol import Payload
from ...template import Template
from ...tensor import Tensor
from .base import Array, ArrayBase


class ArrayShaping(ArrayBase):
    """Changes of shape and order."""

    def reshape(self, out: Template, x: Tensor, /) -> Payload:
        """The same elements in row-major order under another shape."""
        return x.data.reshape(out.shape)

    def squeeze(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...]) -> Payload:
        """Without `axes`."""
        return x.data.reshape(out.shape)

    def broadcast(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...]) -> Payload:
        """A view in which the repeated axes have stride 0."""
        order = sorted(range(len(axes)), key=axes.__getitem__)
        lined_up = [1] * out.ndim
        for axis, size in zip(axes, x.shape, strict=True):
            lined_up[axis] = size
        return self.xp.broadcast_to(x.data.transpose(order).reshape(lined_up), out.shape)

    def transpose(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...]) -> Payload:
        """Axis i of the result is axis `axes[i]` of x."""
        return x.data.transpose(axes)

    def pad(
        self, out: Template, x: Tensor, pad_value: Tensor, /, *, padding: tuple[tuple[int, int, int], ...]
    ) -> Payload:
        """x written with the interior steps into an array of the pad value."""
        return padded(self.xp, x.data, pad_value.data, padding)

    def reverse(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...]) -> Payload:
        """A view in which the order along `axes` is turned round."""
        backwards = (slice(None, None, -1 if axis in axes else 1) for axis in range(x.data.ndim))
        return x.data[(*backwards, ...)]

    def concatenate(self, out: Template, tensors: Sequence[Tensor], /, *, axis: int) -> Payload:
        """The tensors one after another along `axis`."""
        return self.xp.concatenate([x.data for x in tensors], axis=axis)


def padded(xp: Any, values: Array, pad_value: Any, padding: Sequence[tuple[int, int, int]]) -> Array:
    """An array with (low, high, interior) elements of a value about each axis, cut where they are negative."""
    spread = [
        max(0, size + (size - 1) * interior) for size, (_, _, interior) in zip(values.shape, padding, strict=True)
    ]
    shape = tuple(low + size + high for size, (low, high, _) in zip(spread, padding, strict=True))
    result = xp.empty(shape, values.dtype)
    result[...] = pad_value
    source, target = [], []
    for size, length, (low, _, interior) in zip(values.shape, shape, padding, strict=True):
        step = interior + 1
        # Element j lands at low + j * step: those from `first` up to `last` are within the result.
        first = max(0, -(low // step))
        last = max(first, min(size, -((low - length) // step)))
        start = low + first * step
        source.append(slice(first, last))
        target.append(slice(start, start + (last - first) * step, step))
    result[tuple(target)] = values[tuple(source)]
    return result
