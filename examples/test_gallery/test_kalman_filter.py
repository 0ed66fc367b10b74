"""The filter and its noise, by a loop over NumPy arrays and by SciPy's minimizer."""

import numpy
import pytest
from scipy import optimize
from scipy.stats import multivariate_normal

from .conftest import Runner


def filtered(seen: numpy.ndarray, motion: float, sensor: float) -> tuple[float, numpy.ndarray]:
    """Return the log likelihood of the positions of one target, and the estimated positions."""
    eye = numpy.eye(2)
    move = numpy.kron([[1.0, 1.0], [0.0, 1.0]], eye)
    push = numpy.kron([[0.5], [1.0]], eye)
    see = numpy.kron([[1.0, 0.0]], eye)
    mean, covariance = numpy.zeros(4), 10 * numpy.eye(4)
    likelihood, estimates = 0.0, []
    for place in seen:
        mean, covariance = (
            move @ mean,
            move @ covariance @ move.T + motion**2 * push @ push.T,
        )
        expected = see @ covariance @ see.T + sensor**2 * eye
        likelihood += multivariate_normal.logpdf(place, see @ mean, expected)
        gain = covariance @ see.T @ numpy.linalg.inv(expected)
        mean, covariance = (
            mean + gain @ (place - see @ mean),
            covariance - gain @ see @ covariance,
        )
        estimates.append(mean[:2])
    return likelihood, numpy.array(estimates)


def test_the_filter_is_that_of_a_loop(on_both: Runner) -> None:
    values = on_both("kalman_filter", STEPS=12, TARGETS=3)
    seen = numpy.asarray(values["seen"])

    def misfit(logs: numpy.ndarray) -> float:
        motion, sensor = numpy.exp(logs)
        return -sum(filtered(seen[:, target], motion, sensor)[0] for target in range(3)) / 36

    minimum = optimize.minimize(misfit, [0.0, 0.0], tol=1e-8)
    assert values["minimum"].value.item() == pytest.approx(minimum.fun, rel=1e-6)
    found = [values["found"].motion.item(), values["found"].sensor.item()]
    numpy.testing.assert_allclose(found, minimum.x, rtol=1e-3, atol=1e-4)
    for target in range(3):
        likelihood, estimates = filtered(seen[:, target], *numpy.exp(found))
        assert values["likelihoods"][target].item() == pytest.approx(likelihood, rel=1e-9)
        numpy.testing.assert_allclose(numpy.asarray(values["estimates"][target]), estimates, rtol=1e-9)
