"""The error function and its inverse on NumPy, by Python's `math`, SciPy and the formulas that other backends use."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import erfinv

import tensorbackend as tb
from tensorbackend.backends.array_module.special.error_function import erf_inv

RANGES = [(-0.4, 0.4), (0.5, 3.9), (-3.9, -0.5), (4.1, 12.0), (-1.0, 1.0), (-30.0, 30.0)]
"""Sizes of one formula, and of several."""


def check(ours: tb.Tensor, by_python: Callable[[float], float], arguments: np.ndarray, ulps: int) -> None:
    expected = np.array([by_python(each) for each in arguments.astype(np.float64)])
    rounded = expected.astype(arguments.dtype)
    np.testing.assert_array_less(np.abs(np.asarray(ours) - expected), (ulps + 0.5) * np.spacing(np.abs(rounded)))


@pytest.mark.parametrize(("dtype", "ulps"), [("float64", 8), ("float32", 1)])
@pytest.mark.parametrize(("low", "high"), RANGES)
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_the_error_function(dtype: str, ulps: int, low: float, high: float, size: int) -> None:
    arguments = np.random.default_rng(size).uniform(low, high, size).astype(dtype)
    x = tb.asarray(arguments)
    check(tb.erf(x), math.erf, arguments, ulps)
    check(tb.erfc(x), math.erfc, arguments, ulps)
    np.testing.assert_array_equal(np.asarray(x), arguments)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_infinities_and_zeros(dtype: str) -> None:
    x = tb.asarray(np.array([0.0, -0.0, math.inf, -math.inf, math.nan], dtype))
    assert repr(tb.erf(x).tolist()) == "[0.0, -0.0, 1.0, -1.0, nan]"
    assert repr(tb.erfc(x).tolist()) == "[1.0, 1.0, 0.0, 2.0, nan]"
    assert tb.erf(tb.zeros(0, dtype=dtype)).tolist() == tb.erfc(tb.zeros(0, dtype=dtype)).tolist() == []


@pytest.mark.parametrize("size", [1, 7, 10_000])
@pytest.mark.parametrize("most", [0.5, 0.85, 1.0, 1 - 1e-15])
def test_the_inverse(size: int, most: float) -> None:
    random = np.random.default_rng(size)
    near_one = most * (1 - 10 ** random.uniform(-15, -1, size))
    for x in (random.uniform(-most, most, size), near_one, -near_one, random.choice([-1, 0.85, 1, 2, math.nan], size)):
        with np.errstate(invalid="ignore", divide="ignore"):
            np.testing.assert_array_equal(np.asarray(tb.erf_inv(tb.asarray(x))), erf_inv(np, x))
        np.testing.assert_allclose(np.asarray(tb.erf_inv(tb.asarray(x))), erfinv(x), rtol=2e-15)


def test_the_inverse_at_the_ends() -> None:
    x = tb.asarray([0.0, -0.0, 1.0, -1.0, 1.5, math.inf, math.nan])
    assert repr(tb.erf_inv(x).tolist()) == "[0.0, -0.0, inf, -inf, nan, nan, nan]"


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("approximate", [False, True])
def test_gelu(dtype: str, approximate: bool) -> None:
    def gate(x: float) -> float:
        if approximate:
            exponent = math.sqrt(8 / math.pi) * (x + 0.044715 * x**3)
            return 1 / (1 + math.exp(-exponent)) if exponent > -700 else 0.0
        return 0.5 * math.erfc(-x * math.sqrt(0.5))

    arguments = np.random.default_rng(0).uniform(-6, 6, 300).astype(dtype)
    expected = np.array([x * gate(x) for x in map(float, arguments)])
    result = np.asarray(tb.nn.gelu(tb.asarray(arguments), approximate=approximate))
    assert result.dtype == dtype
    np.testing.assert_allclose(result, expected, rtol=64 * float(np.finfo(dtype).eps), atol=1e-7)
    edges = tb.nn.gelu(tb.asarray(np.array([-math.inf, math.inf, math.nan, 0.0], dtype)), approximate=approximate)
    assert repr(edges.tolist()) == "[-0.0, inf, nan, 0.0]"


@pytest.mark.parametrize(
    ("low", "high", "ulps"), [(-13.0, -8.0, 150), (-8.0, -1.0, 60), (-1.0, 1.0, 8), (1.0, 30.0, 3)]
)
def test_gelu_in_float32_is_near_the_complement_in_float64(low: float, high: float, ulps: int) -> None:
    arguments = np.random.default_rng(0).uniform(low, high, 20_000).astype(np.float32)
    before = arguments.copy()
    check(tb.nn.gelu(tb.asarray(arguments)), lambda x: 0.5 * x * math.erfc(-x * math.sqrt(0.5)), arguments, ulps)
    np.testing.assert_array_equal(arguments, before)


def test_gelu_in_float32_at_the_ends() -> None:
    x = np.array([0.0, -0.0, math.inf, -math.inf, math.nan, 3e38, -3e38, 1e-40], np.float32)
    found = np.asarray(tb.nn.gelu(tb.asarray(x)))
    expected = np.array([0.0, -0.0, math.inf, -0.0, math.nan, 3e38, -0.0, 5e-41], np.float32)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found[:4]), np.signbit(expected[:4]))
