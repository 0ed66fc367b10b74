"""Tests activations where exp(-x) overflows, and on integers."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import tensorbackend as tb
from tensorbackend.dtypes import DType, bfloat16, float16, float32, float64, int8
from tensorbackend.testing import assert_equal

ACTIVATIONS = [tb.sigmoid, tb.nn.silu, tb.nn.elu, tb.nn.selu, tb.nn.leaky_relu, tb.nn.softplus, tb.nn.log_sigmoid]
NUMBERS = [-math.inf, -800.0, -745.0, -100.0, -89.0, -88.0, -87.0, -1.0, -0.0, 0.0, 2.0, 800.0, math.inf, math.nan]


@pytest.mark.parametrize("dtype", [bfloat16, float16, float32, float64], ids=str)
@pytest.mark.parametrize("op", ACTIVATIONS, ids=lambda op: op.__name__)
def test_activations_of_extreme_numbers(op: Callable[[tb.Tensor], tb.Tensor], dtype: DType) -> None:
    activations = op(tb.tensor(NUMBERS, dtype=dtype, backend="torch"))
    assert_equal(activations, op(tb.tensor(NUMBERS, dtype=dtype, backend="binary")), ulps=2)
    alone = [op(tb.tensor(number, dtype=dtype, backend="torch")) for number in NUMBERS]
    assert_equal(activations, tb.stack(alone), ulps=1)  # PyTorch's loop of vectors rounds subnormal numbers otherwise


@pytest.mark.parametrize("op", ACTIVATIONS[1:], ids=lambda op: op.__name__)
def test_activations_of_integers_are_floats(op: Callable[[tb.Tensor], tb.Tensor]) -> None:
    numbers = tb.tensor([-128, -100, -3, 0, 5, 127], dtype=int8, backend="torch")
    assert_equal(op(numbers), op(tb.astype(numbers, "float32")))
