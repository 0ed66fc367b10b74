"""Distribution functions, quantiles and log densities at parameters of all magnitudes.

Each value is within the range that it can have, and within the bound that its function declares of mpmath's. Where
mpmath's series would need millions of terms, the measure is its quadrature of the density.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import mpmath
import numpy
import pytest

import tensorbackend as tb
from tensorbackend.dtypes import float64
from tensorbackend.testing.calls import bound_of

BACKENDS = os.environ.get("TENSORBACKEND_BACKENDS", "numpy").split(",")
EPS = 2.0**-52
MP = mpmath.mp.clone()

LARGEST = 300.0
"""The largest parameters for which mpmath's own series are quick."""

Points = Sequence[tuple[float, ...]]


# Ranges


def _magnitudes(count: int, least: float, largest: float) -> Any:
    return numpy.concatenate([[0.0], 10.0 ** numpy.linspace(least, largest, count)])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("dtype", "end"), [("float64", 307), ("float32", 37), ("float16", 4)])
def test_probabilities_are_from_0_to_1(dtype: str, end: float, backend: str) -> None:
    random = numpy.random.default_rng(0)
    a = numpy.repeat(_magnitudes(80, -end, end), 20)
    b = random.choice(a, a.size)
    near = numpy.minimum(a * (1 + random.normal(size=a.size) * numpy.minimum(3 / numpy.sqrt(a + 1e-9), 0.9)), 10.0**end)
    share = random.choice([random.random(a.size), 10.0 ** -(random.random(a.size) * end)], 1)[0]

    def tensor(x: Any) -> tb.Tensor:
        return tb.asarray(x, dtype, backend=backend)

    for x in (b, abs(near)):
        lower, upper = (function(tensor(a), tensor(x)) for function in (tb.gamma_inc_l, tb.gamma_inc_u))
        for values in (lower, upper):
            assert bool(tb.all((values >= 0) & (values <= 1) | tb.isnan(values)))
        assert bool(tb.all((abs(lower + upper - 1) <= 4 * tb.finfo(lower.dtype).eps) | tb.isnan(lower)))
    values = tb.betainc(tensor(a), tensor(b), tensor(share))
    assert bool(tb.all((values >= 0) & (values <= 1) | tb.isnan(values)))
    signed = tensor(numpy.concatenate([a, -a]))
    for function, low, high in ((tb.erf, -1, 1), (tb.erfc, 0, 2), (tb.sigmoid, 0, 1)):
        values = function(signed)
        assert bool(tb.all((values >= low) & (values <= high)))


# The measure of mpmath


def gamma_tail(a: float, x: float, *, upper: bool) -> Any:
    """An incomplete gamma function; `None` where it is neither next to 0 or 1 nor quick."""
    if max(a, x) < 1e-20:  # x**a / gamma(1 + a); what is left out is below 1e-20 of the rest
        power = a * (MP.log(x) + MP.euler)
        return -MP.expm1(power) if upper else MP.exp(power)
    if a < 1e-20:
        return a * MP.e1(x) if upper else 1 - a * MP.e1(x)
    if max(a, x) <= LARGEST:
        return MP.gammainc(a, x, MP.inf, regularized=True) if upper else MP.gammainc(a, 0, x, regularized=True)
    deviations = (x - a) / math.sqrt(a) if a > 1 else math.inf
    if not 0.5 < x / a < 2:  # the distance is more than 700 in the exponent, or about to be
        return MP.mpf((x > a) != upper) if abs(x - a) > 1e4 and ((x > a) != upper) else None
    if abs(deviations) > 30:
        return None
    mean = MP.mpf(a)
    log_gamma = MP.loggamma(mean)

    def density(t: Any) -> Any:
        return MP.exp((mean - 1) * MP.log(t) - t - log_gamma)

    return by_quadrature(density, x, mean, MP.sqrt(mean), MP.inf, upper=upper)


def by_quadrature(density: Any, x: float, mean: Any, deviation: Any, last: Any, *, upper: bool) -> Any:
    """The integral of a density from 0 to `last`, below or above x; the smaller of the two is computed."""
    above = x > mean
    end = x + (14 if above else -14) * deviation
    tail = abs(MP.quad(density, MP.linspace(x, min(max(end, mean / 1000), last), 4)))
    return tail if above == upper else 1 - tail


def gamma_points() -> Iterator[tuple[float, float]]:
    random = numpy.random.default_rng(0)
    for exponent in numpy.linspace(-307, 307, 60):
        yield float(10.0**exponent), float(10.0 ** random.uniform(-307, 307))
    for exponent in numpy.linspace(-5, 12, 40):
        a = float(10.0**exponent)
        yield a, abs(float(a + random.normal() * 3 * math.sqrt(a)))
    for exponent in numpy.linspace(-30, 2, 40):
        yield float(10.0**exponent), float(10.0 ** random.uniform(-300, 0))
        yield float(10.0**exponent), float(random.uniform(0, 250))


