"""Products and maxima of rows by segment: zeros, NaN, and many rows on each backend."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tensorbackend as tb

BACKENDS = ["binary", "numpy", "jax"]


def test_products_with_zeros_have_exact_gradients() -> None:
    x, segments = tb.asarray([3.0, 0.0, 4.0, 5.0, 0.0, 0.0]), tb.asarray([2, 0, 2, 0, 1, 1])
    gradient = tb.grad(lambda x: tb.sum(tb.segment_prod(x, segments, size=4)))(x)
    assert gradient.tolist() == [4.0, 5.0, 3.0, 0.0, 0.0, 0.0]
    products = tb.indexed_prod(tb.asarray([2, 3]), tb.asarray([[1], [1], [7]]), tb.asarray([5, 7, 11]), mode="fill")
    assert products.tolist() == [2, 105]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
def test_of_zeros_the_positive_one_is_greater_and_any_nan_is_one(
    dtype: str, backend: str, whole: Callable[..., Any]
) -> None:
    x = tb.asarray([-0.0, 0.0, 0.0, -0.0, -0.0, math.nan, 1.0, -math.nan], dtype=dtype, backend=backend)
    segments = tb.asarray([0, 0, 1, 1, 2, 3, 3, 4], backend=backend)

    @whole
    def extremes(x: tb.Tensor, segments: tb.Tensor) -> Any:
        greatest, least = tb.segment_max(x, segments, size=6), tb.segment_min(x, segments, size=6)
        return greatest, least, tb.indexed_max(x[:3], segments[:3, None], x[:3])

    greatest, least, combined = extremes(x, segments)
    assert repr(greatest.tolist()) == "[0.0, 0.0, -0.0, nan, nan, -inf]"
    assert repr(least.tolist()) == "[-0.0, -0.0, -0.0, nan, nan, inf]"
    assert repr(combined.tolist()) == "[0.0, 0.0, 0.0]"


@pytest.mark.parametrize("mode", ["clip", "fill"])
def test_backends_agree_on_many_entries(mode: Any) -> None:
    rng = numpy.random.default_rng(1)
    values, segments = rng.integers(-4, 4, (300, 3)).astype("float32") / 2, rng.integers(-2, 12, 300)
    extremes_by_backend = [
        [
            tb.segment_max(tb.asarray(values, backend=backend), at, size=10, mode=mode).tolist(),
            tb.indexed_min(
                tb.ones((10, 3), backend=backend), at[:, None], tb.asarray(values, backend=backend), mode=mode
            ).tolist(),
        ]
        for backend in BACKENDS
        for at in [tb.asarray(segments, backend=backend)]
    ]
    assert extremes_by_backend[0] == extremes_by_backend[1] == extremes_by_backend[2]
    batched = tb.indexed_max(tb.zeros((2, 4)), tb.asarray([[[1], [1]], [[0], [3]]]), tb.ones((2, 2)), batch=0)
    assert batched.tolist() == [[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 1.0]]
