"""Sparse matrices: their parts and attributes, their names, their errors, and their use as containers of tensors."""

from __future__ import annotations

import operator
import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.errors import (
    ArgumentError,
    AxisError,
    DataError,
    DTypeError,
    IndexRangeError,
    NamesError,
    OperandError,
    ShapeError,
    TemplateDataError,
)
from tensorbackend.sparse import COO, CSC, CSR, SparseMatrix

A = tb.sparse.csr([2.0, 1.0, 3.0], [0, 2, 1], [0, 2, 3], shape=(2, 3), names=("row", "column"))


def test_what_it_looks_like() -> None:
    assert (A.shape, A.names, A.ndim, A.nnz, A.dtype) == ((2, 3), ("row", "column"), 2, 3, tb.float32)
    assert (A.format, A.T.format, A.to_coo().format) == ("csr", "csc", "coo")
    assert A.nbytes == 3 * 4 + 3 * 8 + 3 * 8
    assert repr(A) == "csr f32[row: 2][column: 3] numpy, 3 stored"
    assert all(isinstance(matrix, SparseMatrix) for matrix in (A, A.T, A.to_coo()))
    assert (A.pointers.tolist(), A.indices.tolist()) == ([0, 2, 3], [0, 2, 1])
    assert (A.to_coo().rows.tolist(), A.to_coo().columns.tolist()) == ([0, 0, 1], [0, 2, 1])


def test_the_transpose_shares_its_tensors() -> None:
    assert A.T.values is A.values
    assert A.T.names == ("column", "row")
    assert A.T.T.to_dense().tolist() == A.to_dense().tolist()


def test_a_container_of_tensors() -> None:
    moved = tb.backend_copy(A, "binary")
    assert (moved.backend.name, moved.names) == ("binary", A.names)
    assert tb.tree_map(lambda x: x, A).to_dense().tolist() == A.to_dense().tolist()
    assert pickle.loads(pickle.dumps(A)).to_dense().tolist() == A.to_dense().tolist()
    doubled = tb.jit(lambda a: a * 2)(A)
    assert (type(doubled), doubled.names) == (CSR, A.names)
    assert tb.jit(lambda a: a.T)(A).format == "csc"


def test_a_renamed_matrix() -> None:
    assert A.rename("a", None).names == ("a", None)
    with pytest.raises(NamesError):
        A.rename("a")
    with pytest.raises(NamesError):
        A.rename("a", "a")


def test_names_of_products() -> None:
    assert (A @ tb.ones(3, names=("column",))).names == ("row",)
    assert (A @ tb.ones((3, 2), names=("column", "k"))).names == ("row", "k")
    assert (tb.ones((4, 2), names=("k", "row")) @ A).names == ("k", "column")
    assert (A @ A.T.rename("column", "other")).names == ("row", "other")
    for wrong in (tb.ones(3, names=("row",)), tb.ones((3, 2), names=("row", "k"))):
        with pytest.raises(NamesError):
            A @ wrong
    with pytest.raises(NamesError):
        A @ A.T  # the result would have two axes of one name
    with pytest.raises(NamesError):
        A + A.rename("column", "row")


def test_names_of_reductions_and_parts() -> None:
    assert tb.sparse.sum(A, axis="row").names == ("column",)
    assert tb.sparse.max(A, axis="column").names == ("row",)
    assert (A.diagonal().names, A[0].names, A[:, 1].names, A[1:].names) == (
        ("row",), ("column",), ("row",), ("row", "column"))  # fmt: skip


def test_names_of_batches() -> None:
    values = tb.asarray([[1.0, 2.0], [3.0, 4.0]], names=("batch", None))
    a = tb.sparse.coo(values, [0, 1], [1, 0], shape=(2, 2), names=("row", "column"))
    assert a.names == ("batch", "row", "column")
    assert a.to_dense().names == a.to_csr().names == a.names
    assert (a @ tb.ones((2, 5))).names == ("batch", "row", None)
    assert tb.sparse.matvec(a, tb.ones((2, 2), names=("batch", None))).names == ("batch", "row")
    assert a[1].names == ("row", "column")
    assert tb.vmap(lambda a: a @ tb.ones(2), in_axes=({0: "batch", 1: None, 2: None},))(a).names == ("batch", "row")
    named = tb.sparse.coo(values.rename(None, None), [0, 1], [1, 0], shape=(2, 2, 2), names=("b", "r", "c"))
    assert named.names == ("b", "r", "c")


