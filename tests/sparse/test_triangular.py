"""Triangular systems and incomplete factors against the dense computation."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.errors import DataError, DTypeError, NamesError, ShapeError, TemplateDataError

Array = Any

random = numpy.random.default_rng(0)
DENSE = random.normal(size=(6, 6)) * (random.random((6, 6)) < 0.5) + 4 * numpy.eye(6)
RIGHT = random.normal(size=(6, 2))


def triangle(lower: bool, unit_diagonal: bool, transposed: bool) -> Array:
    matrix = numpy.tril(DENSE) if lower else numpy.triu(DENSE)
    if unit_diagonal:
        matrix = matrix - numpy.diag(numpy.diag(matrix)) + numpy.eye(6)
    return matrix.T if transposed else matrix


def factors(dense: Array) -> tuple[Array, Array]:
    """Return the factors by Saad's algorithm 10.4."""
    a, stored = dense.copy(), dense != 0
    for i, k in product(range(len(a)), repeat=2):
        if k < i and stored[i, k]:
            a[i, k] /= a[k, k]
            for j in range(k + 1, len(a)):
                a[i, j] -= a[i, k] * a[k, j] if stored[i, j] else 0
    return numpy.tril(a, -1), numpy.triu(a)


@pytest.mark.parametrize("backend", ["numpy", "binary"])
@pytest.mark.parametrize("format", ["coo", "csr", "csc"])
def test_a_system_of_either_side(backend: str, format: Any) -> None:
    a = tb.sparse.from_dense(tb.asarray(DENSE, backend=backend), format=format)
    b = tb.asarray(RIGHT, backend=backend)
    for lower, unit_diagonal, transposed in product((True, False), repeat=3):
        reference = numpy.linalg.solve(triangle(lower, unit_diagonal, transposed), RIGHT)
        x = tb.sparse.triangular_solve(a, b, lower=lower, unit_diagonal=unit_diagonal, transposed=transposed)
        numpy.testing.assert_allclose(numpy.asarray(x), reference)


def test_a_system_on_jax() -> None:
    a, b = tb.sparse.from_dense(tb.asarray(DENSE, backend="jax")), tb.asarray(RIGHT, backend="jax")
    x = tb.jit(lambda a, b: tb.sparse.triangular_solve(a, b))(a, b)
    numpy.testing.assert_allclose(numpy.asarray(x), numpy.linalg.solve(numpy.tril(DENSE), RIGHT))


def test_a_batch_of_systems() -> None:
    a = tb.sparse.from_dense(tb.asarray(numpy.stack([DENSE, 2 * DENSE])))
    x = tb.sparse.triangular_solve(a, tb.asarray(RIGHT))
    reference = numpy.linalg.solve(numpy.tril(DENSE), RIGHT)
    numpy.testing.assert_allclose(numpy.asarray(x), numpy.stack([reference, reference / 2]))
    mapped = tb.vmap(lambda v: tb.sparse.triangular_solve(tb.sparse.from_dense(DENSE).like(v), tb.asarray(RIGHT)))
    numpy.testing.assert_allclose(numpy.asarray(mapped(a.values)), numpy.asarray(x))


def test_incomplete_factors() -> None:
    lower, upper = factors(DENSE)
    for backend in ("numpy", "binary"):
        factorisation = tb.sparse.ilu0(tb.sparse.from_dense(tb.asarray(DENSE, backend=backend)))
        numpy.testing.assert_allclose(numpy.asarray(factorisation.lower.to_dense()), lower)
        numpy.testing.assert_allclose(numpy.asarray(factorisation.upper.to_dense()), upper)
        reference = numpy.linalg.solve((lower + numpy.eye(6)) @ upper, RIGHT)
        numpy.testing.assert_allclose(numpy.asarray(factorisation.solve(tb.asarray(RIGHT, backend=backend))), reference)


def test_incomplete_factors_of_a_batch() -> None:
    factorisation = tb.sparse.ilu0(tb.sparse.from_dense(tb.asarray(numpy.stack([DENSE, 3 * DENSE]))))
    lower, upper = factors(DENSE)
    numpy.testing.assert_allclose(numpy.asarray(factorisation.lower.to_dense()), numpy.stack([lower, lower]))
    numpy.testing.assert_allclose(numpy.asarray(factorisation.upper.to_dense()), numpy.stack([upper, 3 * upper]))


