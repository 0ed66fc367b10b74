"""Gradients of square roots of matrices at hard points; others are in `test_rules`."""

from __future__ import annotations

import numpy
import pytest

import tensorbackend as tb


@pytest.mark.parametrize("hermitian", [False, True])
def test_the_gradient_at_equal_eigenvalues_is_finite(hermitian: bool) -> None:
    # Of the trace of the root it is half of the inverse of the root.
    gradient = tb.grad(lambda x: tb.linalg.trace(tb.linalg.sqrtm(x, hermitian=hermitian)))(4 * tb.eye(3))
    assert numpy.allclose(numpy.asarray(gradient), numpy.eye(3) / 4)
    nothing = tb.grad(lambda x: tb.sum(tb.linalg.sqrtm(x, hermitian=hermitian)))(tb.zeros((0, 0)))
    assert nothing.shape == (0, 0)


@pytest.mark.parametrize("ratio", [1.0, 1e-4, 1e-8, 1e-12])
@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e200])
def test_eigenvalues_far_apart_and_extreme_units(ratio: float, unit: float) -> None:
    """In the eigenbasis, the slope between eigenvalues a and b is 1 / (sqrt(a) + sqrt(b))."""
    random = numpy.random.default_rng(0)
    basis, weights = numpy.linalg.qr(random.normal(size=(3, 3)))[0], random.normal(size=(3, 3))
    values = unit * numpy.geomspace(1, ratio, 3)
    matrix, roots = (basis * values) @ basis.T, numpy.sqrt(values)
    exact = basis @ (basis.T @ weights @ basis / (roots[:, None] + roots)) @ basis.T
    root = tb.linalg.sqrtm(tb.asarray(matrix))
    assert numpy.allclose(root, (basis * roots) @ basis.T, rtol=0, atol=1e-7 * roots[0])
    found = tb.grad(lambda x: tb.sum(tb.linalg.sqrtm(x) * tb.asarray(weights)))(tb.asarray(matrix))
    assert numpy.allclose(found, exact, rtol=0, atol=1e-4 * numpy.abs(exact).max())


def test_a_singular_covariance_has_a_gradient() -> None:
    """It is 0 between eigenvectors of 0, where the slope is infinite."""
    covariance = tb.asarray([[4.0, 0.0], [0.0, 0.0]])
    gradient = tb.grad(lambda x: tb.sum(tb.linalg.sqrtm(x, hermitian=True)))(covariance)
    assert gradient.tolist() == [[0.25, 0.0], [1.0, 0.0]]
