"""Factors of matrices on each backend: their products, the signs and orders of what they hold, and hard matrices."""

import itertools
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb

from .matrices import adjoint, array, check_near, drawn

BACKENDS = ["binary", "numpy"]
INEXACT = ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
SHAPES = [(0, 0), (1, 1), (2, 2), (5, 5), (2, 4), (4, 2), (0, 3), (3, 0), (2, 3, 3), (0, 3, 3), (2, 1, 2, 3), (12, 12)]
SQUARE = [shape for shape in SHAPES if shape[-1] == shape[-2]]
KINDS = ["random", "zeros", "rank one", "identity", "large", "tiny"]

pytestmark = pytest.mark.parametrize("backend", BACKENDS)


def matrix(kind: str, shape: tuple[int, ...], dtype: str, backend: str) -> tuple[tb.Tensor, Any, float, float]:
    """Return a tensor, its values divided by their scale, that scale, and the tolerance for a product of factors."""
    x = tb.tensor(drawn(kind, shape, dtype), dtype=dtype, backend=backend)
    values = array(x)
    size = float(np.abs(values).max(initial=0)) or 1.0
    return x, values / size, size, 8 * max(*shape[-2:], 1) * tb.finfo(dtype).eps


def check_orthonormal(columns: Any, tolerance: float) -> None:
    check_near(adjoint(columns) @ columns, adjoint(columns) @ columns * 0 + np.eye(columns.shape[-1]), tolerance)


def cases(shapes: list[tuple[int, ...]]) -> list[Any]:
    """Return the kinds for each shape and dtype; empty arrays are all alike, and halves are never large or tiny."""
    return [
        pytest.param(kind, shape, dtype, id=f"{kind}-{'x'.join(map(str, shape))}-{dtype}")
        for kind, shape, dtype in itertools.product(KINDS, shapes, INEXACT)
        if kind == "random" or (0 not in shape and not (kind in ("large", "tiny") and dtype in ("float16", "bfloat16")))
    ]


@pytest.mark.parametrize(("kind", "shape", "dtype"), cases(SHAPES))
def test_factors_multiply_to_the_matrix(kind: str, shape: tuple[int, ...], dtype: str, backend: str) -> None:
    x, values, size, tolerance = matrix(kind, shape, dtype, backend)
    rank = min(shape[-2:])

    p, lower, upper = map(array, tb.linalg.lu(x))
    check_near(p @ lower @ (upper / size), values, tolerance)
    assert ((p == 0) | (p == 1)).all()
    assert (np.triu(lower, 1) == 0).all()
    assert (np.tril(upper, -1) == 0).all()
    assert (np.abs(lower) <= 1 + tolerance).all()

    for mode in ("reduced", "complete"):
        q, r = map(array, tb.linalg.qr(x, mode=mode))
        assert q.shape[-1] == (rank if mode == "reduced" else shape[-2])
        check_near(q @ (r / size), values, tolerance)
        check_orthonormal(q, tolerance)
        assert (np.tril(r, -1) == 0).all()
        diagonal = np.diagonal(r, 0, -2, -1)
        assert (diagonal.real >= 0).all()
        assert (diagonal.imag == 0).all()

    for full in (True, False):
        u, s, vh = map(array, tb.linalg.svd(x, full_matrices=full))
        assert u.shape[-1] == (shape[-2] if full else rank)
        assert vh.shape[-2] == (shape[-1] if full else rank)
        check_near((u[..., :rank] * (s / size)[..., None, :]) @ vh[..., :rank, :], values, tolerance)
        check_orthonormal(u, tolerance)
        check_orthonormal(adjoint(vh), tolerance)
        assert (np.diff(s, axis=-1) <= 0).all()
        assert (s >= 0).all()


@pytest.mark.parametrize(("kind", "shape", "dtype"), cases(SQUARE))
def test_eigenvectors(kind: str, shape: tuple[int, ...], dtype: str, backend: str) -> None:
    x, values, size, tolerance = matrix(kind, shape, dtype, backend)

    eigenvalues, vectors = map(array, tb.linalg.eigh(x))
    hermitian = np.tril(values, -1) + adjoint(np.tril(values, -1)) + values.real * np.eye(shape[-1])
    check_near((vectors * (eigenvalues / size)[..., None, :]) @ adjoint(vectors), hermitian, tolerance)
    check_orthonormal(vectors, tolerance)
    assert (np.diff(eigenvalues, axis=-1) >= 0).all()
    check_leading(vectors)

    result = tb.linalg.eig(x)
    assert all(tensor.dtype.is_complex for tensor in result)
    eigenvalues, vectors = map(array, result)
    check_near(values @ vectors, vectors * (eigenvalues / size)[..., None, :], tolerance)
    check_near(np.linalg.norm(vectors, axis=-2), np.ones(vectors.shape[:-2] + vectors.shape[-1:]), tolerance)
    check_leading(vectors)
    assert tb.linalg.eigvals(x).tolist() == result.eigenvalues.tolist()
    # LAPACK finds eigenvalues alone by another method.
    check_near(array(tb.linalg.eigvalsh(x)) / size, array(tb.linalg.eigh(x).eigenvalues) / size, tolerance)


