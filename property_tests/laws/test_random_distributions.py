"""Samples of every distribution against the distribution functions of SciPy, in every dtype; and between backends.

The seeds are fixed, so that every run draws the same numbers. The threshold of each test would be passed by chance once
in some ten thousand runs with other seeds.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import tensorbackend as tb
from tensorbackend import random
from tensorbackend.dtypes import as_dtype, finfo
from tensorbackend.interchange import numpy_dtype
from tensorbackend.testing import assert_equal
from tensorbackend.testing.calls import bound_of

BACKENDS = os.environ.get("TENSORBACKEND_BACKENDS", "numpy,jax").split(",")
JUDGED = BACKENDS[:1]
"""Where samples are compared with distributions; those of other backends are compared with NumPy's one by one."""

DTYPES = ["float16", "bfloat16", "float32", "float64"]
COUNT = 20_000

Draw = Callable[[tb.Tensor, str], tb.Tensor]

CONTINUOUS: dict[str, tuple[Draw, Any, float, float]] = {
    "uniform": (lambda key, dtype: random.uniform(key, (COUNT,), dtype), stats.uniform(), 0, 1),
    "uniform from -3 to 1": (
        lambda key, dtype: random.uniform(key, (COUNT,), dtype, -3.0, 1.0), stats.uniform(-3, 4), -3, 1
    ),
    "normal": (lambda key, dtype: random.normal(key, (COUNT,), dtype), stats.norm(), -math.inf, math.inf),
    "normal about 2": (
        lambda key, dtype: random.normal(key, (COUNT,), dtype, mean=2.0, deviation=0.5),
        stats.norm(2, 0.5), -math.inf, math.inf,
    ),
    "exponential": (lambda key, dtype: random.exponential(key, (COUNT,), dtype), stats.expon(), 0, math.inf),
    "gumbel": (lambda key, dtype: random.gumbel(key, (COUNT,), dtype), stats.gumbel_r(), -math.inf, math.inf),
    "gumbel, high": (
        lambda key, dtype: random.gumbel(key, (COUNT,), dtype, "high"), stats.gumbel_r(), -math.inf, math.inf
    ),
}  # fmt: skip

TRUNCATED = [
    (-2.0, 2.0), (-1.0, math.inf), (-math.inf, math.inf), (0.0, 1.0), (1.5, 2.0), (3.0, 5.0), (-math.inf, -10.0),
    (6.0, math.inf), (5.25, 1e4), (20.0, 20.5), (-8.0, -7.5), (-math.inf, 0.0), (1.01, math.inf), (9.9, 10.1),
    (37.0, 39.0),
]  # fmt: skip


def check_distribution(sample: tb.Tensor, distribution: Any, low: float, high: float) -> None:
    """Check numbers by the Kolmogorov-Smirnov test, at the ends of the intervals that are rounded to each number.

    A dtype of few digits has few fractions: its distribution function has steps of the size of an eps.
    """
    values, counts = np.unique(np.asarray(tb.astype(sample, "float64")), return_counts=True)
    assert low <= values[0]
    # A number just below a bound may round to it, but fractions of 1 are below 1.
    assert values[-1] < high if (low, high) == (0, 1) else values[-1] <= high
    dtype = numpy_dtype(sample.dtype)
    ends = values + np.abs(np.spacing(values.astype(dtype))).astype(float) / 2
    ends[values == values[-1]] = math.inf
    reached = np.cumsum(counts) / counts.sum()
    step = 2.0 ** -min(sample.dtype.mantissa_bits, 23)
    # Both a number and the end of its interval bound what the distribution function may be.
    below, above = distribution.cdf(values), distribution.cdf(ends)
    apart = np.maximum(np.maximum(below - reached, reached - above), 0)
    assert apart.max() < 2.2 / math.sqrt(COUNT) + 2 * step


