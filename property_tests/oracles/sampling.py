"""Oracles of random numbers that are drawn in loops: the published methods, a number at a time, with JAX's keys."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy
import scipy.special
from hypothesis import strategies as st
from scipy import stats

import tensorbackend as tb
from tensorbackend.dtypes import DType
from tensorbackend.protocol import Backend
from tensorbackend.testing.strategies import Draw

from .random import fractions, rounded, split, standard_normal
from .table import Recorder, law


def fraction(key: Any, dtype: DType) -> float:
    return float(fractions(key, (), dtype))


def gamma_one(key: Any, a: float, dtype: DType, logarithm: bool) -> float:
    """Marsaglia and Tsang's method, with a power of a uniform number below 1."""
    d = (a if a >= 1 else a + 1) - 1 / 3
    current, of_boost = split(key)
    while True:
        current, of_normal, of_uniform = split(current, 3)
        x, v = 0.0, -1.0
        while v <= 0:
            of_normal, used = split(of_normal)
            x = float(standard_normal(used, (), dtype))
            v = 1 + x / (3 * math.sqrt(d))
        u = fraction(of_uniform, dtype)
        if u < 1 - 0.0331 * x**4 or math.log(u) < x * x / 2 + d * (1 - v**3 + math.log(v**3)):
            break
    boost = 0.0 if a >= 1 else math.log1p(-fraction(of_boost, dtype)) / a
    value = math.log(d) + 3 * math.log(v) + boost
    return value if logarithm else math.exp(value)


def gammas(key: Any, a: Any, dtype: DType, logarithm: bool = False) -> Any:
    flat = [gamma_one(*pair, dtype, logarithm) for pair in zip(split(key, a.size), a.ravel().tolist(), strict=True)]
    return numpy.reshape(flat, a.shape)


def poisson_counts(key: Any, rate: Any, dtype: DType) -> Any:
    """Knuth's method for small rates, Hörmann's PTRS for others; each draws for all elements."""
    few = rate < 10
    counts, total, current = numpy.full(rate.shape, -1.0), numpy.zeros(rate.shape), key
    running = numpy.ones(rate.shape, bool)
    while (running & few).any():
        current, used = split(current)
        counts += running
        total += numpy.log(fractions(used, rate.shape, dtype))
        running &= total > -rate
    large = numpy.where(few, 1e5, rate)
    b = 0.931 + 2.53 * numpy.sqrt(large)
    a, drawn, open_, current = -0.059 + 0.02483 * b, numpy.zeros(rate.shape), numpy.ones(rate.shape, bool), key
    while open_.any():
        current, first, second = split(current, 3)
        u, v = fractions(first, rate.shape, dtype) - 0.5, fractions(second, rate.shape, dtype)
        us = 0.5 - abs(u)
        k = numpy.floor((2 * a / us + b) * u + large + 0.43)
        level = numpy.log(v * (1.1239 + 1.1328 / (b - 3.4)) / (a / us**2 + b))
        below = level <= stats.poisson.logpmf(k, large)
        accepted = ((us >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2))) | ((k >= 0) & ~((us < 0.013) & (v > us)) & below)
        drawn = numpy.where(accepted, k, drawn)  # the last one that is accepted, as all elements draw on
        open_ &= ~accepted
    return numpy.where(rate == 0, 0, numpy.where(few, counts, drawn))


def binomial_counts(key: Any, trials: Any, p: Any, dtype: DType) -> Any:
    """Sums of geometric waiting times for small means, Hörmann's BTRS for others; for probabilities up to a half."""
    few = trials * p <= 10
    counts, total, current = numpy.full(p.shape, -1.0), numpy.zeros(p.shape), key
    n = numpy.where(few, trials, 0)
    while (total <= n).any():
        used, current = split(current)
        counts += total <= n
        total += numpy.ceil(numpy.log(fractions(used, p.shape, dtype)) / numpy.log1p(-p))
    n, q = numpy.where(few, 1e4, trials), numpy.where(few, 0.5, p)
    deviation = numpy.sqrt(n * q * (1 - q))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * q
    mode, current = numpy.floor((n + 1) * q), key
    drawn, open_ = numpy.zeros(p.shape), numpy.ones(p.shape, bool)
    while open_.any():
        current, first, second = split(current, 3)
        u, v = fractions(first, p.shape, dtype) - 0.5, fractions(second, p.shape, dtype)
        us = 0.5 - abs(u)
        k = numpy.floor((2 * a / us + b) * u + n * q + 0.5)
        level = numpy.log(v * (2.83 + 5.1 / b) * deviation / (a / us**2 + b))
        below = level <= stats.binom.logpmf(k, n, q) - stats.binom.logpmf(mode, n, q)
        accepted = ((us >= 0.07) & (v <= 0.92 - 4.2 / b)) | ((k >= 0) & (k <= n) & below)
        drawn = numpy.where(accepted, k, drawn)
        open_ &= ~accepted
    return numpy.where(few, counts, drawn)


