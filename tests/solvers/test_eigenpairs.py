"""A few eigenpairs compared with NumPy's of the dense matrix."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, GradientError, ShapeError

RANDOM = numpy.random.default_rng(0)


def hermitian(size: int, complex_: bool = False) -> Any:
    matrix = RANDOM.normal(size=(size, size)) + (1j * RANDOM.normal(size=(size, size)) if complex_ else 0)
    return (matrix + matrix.conj().T) / 2


@pytest.mark.parametrize("which", ["largest", "smallest", "magnitude"])
def test_pairs_of_sparse_matrices_after_restarts(which: Any) -> None:
    dense = numpy.diag(numpy.linspace(-3, 2, 60)) + numpy.diag(numpy.ones(59), 1) + numpy.diag(numpy.ones(59), -1)
    matrix = tb.sparse.from_dense(tb.asarray(dense, names=("row", "column")))
    pairs = tb.solvers.eigsh(matrix, 3, which=which, basis_size=10)
    values: Any = numpy.linalg.eigvalsh(dense)
    values = {"largest": values[-3:], "smallest": values[:3], "magnitude": values[numpy.argsort(abs(values))[-3:]]}[
        which
    ]
    assert tb.all(pairs.converged).item()
    assert 0 < int(pairs.iterations) < 100
    assert numpy.allclose(numpy.asarray(pairs.eigenvalues), numpy.sort(values), rtol=1e-9)
    assert pairs.eigenvectors.names == tb.linalg.eigh(matrix.to_dense()).eigenvectors.names == ("row", None)
    vectors: Any = numpy.asarray(pairs.eigenvectors)
    assert numpy.allclose(vectors.T @ vectors, numpy.eye(3), atol=1e-9)
    left = numpy.linalg.norm(dense @ vectors - vectors * numpy.sort(values), axis=0)
    assert numpy.allclose(left, numpy.asarray(pairs.residual), atol=1e-8)
    assert (vectors[abs(vectors).argmax(axis=0), range(3)] > 0).all()


@pytest.mark.parametrize("which", ["largest", "smallest", "magnitude"])
@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_both_vectors_of_double_eigenvalues_are_found(backend: str, which: Any) -> None:
    line = 2 * numpy.eye(12) - numpy.eye(12, k=1) - numpy.eye(12, k=-1)
    dense = numpy.kron(line, numpy.eye(12)) + numpy.kron(numpy.eye(12), line)  # a square, so that pairs are equal
    values: Any = numpy.linalg.eigvalsh(dense)
    for count in (2, 3, 5):
        pairs = tb.solvers.eigsh(tb.asarray(dense, backend=backend), count, which=which)
        wanted = values[:count] if which == "smallest" else values[-count:]
        assert tb.all(pairs.converged).item()
        assert numpy.allclose(numpy.asarray(pairs.eigenvalues), wanted, rtol=1e-9)
        vectors: Any = numpy.asarray(pairs.eigenvectors)
        assert numpy.allclose(vectors.T @ vectors, numpy.eye(count), atol=1e-9)


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_each_part_of_a_graph_has_its_vector(backend: str) -> None:
    parts = []
    for _ in range(4):
        weights = numpy.triu(RANDOM.random((20, 20)), 1)
        weights += weights.T
        parts.append(numpy.diag(weights.sum(axis=0)) - weights)
    laplacian = numpy.zeros((80, 80))
    for number, part in enumerate(parts):
        laplacian[20 * number : 20 * number + 20, 20 * number : 20 * number + 20] = part
    for count in (3, 5):
        pairs = tb.solvers.eigsh(tb.asarray(laplacian, backend=backend), count, which="smallest")
        wanted = numpy.linalg.eigvalsh(laplacian)[:count]
        assert numpy.allclose(numpy.asarray(pairs.eigenvalues), wanted, atol=1e-9)


def test_few_vectors_are_left_besides_those_found() -> None:
    dense = hermitian(5)
    for count, basis_size in ((3, 4), (2, 3), (1, 2), (3, 5)):
        pairs = tb.solvers.eigsh(tb.asarray(dense), count, which="smallest", basis_size=basis_size)
        assert numpy.allclose(numpy.asarray(pairs.eigenvalues), numpy.linalg.eigvalsh(dense)[:count])


@pytest.mark.parametrize("backend", ["binary", "numpy"])
def test_a_complex_matrix_in_a_compiled_function(backend: str) -> None:
    dense = hermitian(6, True)
    pairs = tb.jit(lambda a: tb.solvers.eigsh(a, 2))(tb.asarray(dense, backend=backend))
    assert pairs.converged.tolist() == [True, True]
    assert numpy.allclose(numpy.asarray(pairs.eigenvalues), numpy.linalg.eigvalsh(dense)[-2:])


def test_all_pairs_of_a_matrix_with_equal_eigenvalues_and_of_zeros() -> None:
    pairs = tb.solvers.eigsh(tb.eye(5, dtype="f64"), 5)
    assert numpy.allclose(numpy.asarray(pairs.eigenvalues), 1)
    vectors = numpy.asarray(pairs.eigenvectors)
    assert numpy.allclose(vectors.T @ vectors, numpy.eye(5))
    assert tb.solvers.eigsh(tb.zeros((30, 30)), 2).eigenvalues.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(("size", "count"), [(25, 10), (30, 9), (30, 10), (60, 19), (71, 12), (150, 19)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_multiples_of_the_identity_have_orthonormal_vectors(dtype: str, size: int, count: int) -> None:
    """Each vector but the first has no part that the matrix makes, and is orthogonal to those found before."""
    for factor in (1.0, 3e-30, 1e30):
        pairs = tb.solvers.eigsh(tb.eye(size, dtype=dtype) * factor, count)
        assert tb.all(pairs.converged).item()
        assert tb.all_close(pairs.eigenvalues / factor, tb.ones(count, dtype=dtype), rtol=1e-5)
        vectors: Any = numpy.asarray(pairs.eigenvectors)
        assert numpy.allclose(vectors.T @ vectors, numpy.eye(count), atol=1e-5)


def test_the_pairs_nearest_to_a_number_by_a_function_that_solves() -> None:
    dense = hermitian(30)
    matrix = tb.asarray(dense - 0.5 * numpy.eye(30))
    pairs = tb.solvers.eigsh(
        lambda x: tb.linalg.solve(matrix, x), 2, which="magnitude", x0=tb.asarray(RANDOM.normal(size=30))
    )
    values = numpy.linalg.eigvalsh(dense)
    nearest = values[numpy.argsort(abs(values - 0.5))[:2]]
    assert numpy.allclose(numpy.sort(numpy.asarray(0.5 + 1 / pairs.eigenvalues)), numpy.sort(nearest))


def test_a_flag_says_which_pairs_have_not_converged() -> None:
    matrix = tb.asarray(numpy.diag(numpy.concatenate([numpy.linspace(0, 1, 300), [9.0]])))
    pairs = tb.solvers.eigsh(matrix, 3, max_iterations=0)
    assert pairs.converged.tolist() == [False, False, True]
    assert numpy.asarray(pairs.residual)[0] > 1e-6
    assert pairs.iterations.item() == 0


def test_gradients_of_eigenvalues_and_none_of_vectors() -> None:
    dense = tb.asarray(hermitian(8))
    weights = tb.asarray([1.0, 3.0], dtype="f64")

    def few(a: Any) -> Any:
        return tb.sum(weights * tb.solvers.eigsh((a + a.T) / 2, 2).eigenvalues)

    def all_of(a: Any) -> Any:
        return tb.sum(weights * tb.linalg.eigvalsh((a + a.T) / 2)[-2:])

    assert tb.all_close(tb.grad(few)(dense), tb.grad(all_of)(dense), atol=1e-8)
    sparse = tb.sparse.from_dense(tb.asarray([[2.0, 1.0], [1.0, 2.0]]))
    slope = tb.grad(lambda m: tb.solvers.eigsh(m, 1).eigenvalues[0])(sparse)
    assert tb.all_close(slope.to_dense(), tb.full((2, 2), 0.5))
    with pytest.raises(GradientError, match="expected no gradient through eigenvectors"):
        tb.grad(lambda a: tb.solvers.eigsh(a, 1).eigenvectors[0, 0])(dense)


def test_errors_of_eigsh() -> None:
    matrix = tb.eye(4)
    cases: list[tuple[Any, type[Exception], str]] = [
        (lambda: tb.solvers.eigsh(matrix, 5), ArgumentError, "eigsh: expected k from 1 to 4"),
        (lambda: tb.solvers.eigsh(matrix, 2, basis_size=2), ArgumentError, "eigsh: expected a basis of more than 2"),
        (lambda: tb.solvers.eigsh(tb.ones((2, 4, 4))), ShapeError, "find those of a batch by tb.vmap"),
        (lambda: tb.solvers.eigsh(lambda x: x, 2), ArgumentError, "expected x0= for a function"),
    ]
    for wrong, error, text in cases:
        with pytest.raises(error, match=text):
            wrong()


def test_a_start_may_be_traced_beside_a_matrix_with_data() -> None:
    matrix, start = tb.asarray([[2.0, 0.0], [0.0, 3.0]]), tb.asarray([1.0, 1.0])
    found = tb.jit(lambda x0: tb.solvers.eigsh(matrix, 1, x0=x0).eigenvalues)(start)
    assert found.tolist() == pytest.approx([3.0])
