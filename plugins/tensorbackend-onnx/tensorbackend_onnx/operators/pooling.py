"""Pools: what is left of the elements in each window."""

from __future__ import annotations

import math
from typing import Any

import tensorbackend as tb
from tensorbackend import Tensor

from .registry import Ints, Node, operator, rows
from .windows import PoolAttributes, Windows


@operator("MaxPool")
def max_pool(x: Tensor, *, attributes: PoolAttributes, storage_order: int = 0, node: Node) -> Any:
    """The largest element of each window, and where it is in the whole tensor."""
    options = attributes.of(x).options()
    largest = tb.window_max(x, **options)
    if not node.wants(1):
        return largest
    positions = tb.window_argmax(x, **options)
    if storage_order:  # the images are stored by columns
        image = math.prod(x.shape[2:])
        places = tb.unravel_index(tb.remainder(positions, image), x.shape[2:])
        columns = tb.ravel_multi_index(places[::-1], x.shape[:1:-1])
        positions = positions - tb.remainder(positions, image) + columns
    return largest, positions


@operator("AveragePool")
def average_pool(x: Tensor, *, attributes: PoolAttributes, count_include_pad: int = 0) -> Tensor:
    """The mean of each window, over the elements of x or, with `count_include_pad`, those of the padding as well."""
    found = attributes.of(x)
    return tb.window_sum(x, **found.options()) / _counts(x, found, bool(count_include_pad))


def _counts(x: Tensor, found: Windows, with_padding: bool) -> Tensor:
    """How many elements each window has: a product of one number for each axis."""
    counts = tb.ones((), dtype=x.dtype, backend="binary")
    for size, (low, high), span, stride, step, count in zip(
        x.shape[2:], found.padding, found.spans, found.strides, found.dilations, found.counts(x.shape[2:]), strict=True
    ):
        first, end = (-low, size + high) if with_padding else (0, size)
        numbers = [
            sum(first <= place < end for place in range(start, start + span, step))
            for start in range(-low, -low + stride * count, stride)
        ]
        counts = counts[..., None] * tb.tensor(numbers, dtype=x.dtype, backend="binary")
    return counts


@operator("LpPool")
def lp_pool(x: Tensor, *, attributes: PoolAttributes, p: int = 2) -> Tensor:
    """The p-norm of each window."""
    return tb.pow(tb.window_sum(tb.pow(tb.abs(x), p), **attributes.of(x).options()), 1 / p)


def spatial(x: Tensor) -> tuple[int, ...]:
    """The axes of images (batch, channels, *spatial)."""
    return tuple(range(2, x.ndim))


@operator("GlobalLpPool")
def global_lp_pool(x: Tensor, *, p: int = 2) -> Tensor:
    """The p-norm of each channel."""
    return tb.pow(tb.sum(tb.pow(tb.abs(x), p), axis=spatial(x), keepdims=True), 1 / p)


rows(
    {
        "GlobalAveragePool": lambda x: tb.mean(x, axis=spatial(x), keepdims=True),
        "GlobalMaxPool": lambda x: tb.max(x, axis=spatial(x), keepdims=True),
    }
)


@operator("MaxUnpool")
def max_unpool(x: Tensor, indices: Tensor, output_shape: Ints | None = None, *, attributes: PoolAttributes) -> Tensor:
    """Elements at the places where `max_pool` found them, among zeros.

    The places are those in the smallest tensor that the pool may have had, whatever the shape of the output.
    """
    found = attributes.of(x)
    rows = zip(x.shape[2:], found.strides, found.sizes, found.padding, strict=True)
    least = (*x.shape[:2], *((count - 1) * stride + size - sum(pad) for count, stride, size, pad in rows))
    image = tb.nn.max_unpool(x, indices, least)
    if output_shape is None:
        return image
    return tb.pad(image, [(0, target - size) for target, size in zip(output_shape, least, strict=True)])
