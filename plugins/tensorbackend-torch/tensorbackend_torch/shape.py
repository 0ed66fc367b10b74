"""Callbacks that move elements. They return views where PyTorch does."""

from __future__ import annotations

from collections.abc import Sequence

from tensorbackend import Template
from tensorbackend.extending import align_axes, pad_slices
from tensorbackend.protocol import Kernel, planned

from .kernels import Fitting, TorchBase, kernel, kernel_planned
from .library import torch
from .ways import Array


class TorchShaping(TorchBase):
    """Callbacks that change the shape of a tensor or the order of its elements."""

    @planned
    def reshape(self, out: Template, x: Template, /) -> Kernel:
        """The elements of x in row-major order, in the shape of `out`."""
        shape, reshape = out.shape, torch.reshape  # as the method takes twice the time with a tuple
        return lambda values: reshape(values, shape)

    @planned
    def squeeze(self, out: Template, x: Template, /, *, axes: tuple[int, ...]) -> Kernel:
        """x without `axes`, each of which has size 1."""
        squeeze = torch.squeeze
        return lambda values: squeeze(values, axes)

    @kernel(unsigned="bits")
    def broadcast(self, out: Template, x: Array, *, axes: tuple[int, ...]) -> Array:
        """A view of x in the shape of `out`, in which repeated axes have stride 0."""
        order, lined_up = align_axes(x.shape, axes, out.ndim)
        return x.permute(order).reshape(lined_up).expand(out.shape)

    @planned
    def transpose(self, out: Template, x: Template, /, *, axes: tuple[int, ...]) -> Kernel:
        """Axis i of the result is axis `axes[i]` of x."""
        permute = torch.permute
        return lambda values: permute(values, axes)

    @kernel(unsigned="bits")
    def pad(self, out: Template, x: Array, pad_value: Array, *, padding: tuple[tuple[int, int, int], ...]) -> Array:
        """x inside a tensor filled with the pad value; `interior` pad values separate neighbouring elements."""
        return padded(x, pad_value, padding)

    @kernel(unsigned="bits")
    def reverse(self, out: Template, x: Array, *, axes: tuple[int, ...]) -> Array:
        """x with the order of elements along `axes` reversed."""
        return torch.flip(x, axes)

    @kernel_planned(unsigned="bits")
    def concatenate(self, out: Template, tensors: Sequence[Template], *, axis: int) -> Fitting:
        """The tensors joined along `axis`."""
        cat = torch.cat
        return Fitting(lambda arrays: cat(arrays, axis))


def padded(values: Array, pad_value: Array | float, padding: Sequence[tuple[int, int, int]]) -> Array:
    """Pad each axis by (low, high, interior) elements of a value; negative `low` and `high` cut elements off."""
    shape, source, target = pad_slices(values.shape, padding)
    result = values.new_empty(shape)
    result[...] = pad_value
    result[tuple(target)] = values[tuple(source)]
    return result
