"""The samples are those of `jax.random`; their statistics are near those of SciPy's own bootstrap."""

import jax
import numpy
import pytest
from scipy import stats

from .conftest import Runner


def test_the_samples_are_those_of_jax(on_both: Runner) -> None:
    values = on_both("bootstrap", SAMPLES=500)
    pairs = numpy.asarray(values["pairs"])
    keys = jax.random.split(jax.random.split(jax.random.key(7), 3)[1], 500)
    assert numpy.array_equal(jax.random.key_data(keys), numpy.asarray(values["keys"]))
    picked = jax.vmap(lambda key: jax.random.randint(key, (30,), 0, 30, "int32"))(keys)
    expected = [numpy.corrcoef(pairs[i].T)[0, 1] for i in numpy.asarray(picked)]
    numpy.testing.assert_allclose(numpy.asarray(values["correlations"]), expected, rtol=1e-12)

    without = [numpy.corrcoef(numpy.delete(pairs, i, axis=0).T)[0, 1] for i in range(30)]
    numpy.testing.assert_allclose(numpy.asarray(values["without"]), without, rtol=1e-12)
    low, high = numpy.percentile(expected, [2.5, 97.5])
    assert (values["low"], values["high"]) == (pytest.approx(low), pytest.approx(high))


def test_the_statistics_are_near_those_of_scipy(on_both: Runner) -> None:
    values = on_both("bootstrap", SAMPLES=2000)
    x, y = numpy.asarray(values["pairs"]).T

    def correlation(x: numpy.ndarray, y: numpy.ndarray) -> float:
        return float(stats.pearsonr(x, y).statistic)

    theirs = stats.bootstrap((x, y), correlation, paired=True, n_resamples=2000, method="percentile", rng=0)
    assert numpy.std(values["correlations"]) == pytest.approx(theirs.standard_error, rel=0.1)
    assert values["low"] == pytest.approx(theirs.confidence_interval.low, abs=0.05)
    assert values["high"] == pytest.approx(theirs.confidence_interval.high, abs=0.05)
    assert numpy.std(values["by_chance"]) == pytest.approx(1 / numpy.sqrt(29), rel=0.1)
