"""Deformable convolution: without offsets it is a convolution, with whole offsets one of a moved image."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, ShapeError, TensorBackendError

RNG = numpy.random.default_rng(0)
X = tb.asarray(RNG.standard_normal((2, 4, 5, 6)), names=("batch", None, "row", "column"))
KERNEL = tb.asarray(RNG.standard_normal((6, 2, 3, 2)), names=("feature", None, None, None))
OPTIONS: dict[str, Any] = {"strides": (1, 2), "padding": [(1, 1), (0, 1)], "groups": 2}


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_without_offsets_it_is_a_convolution(backend: str, whole: Callable[..., Any]) -> None:
    x, kernel, offsets = (tb.backend_copy(tensor, backend) for tensor in (X, KERNEL, tb.zeros((2, 24, 5, 3))))

    @whole
    def convolve(x: tb.Tensor, kernel: tb.Tensor, offsets: tb.Tensor) -> tb.Tensor:
        return tb.nn.deform_conv(
            x, kernel, offsets, tb.full(6, 0.5), tb.full((2, 12, 5, 3), 2.0), offset_groups=2, **OPTIONS
        )

    found = convolve(x, kernel, offsets)
    wanted = tb.conv(X, KERNEL, strides=(1, 2), padding=[(1, 1), (0, 1)], feature_groups=2) * 2 + 0.5
    assert found.names == ("batch", "feature", "row", "column")
    numpy.testing.assert_allclose(numpy.asarray(found), numpy.asarray(wanted), atol=1e-12)


def test_whole_offsets_move_the_image() -> None:
    offsets = tb.zeros((2, 12, 5, 6))
    offsets[:, ::2] = -1  # read one row above
    found = tb.nn.deform_conv(X, KERNEL, offsets, padding=[(1, 1), (0, 1)], groups=2)
    moved = tb.pad(X, {"row": (1, -1)})
    wanted = tb.conv(moved, KERNEL, padding=[(1, 1), (0, 1)], feature_groups=2)
    numpy.testing.assert_allclose(numpy.asarray(found)[:, :, :-1], numpy.asarray(wanted)[:, :, :-1], atol=1e-12)


def test_the_gradient_by_the_offsets_is_the_slope() -> None:
    image = tb.reshape(tb.arange(12.0) ** 2, (1, 1, 3, 4))
    gradient = tb.grad(lambda o: tb.nn.deform_conv(image, tb.ones((1, 1, 1, 1)), o)[0, 0, 1, 1])(
        tb.full((1, 2, 3, 4), 0.5)
    )
    rows = numpy.asarray(image)[0, 0]
    between = (rows[:, :-1] + rows[:, 1:]) / 2
    assert gradient[0, 0, 1, 1].item() == pytest.approx(between[2, 1] - between[1, 1])


@pytest.mark.parametrize(
    ("options", "kind", "text"),
    [
        ({"offset_groups": 3}, ArgumentError, "offset_groups of at least 1 that divide the 4 channels"),
        ({"strides": 2}, ShapeError, r"offsets of shape \(2, 12, 2, 3\)"),
    ],
)
def test_mistakes(options: dict[str, Any], kind: type[TensorBackendError], text: str) -> None:
    with pytest.raises(kind, match=text):
        tb.nn.deform_conv(X, KERNEL, tb.zeros((2, 12, 3, 5)), groups=2, **options)
