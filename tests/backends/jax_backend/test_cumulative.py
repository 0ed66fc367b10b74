"""Running extremes on JAX."""

from __future__ import annotations

import math

import pytest

import tensorbackend as tb


@pytest.mark.parametrize("dtype", [tb.bfloat16, tb.float32], ids=str)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_subnormal_number_that_becomes_zero_keeps_its_sign(dtype: tb.DType, sign: float) -> None:
    x = tb.tensor([sign * 5.877471754111438e-39] * 2, dtype=dtype, backend="jax")
    for function in (tb.cumulative_min, tb.cumulative_max):
        assert [math.copysign(1, number) for number in function(x).tolist()] == [sign] * 2