@pytest.mark.parametrize("name", CONTINUOUS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("backend", JUDGED)
def test_continuous_distributions(backend: str, dtype: str, name: str) -> None:
    draw, distribution, low, high = CONTINUOUS[name]
    sample = draw(random.key(11, backend=backend), dtype)
    assert bool(tb.all(tb.isfinite(sample)))
    check_distribution(sample, distribution, low, high)
    values = np.asarray(tb.astype(sample, "float64"))
    # Of few fractions, the last one counts all of a tail; that of a Gumbel distribution is the longest.
    step = (4 if name.startswith("gumbel") else 1) * finfo(as_dtype(dtype)).eps
    mean, variance = distribution.stats()
    assert abs(values.mean() - mean) < 4.5 * math.sqrt(variance / COUNT) + 2 * step
    assert abs(values.var() / variance - 1) < 0.06 + 8 * step


@pytest.mark.parametrize(
    ("backend", "dtype", "bounds"),
    [(backend, dtype, bounds) for backend in JUDGED for dtype in DTYPES for bounds in TRUNCATED],
)
def test_truncated_normal_numbers(backend: str, dtype: str, bounds: tuple[float, float]) -> None:
    key = random.key(12, backend=backend)
    low, high = (float(np.asarray(bound).astype(numpy_dtype(as_dtype(dtype)))) for bound in bounds)
    sample = random.truncated_normal(key, low, high, (COUNT,), dtype)
    values = np.asarray(tb.astype(sample, "float64"))
    # XLA takes the number next to 0 for 0.
    assert np.all(((values > low) | ((values == 0) & (low == 0) & (backend == "jax"))) & (values < high))
    check_distribution(sample, stats.truncnorm(low, high), low, high)
    from_tensors = random.truncated_normal(key, tb.asarray(low, dtype=dtype, backend=backend), high, (COUNT,), dtype)
    assert_equal(from_tensors.backend_copy("binary"), sample.backend_copy("binary"), ulps=2)


@pytest.mark.parametrize("backend", JUDGED)
def test_truncated_normal_numbers_with_moments(backend: str) -> None:
    key = random.key(13, backend=backend)
    for low, high, mean, deviation in ((50.0, math.inf, 12.0, 5.0), (-3.0, -2.5, 7.0, 2.0), (0.0, 20.0, 12.0, 5.0)):
        sample = random.truncated_normal(key, low, high, (COUNT,), mean=mean, deviation=deviation)
        reference = stats.truncnorm((low - mean) / deviation, (high - mean) / deviation, mean, deviation)
        check_distribution(sample, reference, low, high)


def check_frequencies(drawn: tb.Tensor, probabilities: list[float]) -> None:
    """Check how often integers from 0 up were drawn, by the chi-squared test."""
    counts = np.bincount(np.asarray(drawn).astype(int).reshape(-1), minlength=len(probabilities))
    assert len(counts) == len(probabilities)
    wanted = np.asarray(probabilities) / sum(probabilities) * counts.sum()
    assert np.all(counts[wanted == 0] == 0)
    assert stats.chisquare(counts[wanted > 0], wanted[wanted > 0]).pvalue > 1e-4


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("backend", JUDGED)
def test_discrete_distributions(backend: str, dtype: str) -> None:
    keys = random.split(random.key(14, backend=backend), 8)
    weights = [1.0, 2.0, 0.0, 4.0, 1.0]
    p = tb.asarray(weights, dtype=dtype, backend=backend)
    check_frequencies(random.choice(keys[0], 5, (COUNT,), p=p), weights)
    check_frequencies(random.categorical(keys[1], tb.log(p), shape=(COUNT,), mode="high"), weights)
    check_frequencies(random.bernoulli(keys[2], tb.asarray(0.25, dtype=dtype, backend=backend), (COUNT,)), [0.75, 0.25])
    first = [random.choice(key, 5, (2,), replace=False, p=p) for key in random.split(keys[3], 20)]
    assert all(len(set(pair.tolist())) == 2 and 2 not in pair.tolist() for pair in first)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("backend", JUDGED)
def test_integers_and_orders(backend: str, dtype: str) -> None:
    keys = random.split(random.key(15, backend=backend), 3)
    check_frequencies(random.randint(keys[0], (COUNT,), 0, 7, dtype), [1.0] * 7)
    check_frequencies(random.choice(keys[1], 7, (COUNT,)), [1.0] * 7)
    if dtype.startswith("u") and dtype != "uint16":
        words = np.asarray(random.bits(keys[2], (COUNT,), dtype))
        check_frequencies(
            tb.asarray((words >> np.asarray(words.dtype.itemsize * 8 - 4, words.dtype)).astype(int)), [1.0] * 16
        )


@pytest.mark.parametrize("backend", JUDGED)
def test_every_order_is_equally_likely(backend: str) -> None:
    keys = random.split(random.key(16, backend=backend), 1200)
    orders = tb.vmap(lambda key: random.permutation(key, 3))(keys)
    check_frequencies(orders[:, 0] * 2 + tb.astype(orders[:, 1] > orders[:, 2], "int64"), [1.0] * 6)


@pytest.mark.parametrize("backend", JUDGED)
def test_normal_vectors(backend: str) -> None:
    cov = np.asarray([[2.0, 0.6], [0.6, 0.5]])
    key = random.key(17, backend=backend)
    x = np.asarray(random.multivariate_normal(key, tb.asarray([1.0, -2.0], backend=backend),
                                              tb.asarray(cov.astype("f4"), backend=backend), (COUNT,)))  # fmt: skip
    whitened = np.linalg.solve(np.linalg.cholesky(cov), (x - [1.0, -2.0]).T)
    for line in whitened:
        assert stats.kstest(line, stats.norm.cdf).pvalue > 1e-4
    assert abs(np.corrcoef(whitened)[0, 1]) < 4.5 / math.sqrt(COUNT)


# The same numbers on each backend, in calls and in compiled functions

MANY = 20_000

SAME: dict[str, tuple[Draw, str | None]] = {
    "bits": (lambda key, dtype: random.bits(key, (MANY,)), None),
    "uniform": (lambda key, dtype: random.uniform(key, (MANY,), dtype), None),
    "uniform between bounds": (lambda key, dtype: random.uniform(key, (MANY,), dtype, -3.5, 2.3), None),
    "normal": (lambda key, dtype: random.normal(key, (MANY,), dtype), "normal"),
    "truncated normal": (
        lambda key, dtype: random.truncated_normal(key, -1.5, 2.0, (MANY,), dtype), "truncated_normal"
    ),
    "truncated normal, tail": (
        lambda key, dtype: random.truncated_normal(key, 4.0, math.inf, (MANY,), dtype), "truncated_normal"
    ),
    "exponential": (lambda key, dtype: random.exponential(key, (MANY,), dtype), "exponential"),
    "gumbel": (lambda key, dtype: random.gumbel(key, (MANY,), dtype), "gumbel"),
    "gumbel, high": (lambda key, dtype: random.gumbel(key, (MANY,), dtype, "high"), "gumbel"),
    "bernoulli": (lambda key, dtype: random.bernoulli(key, tb.asarray(0.3, dtype=dtype, like=key), (MANY,)), None),
    "choice": (
        lambda key, dtype: random.choice(key, 4, (MANY,), p=tb.asarray([1.0, 2.0, 0.0, 5.0], dtype=dtype, like=key)),
        None,
    ),
    "choice without replacement": (
        lambda key, dtype: random.choice(key, 9, (5,), False, tb.asarray([1.0, 2.0, 3.0] * 3, dtype=dtype, like=key)),
        None,
    ),
    "permutation": (lambda key, dtype: random.permutation(key, MANY), None),
    "randint": (lambda key, dtype: random.randint(key, (MANY,), -5, 100, "int32"), None),
}  # fmt: skip


@pytest.mark.parametrize("compiled", [False, True], ids=["calls", "compiled"])
@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("backend", [backend for backend in BACKENDS if backend != "numpy"])
def test_the_same_numbers_on_each_backend(backend: str, name: str, compiled: bool) -> None:
    draw, op = SAME[name]
    # Some do not depend on the dtype, and XLA takes seconds to compile others.
    for dtype in ["float32"] if "truncated" in name or name in ("bits", "randint", "permutation") else DTYPES:
        reference = np.asarray(tb.astype(draw(random.key(18, backend="numpy"), dtype), "float64"))
        function = tb.jit(draw) if compiled else draw
        key = random.key(18, backend=backend)
        for _ in range(1 if compiled else 2):  # the first call runs op by op, the second as a program
            drawn = np.asarray(tb.astype(function(key, dtype), "float64"))
            if op is None:
                assert np.array_equal(drawn, reference)
                continue
            bound = bound_of(op)
            eps = finfo(as_dtype(dtype)).eps
            scale = np.maximum(np.abs(reference), 1) if bound.scale == "one" else np.abs(reference)
            assert np.all(np.abs(drawn - reference) <= bound.ulps * eps * scale)
