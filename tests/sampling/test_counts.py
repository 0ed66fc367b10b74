"""Poisson and binomial counts: JAX's numbers, on each backend, with the right distribution."""

from __future__ import annotations

import numpy
import pytest
from scipy import stats

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, DataError, DTypeError
from tensorbackend.sampling import counts


@pytest.mark.parametrize("backend", ["binary", "numpy"])
def test_numbers_are_those_of_jax(backend: str) -> None:
    with tb.default_backend(backend):
        key = tb.random.key(3)
        poisson = tb.random.poisson(key, tb.asarray([2.0, 50.0], names=("site",)))
        n, p = tb.asarray([5.0, 400.0], dtype="f64"), tb.asarray([0.3, 0.6], dtype="f64", names=("site",))
        binomial = tb.random.binomial(key, n, p)
    assert poisson.names == binomial.names == ("site",)
    assert poisson.tolist() == [0, 50]
    assert binomial.tolist() == [1.0, 243.0]


@pytest.mark.parametrize("mean", [0.3, 9.0, 40.0])
def test_large_samples_have_the_distribution(mean: float) -> None:
    x = numpy.asarray(tb.random.poisson(tb.random.key(1), mean, (4000,)))
    n = 120
    y = numpy.asarray(tb.random.binomial(tb.random.key(2), n, mean / n, (4000,)))
    for sample, distribution in ((x, stats.poisson(mean)), (y, stats.binom(n, mean / n))):
        for k in range(int(sample.max()) + 1):
            share = distribution.cdf(k)
            deviation = max(numpy.sqrt(share * (1 - share) / 4000), 1e-3)
            assert abs((sample <= k).mean() - share) < 5 * deviation


@pytest.mark.parametrize("mean", [1e6, 1e8, 1e12])
@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_large_means_have_their_variance(mean: float, dtype: str) -> None:
    counts = tb.random.poisson(tb.random.key(3), tb.asarray(mean, dtype="f64"), (40_000,))
    successes = tb.random.binomial(tb.random.key(4), 2 * mean, 0.5, (40_000,), dtype)
    for sample, variance in ((counts, mean), (successes, mean / 2)):
        x = numpy.asarray(sample).astype("f8") - mean
        assert abs(x.mean()) < 4 * numpy.sqrt(variance / 40_000)
        assert abs(x.var() / variance - 1) < 0.03  # four standard deviations of the estimate


def test_ends_of_the_ranges() -> None:
    key = tb.random.key(0)
    assert tb.random.poisson(key, tb.asarray([0.0, 0.0])).tolist() == [0, 0]
    assert tb.random.binomial(key, 7, tb.asarray([0.0, 1.0])).tolist() == [0.0, 7.0]
    assert tb.random.binomial(key, 0, 0.5).item() == 0.0
    assert tb.random.poisson(key, 1000.0, (3,), "u8").tolist() == [255] * 3
    assert tb.random.poisson(tb.template((2,), "u32"), 3.0, (4,), names=("n",)).names == ("n",)


def test_wrong_parameters_are_refused() -> None:
    key = tb.random.key(0)
    with pytest.raises(ArgumentError, match=r"poisson: expected a finite lam of at least 0, got lam=-1\.0"):
        tb.random.poisson(key, -1.0)
    with pytest.raises(DataError, match=r"poisson: expected a finite lam"):
        tb.random.poisson(key, tb.asarray([1.0, float("inf")]))
    with pytest.raises(ArgumentError, match=r"binomial: expected a probability p from 0 to 1, got p=1\.5"):
        tb.random.binomial(key, 3, 1.5)
    with pytest.raises(DTypeError, match="poisson: expected an integer dtype"):
        tb.random.poisson(key, 1.0, dtype="f32")


@tb.jit
def drawn(key: tb.Tensor, x: tb.Tensor) -> tuple[tb.Tensor, tb.Tensor, tb.Tensor]:
    return tb.random.poisson(key, x), tb.random.binomial(key, 9.0, x), tb.random.binomial(key, x, 0.5)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -1.0])
def test_no_loop_of_a_trace_runs_for_ever(number: float) -> None:
    """On JAX the numbers cannot be refused in a compiled function."""
    counts, *samples = drawn(tb.random.key(0, backend="jax"), tb.asarray(number, dtype="f64", backend="jax"))
    assert counts.item() == -1
    assert all(numpy.isnan(sample.item()) for sample in samples)


def test_a_probability_of_negative_zero() -> None:
    assert tb.random.binomial(tb.random.key(0), 9.0, -0.0, (3,)).tolist() == [0.0] * 3
    assert tb.random.poisson(tb.random.key(0), -0.0, (3,)).tolist() == [0] * 3


def test_counts_have_no_gradient() -> None:
    gradient = tb.grad(lambda p: tb.sum(tb.random.binomial(tb.random.key(0), 5.0, p, (3,))))(tb.asarray(0.5))
    assert gradient.item() == 0.0


def test_nothing_is_drawn_by_rejection_for_small_means_alone() -> None:
    like = tb.zeros((3,), dtype="f64")
    for unused, drawn in (([True, True, True], [-1.0] * 3), ([True, False, True], [7.0] * 3)):
        result = counts._reject(
            tb.random.key(0), like, tb.float32, tb.asarray(unused), lambda u, v: (u * 0 + 7, v >= 0)
        )
        assert result.tolist() == drawn