def check_leading(vectors: Any) -> None:
    """Check that the first component whose size is largest, up to rounding, is real and positive."""
    if not vectors.size:
        return
    sizes = np.abs(vectors)
    first = np.argmax(sizes >= sizes.max(axis=-2, keepdims=True) * 0.9999, axis=-2)
    leading = np.take_along_axis(vectors, first[..., None, :], axis=-2)
    tie = (sizes >= sizes.max(axis=-2, keepdims=True) * 0.95).sum(axis=-2) > 1  # a tie in a narrow dtype
    assert (tie[..., None, :] | ((leading.real > 0) & (np.abs(leading.imag) < 1e-6))).all()


@pytest.mark.parametrize("dtype", INEXACT)
@pytest.mark.parametrize("shape", SQUARE)
def test_cholesky(shape: tuple[int, ...], dtype: str, backend: str) -> None:
    values = drawn("random", shape, dtype)
    positive = values @ adjoint(values) + np.eye(shape[-1])
    x = tb.tensor(positive, dtype=dtype, backend=backend)
    rounded, tolerance = array(x), 16 * max(shape) * tb.finfo(dtype).eps * float(np.abs(positive).max(initial=1))
    lower, upper = array(tb.linalg.cholesky(x)), array(tb.linalg.cholesky(x, upper=True))
    check_near(lower @ adjoint(lower), rounded, tolerance)
    check_near(adjoint(upper) @ upper, rounded, tolerance)
    assert (np.triu(lower, 1) == 0).all()
    assert (np.tril(upper, -1) == 0).all()
    halved = tb.tensor(np.tril(positive) + np.triu(np.full(shape, np.nan), 1), dtype=dtype, backend=backend)
    assert tb.linalg.cholesky(halved).tolist() == tb.linalg.cholesky(x).tolist()


def companion(*roots: complex) -> Any:
    """Return a matrix with these eigenvalues."""
    coefficients = np.poly(roots)
    return np.vstack((-coefficients[1:], np.eye(len(roots) - 1, len(roots)))) + 0j


HARD = {
    "cycle": np.roll(np.eye(6), 1, axis=0),  # cyclic permutations stall an unshifted QR iteration
    "Jordan": 2 * np.eye(5) + np.eye(5, k=1),
    "skew": np.array([[0.0, 1, 2], [-1, 0, 3], [-2, -3, 0]]),
    "rotation": np.array([[0.0, -1], [1, 0]]),
    "nilpotent": np.eye(4, k=1),
    "graded": np.diag(10.0 ** -np.arange(8)) + np.eye(8, k=1) * 1e-3,
    "companion": companion(1, 2, 3, 1j).round(6),
    "repeated": np.kron(np.eye(3), np.array([[1.0, 2], [2, 1]])),
}


@pytest.mark.parametrize("name", HARD)
def test_eigenvalues_of_hard_matrices(name: str, backend: str) -> None:
    x = tb.tensor(HARD[name], dtype="complex128" if HARD[name].dtype.kind == "c" else "float64", backend=backend)
    values, vectors = map(array, tb.linalg.eig(x))
    check_near(HARD[name] @ vectors, vectors * values, 1e-14 * max(1, np.abs(HARD[name]).max()) * len(HARD[name]))
    check_near(np.linalg.norm(vectors, axis=0), np.ones(len(values)), 1e-14)
    reference = np.linalg.eigvals(HARD[name])
    gap = np.abs(values[:, None] - reference)  # rounding moves eigenvalues of a defective matrix by a root of eps
    assert max(gap.min(axis=0).max(), gap.min(axis=1).max()) < 1e-2 if name in ("Jordan", "nilpotent") else 1e-12


def test_eigenvalues_are_in_one_order(backend: str) -> None:
    x = tb.tensor(np.roll(np.eye(4), 1, axis=0), dtype="float64", backend=backend)
    eigenvalues = array(tb.linalg.eigvals(x))
    check_near(eigenvalues, np.array([-1, -1j, 1j, 1]), 1e-14)
    blocks = np.kron(np.diag([3.0, -5, 1]), np.array([[0.0, 1], [-1, 0]]))  # the real parts are 0, up to rounding
    eigenvalues = array(tb.linalg.eigvals(tb.tensor(blocks + blocks.T * 0, dtype="float32", backend=backend)))
    check_near(eigenvalues, np.array([-5j, -3j, -1j, 1j, 3j, 5j]), 1e-5)


def test_large_matrices_go_by_blocks(backend: str) -> None:
    size = 70 if backend == "numpy" else 34
    values = np.random.default_rng(0).standard_normal((2, size, size))
    x = tb.tensor(values, backend=backend, dtype="float64")
    p, lower, upper = map(array, tb.linalg.lu(x))
    check_near(p @ lower @ upper, values, 1e-13)
    for is_lower in (True, False):
        triangle = np.tril(values) if is_lower else np.triu(values)
        triangle = triangle / 20 + np.eye(size) * 2
        solution = tb.linalg.triangular_solve(tb.tensor(triangle, dtype="float64", backend=backend), x, lower=is_lower)
        check_near(triangle @ array(solution), values, 1e-13)
