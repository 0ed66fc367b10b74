"""Both solutions by SciPy's sparse solver, with a matrix made of Kronecker products."""

import numpy
from scipy import sparse
from scipy.sparse.linalg import spsolve

from .conftest import Runner

SIZE = 24


def matrix(conductivity: numpy.ndarray) -> sparse.csr_matrix:
    """Return -div(conductivity grad) on a periodic square; a cell's number belongs to the edges after it."""
    step = sparse.csr_matrix(numpy.roll(numpy.eye(SIZE), 1, axis=1) - numpy.eye(SIZE))
    eye, weights = sparse.identity(SIZE), sparse.diags(conductivity.ravel())
    down, right = sparse.kron(step, eye), sparse.kron(eye, step)
    return (down.T @ weights @ down + right.T @ weights @ right).tocsr() * SIZE**2


def solved(a: sparse.csr_matrix, charge: numpy.ndarray) -> numpy.ndarray:
    """Return the solution of mean 0: the mean as another unknown makes the system regular."""
    ones = numpy.ones((SIZE**2, 1))
    bordered = sparse.bmat([[a, ones], [ones.T, None]]).tocsc()
    return spsolve(bordered, numpy.append(charge.ravel(), 0.0))[:-1].reshape(SIZE, SIZE)


def test_both_solutions_are_those_of_scipy(on_both: Runner) -> None:
    values = on_both("poisson_fft", SIZE=SIZE)
    charge, conductivity = (
        numpy.asarray(values["charge"]),
        numpy.asarray(values["conductivity"]),
    )
    even = solved(matrix(numpy.ones((SIZE, SIZE))), charge)
    numpy.testing.assert_allclose(numpy.asarray(values["potential"]), even, rtol=1e-9, atol=1e-13)
    numpy.testing.assert_allclose(numpy.asarray(values["by_matrix"]), even, rtol=1e-6, atol=1e-9)
    around = solved(matrix(conductivity), charge)
    numpy.testing.assert_allclose(numpy.asarray(values["around"]), around, rtol=1e-5, atol=1e-8)

    # The energy is a quadratic form; its derivative by the conductivity of an edge is minus half a squared difference.
    after = [numpy.roll(around, -1, axis=axis) - around for axis in (0, 1)]
    expected = -(after[0] ** 2 + after[1] ** 2) / 2
    numpy.testing.assert_allclose(numpy.asarray(values["slope"]), expected, rtol=1e-4, atol=1e-10)