MISTAKES: list[tuple[type[Exception], str, Callable[[], Any]]] = [
    (IndexRangeError, "row from 0 to 1, got row=2", lambda: tb.sparse.coo([1.0], [2], [0], (2, 2))),
    (IndexRangeError, "column from 0 to 1, got column=-1", lambda: tb.sparse.coo([1.0], [0], [-1], (2, 2))),
    (IndexRangeError, "column from 0 to 1, got column=2", lambda: tb.sparse.csr([1.0], [2], [0, 1, 1], (2, 2))),
    (DataError, "none less than the one before", lambda: tb.sparse.csr([1.0, 1.0], [0, 0], [0, 3, 2], (2, 2))),
    (DataError, "pointers from 0 to 1", lambda: tb.sparse.csr([1.0], [0], [0, 0, 0], (2, 2))),
    (DataError, "pointers from 0 to 1", lambda: tb.sparse.csc([1.0], [0], [1, 1, 1], (2, 2))),
    (ShapeError, "1 indices and 3 pointers", lambda: tb.sparse.csr([1.0], [0], [0, 1], (2, 2))),
    (ShapeError, "2 rows and columns", lambda: tb.sparse.coo([1.0, 1.0], [0], [0], (2, 2))),
    (ShapeError, "empty matrix", lambda: tb.sparse.coo([1.0], [0], [0], (0, 2))),
    (ShapeError, "rows and columns", lambda: tb.sparse.coo([1.0], [0], [0], (2,))),
    (ShapeError, "shape and names to match the parts", lambda: tb.sparse.coo([1.0], [0], [0], (4, 2, 2))),
    (DTypeError, "integer dtype", lambda: tb.sparse.coo([1.0], tb.asarray([0.5]), [0], (2, 2))),
    (DTypeError, "numeric dtype", lambda: tb.sparse.coo([True], [0], [0], (2, 2))),
    (NamesError, "", lambda: tb.sparse.coo([1.0], [0], [0], (2, 2), names=("a", "a"))),
    (ShapeError, "", lambda: A @ tb.ones(2)),
    (ShapeError, "", lambda: A @ A),
    (ShapeError, "one shape", lambda: A + A.T),
    (OperandError, "two sparse matrices", lambda: A + tb.ones((2, 3))),
    (OperandError, "a dense tensor with a sparse matrix", lambda: A * A),
    (OperandError, r"use `A @ x`, tb.solvers.solve\(A, b\).x or a function of tb.sparse", lambda: tb.exp(A)),  # type: ignore[arg-type] # the mistake
    (ShapeError, "", lambda: A * tb.ones((4, 2, 3))),
    (IndexRangeError, "", lambda: A[2]),
    (ArgumentError, "ints and slices", lambda: A[tb.asarray([0])]),
    (ArgumentError, "at least one", lambda: tb.sparse.concatenate([])),
    (ShapeError, "the same number of columns in each matrix", lambda: tb.sparse.concatenate([A, A.T])),
    (DataError, "at most size=1", lambda: tb.sparse.from_dense(tb.eye(2), size=1)),
    (TemplateDataError, "", lambda: tb.sparse.from_dense(tb.template((2, 2), "f32"))),
    (TemplateDataError, "with data", lambda: tb.backend_copy(A, "template").to_scipy()),
    (ShapeError, "no batches", lambda: tb.sparse.coo([[1.0]], [0], [0], (2, 2)).to_scipy()),
    (OperandError, "scipy.sparse", lambda: tb.sparse.from_scipy([1.0])),
    (ArgumentError, "", lambda: tb.sparse.sum(A, axis=())),
]


@pytest.mark.parametrize("position", range(len(MISTAKES)))
def test_a_mistake_is_told(position: int) -> None:
    error, text, call = MISTAKES[position]
    with pytest.raises(error, match=text or None):
        call()


