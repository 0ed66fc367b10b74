"""Elementwise functions on JAX, at thousands of numbers near the points where XLA's functions lose digits."""

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
"""Real numbers next to sqrt(1/2) - 1, which is where XLA's log1p changes its polynomial."""
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


@pytest.mark.parametrize("order", [1, 2, 3, math.inf])
def test_magnitudes_of_numbers_with_an_infinite_part(order: float) -> None:
    numbers = tb.tensor([complex(math.inf, math.nan), 1.0], dtype="c64", backend="binary")
    check(Invocation("linalg.vector_norm", (numbers,), {"ord": order}), "jax")
    check(Invocation("abs", (numbers,), {}), "jax")


@pytest.mark.parametrize("name", ["tanh", "tan"])
def test_complex_tangents_beside_their_poles(name: str) -> None:
    pole = complex(0, math.pi / 2) if name == "tanh" else complex(math.pi / 2, 0)
    values = [pole + z * CHANCE.choice([1e-3, 0.1, 1.0, 5.0, 50.0]) for z in UNIT_CIRCLE]
    check(Invocation(name, (tb.tensor(values, dtype="c128", backend="binary"),), {}), "jax")


@pytest.mark.parametrize(
    ("name", "dtype", "low", "high"),
    [
        ("erfc", tb.float64, 0.5, 27.0),
        ("expm1", tb.float32, -1.0, 1.0),
        ("expm1", tb.float32, 80.0, 88.8),
        ("sinh", tb.float32, -1.0, 1.0),
        ("sinh", tb.float32, 80.0, 89.5),
        ("cosh", tb.float32, 80.0, 89.5),
        ("cosh", tb.float64, 700.0, 710.5),
    ],
)
def test_exponentials_at_their_ends(name: str, dtype: tb.DType, low: float, high: float) -> None:
    values = [CHANCE.uniform(low, high) for _ in range(3000)]
    assert check(Invocation(name, (tb.tensor(values, dtype=dtype, backend="binary"),), {}), "jax") <= 5


def test_floors_of_quotients_with_as_many_digits_as_there_are() -> None:
    divisors = [math.copysign(CHANCE.uniform(1e-3, 1e3), CHANCE.uniform(-1, 1)) for _ in range(3000)]
    dividends = [divisor * CHANCE.randint(2**50, 2**54) for divisor in divisors]
    x, y = (tb.tensor(numbers, dtype="f64", backend="binary") for numbers in (dividends, divisors))
    assert check(Invocation("floor_divide", (x, y), {}), "jax") == 0


@pytest.mark.parametrize("dtype", [tb.float16, tb.bfloat16, tb.float32, tb.float64])
@pytest.mark.parametrize("shape", [(), (40, 1), (50,)])
def test_quotients_by_divisors_that_are_broadcast(dtype: tb.DType, shape: tuple[int, ...]) -> None:
    dividends = [CHANCE.uniform(-9, 9) for _ in range(1994)] + [math.nan, math.inf, -math.inf, 0.0, -0.0, 1e-7]
    divisors = [CHANCE.choice([3.0, 7.0, -0.3, 1e-3, 0.0, math.inf, math.nan]) for _ in range(math.prod(shape))]
    x, y = (tb.tensor(numbers, dtype=dtype, backend="binary") for numbers in (dividends, divisors))
    operands = tb.reshape(x, (40, 50)), tb.reshape(y, shape)
    assert check(Invocation("divide", operands, {}), "jax") == 0


@pytest.mark.parametrize("size", [2.3e-308, 1e-300, 1e-200, 1e300, 1.7e308])
def test_complex_roots_at_the_ends_of_float64(size: float) -> None:
    values = [complex(CHANCE.uniform(0.5, 1) * size, CHANCE.uniform(-1, -0.5) * size) for _ in range(100)]
    values = [complex(max(z.real, 2.3e-308), min(z.imag, -2.3e-308)) for z in values]
    assert check(Invocation("sqrt", (tb.tensor(values, dtype="c128", backend="binary"),), {}), "jax") <= 6


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_complex_squares_of_which_one_part_overflows(backend: str) -> None:
    x = tb.tensor([-0.75 - 1.7e308j, 1.7e308 - 1.1j, 8.5e307 - 2j, 1e200 + 1e-200j], dtype="c128", backend="binary")
    for name, operands in (("square", (x,)), ("multiply", (x, x))):
        assert check(Invocation(name, operands, {}), backend) <= 1


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_complex_powers_beside_one(backend: str) -> None:
    bases = [complex(1 + CHANCE.uniform(-1, 1) * 2.0**-n, CHANCE.uniform(-1, 1) * 2.0**-n) for n in range(1, 50)]
    powers = [CHANCE.uniform(-1, 1) * 2.0 ** (n + CHANCE.randint(0, 4)) for n in range(1, 50)]
    x = tb.tensor(bases, dtype="c128", backend="binary")
    y = tb.astype(tb.tensor(powers, dtype="f64", backend="binary"), "c128")
    check(Invocation("pow", (x, y), {}), backend)
    for exponent in (9.0, 50.0, 100.0, 0.5):
        check(Invocation("pow", (x, tb.tensor(exponent, dtype="c128", backend="binary")), {}), backend)


def test_a_complex_power_beside_one_is_that_of_the_logarithm() -> None:
    base = tb.tensor([1 + 1e-17j, 1 + 1e-9j], dtype="c128", backend="binary")
    powers = tb.pow(base, tb.tensor(1e9, dtype="c128", backend="binary")).tolist()
    assert abs(powers[0] - cmath.exp(1e-8j)) < 1e-15
    assert abs(powers[1] - cmath.exp(1e9 * cmath.log(1 + 1e-9j))) < 1e-14


@pytest.mark.parametrize("backend", ["numpy", "jax"])
@pytest.mark.parametrize("dtype", ["c64", "c128"])
def test_complex_sigmoids_beside_their_poles(backend: str, dtype: str) -> None:
    values = [complex(CHANCE.uniform(-0.2, 0.2), math.pi * (1 + CHANCE.uniform(-0.1, 0.1))) for _ in range(300)]
    check(Invocation("sigmoid", (tb.tensor(values, dtype=dtype, backend="binary"),), {}), backend)
