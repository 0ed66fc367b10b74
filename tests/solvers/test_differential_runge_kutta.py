"""The order of the method and of its dense output."""

from __future__ import annotations

import numpy

import tensorbackend as tb
from tensorbackend.solvers.differential import integrate


def test_a_polynomial_of_degree_four_is_integrated_exactly() -> None:
    """Its derivative has degree 4, which the weights of order 5 integrate, and which the interpolation reproduces."""
    times = numpy.array([0.0, 0.1, 0.37, 0.9, 1.0])
    end = tb.asarray(1.0, dtype="f64")
    found = integrate(
        lambda t, y: tb.reshape(4 * t**3 - 2 * t + 1, (1,)) + 0 * y,
        tb.asarray([2.0], dtype="f64"), end, tb.asarray(times), 1e3, 1e3, 50, None,
    )  # fmt: skip
    assert numpy.allclose(found.values[:, 0].tolist(), 2 + times**4 - times**2 + times, atol=1e-13)
    assert bool(found.steps < 10)
