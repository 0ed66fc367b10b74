"""Boxes of detected objects, and regions of images by whole pixels."""

from __future__ import annotations

import math

import tensorbackend as tb
from tensorbackend import Tensor

from .registry import Floats, Int, operator


@operator("NonMaxSuppression", since=10)
def non_max_suppression(
    boxes: Tensor,
    scores: Tensor,
    most: Int | None = None,
    iou_threshold: Floats | None = None,
    score_threshold: Floats | None = None,
    *,
    center_point_box: int = 0,
) -> Tensor:
    """The boxes of each class without those that overlap a box with a higher score: (batch, class, box).

    How many there are depends on data, so the scores and the boxes must be known.
    """
    corners = _corners(boxes, center_point_box)
    overlap_limit = iou_threshold[0] if iou_threshold else 0.0
    found: list[list[int]] = []
    for example in range(scores.shape[0]):
        overlaps = _overlaps(corners[example])
        for number in range(scores.shape[1]):
            row = scores[example, number]
            candidates = tb.argsort(row, descending=True).tolist()
            numbers = row.tolist()
            if score_threshold:
                candidates = [box for box in candidates if numbers[box] > score_threshold[0]]
            kept: list[int] = []
            suppressed = (overlaps > overlap_limit).tolist() if candidates and most else []
            for box in candidates:
                if len(kept) >= (most or 0):
                    break
                if not any(suppressed[other][box] for other in kept):
                    kept.append(box)
            found += [[example, number, box] for box in kept]
    return tb.tensor(found, dtype=tb.int64, backend="binary") if found else tb.zeros((0, 3), dtype=tb.int64, like=boxes)


def _corners(boxes: Tensor, by_centre: int) -> Tensor:
    """The minimum and maximum coordinates of boxes, whichever corners define them."""
    first, second, third, fourth = tb.unstack(boxes, axis=-1)
    if by_centre:
        ends = [first - third / 2, second - fourth / 2, first + third / 2, second + fourth / 2]
    else:
        ends = [
            tb.minimum(first, third),
            tb.minimum(second, fourth),
            tb.maximum(first, third),
            tb.maximum(second, fourth),
        ]
    return tb.stack(ends, axis=-1)


def _overlaps(corners: Tensor) -> Tensor:
    """What each two boxes have in common, as a part of what they cover together."""
    low, high = corners[:, :2], corners[:, 2:]
    area = tb.prod(high - low, axis=1)
    sides = tb.minimum(high[:, None], high[None]) - tb.maximum(low[:, None], low[None])
    common = tb.prod(tb.maximum(sides, 0), axis=2)
    return tb.divide_no_nan(common, area[:, None] + area[None] - common)


@operator("MaxRoiPool")
def max_roi_pool(x: Tensor, rois: Tensor, *, pooled_shape: tuple[int, ...], spatial_scale: float = 1.0) -> Tensor:
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