def test_factors_without_fill_in_are_exact_where_there_is_none() -> None:
    dense = numpy.diag(numpy.full(5, 2.0)) - numpy.diag(numpy.ones(4), 1) - numpy.diag(numpy.ones(4), -1)
    factorisation = tb.sparse.ilu0(tb.sparse.from_dense(tb.asarray(dense)))
    product = (factorisation.lower + tb.sparse.eye(5, dtype="f64")) @ factorisation.upper
    numpy.testing.assert_allclose(numpy.asarray(product.to_dense()), dense)


LOSSES: dict[str, Callable[[tb.sparse.SparseMatrix, tb.Tensor], tb.Tensor]] = {
    "triangular_solve": lambda a, b: tb.sum(tb.sparse.triangular_solve(a, b) ** 2),
    "upper, unit": lambda a, b: tb.sum(tb.sparse.triangular_solve(a, b, lower=False, unit_diagonal=True) ** 2),
    "ilu0": lambda a, b: tb.sum(tb.sparse.ilu0(a).solve(b) ** 2),
    "products": lambda a, b: tb.sum((a @ b) ** 2) + tb.sum((a.T @ b) ** 2) + tb.sum((a.to_csc() @ b[:, 0]) ** 2),
}


@pytest.mark.parametrize("name", LOSSES)
def test_gradients_by_differences(name: str) -> None:
    a, b = tb.sparse.from_dense(tb.asarray(DENSE)), tb.asarray(RIGHT)

    def loss(values: tb.Tensor, b: tb.Tensor) -> tb.Tensor:
        return LOSSES[name](a.like(values), b)

    gradients = tb.grad(loss, (0, 1))(a.values, b)
    for number, x in enumerate((a.values, b)):
        array, step = numpy.asarray(x), 1e-6
        for place in list(numpy.ndindex(array.shape))[::3]:
            change = numpy.zeros_like(array)
            change[place] = step
            up, down = ([tb.asarray(array + sign * change) if k == number else y for k, y in enumerate((a.values, b))]
                        for sign in (1, -1))  # fmt: skip
            slope = (loss(*up).item() - loss(*down).item()) / (2 * step)
            numpy.testing.assert_allclose(numpy.asarray(gradients[number])[place], slope, rtol=1e-5, atol=1e-6)


def test_names_go_with_those_of_the_matrix() -> None:
    a = tb.sparse.from_dense(tb.eye(3).rename("row", "column"))
    assert tb.sparse.triangular_solve(a, tb.ones(3, names=("row",))).names == ("column",)
    assert tb.sparse.triangular_solve(a, tb.ones((3, 2), names=("row", "k"))).names == ("column", "k")
    with pytest.raises(NamesError):
        tb.sparse.triangular_solve(a, tb.ones(3, names=("column",)))


def test_a_zero_on_the_diagonal() -> None:
    a = tb.sparse.from_dense(tb.asarray([[1.0, 0.0], [1.0, 0.0]]))
    with pytest.raises(DataError, match="not singular"):
        tb.sparse.triangular_solve(a, tb.ones(2))
    assert tb.sparse.triangular_solve(a, tb.ones(2), unit_diagonal=True).tolist() == [1, 0]


def test_a_pivot_of_zero() -> None:
    with pytest.raises(DataError, match="pivots other than 0, got column=1"):
        tb.sparse.ilu0(tb.sparse.from_dense(tb.ones((2, 2))))


def test_a_diagonal_that_is_not_stored() -> None:
    with pytest.raises(DataError, match="whole diagonal is stored, got row=1"):
        tb.sparse.ilu0(tb.sparse.coo([1.0, 1.0], [0, 1], [0, 0], shape=(2, 2)))


def test_what_has_no_factors() -> None:
    with pytest.raises(ShapeError, match="square"):
        tb.sparse.ilu0(tb.sparse.eye(2, 3))
    with pytest.raises(ShapeError, match="square"):
        tb.sparse.triangular_solve(tb.sparse.eye(2, 3), tb.ones(2))
    with pytest.raises(DTypeError, match="floating"):
        tb.sparse.ilu0(tb.sparse.eye(2, dtype="s64"))
    with pytest.raises(TemplateDataError, match="places with data"):
        tb.sparse.ilu0(tb.backend_copy(tb.sparse.eye(2), "template"))
    with pytest.raises(ShapeError):
        tb.sparse.triangular_solve(tb.sparse.eye(2), tb.ones(3))
