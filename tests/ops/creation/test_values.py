"""Tensors of nested lists of numbers."""

import math

import numpy as np

import tensorbackend as tb


def test_lists_beside_their_own_kinds_and_wider_ones_keep_values_and_dtypes() -> None:
    for value, dtype in (
        ([True, 2], "int64"), ([True, 0.5], "float32"), ([1, 2j], "complex64"), ([1e300, 1], "float64"),
        ([np.float16(0.5), 1], "float16"), ([np.int8(1), 2.5], "float32"), ([[1, 2], (3, 4), range(2)], "int64"),
        ([1e300 + 1j, math.nan], "complex128"), ([], "float32"), ([[], []], "float32"), ([2**62, -(2**62)], "int64"),
    ):  # fmt: skip
        made = tb.asarray(value)
        assert made.dtype.name == dtype
        assert np.array_equal(np.asarray(made), np.asarray(value, dtype=dtype), equal_nan=made.dtype.is_inexact)
    assert tb.asarray([1e300, -1e300], dtype="s32").tolist() == [2**31 - 1, -(2**31)]
    assert tb.asarray([1, 0, 2], dtype="bf16").tolist() == [1.0, 0.0, 2.0]