@pytest.mark.parametrize("backend", ["numpy", "binary"])
def test_places_of_a_trace_are_checked_when_they_are_there(backend: str) -> None:
    @tb.jit
    def product(rows: tb.Tensor, x: tb.Tensor) -> tb.Tensor:
        result: tb.Tensor = tb.sparse.coo(tb.ones(1), rows, rows, shape=(2, 2)) @ x
        return result

    x = tb.ones(2, backend=backend)
    assert product(tb.asarray([1], backend=backend), x).tolist() == [0, 1]
    with pytest.raises(IndexRangeError):
        product(tb.asarray([2], backend=backend), x)


def test_jax_takes_the_nearest_place_inside() -> None:
    product = tb.jit(lambda rows, x: tb.sparse.coo(tb.ones(1), rows, rows, shape=(2, 2)) @ x)
    assert product(tb.asarray([5], backend="jax"), tb.ones(2, backend="jax")).tolist() == [0, 1]


def test_more_entries_than_a_trace_was_told_of() -> None:
    filled = tb.jit(lambda x: tb.sparse.from_dense(x, size=2).to_dense())
    assert filled(tb.asarray([[1.0, 0.0], [0.0, 0.0]])).tolist() == [[1, 0], [0, 0]]
    assert tb.all(tb.isnan(filled(tb.ones((2, 2)))[0])).item()
    product = tb.jit(lambda a: tb.sparse.matmul(a, a, size=2).values)
    assert tb.all(tb.isnan(product(tb.sparse.from_dense(tb.ones((2, 2)))))).item()


def test_a_product_of_two_in_a_trace() -> None:
    square = tb.sparse.from_dense(tb.asarray([[1.0, 2.0], [0.0, 3.0]]))
    product = tb.jit(lambda a: tb.sparse.matmul(a, a, size=6))(square)
    assert (product.nnz, product.to_dense().tolist()) == (6, [[1, 8], [0, 9]])


def test_the_gradient_by_a_matrix_is_a_matrix() -> None:
    x = tb.asarray([1.0, 10.0, 100.0])
    gradient = tb.grad(lambda a: tb.sum((a @ x) ** 2))(A.rename(None, None))
    assert (type(gradient), gradient.to_dense().tolist()) == (CSR, [[204, 0, 20400], [0, 600, 0]])
    jacobian = tb.jacobian(lambda a: a @ x)(A.rename(None, None))
    assert jacobian.shape == (2, 2, 3)
    _, pushed = tb.jvp(lambda a: a @ x, (A.rename(None, None),), (A.rename(None, None),))
    assert pushed.tolist() == [102, 30]


def test_the_gradient_of_integers_is_zero() -> None:
    slopes = tb.grad(lambda pair: tb.sum(pair["x"] * pair["n"]))({"x": tb.ones(2), "n": tb.asarray([1, 2])})
    assert {name: slope.tolist() for name, slope in slopes.items()} == {"x": [1.0, 2.0], "n": [0, 0]}
    with pytest.raises(DTypeError, match="floating or complex"):
        tb.grad(lambda n: tb.sum(n * 1.5))(tb.asarray([1, 2]))


def test_classes() -> None:
    assert [type(matrix) for matrix in (A.to_coo(), A.to_csr(), A.to_csc())] == [COO, CSR, CSC]
    assert A.to_csr() is A
    assert tb.sparse.eye(2, 3, format="csc").to_dense().tolist() == tb.eye(2, 3).tolist()
    assert tb.sparse.astype(A, "f64").dtype is tb.float64


def test_what_numpys_arrays_and_lists_do() -> None:
    import numpy

    array = numpy.ones((4, 2), "float32")
    assert (array @ A).tolist() == [[2, 3, 1]] * 4
    assert (A @ [1.0, 1.0, 1.0]).tolist() == [3, 3]
    assert tb.sparse.from_dense(numpy.eye(2)).nnz == 2


def test_a_matrix_of_diagonals_has_two_axes() -> None:
    for shape in ((4,), (2, 2, 2)):
        with pytest.raises(ShapeError, match="diagonals: expected the numbers of rows and columns"):
            tb.sparse.diagonals([1.0], [0], shape)


def test_places_are_not_a_single_number() -> None:
    for make in (tb.sparse.coo, tb.sparse.csr, tb.sparse.csc):
        with pytest.raises(ShapeError, match="expected"):
            make([1.0], 0, 3, (1, 1))


def test_places_are_not_a_masked_value() -> None:
    with pytest.raises(OperandError, match="expected an array without a mask"):
        tb.sparse.coo([1.0], [0], numpy.ma.masked, (1, 1))