def check_sample(
    draw: Draw, run: Recorder, backend: Backend, formula: Callable[..., Any], ranges: Sequence[tuple[float, float]]
) -> None:
    """Asserts that a sample of floats is that of a formula of the key, the parameters and the dtype."""
    seed, dtype = draw(st.integers(0, 2**40)), draw(st.sampled_from([tb.float32, tb.float64]))
    made = tb.random.key(seed, backend=backend)
    if draw(st.booleans()):
        values = [draw(st.integers(math.ceil(4 * low), math.floor(4 * high))) / 4 for low, high in ranges]
        out = run(made, *values, (3,), dtype, names=("n",))
        parameters = [numpy.full(3, value) for value in values]
    else:
        parameters = [rounded([draw(st.floats(*ends)) for _ in range(3)], dtype) for ends in ranges]
        tensors = [tb.asarray(x, dtype=dtype, names=("n",), backend=backend) for x in parameters]
        out = run(made, *tensors)
    assert out.names == ("n",)
    assert out.dtype is dtype
    expected = formula(numpy.asarray(made), *parameters, dtype)
    rtol, atol = (5e-4, 1e-6) if dtype is tb.float32 else (1e-10, 1e-300)
    numpy.testing.assert_allclose(numpy.asarray(out), expected, rtol=rtol, atol=atol)


@law("random.gamma", by="brute force")
def gamma(draw: Draw, run: Recorder, backend: Backend) -> None:
    check_sample(draw, run, backend, gammas, [draw(st.sampled_from([(0.25, 1.0), (1.0, 90.0)]))])


def beta_numbers(key: Any, a: Any, b: Any, dtype: DType) -> Any:
    first, second = (gammas(each, x, dtype, True) for each, x in zip(split(key), (a, b), strict=True))
    return scipy.special.expit(first - second)


@law("random.beta", by="brute force")
def beta(draw: Draw, run: Recorder, backend: Backend) -> None:
    check_sample(draw, run, backend, beta_numbers, [(0.25, 9.0), (0.25, 9.0)])


def student_numbers(key: Any, df: Any, dtype: DType) -> Any:
    of_normal, of_gamma = split(key)
    return standard_normal(of_normal, df.shape, dtype) * numpy.sqrt(df / 2 / gammas(of_gamma, df / 2, dtype))


@law("random.student_t", by="brute force")
def student_t(draw: Draw, run: Recorder, backend: Backend) -> None:
    check_sample(draw, run, backend, student_numbers, [(0.5, 20.0)])


def trials_numbers(key: Any, n: Any, p: Any, dtype: DType) -> Any:
    counts = binomial_counts(key, numpy.floor(n), numpy.where(p < 0.5, p, 1 - p), dtype)
    return numpy.where(p < 0.5, counts, numpy.floor(n) - counts)


@law("random.binomial", by="brute force")
def binomial(draw: Draw, run: Recorder, backend: Backend) -> None:
    check_sample(draw, run, backend, trials_numbers, [(0.0, 300.0), (0.0, 1.0)])


@law("random.poisson", by="brute force")
def poisson(draw: Draw, run: Recorder, backend: Backend) -> None:
    seed, dtype = draw(st.integers(0, 2**40)), draw(st.sampled_from([None, "int32"]))
    rate = rounded([draw(st.floats(0, 9) | st.floats(10, 500)) for _ in range(3)], tb.float32)
    made = tb.random.key(seed, backend=backend)
    given = tb.asarray(rate, dtype="f32", names=("n",), backend=backend)
    out = run(
        made, given, *draw(st.sampled_from([(), ((3,),)])), dtype=dtype, names=draw(st.sampled_from([None, ("n",)]))
    )
    assert out.names == ("n",)
    assert out.dtype.name == (dtype or "int64")
    assert out.tolist() == poisson_counts(numpy.asarray(made), rate, tb.float32).tolist()


@law("random.dirichlet", by="brute force")
def dirichlet(draw: Draw, run: Recorder, backend: Backend) -> None:
    seed, dtype = draw(st.integers(0, 2**40)), draw(st.sampled_from([tb.float32, tb.float64]))
    alpha = rounded([draw(st.floats(0.25, 20)) for _ in range(3)], dtype)
    shape = draw(st.sampled_from([None, (2,)]))
    made = tb.random.key(seed, backend=backend)
    given = tb.asarray(alpha, dtype=dtype, names=("class",), backend=backend)
    options: dict[str, Any] = draw(st.sampled_from([{}, {"dtype": dtype}]))
    if draw(st.booleans()):
        options["names"] = ("class",) if shape is None else ("n", "class")
    out = run(made, given, shape, **options)
    assert out.names[-1] == "class"
    logs = gammas(numpy.asarray(made), numpy.broadcast_to(alpha, (*(shape or ()), 3)), dtype, True)
    expected = scipy.special.softmax(logs, axis=-1)
    rtol, atol = (5e-4, 1e-6) if dtype is tb.float32 else (1e-10, 1e-300)
    numpy.testing.assert_allclose(numpy.asarray(out), expected, rtol=rtol, atol=atol)
