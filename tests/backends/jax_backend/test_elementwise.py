"""Elementwise functions on JAX where XLA's own lose digits: thousands of numbers beside the points where it does."""

from __future__ import annotations

import cmath
import math
import random
from collections.abc import Callable

import pytest

import tensorbackend as tb
from tensorbackend.testing import Invocation, check

CHANCE = random.Random(0)
AROUND: dict[str, Callable[[], float]] = {
    "log1p": lambda: CHANCE.uniform(-0.5, -0.25),
    "atanh": lambda: math.copysign(CHANCE.uniform(0.25, 0.5), CHANCE.uniform(-1, 1)),
}
"""Real numbers beside sqrt(1/2) - 1, which is where XLA's log1p changes its polynomial."""
UNIT_CIRCLE = [cmath.rect(1 + CHANCE.choice([0, 1e-3, -1e-8]), CHANCE.uniform(-math.pi, math.pi)) for _ in range(3000)]


@pytest.mark.parametrize("name", AROUND)
@pytest.mark.parametrize("dtype", [tb.float32, tb.float64], ids=str)
def test_logarithms_beside_the_ends_of_polynomials(name: str, dtype: tb.DType) -> None:
    values = [AROUND[name]() for _ in range(3000)] + [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, math.inf, -math.inf, math.nan]
    assert check(Invocation(name, (tb.tensor(values, dtype=dtype, backend="binary"),), {}), "jax") <= 4


@pytest.mark.parametrize(
    ("name", "low", "high"), [("tanh", 0.5, 25.0), ("asin", 2.3e-308, 1e-300), ("asin", 1e-9, 1.0)]
)
def test_functions_of_float64_at_their_ends(name: str, low: float, high: float) -> None:
    values = [math.copysign(CHANCE.uniform(low, high), CHANCE.uniform(-1, 1)) for _ in range(3000)]
    assert check(Invocation(name, (tb.tensor([low, *values], dtype="f64", backend="binary"),), {}), "jax") <= 4


@pytest.mark.parametrize("name", ["log", "log2", "log10", "log1p", "atanh"])
def test_complex_logarithms_beside_the_unit_circle(name: str) -> None:
    shift = 1.0 if name == "log1p" else 0.0
    values = [z - shift for z in UNIT_CIRCLE] + [z / 2 for z in UNIT_CIRCLE]
    check(Invocation(name, (tb.tensor(values, dtype="c128", backend="binary"),), {}), "jax")


@pytest.mark.parametrize("name", ["tanh", "tan"])
def test_complex_tangents_beside_their_poles(name: str) -> None:
    pole = complex(0, math.pi / 2) if name == "tanh" else complex(math.pi / 2, 0)
    values = [pole + z * CHANCE.choice([1e-3, 0.1, 1.0, 5.0, 50.0]) for z in UNIT_CIRCLE]
    check(Invocation(name, (tb.tensor(values, dtype="c128", backend="binary"),), {}), "jax")
