"""Tensors made of nested lists of numbers."""

import math
from collections.abc import Callable

import numpy as np
import pytest

import tensorbackend as tb


def test_lists_beside_their_own_kinds_and_wider_ones_keep_values_and_dtypes() -> None:
    for value, dtype in (
        ([True, 2], "int64"), ([True, 0.5], "float32"), ([1, 2j], "complex64"), ([1e300, 1], "float64"),
        ([np.float16(0.5), 1], "float16"), ([np.int8(1), 2.5], "float32"), ([[1, 2], (3, 4), range(2)], "int64"),
        ([1e300 + 1j, math.nan], "complex128"), ([], "float32"), ([[], []], "float32"), ([2**62, -(2**62)], "int64"),
    ):  # fmt: skip
        tensor = tb.asarray(value)
        assert tensor.dtype.name == dtype
        assert np.array_equal(np.asarray(tensor), np.asarray(value, dtype=dtype), equal_nan=tensor.dtype.is_inexact)
    assert tb.asarray([1e300, -1e300], dtype="s32").tolist() == [2**31 - 1, -(2**31)]
    assert tb.asarray([1, 0, 2], dtype="bf16").tolist() == [1.0, 0.0, 2.0]


KEY = np.array([1, 2], dtype="u4")
ONE = tb.asarray(1.0, backend="binary")


@pytest.mark.parametrize("function", [
    lambda: tb.random.normal(KEY, (2,), mean=ONE),
    lambda: tb.random.uniform(KEY, (2,), maxval=ONE),
    lambda: tb.random.truncated_normal(KEY, 0.0, ONE),
    lambda: tb.random.randint(KEY, (2,), tb.asarray(1, backend="binary"), 3),
    lambda: tb.random.bernoulli(KEY, ONE),
    lambda: tb.random.choice(KEY, 2, p=tb.asarray([0.5, 0.5], backend="binary")),
    lambda: tb.random.permutation(KEY, tb.ones(3, backend="binary")),
    lambda: tb.random.multivariate_normal(KEY, tb.zeros(1, backend="binary"), np.eye(1)),
    lambda: tb.linalg.pinv(np.eye(1), rtol=ONE * 0),
    lambda: tb.linalg.matrix_rank(np.eye(1), rtol=ONE * 0),
    lambda: tb.linalg.lstsq(np.eye(1), tb.ones(1, backend="binary")).solution,
    lambda: tb.compress(np.array([True, False]), tb.ones(2, backend="binary")),
    lambda: tb.repeat(np.array([1, 2]), tb.asarray([1, 0], backend="binary")),
])  # fmt: skip
def test_what_is_not_a_tensor_goes_where_the_tensors_of_its_call_are(function: Callable[[], tb.Tensor]) -> None:
    assert function().backend.name == "binary"


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_unsigned_ranges_downwards_and_from_below_zero(backend: str) -> None:
    with tb.default_backend(backend):
        assert tb.arange(5, 0, -1, dtype="u8").tolist() == [5, 4, 3, 2, 1]
        assert tb.linspace(5.0, 0.0, 5, dtype="u8", endpoint=False).tolist() == [5, 4, 3, 2, 1]
        assert tb.linspace(-2.0, 2.0, 4, dtype="u64", endpoint=False).tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize("backend", ["binary", "numpy"])
def test_a_range_of_complex_numbers_near_the_largest(backend: str) -> None:
    end = complex(1.5e308, 1.5e308)
    assert tb.linspace(0, end, 2, dtype="c128", backend=backend).tolist() == [0, end]
    assert tb.linspace(-end, end, 3, dtype="c128", backend=backend).tolist() == [-end, 0, end]
