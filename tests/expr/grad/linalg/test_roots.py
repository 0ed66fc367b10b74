"""Gradients of square roots of matrices where eigenvalues are equal; others are in `test_rules`."""

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
