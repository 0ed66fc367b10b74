"""Sparse matrices whose short rows are padded: their products, transposed products and gradients stay the same."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy
import pytest
import scipy.sparse

import tensorbackend as tb
from tensorbackend.solvers import padded, solve
from tensorbackend.solvers.linear import Linear, Sparse, linear
from tensorbackend.solvers.padded import PaddedMatrix, quickest_form
from tensorbackend.sparse import SparseMatrix

DENSE = numpy.diag(numpy.full(6, 4.0)) + numpy.diag(numpy.full(5, -1.0), 1) + numpy.diag(numpy.full(5, -1.5), -1)
DENSE[2] = 0  # a row without entries
VECTOR = numpy.arange(1.0, 7)


def matrix(format: str, backend: str = "binary") -> SparseMatrix:
    return tb.sparse.from_scipy(scipy.sparse.csr_array(DENSE).asformat(format), backend=backend)


def form_of(sparse_matrix: SparseMatrix) -> Linear:
    return quickest_form(linear(sparse_matrix, tb.template((sparse_matrix.shape[-2],), "f64").template, 1, "A"))


@pytest.mark.parametrize("backend", ["binary", "jax"])
@pytest.mark.parametrize("format", ["coo", "csr", "csc"])
def test_products_are_those_of_the_matrix(format: str, backend: str, whole: Callable[..., Any]) -> None:
    function = form_of(matrix(format, backend))
    assert isinstance(function.form, PaddedMatrix)
    x = numpy.stack([VECTOR, -VECTOR])
    multiply = whole(lambda x: (function(x[0]), function(x), function.T(x)))
    of_one, of_both, of_transposed = map(numpy.asarray, multiply(tb.asarray(x, backend=backend)))
    numpy.testing.assert_allclose(of_one, DENSE @ VECTOR)
    numpy.testing.assert_allclose(of_both, x @ DENSE.T)
    numpy.testing.assert_allclose(of_transposed, x @ DENSE)


def test_entries_at_one_place_add_up_in_any_order() -> None:
    values = tb.asarray([1.0, 2.0, 4.0, 8.0], backend="binary")
    function = form_of(tb.sparse.coo(values, [1, 0, 1, 1], [0, 1, 1, 0], shape=(2, 2)))
    assert isinstance(function.form, PaddedMatrix)
    assert function(tb.asarray([1.0, 10.0], backend="binary")).tolist() == [20.0, 49.0]


def test_an_infinity_stays_in_the_rows_that_have_it() -> None:
    x = numpy.where(VECTOR == 1, numpy.inf, VECTOR)
    product = numpy.asarray(form_of(matrix("csr"))(tb.asarray(x, backend="binary")))
    assert numpy.isinf(product[:2]).all()
    assert numpy.isfinite(product[3:]).all()


def bordered(size: int) -> Any:
    """Return a matrix of two diagonals with ones in the last row and the last column, and with one more long row."""
    dense = numpy.diag(numpy.arange(1.0, size + 1)) + numpy.diag(numpy.full(size - 1, -1.5), -1)
    dense[-1] = dense[:, -1] = 1
    dense[3, ::3] = 2
    return dense


@pytest.mark.parametrize("backend", ["binary", "jax"])
def test_a_few_long_rows_are_summed_by_themselves(backend: str, whole: Callable[..., Any]) -> None:
    dense = bordered(40)
    function = form_of(tb.sparse.from_scipy(scipy.sparse.csr_array(dense), backend=backend))
    assert isinstance(function.form, PaddedMatrix)
    assert [part.shape for part in function.parts] == [(3, 40), (3, 40), (2, 37), (2, 37), (40,)]
    x = numpy.stack([numpy.arange(1.0, 41), numpy.cos(numpy.arange(40))])
    infinite = numpy.where(numpy.arange(40) == 7, numpy.inf, 1.0)
    multiply = whole(lambda x, infinite: (function(x), function.T(x), function(infinite)))
    operands = tb.asarray(x, backend=backend), tb.asarray(infinite, backend=backend)
    product, of_transposed, of_infinite = map(numpy.asarray, multiply(*operands))
    numpy.testing.assert_allclose(product, x @ dense.T, rtol=1e-13)
    numpy.testing.assert_allclose(of_transposed, x @ dense, rtol=1e-13)
    assert numpy.isfinite(of_infinite).tolist() == (dense[:, 7] == 0).tolist()


def test_rows_of_many_lengths_stay_as_they_are() -> None:
    rows = [row for row in range(64) for _ in range(1000 if row == 5 else 60 if row % 8 == 0 else 1)]
    columns = [place % 1024 for place in range(len(rows))]
    sparse_matrix = tb.sparse.coo(tb.ones(len(rows), backend="jax"), rows, columns, shape=(64, 1024))
    assert isinstance(quickest_form(linear(sparse_matrix, tb.template((1024,), "f64").template, 1, "A")).form, Sparse)


def test_what_multiplies_rows_keeps_its_matrix() -> None:
    assert form_of(matrix("csr", "numpy")).parts[1].shape == (7,)


def test_matrices_of_a_batch_of_one_structure() -> None:
    single = matrix("csr", "jax")
    batch = single.like(tb.stack([single.values, 2 * single.values]))
    x = tb.asarray(VECTOR, backend="jax")
    function = form_of(batch)
    assert isinstance(function.form, PaddedMatrix)
    numpy.testing.assert_allclose(numpy.asarray(function(x)), [DENSE @ VECTOR, 2 * DENSE @ VECTOR])


def test_a_structure_is_found_once_and_goes_with_its_matrix() -> None:
    sparse_matrix = matrix("csr")
    first, again = form_of(sparse_matrix), form_of(sparse_matrix.like(2 * sparse_matrix.values))
    assert first.parts[1] is again.parts[1]
    key: Any = next(key for key in padded._structures if key[0] == id(sparse_matrix.first))
    del sparse_matrix, first, again
    gc.collect(1)  # not what other tests left
    assert key not in padded._structures


def test_a_traced_structure_stays_as_it_is_and_a_held_one_is_read() -> None:
    symmetric = (DENSE + DENSE.T)[:2, :2]
    a = tb.sparse.from_scipy(scipy.sparse.csr_array(symmetric), backend="jax")
    b = tb.asarray([1.0, 2.0], dtype="f64", backend="jax")
    expected = numpy.linalg.solve(symmetric, [1.0, 2.0])
    traced = tb.jit(lambda a, b: solve(a, b, "cg", rtol=1e-10).x)
    numpy.testing.assert_allclose(numpy.asarray(traced(a, b)), expected)
    held = tb.jit(lambda b: solve(a, b, "cg", rtol=1e-10, x0=b).x)
    numpy.testing.assert_allclose(numpy.asarray(held(b)), expected)
    assert "take" in {node.op for node in held.lower(b).graph.nodes}


@pytest.mark.parametrize("method", ["cg", "lsqr"])
def test_gradients_reach_the_values(method: str) -> None:
    """Compare the gradients with central differences."""
    dense = (DENSE + DENSE.T)[3:, 3:]
    stored = scipy.sparse.csr_array(dense)
    on_diagonal = numpy.equal(*stored.tocoo().coords)
    a = tb.sparse.from_scipy(stored, backend="jax")
    b = tb.asarray([1.0, -2.0, 3.0], dtype="f64", backend="jax")

    @tb.jit
    @tb.value_and_grad
    def loss(values: tb.Tensor) -> tb.Tensor:
        return tb.sum(solve(a.like(values), b, method, rtol=1e-13).x ** 2)

    slope = numpy.asarray(loss(a.values)[1])
    for place in range(a.nnz):
        step = 1e-6 * (numpy.arange(a.nnz) == place)
        after, before = (loss(tb.asarray(stored.data + sign * step, backend="jax"))[0].item() for sign in (1, -1))
        difference = (after - before) / 2e-6
        # To change one of two equal entries makes the matrix unsymmetric, but `cg` assumes a symmetric matrix.
        if method == "lsqr" or on_diagonal[place]:
            numpy.testing.assert_allclose(slope[place], difference, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("backend", ["binary", "jax"])
def test_indices_may_be_assigned_to(backend: str) -> None:
    eye = scipy.sparse.csr_array(numpy.eye(3))
    sparse_matrix = tb.sparse.from_scipy(eye, backend=backend)
    vector = tb.asarray([1.0, 2.0, 3.0], backend=backend)
    for column, product in ((0, 1.0), (2, 3.0), (1, 2.0)):
        sparse_matrix.second[0] = column
        function = form_of(sparse_matrix)
        assert isinstance(function.form, PaddedMatrix)
        assert function(vector).tolist() == [product, 2.0, 3.0]
