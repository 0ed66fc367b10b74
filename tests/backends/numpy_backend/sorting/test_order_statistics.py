"""Tests the median and quantiles of rows so long that NumpyBackend partitions them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.backends.numpy_backend.sorting.order_statistics import LEAST_PARTITIONED_ROW
from tensorbackend.dispatch import watching
from tensorbackend.dispatch.path import FullPath
from tensorbackend.ops.composite.sorting.order_statistics import METHODS
from tensorbackend.testing import assert_equal

NAN, INF = float("nan"), float("inf")
LENGTHS = (LEAST_PARTITIONED_ROW - 1, LEAST_PARTITIONED_ROW, LEAST_PARTITIONED_ROW + 1, 2 * LEAST_PARTITIONED_ROW + 3)


def rows(length: int, dtype: str) -> Any:
    """Three rows with ties."""
    values = np.random.default_rng(length).integers(0, 100, (3, length))
    return values.astype(dtype)


def check_same(values: Any, dtype: str, **options: Any) -> None:
    """Compares with the reference, to the bit."""
    x, reference = (tb.asarray(values, dtype=dtype, backend=backend) for backend in ("numpy", "binary"))
    assert_equal(tb.median(x, **options), tb.median(reference, **options).backend_transfer("numpy"))
    q = (0.0, 0.013, 0.5, 0.5, 0.87, 1.0)
    assert_equal(tb.quantile(x, q, **options), tb.quantile(reference, q, **options).backend_transfer("numpy"))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("length", LENGTHS)
def test_long_rows_are_those_of_the_reference(dtype: str, length: int) -> None:
    values = rows(length, "int64") % 2 if dtype == "bool" else rows(length, "int64")
    check_same(values, dtype, axis=1)
    check_same(values.T, dtype, axis=0, keepdims=True)
    check_same(values, dtype)
    check_same(values.reshape(3, 1, -1), dtype, axis=(2, 0), keepdims=True)


@pytest.mark.parametrize("length", LENGTHS)
def test_zeros_keep_their_signs_in_long_rows(length: int) -> None:
    generator = np.random.default_rng(length)
    values = np.where(generator.random((8, length)) < 0.5, -0.0, 0.0)
    values[4:] += np.sign(generator.normal(size=(4, length))) * (generator.random((4, length)) < 0.4)
    for dtype in ("float16", "float32", "float64"):
        check_same(values, dtype, axis=1)
        check_same(values, dtype)


@pytest.mark.parametrize("length", LENGTHS)
def test_a_nan_anywhere_in_a_long_row_makes_it_nan(length: int) -> None:
    values = np.random.default_rng(length).normal(size=(4, length)).astype("float32")
    values[1, 0], values[2, length // 2], values[3, -1] = NAN, NAN, NAN
    x = tb.asarray(values)
    for made in (tb.median(x, axis=1), tb.quantile(x, 0.0, axis=1), tb.quantile(x, 1.0, axis=1)):
        assert np.isnan(np.asarray(made)).tolist() == [False, True, True, True]
    assert np.isnan(tb.median(x).item())


def test_infinite_and_extreme_elements_of_long_rows() -> None:
    values = np.full((4, LEAST_PARTITIONED_ROW), np.finfo("float32").max, "float32")
    values[1], values[2, : LEAST_PARTITIONED_ROW // 2], values[2, LEAST_PARTITIONED_ROW // 2 :] = INF, -INF, INF
    values[3, ::2] *= -1
    check_same(values, "float32", axis=1)


@pytest.mark.parametrize("method", METHODS)
def test_quantiles_of_long_rows_are_numpys(method: str) -> None:
    for length in LENGTHS:
        values = np.random.default_rng(length).normal(size=(2, length))
        for axis in (None, 0, 1):
            q = (0.0, 0.1, 0.25, 0.3, 0.5, 0.625, 0.9, 1.0)
            wanted: Any = np.quantile(values, q, axis=axis, method=method)  # type: ignore[call-overload] # a str here
            made = np.asarray(tb.quantile(tb.asarray(values), q, axis=axis, method=method))
            np.testing.assert_allclose(made, wanted, rtol=1e-14, atol=1e-15)


def test_one_kernel_serves_rows_of_all_lengths() -> None:
    for length in (1, 2, 0, 5, LEAST_PARTITIONED_ROW, 3, 4 * LEAST_PARTITIONED_ROW, 2):
        values = np.random.default_rng(length).normal(size=(2, length))
        x = tb.asarray(values, names=("row", "place"))
        wanted = np.median(values, axis=1) if length else np.full(2, NAN)
        np.testing.assert_array_equal(np.asarray(tb.median(x, axis="place")), wanted)
        assert tb.median(tb.zeros((0, length)), axis=1).shape == (0,)


def test_a_new_shape_of_a_median_is_planned_by_kind() -> None:
    for length in (11, 13, 15, 17, 19):
        assert tb.median(tb.zeros((length, 3)), axis=0).shape == (3,)
    (path,) = (place for place in watching._places if isinstance(place, FullPath) and place.spec.name == "median")
    assert any(plan.kernel is not None for plans in path.kinds.values() for plan in plans)


def test_operands_are_unchanged() -> None:
    values = rows(2 * LEAST_PARTITIONED_ROW, "float32")
    x = tb.asarray(values.copy())
    tb.median(x, axis=1), tb.median(x), tb.quantile(x, 0.2, axis=0)
    np.testing.assert_array_equal(np.asarray(x), values)
