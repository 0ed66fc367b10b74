"""NumPy's own loop for products of vectors with all shifts."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest

import tensorbackend as tb

MODES: tuple[Literal["full", "same", "valid"], ...] = ("full", "same", "valid")


@pytest.mark.parametrize("mode", MODES)
def test_sums_of_many_float32_are_added_in_float64(mode: Literal["full", "same", "valid"]) -> None:
    draw = np.random.default_rng(0)
    x, y = (draw.random(size).astype("float32") for size in (9_000, 8_500))
    result = np.asarray(tb.convolve(tb.asarray(x), tb.asarray(y), mode=mode))
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, np.convolve(x.astype(float), y.astype(float), mode), rtol=2e-7)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "float16"])
def test_the_dtype_of_the_result_is_kept_and_integers_wrap(dtype: Any) -> None:
    x, y = np.array([100, 50, 3], dtype), np.array([2, 3], dtype)
    result = np.asarray(tb.convolve(tb.asarray(x), tb.asarray(y)))
    exact = np.convolve(x.astype(int), y.astype(int)).astype(dtype)
    assert result.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(result, exact)


def test_an_infinite_complex_number_meets_only_the_places_that_it_takes_part_in() -> None:
    x, y = tb.asarray([complex(np.inf, 0), 1, 1, 1]), tb.asarray([1 + 0j, 2])
    result = np.asarray(tb.convolve(x, y))
    assert not np.isfinite(result[:2]).any()
    np.testing.assert_array_equal(result[2:], [3, 3, 2])
