"""Square roots of matrices compared with SciPy's."""

from __future__ import annotations

import numpy
import pytest
import scipy.linalg

import tensorbackend as tb


@pytest.mark.parametrize("backend", ["numpy", "binary", "jax"])
def test_matrices_that_are_not_symmetric_have_real_roots(backend: str) -> None:
    drawn = numpy.random.default_rng(0).normal(size=(2, 4, 4)) + 6 * numpy.eye(4)
    drawn[1] = [[2, 1, 0, 0], [0, 2, 1, 0], [0, 0, 2, 1], [0, 0, 0, 2]]  # it has one eigenvector
    root = tb.jit(tb.linalg.sqrtm)(tb.asarray(drawn, names=("batch", "row", "column"), backend=backend))
    assert root.names == ("batch", "row", "column")
    wanted = [scipy.linalg.sqrtm(matrix) for matrix in drawn]
    assert numpy.allclose(numpy.asarray(root), wanted, rtol=1e-12, atol=1e-12)


def test_a_matrix_with_a_negative_eigenvalue_has_a_complex_root_alone() -> None:
    matrix = numpy.array([[-4.0, 1.0], [0.0, 9.0]])
    assert tb.all(tb.isnan(tb.linalg.sqrtm(tb.asarray(matrix)))).item()
    root = tb.linalg.sqrtm(tb.asarray(matrix, dtype="complex128"))
    assert numpy.allclose(numpy.asarray(root), scipy.linalg.sqrtm(matrix + 0j))


def test_a_singular_covariance_has_a_root_and_one_that_is_indefinite_none() -> None:
    columns = numpy.random.default_rng(1).normal(size=(5, 2))
    covariance = columns @ columns.T
    root = numpy.asarray(tb.linalg.sqrtm(tb.asarray(covariance), hermitian=True))
    assert numpy.allclose(root @ root, covariance)
    assert tb.all(tb.isnan(tb.linalg.sqrtm(tb.asarray([[1.0, 0.0], [0.0, -1.0]]), hermitian=True))).item()
