"""Callbacks that change the shape of a tensor or the order of its elements."""

from __future__ import annotations

from collections.abc import Sequence

from tensorbackend import Template
from tensorbackend.extending import align_axes

from .kernels import Function, MlxBase, kernel
from .library import Array, mx


class MlxShaping(MlxBase):
    """What moves elements."""

    @kernel()
    def reshape(self, out: Template, x: Template) -> Function:
        """The elements of x in row-major order, in the shape of `out`."""
        shape, reshape = out.shape, mx.reshape
        return lambda values: reshape(values, shape)

    @kernel()
    def squeeze(self, out: Template, x: Template, *, axes: tuple[int, ...]) -> Function:
        """x without `axes`, each of which has size 1."""
        squeeze = mx.squeeze
        return lambda values: squeeze(values, axes)

    @kernel()
    def broadcast(self, out: Template, x: Template, *, axes: tuple[int, ...]) -> Function:
        """x in the shape of `out`, in which axes are repeated."""
        order, lined_up = align_axes(x.shape, axes, out.ndim)
        shape = out.shape
        return lambda values: mx.broadcast_to(mx.transpose(values, order).reshape(lined_up), shape)

    @kernel()
    def transpose(self, out: Template, x: Template, *, axes: tuple[int, ...]) -> Function:
        """Axis i of the result is axis `axes[i]` of x."""
        transpose = mx.transpose
        return lambda values: transpose(values, axes)

    @kernel()
    def pad(
        self, out: Template, x: Template, pad_value: Template, *, padding: tuple[tuple[int, int, int], ...]
    ) -> Function:
        """x inside a tensor filled with the pad value; `interior` pad values separate neighbouring elements."""
        return padder(x.shape, padding)

    @kernel()
    def reverse(self, out: Template, x: Template, *, axes: tuple[int, ...]) -> Function:
        """x with the order of elements along `axes` reversed."""
        key = tuple(slice(None, None, -1 if axis in axes else 1) for axis in range(x.ndim))
        return lambda values: values[key]

    @kernel()
    def concatenate(self, out: Template, tensors: Sequence[Template], *, axis: int) -> Function:
        """The tensors joined along `axis`."""
        concatenate = mx.concatenate
        return lambda arrays: concatenate(list(arrays), axis)


def padder(shape: Sequence[int], padding: Sequence[tuple[int, int, int]]) -> Function:
    """The function that pads each axis by (low, high, interior) elements; negative `low` and `high` cut off."""
    edges = [(max(low, 0), max(high, 0)) for low, high, _ in padding]
    spread = [(axis, interior) for axis, (_, _, interior) in enumerate(padding) if interior and shape[axis] > 1]
    key = tuple(slice(max(-low, 0), -max(-high, 0) or None) for low, high, _ in padding)
    cuts = any(low < 0 or high < 0 for low, high, _ in padding)

    def pad(values: Array, value: Array) -> Array:
        for axis, interior in spread:
            before, size, after = values.shape[:axis], values.shape[axis], values.shape[axis + 1 :]
            gaps = mx.broadcast_to(value, (*before, size, interior, *after))
            wide = mx.concatenate([mx.expand_dims(values, axis + 1), gaps], axis + 1)
            kept = size + (size - 1) * interior
            wide = wide.reshape((*before, size * (interior + 1), *after))
            values = wide[(*[slice(None)] * axis, slice(kept))]
        if any(map(any, edges)):
            values = mx.pad(values, edges, constant_values=value)
        return values[key] if cuts else values

    return pad
