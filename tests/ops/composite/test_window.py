"""Patches and places of extremes: against NumPy's views of windows, and against each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import tensorbackend as tb
from tensorbackend.errors import ShapeError

BACKENDS = ["binary", "numpy", "jax"]
IMAGES = numpy.random.default_rng(0).standard_normal((2, 3, 6, 7))


@pytest.mark.parametrize("backend", BACKENDS)
def test_patches_are_numpys_windows(backend: str, whole: Callable[..., Any]) -> None:
    images = tb.asarray(IMAGES, names=("batch", "channel", "height", "width"), backend=backend)

    @whole
    def patches(images: tb.Tensor) -> tb.Tensor:
        return tb.unfold(images, {"height": 3, "width": 2}, strides={"height": 2, "width": 3})

    found = patches(images)
    assert found.names == ("batch", "channel", "height", "width", None, None)
    assert numpy.array_equal(numpy.asarray(found), sliding_window_view(IMAGES, (3, 2), (2, 3))[:, :, ::2, ::3])


@pytest.mark.parametrize("size", [5, 40])  # by slices, and by indices
def test_frames_of_a_signal_add_up_to_it_times_their_number(size: int) -> None:
    signal = tb.arange(1.0, 101.0).rename("time")
    options: dict[str, Any] = {"strides": 4, "padding": [(7, 5)], "dilations": 2}
    frames = tb.unfold(signal, {"time": size}, **options)
    total, counts = (
        tb.fold(patches, {"time": 100}, {"time": size}, **options) for patches in (frames, tb.ones_like(frames))
    )
    assert total.names == ("time",)
    numpy.testing.assert_allclose(numpy.asarray(total), numpy.asarray(counts * signal), rtol=1e-6)
    (gradient,) = tb.vjp(lambda x: tb.unfold(x, {"time": size}, **options), signal)[1](frames)
    numpy.testing.assert_allclose(numpy.asarray(gradient), numpy.asarray(total), rtol=1e-6)


@pytest.mark.parametrize("backend", BACKENDS)
def test_places_of_extremes(backend: str, whole: Callable[..., Any]) -> None:
    x = tb.asarray([[1.0, 3.0, 3.0], [numpy.nan, 3.0, -numpy.inf]], backend=backend)

    @whole
    def places(x: tb.Tensor) -> Any:
        return (
            tb.window_argmax(x, (1, 2)),
            tb.window_argmin(x, (1, 2)),
            tb.window_argmax(-tb.abs(x[0]) * tb.inf, 2, padding=[(3, 0)]),  # padding is no element, not even of -inf
            tb.window_argmax(x, 1, strides=2),
        )

    assert [found.tolist() for found in places(x)] == [[[1, 1], [3, 4]], [[0, 1], [3, 5]], [-1, -1, 0, 0, 1], [[0, 2]]]


def test_patches_of_another_shape_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"fold: expected patches of shape \(3, 2\)"):
        tb.fold(tb.ones((4, 2)), 4, 2)
    with pytest.raises(ShapeError, match="fold: expected sizes along the axes of the window"):
        tb.fold(tb.ones((3, 5, 2)), {1: 5}, {0: 2})
