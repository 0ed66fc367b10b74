"""Gradients of ops that slide windows along all axes, as in pooling.

Rules that need each element of a window (products, dilated maxima) arrange the elements along a last axis
(`Patches.of`); `Patches.scattered` adds numbers in that arrangement at the positions of the elements.
"""

from __future__ import annotations

from typing import NamedTuple

from ...dtypes import Scalar, value_range
from ...ops.composite.cumulative import cumulative_prod
from ...ops.creation.filled import full, iota, zeros
from ...ops.elementwise.basic import astype, isnan, where
from ...ops.indexing.scatter import indexed_add
from ...ops.indexing.taking import take_along_axis, take_at
from ...ops.padding import pad
from ...ops.reduction import argmax, max, min, sum
from ...ops.shape import expand_dims, permute_dims, reshape, squeeze
from ...ops.window import window_scatter_max, window_scatter_min, window_sum
from ...rules.window import Windows
from ...template import Shape
from ...tensor import Tensor
from .registry import Cotangents, not_differentiable, rule

# Gradients that need the elements of each window


class Patches(NamedTuple):
    """The elements of each window: the number of windows along each axis, and the windows."""

    shape: Shape
    windows: Windows

    def places(self, axis: int, like: Tensor) -> Tensor:
        """The positions of the elements of each window along an axis of the padded tensor: a row for each window."""
        backend, (size, stride, dilation) = like.backend, self.windows.along[axis]
        starts = iota((self.shape[axis], 1), axis=0, backend=backend) * stride
        return starts + iota((1, size), axis=1, backend=backend) * dilation

    def of(self, x: Tensor, fill: Scalar) -> Tensor:
        """The elements of each window along a last axis, with `fill` in place of the padding."""
        x = pad(x, self.windows.padding, value=full((), fill, dtype=x.dtype, backend=x.backend))
        for axis in range(len(self.shape)):
            x = take_at(x, self.places(axis, x), axis=2 * axis)
        rank = len(self.shape)
        x = permute_dims(x, (*range(0, 2 * rank, 2), *range(1, 2 * rank, 2)))
        return reshape(x, (*self.shape, self.windows.elements))

    def scattered(self, elements: Tensor, shape: Shape) -> Tensor:
        """Add elements in the arrangement of `of` at the positions that they come from: its transpose."""
        rank, padded = len(shape), self.windows.padded(shape)
        x = reshape(elements, (*self.shape, *self.windows.sizes))
        x = permute_dims(x, tuple(position for axis in range(rank) for position in (axis, axis + rank)))
        for axis in range(rank):  # the first two axes become one, which moves to the end
            rest = x.shape[2:]
            into = zeros((padded[axis], *rest), dtype=x.dtype, backend=x.backend)
            places = reshape(self.places(axis, x), (-1, 1))
            x = indexed_add(into, places, reshape(x, (places.shape[0], *rest)))
            x = permute_dims(x, (*range(1, x.ndim), 0))
        return pad(x, [(-low, -high) for low, high in self.windows.padding])

    def chosen(self, x: Tensor, largest: bool) -> Tensor:
        """The position of the extreme element in each window: the first of equal elements, or the first NaN if any."""
        inside = self.of(full(x.shape, True, dtype="bool", backend=x.backend), False)
        elements = self.of(x, 0)
        least, most = value_range(x.dtype)
        extreme = (max if largest else min)(where(inside, elements, least if largest else most), axis=-1, keepdims=True)
        return argmax(astype(inside & ((elements == extreme) | isnan(elements)), "uint8"), axis=-1, keepdims=True)


@rule("window_sum")
def _window_sum(cotangent: Tensor, out: Tensor, x: Tensor, *, windows: Windows) -> Cotangents:
    """The cotangent of an element is the sum of those of the windows that contain it.

    That is a window sum with strides of 1 over the cotangents, dilated by the strides.
    """
    if not cotangent.size or not x.size:
        return (zeros(x.shape, dtype=x.dtype, backend=x.backend),)
    apart = pad(cotangent, [(0, 0, stride - 1) for stride in windows.strides])
    around = [
        (span - 1 - low, size + low - length)
        for span, (low, _), size, length in zip(windows.spans, windows.padding, x.shape, apart.shape, strict=True)
    ]
    return (window_sum(apart, windows.sizes, padding=around, dilations=windows.dilations),)


@rule("window_product")
def _window_product(cotangent: Tensor, out: Tensor, x: Tensor, *, windows: Windows) -> Cotangents:
    """Multiplies the factors before each element by those after it, as dividing by the element fails where it is 0."""
    patches = Patches(out.shape, windows)
    elements = patches.of(x, 1)
    before = cumulative_prod(elements, axis=-1, include_initial=True)[..., :-1]
    after = cumulative_prod(elements, axis=-1, include_initial=True, reverse=True)[..., 1:]
    return (patches.scattered(expand_dims(cotangent, axis=-1) * before * after, x.shape),)


def _extreme_gradient(cotangent: Tensor, x: Tensor, windows: Windows, largest: bool) -> Cotangents:
    """The cotangent of each window is added at its extreme element, the first of equal elements."""
    if all(dilation == 1 for dilation in windows.dilations):
        scatter = window_scatter_max if largest else window_scatter_min
        return (scatter(x, cotangent, 0, windows.sizes, strides=windows.strides, padding=windows.padding),)
    patches = Patches(cotangent.shape, windows)
    place = patches.chosen(x, largest)
    hit = iota((*patches.shape, windows.elements), axis=x.ndim, backend=x.backend) == place
    return (patches.scattered(where(hit, expand_dims(cotangent, axis=-1), 0), x.shape),)


@rule("window_max")
def _window_max(cotangent: Tensor, out: Tensor, x: Tensor, *, windows: Windows) -> Cotangents:
    return _extreme_gradient(cotangent, x, windows, largest=True)


@rule("window_min")
def _window_min(cotangent: Tensor, out: Tensor, x: Tensor, *, windows: Windows) -> Cotangents:
    return _extreme_gradient(cotangent, x, windows, largest=False)


not_differentiable(
    "window_reduce", reason="its function may be arbitrary; window_sum(), window_max() and window_min() have gradients"
)


def _scatter_gradient(cotangent: Tensor, x: Tensor, patches: Patches, largest: bool) -> Cotangents:
    """The cotangent of the source is read where its elements were added. x has none: it only determines where."""
    place = patches.chosen(x, largest)
    of_source = squeeze(take_along_axis(patches.of(cotangent, 0), place, axis=-1), -1)
    return None, of_source, sum(cotangent)


@rule("window_scatter_max")
def _window_scatter_max(
    cotangent: Tensor, out: Tensor, x: Tensor, source: Tensor, initial: Tensor, *, windows: Windows
) -> Cotangents:
    return _scatter_gradient(cotangent, x, Patches(source.shape, windows), largest=True)


@rule("window_scatter_min")
def _window_scatter_min(
    cotangent: Tensor, out: Tensor, x: Tensor, source: Tensor, initial: Tensor, *, windows: Windows
) -> Cotangents:
    return _scatter_gradient(cotangent, x, Patches(source.shape, windows), largest=False)