@pytest.mark.parametrize(
    "lengths",
    [[3, 2, 3, 0, 1, 3], [1, 1, 1, 1, 6, 1, 1, 1], [1] * 30 + [30], [20] * 25, [0, 0, 0]],
    ids=["about as many", "one longer", "one much longer", "many", "none"],
)
def test_jax_multiplies_rows_of_any_lengths(lengths: list[int]) -> None:
    generator, width = numpy.random.default_rng(0), max(*lengths, 7)
    dense = numpy.zeros((len(lengths), width))
    for row, length in enumerate(lengths):
        dense[row, generator.permutation(width)[:length]] = generator.normal(size=length)
    a, x = tb.backend_copy(tb.sparse.from_dense(tb.asarray(dense)), "jax"), generator.normal(size=width)
    at = tb.asarray(x, backend="jax")
    numpy.testing.assert_allclose(numpy.asarray(a @ at), dense @ x, rtol=1e-12)
    compiled = tb.jit(lambda a, x: (a @ x, tb.grad(lambda x: tb.sum(a @ x))(x)))
    product, gradient = map(numpy.asarray, compiled(a, at))
    numpy.testing.assert_allclose(product, dense @ x, rtol=1e-12)
    numpy.testing.assert_allclose(gradient, dense.sum(0), rtol=1e-12)


ANY: Any = A  # untyped, for operators that a type checker refuses
REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: ANY == A, "equal: expected a dense tensor to compare, got A=f32[row: 2][column: 3]; compare A.to_dense()"),
    (lambda: ANY != 0, "not_equal: "),
    (lambda: A.to_dense() == ANY, "equal: "),
    (lambda: ANY > 0, "greater: "),
    (lambda: abs(ANY), "abs: expected a dense tensor, got A=f32[row: 2][column: 3]; write A.like(tb.abs(A.values))"),
    (lambda: ANY**2, "pow: expected a dense tensor, got A=f32[row: 2][column: 3]; write A.like(A.values ** n)"),
    (lambda: 2 / ANY, "divide: "),
    (lambda: 1 + ANY, "add: expected two sparse matrices, got x1=1; use to_dense() for a dense sum"),
    (lambda: 1 - ANY, "subtract: expected two sparse matrices, got x1=1; use to_dense() for a dense sum"),
    (lambda: ANY * ANY, "use A @ B for the product of matrices, or B.to_dense()"),
    (lambda: ANY // 2, "floor_divide: "),
    (lambda: ANY & ANY, "and: "),
    (lambda: bool(ANY), "ask for A.nnz"),
    (lambda: len(ANY), "use A.shape, or A.nnz"),
    (lambda: numpy.asarray(ANY), "write A.to_dense(), or tb.sparse.to_scipy(A) for SciPy"),
    (lambda: tb.asarray(ANY), "asarray: expected a dense tensor"),
    (lambda: operator.setitem(ANY, (0, 0), 1), "add a matrix of tb.sparse.coo()"),
]


@pytest.mark.parametrize(("call", "remedy"), REFUSED)
def test_operators_that_need_a_dense_tensor_say_so(call: Callable[[], object], remedy: str) -> None:
    with pytest.raises(OperandError, match=re.escape(remedy)):
        call()


def test_an_object_of_python_equals_no_matrix() -> None:
    assert (ANY == None, ANY != None, ANY == "A", A in [None, A]) == (False, True, False, True)  # noqa: E711 # compared


def test_names_change_by_position_or_by_keyword() -> None:
    graph = tb.sparse.coo(tb.ones(1), tb.asarray([0]), tb.asarray([1]), shape=(2, 2), names=("point", "other"))
    both = graph + graph.T.rename(point="other", other="point")
    assert both.names == graph.T.rename("point", "other").names == ("point", "other")
    assert both.to_dense().tolist() == [[0.0, 1.0], [1.0, 0.0]]
    mistakes: list[Callable[[], object]] = [
        lambda: graph.rename("point"), lambda: graph.rename(row="a"), lambda: graph.rename("a", "a"),
    ]  # fmt: skip
    for mistake in mistakes:
        with pytest.raises((AxisError, NamesError), match="rename: expected"):
            mistake()
