"""Factorizations: in NumPy's memory NumPy's own order and signs, elsewhere the library's; and the errors."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import tensorbackend as tb
import tensorbackend.numpy as np

NAMES = ["eig", "eigh", "eigvals", "svd", "qr"]


def matrix(name: str, dtype: str = "float64") -> Any:
    """Return a matrix, symmetric where the factorization asks for one."""
    x = numpy.random.default_rng(3).normal(size=(2, 4, 4))
    if dtype.startswith("complex"):
        x = x + 1j * x[::-1]
    return (x + x.conj().swapaxes(-1, -2) if name == "eigh" else x).astype(dtype)


def parts(made: Any) -> tuple[Any, ...]:
    """Return the arrays of a result."""
    return made if isinstance(made, tuple) else (made,)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
def test_in_numpys_memory_order_and_signs_are_numpys(name: str, dtype: str) -> None:
    x = matrix(name, dtype)
    made, expected = parts(getattr(np.linalg, name)(np.array(x))), parts(getattr(numpy.linalg, name)(x))
    for ours, theirs in zip(made, expected, strict=True):
        assert isinstance(ours, np.ndarray)
        assert ours.dtype == theirs.dtype
        assert numpy.array_equal(numpy.asarray(ours), theirs)


@pytest.mark.parametrize("name", ["eig", "eigvals"])
def test_eigenvalues_are_complex_where_numpys_are(name: str) -> None:
    for x in ([[2, 1], [0, 1]], [[0, 1], [-1, 0]]):
        made, expected = parts(getattr(np.linalg, name)(x)), parts(getattr(numpy.linalg, name)(x))
        assert [each.dtype for each in made] == [each.dtype for each in expected]
        assert made[0].tolist() == expected[0].tolist()


@pytest.mark.parametrize("name", NAMES)
def test_results_stay_on_the_backend_of_the_matrix(name: str) -> None:
    with tb.default_backend("numpy"):
        x = np.array(matrix(name))
    with tb.default_backend("jax"):
        assert {each.tensor.backend.name for each in parts(getattr(np.linalg, name)(x))} == {"numpy"}


@pytest.mark.parametrize("backend", ["binary", "jax"])
def test_on_other_backends_the_factors_give_the_matrix(backend: str) -> None:
    with tb.default_backend(backend):
        x = np.array(matrix("qr"))
        q, r = np.linalg.qr(x)
        values, vectors = np.linalg.eig(x)
        again = [q @ r, vectors * values[:, None, :] @ np.linalg.inv(vectors)]
        assert all(each.tensor.backend.name == backend for each in again)
    for each in again:
        numpy.testing.assert_allclose(numpy.asarray(each), numpy.asarray(x), atol=1e-10)


def test_eigenvalues_have_gradients() -> None:
    x = matrix("eigh")[0]
    slope: Any = tb.grad(lambda x: np.linalg.eigh(x)[0].sum())(np.array(x))
    numpy.testing.assert_allclose(numpy.asarray(slope), numpy.eye(4), atol=1e-12)


ERRORS = [
    "inv(np.zeros((2, 2)))", "cholesky(-np.eye(2))", "eig(np.ones((2, 3)))", "eigh(np.ones(2))",
    "eigvals(np.array([[np.nan, 1], [1, 1]]))",
]  # fmt: skip


@pytest.mark.parametrize("call", ERRORS)
def test_errors_are_of_numpys_class(call: str) -> None:
    for namespace in (np, numpy):
        with pytest.raises(numpy.linalg.LinAlgError):
            eval(f"np.linalg.{call}", {"np": namespace})