def beta_share(a: float, b: float, x: float) -> Any:
    if max(a, b) <= LARGEST:
        return MP.betainc(a, b, 0, x, regularized=True)
    p, q = MP.mpf(a), MP.mpf(b)
    log_beta = MP.loggamma(p) + MP.loggamma(q) - MP.loggamma(p + q)

    def density(t: Any) -> Any:
        return MP.exp((p - 1) * MP.log(t) + (q - 1) * MP.log1p(-t) - log_beta)

    return by_quadrature(density, x, p / (p + q), MP.mpf(spread(a, b)), 1 - MP.mpf(10) ** -30, upper=False)


def spread(a: float, b: float) -> float:
    return math.sqrt(a / (a + b) * (b / (a + b)) / (a + b + 1))


def beta_points() -> Iterator[tuple[float, float, float]]:
    random = numpy.random.default_rng(0)
    for _ in range(60):
        a, b = (float(10.0 ** random.uniform(-3, 2.4)) for _ in range(2))
        yield a, b, float(numpy.clip(a / (a + b) + 2 * random.normal() * spread(a, b), 1e-300, 1 - EPS))
        yield a, b, float(10.0 ** random.uniform(-300, 0))
    for exponent in numpy.linspace(2.5, 15, 16):
        a, b = float(10.0**exponent), float(10.0 ** (exponent + random.uniform(-1, 1)))
        yield a, b, a / (a + b) + 2 * random.normal() * spread(a, b)
    for exponent in numpy.linspace(-300, 2, 60):
        a, b = float(10.0**exponent), float(10.0 ** random.uniform(-25, 2))
        x = float(random.choice([random.random(), 1e-300]))
        yield (a, b, x) if random.random() < 0.5 else (b, a, x)
    for exponent in numpy.linspace(285, 308, 24):
        yield float(10.0**exponent), float(10.0 ** random.uniform(285, 308)), float(random.random())


def normal_points() -> Iterator[tuple[float]]:
    yield from ((float(10.0**exponent),) for exponent in numpy.linspace(-307.6, -0.31, 60))
    yield from ((1 - 2.0**-power,) for power in range(1, 54))


def normal_quantile(p: float) -> Any:
    """The root of the normal distribution function, by Newton's method in the logarithm."""
    tail = MP.mpf(min(p, 1 - p))
    x = -MP.sqrt(-2 * MP.log(2 * tail)) if tail < 0.5 else MP.mpf(0)
    for _ in range(60):
        share = MP.erfc(-x / MP.sqrt(2)) / 2
        step = (MP.log(share) - MP.log(tail)) * share * MP.sqrt(2 * MP.pi) * MP.exp(x * x / 2)
        x -= step
        if abs(step) <= abs(x) * MP.mpf(10) ** -25:
            break
    return x if p < 0.5 else -x


def line(count: int, end: float) -> Callable[[], Iterator[tuple[float]]]:
    """Numbers of both signs at evenly spaced exponents."""
    return lambda: iter([(float(sign * 10.0**e),) for sign in (1, -1) for e in numpy.linspace(-307, end, count)])


FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[[], Iterator[tuple[float, ...]]]]] = {
    "gamma_inc_l": (partial(gamma_tail, upper=False), gamma_points),
    "gamma_inc_u": (partial(gamma_tail, upper=True), gamma_points),
    "betainc": (beta_share, beta_points),
    "ndtri": (normal_quantile, normal_points),
    "erfc": (MP.erfc, line(60, 1.42)),
    "sigmoid": (lambda x: 1 / (1 + MP.exp(-MP.mpf(x))), line(60, 2.84)),
    "nn.log_sigmoid": (lambda x: -MP.log1p(MP.exp(-MP.mpf(x))), line(60, 307.0)),
    "nn.softplus": (lambda x: MP.log1p(MP.exp(MP.mpf(x))), line(60, 307.0)),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_bound_holds_at_all_magnitudes(name: str, backend: str) -> None:
    exact, draw = FUNCTIONS[name]
    points, function = [*draw()], tb
    for part in name.split("."):
        function = getattr(function, part)
    got: Any = function(*(tb.asarray(column, "f64", backend=backend) for column in zip(*points, strict=True)))  # type: ignore[operator]
    bounds = getattr(function, "__bounds__", None)
    bound, wrong, judged = bounds.bound if bounds else bound_of(name, {float64}), [], 0
    for point, value in zip(points, got.tolist(), strict=True):
        with MP.workdps(50):
            expected = exact(*point)
            if expected is None:
                continue
            judged += 1
            size = max(1.0, abs(expected)) if bound.scale in ("one", "operand") else abs(expected)
            off = abs(MP.mpf(value) - expected) if math.isfinite(value) else MP.inf
            if off > max(bound.ulps, 1) * EPS * size + 5e-324:
                wrong.append((point, value, float(expected), float(off / (EPS * size))))
    assert not wrong, (len(wrong), bound, wrong[:4])
    assert judged > 0.7 * len(points)
