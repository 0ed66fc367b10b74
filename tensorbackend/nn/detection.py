"""Boxes of objects in images."""

from __future__ import annotations

from ..declarations.argument_errors import check_arguments
from ..dtypes import float32, int64, promote_types
from ..errors import ArgumentError, ShapeError, expected
from ..expr.control import scan
from ..ops.composite.elementwise.functions import logical_not
from ..ops.composite.shape.arranging import moveaxis, unstack
from ..ops.creation.filled import full, iota
from ..ops.creation.values import operand_tensors
from ..ops.elementwise.basic import astype, isnan, where
from ..ops.elementwise.binary import less, logical_and, maximum, minimum, multiply
from ..ops.indexing.taking import take_along_axis_at
from ..ops.reduction import any, argmax
from ..ops.shape import broadcast_to, expand_dims
from ..ops.sorting import argsort
from ..rules.broadcasting import check_dtype, to_floating
from ..tensor import Tensor, TensorLike


@check_arguments
def non_maximum_suppression(
    boxes: TensorLike,
    scores: TensorLike,
    /,
    *,
    size: int,
    iou_threshold: float = 0.5,
    score_threshold: float | None = None,
) -> Tensor:
    """Find the boxes with high scores that overlap no box with a higher one: one box for each object.

    The box with the highest score is taken, boxes that overlap it are left out, and so on until `size` boxes are found
    or none is left. Of equal scores the first is taken; a box whose score is NaN never is.

    Parameters
    ----------
    boxes : Tensor
        Any axes of examples, then boxes, then the coordinates of two opposite corners, of a real dtype: (x1, y1, x2,
        y2) or (y1, x1, y2, x2).
    scores : Tensor
        A score for each box, of a real dtype. It may have axes of examples, such as classes, that boxes have with size
        1.
    size : int
        The number of positions in the result.
    iou_threshold : float, default 0.5
        Boxes overlap if their intersection is more than this part of their union.
    score_threshold : float, optional
        Boxes whose scores are not above it are left out.

    Returns
    -------
    Tensor
        The positions of the boxes (int64), in descending order of scores, then -1: the axes of examples and an axis of
        `size` entries without a name.

    Raises
    ------
    ShapeError
        For boxes without four coordinates, and scores of another number of boxes.
    ArgumentError
        For a negative size.

    Examples
    --------
    >>> boxes = tb.asarray([[0.0, 0.0, 4.0, 4.0], [0.0, 1.0, 4.0, 5.0], [8.0, 8.0, 9.0, 9.0]])
    >>> tb.nn.non_maximum_suppression(boxes, tb.asarray([0.6, 0.9, 0.8]), size=3).tolist()
    [1, 2, -1]

    See Also
    --------
    take_along_axis : Reads the boxes at the positions.
    """
    boxes, scores = operand_tensors(boxes, scores)
    for x in (boxes, scores):
        check_dtype(x.dtype, "real")
    if boxes.ndim < 2 or boxes.shape[-1] != 4 or scores.ndim != boxes.ndim - 1 or scores.shape[-1] != boxes.shape[-2]:
        expectation = "boxes (..., count, 4) and scores (..., count)"
        raise ShapeError(expected(expectation, boxes=boxes.template, scores=scores.template))
    if size < 0:
        raise ArgumentError(expected("a size of at least 0", size=size))
    names = scores.names[:-1]
    boxes, scores = (x.rename(*(None,) * x.ndim) for x in (boxes, scores))
    order = argsort(scores, axis=-1, descending=True)
    ordered = take_along_axis_at(scores, order, axis=-1, mode="clip")
    free = logical_not(isnan(ordered))
    if score_threshold is not None:
        free = logical_and(free, ordered > score_threshold)
    wide = astype(boxes, promote_types(to_floating(boxes.dtype), float32))
    corners = _corners(wide, order)
    places = iota(scores.shape, axis=scores.ndim - 1, dtype=int64, like=scores)

    def take_best(free: Tensor, _: None) -> tuple[Tensor, Tensor]:
        best = argmax(astype(free, "uint8"), axis=-1, keepdims=True)
        exists = any(free, axis=-1)
        chosen = tuple(take_along_axis_at(corner, best, axis=-1, mode="clip") for corner in corners)
        close = _overlap(corners, chosen) > iou_threshold
        left = logical_and(free, logical_not(close))
        position = take_along_axis_at(order, best, axis=-1, mode="clip")
        found = where(expand_dims(exists, axis=-1), position, -1)
        return logical_and(left, logical_not(places == best)), found[..., 0]

    if not size or not scores.shape[-1]:
        return full((*scores.shape[:-1], size), -1, dtype=int64, names=(*names, None), like=scores)
    _, found = scan(take_best, free, length=size)
    return moveaxis(found, 0, -1).rename(*names, None)


def _corners(boxes: Tensor, order: Tensor) -> tuple[Tensor, ...]:
    """The minimum and maximum coordinates of boxes in an order, whichever two corners define them."""
    first, second, third, fourth = (
        take_along_axis_at(broadcast_to(part, order.shape), order, axis=-1, mode="clip")
        for part in unstack(boxes, axis=-1)
    )
    return minimum(first, third), minimum(second, fourth), maximum(first, third), maximum(second, fourth)


def _overlap(boxes: tuple[Tensor, ...], others: tuple[Tensor, ...]) -> Tensor:
    """The intersection of boxes as a part of their union; 0 for two boxes without an area."""
    sides = [
        maximum(minimum(boxes[axis + 2], others[axis + 2]) - maximum(boxes[axis], others[axis]), 0) for axis in range(2)
    ]
    common = multiply(*sides)
    area, other = ((box[2] - box[0]) * (box[3] - box[1]) for box in (boxes, others))
    union = area + other - common
    return where(less(0, union), common / where(less(0, union), union, 1), 0)
