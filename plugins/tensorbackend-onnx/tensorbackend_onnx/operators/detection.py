"""Boxes of detected objects, and regions of images by whole pixels."""

from __future__ import annotations

import math

import tensorbackend as tb
from tensorbackend import Tensor

from .registry import Data, Floats, Int, operator


@operator("NonMaxSuppression", since=10)
def non_max_suppression(
    boxes: Data,
    scores: Data,
    most: Int | None = None,
    iou_threshold: Floats | None = None,
    score_threshold: Floats | None = None,
    *,
    center_point_box: int = 0,
) -> Tensor:
    """The boxes of each class without those that overlap a box with a higher score: (batch, class, box).

    How many there are depends on data, so the scores and the boxes must be known.
    """
    count = min(most or 0, boxes.shape[1])
    kept = tb.nn.non_maximum_suppression(
        _corners(boxes)[:, None] if center_point_box else boxes[:, None],
        scores,
        size=count,
        iou_threshold=iou_threshold[0] if iou_threshold else 0.0,
        score_threshold=score_threshold[0] if score_threshold else None,
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
