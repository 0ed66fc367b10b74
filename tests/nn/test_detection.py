"""Non-maximum suppression, on all backends and in traces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, ShapeError

BOXES = [[0.0, 0.0, 10.0, 10.0], [10.0, 11.0, 0.0, 1.0], [0.0, 0.0, 10.0, 4.0], [20.0, 20.0, 30.0, 30.0]]
SCORES = [[0.9, 0.75, 0.6, 0.95], [0.1, 0.8, 0.8, 0.2]]


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_classes_share_boxes(backend: str, whole: Callable[..., Any]) -> None:
    boxes = tb.asarray([BOXES], names=("class", "box", None), backend=backend)
    scores = tb.asarray(SCORES, names=("class", "box"), backend=backend)

    @whole
    def suppress(boxes: tb.Tensor, scores: tb.Tensor) -> Any:
        return [
            tb.nn.non_maximum_suppression(boxes, scores, size=5),
            tb.nn.non_maximum_suppression(boxes, scores, size=2, iou_threshold=0.3, score_threshold=0.15),
        ]

    first, second = suppress(boxes, scores)
    assert first.names == ("class", None)
    assert first.tolist() == [[3, 0, 2, -1, -1], [1, 2, 3, -1, -1]]
    assert second.tolist() == [[3, 0], [1, 2]]


def test_under_vmap_and_on_templates() -> None:
    boxes, scores = tb.asarray(BOXES), tb.asarray(SCORES)
    found = tb.vmap(lambda row: tb.nn.non_maximum_suppression(boxes, row, size=3))(scores)
    assert found.tolist() == [[3, 0, 2], [1, 2, 3]]
    assert tb.nn.non_maximum_suppression(tb.template((7, 4), "f32"), tb.template((7,), "f32"), size=3).shape == (3,)


def test_mistakes() -> None:
    with pytest.raises(ShapeError, match=r"expected boxes \(..., count, 4\) and scores \(..., count\)"):
        tb.nn.non_maximum_suppression(tb.zeros((3, 5)), tb.zeros(3), size=1)
    with pytest.raises(ArgumentError, match="expected a size of at least 0, got size=-1"):
        tb.nn.non_maximum_suppression(tb.zeros((3, 4)), tb.zeros(3), size=-1)
