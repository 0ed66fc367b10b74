"""Gradients of the gamma function's family, against formulas (DLMF 5 and 8)."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import tensorbackend as tb

EULER = 0.57721566490153286


def harmonic(n: int) -> float:
    """digamma(n + 1)"""
    return sum(1 / k for k in range(1, n + 1)) - EULER


FUNCTIONS: dict[str, Callable[[tb.Tensor], tb.Tensor]] = {
    "digamma": tb.digamma,
    "factorial": tb.factorial,
    "gamma_inc_l": lambda x: tb.gamma_inc_l(2.5, x),
    "gamma_inc_u": lambda x: tb.gamma_inc_u(2.5, x),
    "i0": tb.i0,
    "i0e": tb.i0e,
    "i1": tb.i1,
    "i1e": tb.i1e,
    "j0": tb.j0,
    "j1": tb.j1,
    "lgamma": tb.lgamma,
    "ndtri": lambda x: tb.ndtri(x / 4),
    "polygamma": lambda x: tb.polygamma(2, x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_slopes_are_those_of_differences(name: str) -> None:
    x, step = tb.asarray([0.3, 1.1, 2.6, 3.7], dtype="f64"), 1e-4
    function = FUNCTIONS[name]
    values = [np.asarray(function(x + place * step)) for place in (-2, -1, 1, 2)]
    slope = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * step)
    np.testing.assert_allclose(np.asarray(tb.grad(lambda x: tb.sum(function(x)))(x)), slope, rtol=1e-9)


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
def test_factorials_of_whole_numbers(dtype: str) -> None:
    x = tb.arange(8, dtype=dtype)
    expected = [math.factorial(n) * harmonic(n) for n in range(8)]
    bound = 8 * tb.finfo(dtype).eps
    np.testing.assert_allclose(tb.grad(lambda x: tb.sum(tb.factorial(x)))(x).astype("f64"), expected, rtol=bound)
    np.testing.assert_allclose(tb.jvp(tb.factorial, (x,), (tb.ones_like(x),))[1].astype("f64"), expected, rtol=bound)


def test_second_derivatives_of_factorials() -> None:
    """gamma'' = gamma * (digamma**2 + trigamma), with trigamma(n + 1) = pi**2 / 6 - 1 - 1/4 - ..."""
    second = tb.grad(lambda x: tb.sum(tb.grad(lambda x: tb.sum(tb.factorial(x)))(x)))(tb.arange(5.0, dtype="f64"))
    for n in range(5):
        trigamma = math.pi**2 / 6 - sum(1 / k**2 for k in range(1, n + 1))
        np.testing.assert_allclose(second[n].item(), math.factorial(n) * (harmonic(n) ** 2 + trigamma), rtol=1e-12)


def test_factorials_of_other_numbers() -> None:
    x = tb.asarray([-1.0, -2.0, math.nan, 200.0, math.inf], dtype="f32")
    gradient = tb.grad(lambda x: tb.sum(tb.factorial(x)))(x).tolist()
    assert all(map(math.isnan, gradient[:3]))
    assert gradient[3:] == [math.inf, math.inf]
    # gamma(1/2) * digamma(1/2) and gamma(-1/2) * digamma(-1/2), with digamma(1/2) = -EULER - 2 log(2)
    digamma = -EULER - 2 * math.log(2)
    expected = [math.sqrt(math.pi) * digamma, -2 * math.sqrt(math.pi) * (digamma + 2)]
    np.testing.assert_allclose(
        tb.grad(lambda x: tb.sum(tb.factorial(x)))(tb.asarray([-0.5, -1.5])), expected, rtol=1e-6
    )


@pytest.mark.parametrize(
    ("dtype", "a", "x", "expected"),
    [
        # At x = a the density is a**(a - 1) exp(-a) / gamma(a), about (1 - 1 / (12 a)) / sqrt(2 pi a).
        *(
            (dtype, a, a, (1 - 1 / (12 * a) + 1 / (288 * a * a)) / math.sqrt(2 * math.pi * a))
            for dtype, a in [
                ("bf16", 40.0),
                ("bf16", 200.0),
                ("f16", 200.0),
                ("f32", 1e5),
                ("f32", 1e10),
                ("f64", 1e12),
            ]
        ),
        ("f32", 100.0, 110.0, math.exp(99 * math.log(110) - 110 - math.lgamma(100))),
        ("f32", 11.0, 0.01, math.exp(10 * math.log(0.01) - 0.01 - math.lgamma(11))),
        ("f32", 2.0, 50.0, 50 * math.exp(-50)),
        ("f16", 0.5, 1e-4, 1 / math.sqrt(1e-4 * math.pi)),
    ],
)
def test_incomplete_gamma_functions(dtype: str, a: float, x: float, expected: float) -> None:
    order, at = tb.asarray(a, dtype=dtype), tb.asarray(x, dtype=dtype)
    bound = 64 * tb.finfo(dtype).eps
    for function, sign in ((tb.gamma_inc_l, 1), (tb.gamma_inc_u, -1)):
        np.testing.assert_allclose(tb.grad(lambda x, f=function: f(order, x))(at).item(), sign * expected, rtol=bound)


def test_second_derivatives_of_incomplete_gamma_functions() -> None:
    """The density f has f'/f = (a - 1) / x - 1."""
    for a, x in ((3.0, 2.0), (50.0, 40.0), (50.0, 50.0), (50.0, 5.0)):
        first = tb.grad(lambda x, a=a: tb.gamma_inc_l(tb.asarray(a, dtype="f64"), x))
        at = tb.asarray(x, dtype="f64")
        np.testing.assert_allclose(tb.grad(first)(at), np.asarray(first(at)) * ((a - 1) / x - 1), rtol=1e-9, atol=1e-14)


def test_trigamma_of_large_numbers_in_float16() -> None:
    np.testing.assert_allclose(tb.grad(tb.digamma)(tb.asarray(256.0, dtype="f16")).item(), 0.00391389, rtol=1e-3)
