"""Images at points: by a grid of coordinates and by regions of interest; and boxes of detected objects."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import tensorbackend as tb
from tensorbackend import Tensor

from .registry import Data, Floats, Given, Int, operator

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


@operator("RoiAlign", since=10)
def roi_align(x: Tensor, rois: Data, batch_indices: Tensor, *, given: Given) -> Tensor:
    """Regions of images in one size: the mean, or the largest, of points in each of their bins."""
    half = given.coordinate_transformation_mode == "half_pixel"  # which opset 10 has not
    ends = rois * given.spatial_scale - (0.5 if half else 0.0)
    outputs = (given.output_height, given.output_width)
    if given.sampling_ratio > 0:
        return _aligned(x, ends, batch_indices, outputs, (given.sampling_ratio,) * 2, half, given.mode)
    results = []
    for row, (left, top, right, bottom) in enumerate(ends.tolist()):
        lengths = (bottom - top, right - left) if half else (max(bottom - top, 1.0), max(right - left, 1.0))
        counts = tuple(max(math.ceil(length / size), 1) for length, size in zip(lengths, outputs, strict=True))
        chosen = slice(row, row + 1)
        results.append(_aligned(x, ends[chosen], batch_indices[chosen], outputs, counts, half, given.mode))
    return tb.concat(results, axis=0)


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


@operator("NonMaxSuppression", since=10)
def non_max_suppression(
    boxes: Data,
    scores: Data,
    most: Int | None = None,
    iou: Floats | None = None,
    least: Floats | None = None,
    *,
    given: Given,
) -> Tensor:
    """The boxes of each class without those that overlap a box with a higher score: (batch, class, box).

    How many there are depends on data, so the scores and the boxes must be known.
    """
    count, corners = min(most or 0, boxes.shape[1]), (_corners(boxes) if given.center_point_box else boxes)[:, None]
    kept = tb.nn.non_maximum_suppression(
        corners, scores, size=count, iou_threshold=iou[0] if iou else 0.0, score_threshold=least[0] if least else None
    )
    if not count:
        return tb.zeros((0, 3), dtype=tb.int64, like=boxes)
    example, number, place = tb.nonzero(kept >= 0)
    return tb.stack([example, number, tb.gather(kept, tb.stack([example, number, place], axis=1))], axis=1)


def _corners(boxes: Tensor) -> Tensor:
    """Two corners of boxes that are defined by their centres and sizes."""
    x, y, width, height = tb.unstack(boxes, axis=-1)
    return tb.stack([x - width / 2, y - height / 2, x + width / 2, y + height / 2], axis=-1)


@operator("MaxRoiPool")
def max_roi_pool(x: Tensor, rois: Data, *, pooled_shape: tuple[int, ...], spatial_scale: float = 1.0) -> Tensor:
    """The largest element in each bin of regions of images, whose ends must be known."""
    results = []
    for example, *ends in rois.tolist():
        left, top, right, bottom = (math.floor(end * spatial_scale + 0.5) for end in ends)
        image = x[int(example)]
        rows = _bins(top, bottom, pooled_shape[0], image.shape[1])
        columns = _bins(left, right, pooled_shape[1], image.shape[2])
        cells = [
            tb.max(image[:, a:b, c:d], axis=(1, 2)) if a < b and c < d else tb.zeros_like(image[:, 0, 0])
            for a, b in rows
            for c, d in columns
        ]
        results.append(tb.reshape(tb.stack(cells, axis=1), (image.shape[0], *pooled_shape)))
    return tb.stack(results)


def _bins(start: int, end: int, count: int, size: int) -> list[tuple[int, int]]:
    """The bounds of bins within an axis."""
    length = max(end - start + 1, 1)
    bounds = (
        (math.floor(n * length / count) + start, math.ceil((n + 1) * length / count) + start) for n in range(count)
    )
    return [(min(max(low, 0), size), min(max(high, 0), size)) for low, high in bounds]
