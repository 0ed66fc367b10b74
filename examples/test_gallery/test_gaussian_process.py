"""The likelihood, its minimum and the posterior, by NumPy's matrices and SciPy's density and minimizer."""

import numpy
import pytest
from scipy import optimize
from scipy.stats import multivariate_normal

from .conftest import Runner


def kernel(logs: numpy.ndarray, x: numpy.ndarray, y: numpy.ndarray) -> numpy.ndarray:
    height, width, _ = numpy.exp(logs)
    return height**2 * numpy.exp(-((x[:, None] - y) ** 2) / (2 * width**2))


def test_the_posterior_is_that_of_the_formula(on_both: Runner) -> None:
    values = on_both("gaussian_process", PLACES=20)
    place, seen, grid = (numpy.asarray(values[name]) for name in ("place", "seen", "grid"))

    def covariance(logs: numpy.ndarray) -> numpy.ndarray:
        return kernel(logs, place, place) + numpy.exp(2 * logs[2]) * numpy.eye(len(place))

    def misfit(logs: numpy.ndarray) -> float:
        return -float(multivariate_normal.logpdf(seen, numpy.zeros(len(place)), covariance(logs)))

    minimum = optimize.minimize(misfit, [0.0, 0.0, -1.0], tol=1e-9)
    assert values["minimum"].value.item() == pytest.approx(minimum.fun, rel=1e-6)
    logs = numpy.array([value.item() for value in values["found"]])
    numpy.testing.assert_allclose(logs, minimum.x, rtol=1e-3, atol=1e-3)

    inverse, across = (
        numpy.linalg.inv(covariance(logs)),
        kernel(logs, place, grid),
    )
    numpy.testing.assert_allclose(
        numpy.asarray(values["mean"]),
        across.T @ inverse @ seen,
        rtol=1e-6,
        atol=1e-8,
    )
    expected = kernel(logs, grid, grid) - across.T @ inverse @ across
    numpy.testing.assert_allclose(numpy.asarray(values["covariance"]), expected, atol=1e-8)
