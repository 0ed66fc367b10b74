"""The incomplete beta function: ends, backends, compiled functions and its derivative."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy
import pytest
import scipy.special
from scipy import stats

import tensorbackend as tb
from tensorbackend.looped import incomplete_beta

X = numpy.array([0.0, 1e-5, 0.3, 0.9, 1.0])


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_values_and_the_density(backend: str) -> None:
    x = tb.asarray(X, names=("n",), backend=backend)
    value, slope = tb.jit(tb.vmap(tb.value_and_grad(lambda x: tb.betainc(2.5, 40.0, x))))(x)
    assert value.names == ("n",)
    assert numpy.allclose(value.tolist(), scipy.special.betainc(2.5, 40.0, X), rtol=1e-12)
    assert numpy.allclose(slope.tolist(), stats.beta.pdf(X, 2.5, 40.0), rtol=1e-10)


def test_dtypes_and_ends() -> None:
    assert tb.betainc(tb.ones(2, dtype="f16"), 1.0, 0.5).dtype is tb.float16
    assert tb.betainc(1, 1, tb.asarray([0, 1])).tolist() == [0.0, 1.0]
    a, b = tb.asarray([0.0, 2.0, 0.0, -1.0, 1.0]), tb.asarray([2.0, 0.0, 0.0, 1.0, 1.0])
    x = tb.asarray([0.5, 0.5, 0.5, 0.5, 1.5])
    assert tb.betainc(a, b, x).tolist()[:2] == [1.0, 0.0]
    assert all(map(math.isnan, tb.betainc(a, b, x).tolist()[2:]))


def test_parameters_have_a_gradient() -> None:
    parameters = numpy.array([0.5, 2.0, 30.0])
    by_a, by_b = tb.grad(lambda a, b: tb.sum(tb.betainc(a, b, 0.3)), argnums=(0, 1))(*[tb.asarray(parameters)] * 2)
    for got, place in ((by_a, 0), (by_b, 1)):
        for number, slope in zip(parameters, got.tolist(), strict=True):
            pair = [mpmath.mpf(number)] * 2

            def moved(at: mpmath.mpf, pair: list[mpmath.mpf] = pair, place: int = place) -> mpmath.mpf:
                a, b = (at, pair[1]) if place == 0 else (pair[0], at)
                return mpmath.betainc(a, b, 0, mpmath.mpf(0.3), regularized=True)

            with mpmath.workdps(40):
                expected = float(mpmath.diff(moved, pair[place]))
            assert numpy.isclose(slope, expected, rtol=1e-8, atol=1e-13)


def test_the_density_at_both_ends() -> None:
    a, b = tb.asarray([0.5, 1.0, 2.0, 3.0]), tb.asarray([3.0, 2.0, 1.0, 0.5])
    slope = tb.grad(lambda x: tb.sum(tb.betainc(a, b, x)))
    assert slope(tb.zeros(4)).tolist() == [math.inf, 2.0, 0.0, 0.0]
    assert slope(tb.ones(4)).tolist() == [0.0, 0.0, 2.0, math.inf]


def test_the_fraction_ends_where_only_rounding_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Terms that rounding keeps from 1 do not let the loop run until its limit, which would add their errors up."""
    steps: list[float] = []
    loop = tb.while_loop

    def counted(*arguments: Any) -> Any:
        state = loop(*arguments)
        steps.append(state[0].item())
        return state

    monkeypatch.setattr(incomplete_beta, "while_loop", counted)
    draws = numpy.random.default_rng(0)
    a, b, x = draws.uniform(0.05, 5, (3, 400)) * [[1], [1], [0.2]]
    tb.clear_caches()
    found = numpy.asarray(incomplete_beta._regularized(*(tb.asarray(each) for each in (a, b, x))))
    assert max(steps) < 100
    assert numpy.allclose(found, scipy.special.betainc(a, b, x), rtol=2e-14, atol=0)


def test_large_parameters_keep_the_bound() -> None:
    large = tb.asarray([1e6, 1e15, 1e16, 1e33, 1e200], dtype="f64")
    assert abs(numpy.asarray(tb.betainc(large, large, 0.5)) - 0.5).max() < 1e-14
    for a in (0.25, 2.5, 99.0, 150.0):  # next to 1e200 the other parameter's limit is the gamma distribution
        for share in (0.3, 1.0, 2.0):
            got = tb.betainc(tb.asarray(a, dtype="f64"), 1e200, tb.asarray(share * a * 1e-200, dtype="f64")).item()
            assert abs(got - scipy.special.gammainc(a, share * a)) < 1e-13
            upper = tb.betainc(tb.asarray(1e200, dtype="f64"), a, tb.asarray(1 - 2**-53, dtype="f64")).item()
            assert upper == 0.0


def test_probabilities_stay_between_0_and_1() -> None:
    tens = 10.0 ** numpy.arange(-300, 301, 20.0)
    a, b, x = numpy.meshgrid(tens, tens, [1e-300, 1e-20, 0.1, 0.5, 1 - 2**-53])
    got = numpy.asarray(tb.betainc(*(tb.asarray(each) for each in (a, b, x))))
    assert ((got >= 0) & (got <= 1)).all()


def test_infinite_parameters_have_limits() -> None:
    one, many = tb.asarray([0.5, 1.0]), tb.full(2, float("inf"))
    assert tb.betainc(many, 2.0, one).tolist() == [0.0, 1.0]
    assert tb.betainc(2.0, many, one).tolist() == [1.0, 1.0]
    assert all(tb.isnan(tb.betainc(many, many, one)).tolist())


@pytest.mark.parametrize("size", [1e3, 1e15, 1e60, 1e200])
def test_derivatives_by_large_parameters(size: float) -> None:
    # At the mean of a = b the function is that of a normal distribution of the width sqrt(x (1 - x) / (a + b)).
    slopes = tb.grad(lambda a, b, x: tb.betainc(a, b, x), (0, 1, 2))(
        *(tb.asarray(x, dtype="f64") for x in (size, size, 0.5))
    )
    by_x = math.sqrt(2 * size / (0.25 * 2 * math.pi))
    for got, expected in zip(slopes, (-by_x / (4 * size), by_x / (4 * size), by_x), strict=True):
        assert abs(got.item() / expected - 1) < max(1 / size, 1e-12)


@pytest.mark.parametrize("size", [1e270, 9e270, 1e300, 1e308])
def test_parameters_whose_sum_overflows(size: float) -> None:
    """Of both near the largest float the function is a step at the mean, as steep as the root of the parameters."""
    x = tb.asarray([1e-300, 0.1, 0.5, 0.5000000001, 1 - 2**-53])
    for share in (0.25, 1.0, 1.5):
        got = tb.betainc(tb.asarray(size, dtype="f64"), size * share, x).tolist()
        mean = 1 / (1 + share)
        assert got == pytest.approx([0.5 if at == mean else float(at > mean) for at in x.tolist()], abs=1e-14)
    slopes = tb.grad(lambda a, b, x: tb.betainc(a, b, x), (0, 1, 2))(
        *(tb.asarray(x, dtype="f64") for x in (size, size, 0.5))
    )
    by_x = math.sqrt(2 / (0.25 * 2 * math.pi)) * math.sqrt(size)
    for got, expected in zip(slopes, (-by_x / 4 / size, by_x / 4 / size, by_x), strict=True):
        assert abs(got.item() / expected - 1) < 1e-12
