"""Callbacks that move elements: views wherever PyTorch gives one."""

from __future__ import annotations

from collections.abc import Sequence

from tensorbackend import Template
from tensorbackend.protocol import Kernel, planned

from .kernels import TorchBase, kernel
from .library import torch
from .ways import Array


class TorchShaping(TorchBase):
    """Changes of shape and order."""

    @planned
    def reshape(self, out: Template, x: Template, /) -> Kernel:
        """The same elements in row-major order under another shape."""
        shape = out.shape
        return lambda values: values.reshape(shape)

    @kernel(unsigned="bits")
    def squeeze(self, out: Template, x: Array, *, axes: tuple[int, ...]) -> Array:
        """Without `axes`."""
        return x.squeeze(axes)

    @kernel(unsigned="bits")
    def broadcast(self, out: Template, x: Array, *, axes: tuple[int, ...]) -> Array:
        """A view in which the repeated axes have stride 0."""
        order = sorted(range(len(axes)), key=axes.__getitem__)
        lined_up = [1] * out.ndim
        for axis, size in zip(axes, x.shape, strict=True):
            lined_up[axis] = size
        return x.permute(order).reshape(lined_up).expand(out.shape)

    @planned
    def transpose(self, out: Template, x: Template, /, *, axes: tuple[int, ...]) -> Kernel:
        """Axis i of the result is axis `axes[i]` of x."""
        return lambda values: values.permute(axes)

    @kernel(unsigned="bits")
    def pad(self, out: Template, x: Array, pad_value: Array, *, padding: tuple[tuple[int, int, int], ...]) -> Array:
        """x written with the interior steps into a tensor of the pad value."""
        return padded(x, pad_value, padding)

    @kernel(unsigned="bits")
    def reverse(self, out: Template, x: Array, *, axes: tuple[int, ...]) -> Array:
        """The order along `axes` turned round."""
        return torch.flip(x, axes)

    @kernel(unsigned="bits")
    def concatenate(self, out: Template, tensors: Sequence[Array], *, axis: int) -> Array:
        """The tensors one after another along `axis`."""
        return torch.cat(list(tensors), axis)


def padded(values: Array, pad_value: Array | float, padding: Sequence[tuple[int, int, int]]) -> Array:
    """A tensor with (low, high, interior) elements of a value about each axis, cut where they are negative."""
    shape, source, target = [], [], []
    for size, (low, high, interior) in zip(values.shape, padding, strict=True):
        step = interior + 1
        length = low + max(0, size + (size - 1) * interior) + high
        # Element j lands at low + j * step: those from `first` up to `last` are within the result.
        first = max(0, -(low // step))
        last = max(first, min(size, -((low - length) // step)))
        start = low + first * step
        shape.append(length)
        source.append(slice(first, last))
        target.append(slice(start, start + (last - first) * step, step))
    result = values.new_empty(shape)
    result[...] = pad_value
    result[tuple(target)] = values[tuple(source)]
    return result
