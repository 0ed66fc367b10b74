"""Images and windows next to PyTorch's own functions, whose conventions `resize` has by default."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import tensorbackend as tb
import torch
import torch.nn.functional as F

IMAGES = numpy.random.default_rng(0).standard_normal((2, 3, 7, 9))
MODES: dict[Any, str] = {"nearest": "nearest", "linear": "bilinear", "cubic": "bicubic"}


@pytest.mark.parametrize("sizes", [(3, 20), (14, 4), (7, 1), (1, 30)])
@pytest.mark.parametrize("method", MODES)
def test_resize_is_interpolate(method: Any, sizes: tuple[int, int]) -> None:
    x, given = torch.tensor(IMAGES), tb.asarray(IMAGES)
    target = dict(zip((2, 3), sizes, strict=True))
    pairs = [(tb.resize(given, target, method=method), F.interpolate(x, sizes, mode=MODES[method]))]
    if method == "nearest":
        exact = tb.resize(given, target, method=method, coordinates="half_pixel", rounding="round_prefer_ceil")
        pairs.append((exact, F.interpolate(x, sizes, mode="nearest-exact")))
    else:
        aligned = tb.resize(given, target, method=method, coordinates="align_corners")
        pairs.append((aligned, F.interpolate(x, sizes, mode=MODES[method], align_corners=True)))
        if min(sizes) > 1:  # PyTorch 2.13 does not interpolate images of one column that it smooths
            smooth = tb.resize(given, target, method=method, antialias=True)
            pairs.append((smooth, F.interpolate(x, sizes, mode=MODES[method], antialias=True)))
    for found, wanted in pairs:
        numpy.testing.assert_allclose(numpy.asarray(found), wanted.numpy(), atol=1e-9)


def test_patches_and_positions() -> None:
    x, options = torch.tensor(IMAGES), {"strides": {2: 2, 3: 2}, "padding": {2: (1, 1), 3: (1, 1)}}
    patches = tb.unfold(tb.asarray(IMAGES), {2: 3, 3: 2}, **options)  # type: ignore[arg-type]
    columns = F.unfold(x, (3, 2), stride=2, padding=1)
    assert numpy.array_equal(numpy.asarray(patches).transpose(0, 1, 4, 5, 2, 3).reshape(columns.shape), columns.numpy())
    found = tb.fold(patches, {2: 7, 3: 9}, {2: 3, 3: 2}, **options)  # type: ignore[arg-type]
    numpy.testing.assert_allclose(
        numpy.asarray(found), F.fold(columns, (7, 9), (3, 2), stride=2, padding=1).numpy(), atol=1e-12
    )
    _, places = F.max_pool2d(x, (3, 2), stride=2, padding=1, return_indices=True)
    positions = tb.window_argmax(tb.asarray(IMAGES), {2: 3, 3: 2}, **options)  # type: ignore[arg-type]
    assert numpy.array_equal(numpy.asarray(positions) % 63, places.numpy())


def test_cubic_samples() -> None:
    x = torch.tensor(IMAGES)
    points = torch.tensor(numpy.random.default_rng(1).uniform(-1.3, 1.3, (2, 5, 4, 2)))
    wanted = F.grid_sample(x, points, mode="bicubic", align_corners=True)
    at = (numpy.asarray(points)[..., ::-1] + 1) / 2 * (numpy.asarray([7, 9]) - 1)
    found = tb.grid_sample(tb.moveaxis(tb.asarray(IMAGES), 1, -1), tb.asarray(at.copy()), axes=(1, 2), order=3)
    numpy.testing.assert_allclose(numpy.asarray(tb.moveaxis(found, -1, 1)), wanted.numpy(), atol=1e-9)
