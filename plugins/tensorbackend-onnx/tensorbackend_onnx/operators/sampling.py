"""Images at points: by a grid of coordinates, by regions of interest, and convolutions whose windows are moved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from itertools import product

import tensorbackend as tb
from tensorbackend import Tensor

from .registry import Data, operator
from .windows import ConvAttributes

BOUNDARIES = {"zeros": ("constant", "constant"), "border": ("edge", "edge"), "reflection": ("symmetric", "reflect")}
"""The values outside an image: if its corners are the ends of pixels, and if they are their centres."""


@operator("GridSample", since=16)
def grid_sample(
    x: Tensor, grid: Tensor, *, align_corners: int = 0, mode: str = "linear", padding_mode: str = "zeros"
) -> Tensor:
    """The values of images (batch, channels, *spatial) at points (batch, *points, coordinates) from -1 to 1."""
    spatial = x.shape[2:]
    sizes = tb.tensor(list(spatial), dtype=grid.dtype, backend="binary")
    unit = tb.flip(grid, axis=-1) + 1
    points = unit / 2 * (sizes - 1) if align_corners else (unit * sizes - 1) / 2
    boundary = BOUNDARIES[padding_mode][bool(align_corners)]
    if mode == "nearest":
        return sampled(x, tb.round(points), boundary, order=0)
    return sampled(x, points, boundary, order=1 if mode in ("linear", "bilinear") else 3)


def sampled(x: Tensor, points: Tensor, boundary: str, order: int = 1) -> Tensor:
    """Images with their channels second at points in units of entries."""
    spatial = tuple(range(1, x.ndim - 1))
    values = tb.grid_sample(tb.moveaxis(x, 1, -1), points, axes=spatial, boundary=boundary, order=order)
    return tb.moveaxis(values, -1, 1).astype(x.dtype)


@operator("DeformConv", since=19)
def deform_conv(
    x: Tensor,
    kernel: Tensor,
    offset: Tensor,
    bias: Tensor | None = None,
    mask: Tensor | None = None,
    *,
    offset_group: int = 1,
    attributes: ConvAttributes,
) -> Tensor:
    """A convolution, each element of whose windows is read at a place of its own."""
    found = attributes.windows(x.shape[2:], kernel.shape[2:])
    return tb.nn.deform_conv(
        x,
        kernel,
        offset,
        bias,
        mask,
        strides=found.strides,
        padding=found.padding,
        dilation=found.dilations,
        groups=attributes.group,
        offset_groups=offset_group,
    )


@operator("RoiAlign", since=16)
def roi_align(
    x: Tensor,
    rois: Data,
    batch_indices: Tensor,
    *,
    coordinate_transformation_mode: str = "half_pixel",
    mode: str = "avg",
    output_height: int = 1,
    output_width: int = 1,
    sampling_ratio: int = 0,
    spatial_scale: float = 1.0,
) -> Tensor:
    """Regions of images in one size: the mean, or the largest, of points in each of their bins."""
    half = coordinate_transformation_mode == "half_pixel"
    ends = rois * spatial_scale - (0.5 if half else 0.0)
    outputs = (output_height, output_width)
    if sampling_ratio > 0:
        return _aligned(x, ends, batch_indices, outputs, (sampling_ratio,) * 2, half, mode)
    results = []
    for row, (left, top, right, bottom) in enumerate(ends.tolist()):
        lengths = (bottom - top, right - left) if half else (max(bottom - top, 1.0), max(right - left, 1.0))
        counts = tuple(max(math.ceil(length / size), 1) for length, size in zip(lengths, outputs, strict=True))
        results.append(_aligned(x, ends[row : row + 1], batch_indices[row : row + 1], outputs, counts, half, mode))
    return tb.concat(results, axis=0)


operator("RoiAlign", since=10)(partial(roi_align, coordinate_transformation_mode="output_half_pixel"))


def _aligned(
    x: Tensor,
    ends: Tensor,
    batch_indices: Tensor,
    outputs: Sequence[int],
    counts: Sequence[int],
    half: bool,
    mode: str,
) -> Tensor:
    """Regions of images by so many points in each bin."""
    axes, inside = [], []
    for axis, (output, count) in enumerate(zip(outputs, counts, strict=True)):
        start, length = ends[:, 1 - axis], ends[:, 3 - axis] - ends[:, 1 - axis]
        length = length if half else tb.maximum(length, 1.0)
        steps = (tb.arange(output * count, dtype=x.dtype, like=x) + 0.5) / (count * output)
        points = start[:, None] + steps * length[:, None]
        size = x.shape[2 + axis]
        inside.append(tb.logical_and(points >= -1, points <= size))
        axes.append(tb.clip(points, 0, size - 1))
    rows, columns = axes
    shape = (*rows.shape, columns.shape[1])
    points = tb.stack([tb.broadcast_to(rows[:, :, None], shape), tb.broadcast_to(columns[:, None, :], shape)], axis=-1)
    images = tb.take(x, batch_indices, axis=0)
    known = tb.logical_and(inside[0][:, :, None], inside[1][:, None, :])[:, None]
    bins = (*images.shape[:2], outputs[0], counts[0], outputs[1], counts[1])
    if mode == "avg":
        values = sampled(images, points, "edge")
        return tb.mean(tb.reshape(tb.where(known, values, tb.zeros_like(values)), bins), axis=(3, 5))
    largest = None
    low = tb.floor(points)
    for corner in product(range(2), repeat=2):
        at = low + tb.tensor(list(corner), dtype=x.dtype, backend="binary")
        weights = 1 - tb.abs(points - at)
        values = sampled(images, at, "edge", order=0) * (weights[..., 0] * weights[..., 1])[:, None]
        values = tb.where(known, values, tb.zeros_like(values))
        largest = values if largest is None else tb.maximum(largest, values)
    return tb.max(tb.reshape(largest if largest is not None else x, bins), axis=(3, 5))
