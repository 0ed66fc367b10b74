"""The order of the method and of its dense output."""

from __future__ import annotations

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.solvers.differential import Progress, integrate


def test_a_polynomial_of_degree_four_is_integrated_exactly() -> None:
    """Its derivative has degree 4, which the weights of order 5 integrate, and which the interpolation reproduces."""
    times = numpy.array([0.0, 0.1, 0.37, 0.9, 1.0])
    end = tb.asarray(1.0, dtype="f64")
    found = integrate(
        lambda t, y: tb.reshape(4 * t**3 - 2 * t + 1, (1,)) + 0 * y,
        tb.asarray([2.0], dtype="f64"), end, tb.asarray(times), 1e3, 1e3, 50, None,
    )  # fmt: skip
    assert numpy.allclose(found.values[:, 0].tolist(), 2 + times**4 - times**2 + times, rtol=0, atol=1e-14)
    assert bool(found.steps < 10)


@pytest.mark.parametrize("steps", [5, 40, 60])
def test_a_step_that_ends_a_rounding_error_before_the_end_has_the_value_there(steps: int) -> None:
    def run(end: tb.Tensor, most: int) -> Progress:
        times = tb.reshape(end, (1,))
        return integrate(lambda t, y: tb.cos(9 * t) * y, tb.ones(1), end, times, 1e-5, 1e-8, most, None)

    before = run(tb.asarray(20.0), steps).t
    end = tb.asarray(numpy.nextafter(numpy.asarray(before), numpy.float32(99)))
    found = run(end, 1000)
    assert numpy.allclose(found.values.tolist(), numpy.exp(numpy.sin(9 * end.item()) / 9), atol=1e-3)


def test_a_search_for_the_end_that_stops_close_to_it_has_not_converged() -> None:
    """The end is not reached where it has no value."""
    most = 0
    for most in range(1, 60):
        found = tb.solvers.solve_ivp(lambda t, y: -50 * y, (0.0, 1.0), tb.ones(1), max_steps=most)
        assert found.converged.item() == bool(tb.isfinite(found.y[-1, 0]))
        if found.converged.item():
            break
    assert 5 < most < 59
