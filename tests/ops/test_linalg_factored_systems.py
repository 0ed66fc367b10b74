"""Systems with a known Cholesky factor: complex ones, vectors, names, gradients."""

from __future__ import annotations

import numpy
import pytest

import tensorbackend as tb

A = numpy.array([[4.0, 1 + 1j, 0.5], [1 - 1j, 5.0, 1j], [0.5, -1j, 3.0]])
B = numpy.array([[1.0, 2.0], [0.5, -1.0], [3.0, 1j]])


@pytest.mark.parametrize("upper", [False, True])
def test_solutions_are_those_of_the_matrix(upper: bool) -> None:
    factor = tb.linalg.cholesky(tb.asarray(A), upper=upper)
    for b in (B, B[:, 0]):
        x = tb.linalg.cholesky_solve(factor, tb.asarray(b), upper=upper)
        assert numpy.allclose(numpy.asarray(x), numpy.linalg.solve(A, b))


def test_the_gradient_of_a_quadratic_form() -> None:
    a, b = tb.asarray(A.real), tb.asarray(B.real[:, 0])
    slope = tb.jit(tb.grad(lambda b: tb.sum(b * tb.linalg.cholesky_solve(tb.linalg.cholesky(a), b))))(b)
    assert numpy.allclose(slope, 2 * numpy.linalg.solve(A.real, B.real[:, 0]))
