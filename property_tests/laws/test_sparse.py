"""Every function of `tb.sparse` against the dense computation, on each backend, and against SciPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.sparse import SparseMatrix
from tensorbackend.testing import profile

FORMATS = ["coo", "csr", "csc"]

Array = Any


class Drawn(NamedTuple):
    """A matrix as values with their rows and columns; a position may occur twice."""

    values: Array
    rows: Array
    columns: Array
    size: tuple[int, int]

    @property
    def dense(self) -> Array:
        """The dense array."""
        batch = self.values.shape[:-1]
        shared = self.rows.ndim == 1
        array = numpy.zeros((*batch, *self.size), self.values.dtype)
        for place in numpy.ndindex(*batch):
            rows, columns = (indices if shared else indices[place] for indices in (self.rows, self.columns))
            numpy.add.at(array[place], (rows, columns), self.values[place])
        return array

    def on(self, backend: str, format: str) -> SparseMatrix:
        """Return the matrix on a backend, in the given format."""
        with tb.default_backend(backend):
            values, rows, columns = (tb.tensor(array) for array in (self.values, self.rows, self.columns))
            matrix = tb.sparse.coo(values, rows, columns, shape=self.size)
            return {"coo": matrix.to_coo, "csr": matrix.to_csr, "csc": matrix.to_csc}[format]()


def drawn(
    seed: int, size: tuple[int, int], count: int, batch: tuple[int, ...] = (), apart: tuple[int, ...] = ()
) -> Drawn:
    """Return a matrix or a batch of matrices; `apart` is the batch shape of the indices, () for a shared structure."""
    random = numpy.random.default_rng(seed)
    values = random.integers(-4, 5, (*batch, count)) / 2
    rows, columns = (random.integers(0, max(length, 1), (*apart, count)) for length in size)
    return Drawn(values, rows, columns, size)


@st.composite
def matrices(draw: st.DrawFn, batches: Sequence[tuple[int, ...]] = ((), (2,), (2, 3))) -> Drawn:
    """Small matrices and batches of them, some of them empty."""
    size = draw(st.integers(0, 5)), draw(st.integers(0, 5))
    count = draw(st.integers(0, 8)) if 0 not in size else 0
    batch = draw(st.sampled_from(batches))
    return drawn(draw(st.integers(0, 2**20)), size, count, batch, draw(st.sampled_from([(), batch])))


def dense_of(result: Any) -> tb.Tensor:
    """Return a sparse matrix as a dense tensor, and a tensor unchanged."""
    return result.to_dense() if isinstance(result, SparseMatrix) else result


def check_close(result: Any, reference: Array, tolerance: float = 1e-9) -> None:
    """Assert that a tensor or a sparse matrix has the elements of an array."""
    dense = dense_of(result)
    assert dense.shape == reference.shape, (dense.shape, reference.shape)
    numpy.testing.assert_allclose(numpy.asarray(dense), reference, rtol=tolerance, atol=tolerance)


Pairs = list[tuple[Any, Any]]
"""Pairs of a computed result and the expected array."""

LAWS: dict[str, Callable[[SparseMatrix, Any], Pairs]] = {}


def law(function: Callable[[SparseMatrix, Any], Pairs]) -> Callable[[SparseMatrix, Any], Pairs]:
    """Register a law: a function of a sparse matrix and of the same matrix as a dense array."""
    LAWS[function.__name__] = function
    return function


@law
def conversions(a: SparseMatrix, dense: Array) -> Pairs:
    chain = a.to_coo().to_csr().to_csc().to_csr().to_coo().to_csc()
    assert (chain.format, chain.nnz) == ("csc", a.nnz)
    return [(matrix, dense) for matrix in (a, a.to_coo(), a.to_csr(), a.to_csc(), chain)]


@law
def duplicates(a: SparseMatrix, dense: Array) -> Pairs:
    filled = tb.sparse.sum_duplicates(a, size=12)
    assert filled.nnz == (0 if 0 in a.matrix_size else 12)
    return [(filled, dense)]


@law
def transposes(a: SparseMatrix, dense: Array) -> Pairs:
    return [(a.mT, numpy.swapaxes(dense, -1, -2)), (a.mT.mT, dense)]


@law
def products(a: SparseMatrix, dense: Array) -> Pairs:
    random = numpy.random.default_rng(dense.size)
    rows, columns = a.matrix_size

    def shaped(*shape: int) -> tuple[tb.Tensor, Array]:
        numbers = random.integers(-3, 4, shape) / 2
        return tb.asarray(numbers, backend="binary"), numbers

    pairs: Pairs = []
    for shape in [(columns,), (columns, 3), (2, 1, columns, 3)]:
        x, array = shaped(*shape)
        pairs.append((a @ x, dense @ array))
    for shape in [(rows,), (4, rows)]:
        x, array = shaped(*shape)
        pairs.append((x @ a, array @ dense))
    x, array = shaped(*a.shape[:-2], columns)
    return [*pairs, (tb.sparse.matvec(a, x), (dense @ array[..., None])[..., 0])]


@law
def sums_and_scaling(a: SparseMatrix, dense: Array) -> Pairs:
    one, ones = tb.sparse.eye(*a.matrix_size, dtype="f64", backend="binary"), numpy.eye(*a.matrix_size)
    pairs = [(a + a, 2 * dense), (a + one, dense + ones), (a - one, dense - ones), (one - a, ones - dense)]
    pairs += [(-a, -dense), (3 * a, 3 * dense), (a / 2, dense / 2)]
    factor = numpy.random.default_rng(1).integers(1, 9, a.matrix_size) / 2
    factors = [factor, factor[:1], factor[:, :1], *factor[:1]]
    return [*pairs, *((a * tb.asarray(scale, backend="binary"), dense * scale) for scale in factors)]


@law
def reductions(a: SparseMatrix, dense: Array) -> Pairs:
    pairs = [(tb.sparse.sum(a, axis=axis), dense.sum(axis=axis)) for axis in (None, -1, -2, (-2, -1))]
    pairs.append((tb.sparse.diagonal(a), numpy.diagonal(dense, axis1=-2, axis2=-1)))
    if 0 not in a.matrix_size:
        for axis in (None, -1, -2):
            along = (-2, -1) if axis is None else axis
            pairs.append((tb.sparse.max(a, axis=axis), dense.max(axis=along)))
            pairs.append((tb.sparse.min(a, axis=axis), dense.min(axis=along)))
    return pairs


@law
def parts(a: SparseMatrix, dense: Array) -> Pairs:
    keys: list[Any] = [
        (..., slice(1, 3), slice(None)),
        (..., slice(None), slice(None, None, 2)),
        (..., slice(None, None, -1), slice(0, 2)),
        (..., slice(3, 0, -2), slice(None)),
        (..., slice(4, 1), slice(None)),
    ]
    if 0 not in a.matrix_size:
        keys += [(..., 0, slice(None)), (..., slice(None), -1), (..., 0, -1)]
    if a.ndim > 2:
        keys += [(1,), (slice(0, 1), ..., slice(1, None))]
    return [(a[key], dense[key]) for key in keys]


@law
def assembled(a: SparseMatrix, dense: Array) -> Pairs:
    nothing = numpy.zeros_like(dense)
    return [
        (tb.sparse.concatenate([a, a]), numpy.concatenate([dense, dense], axis=-2)),
        (tb.sparse.concatenate([a, a], axis=-1), numpy.concatenate([dense, dense], axis=-1)),
        (tb.sparse.block_diagonal([a, a]), numpy.block([[dense, nothing], [nothing, dense]])),
    ]


def check_pairs(pairs: Pairs) -> None:
    for result, reference in pairs:
        check_close(result, reference)


@pytest.mark.parametrize("backend", ["binary", "numpy"])
@pytest.mark.parametrize("name", LAWS)
def test_law(name: str, backend: str) -> None:
    """Each law holds for matrices with data, inside a trace, and on templates."""

    @profile(9)
    @given(matrices(), st.sampled_from(FORMATS))
    def holds(drawn: Drawn, format: str) -> None:
        a, dense = drawn.on(backend, format), drawn.dense
        pairs = LAWS[name](a, dense)
        check_pairs(pairs)
        traced = tb.jit(lambda a: [result for result, _ in LAWS[name](a, dense)])(a)
        check_pairs(list(zip(traced, (reference for _, reference in pairs), strict=True)))
        for (result, _), (dry, _) in zip(pairs, LAWS[name](tb.backend_copy(a, "template"), dense), strict=True):
            assert dry.template is result.template

    holds()


def test_laws_on_jax() -> None:
    """Check some cases of each law in one compiled function, as JAX compiles again for each shape."""
    one = drawn(3, (3, 2), 5, (2,), (2,))

    def cases(a: SparseMatrix) -> Pairs:
        return [
            *LAWS["conversions"](a, one.dense)[2:3],
            *LAWS["transposes"](a, one.dense),
            *LAWS["products"](a, one.dense),
            *LAWS["sums_and_scaling"](a, one.dense)[5:8],
            *LAWS["reductions"](a, one.dense)[1:5],
        ]

    results = tb.jit(lambda a: [dense_of(result) for result, _ in cases(a)])(one.on("jax", "coo"))
    check_pairs(list(zip(results, (reference for _, reference in cases(one.on("binary", "coo"))), strict=True)))


@profile(20)
@given(matrices())
def test_one_value_for_each_place(drawn: Drawn) -> None:
    if drawn.values.ndim == 1:
        places = set(zip(drawn.rows.tolist(), drawn.columns.tolist(), strict=True))
        once = drawn.on("numpy", "coo").sum_duplicates()
        assert once.nnz == len(places)
        check_close(once, drawn.dense)


@pytest.mark.parametrize("format", FORMATS)
@profile(20)
@given(matrices(batches=[()]))
def test_scipy_agrees(format: str, drawn: Drawn) -> None:
    a = drawn.on("numpy", format)
    theirs = scipy.sparse.coo_array((drawn.values, (drawn.rows, drawn.columns)), shape=drawn.size).asformat(format)
    check_close(a, theirs.toarray())
    assert (a.to_scipy() != theirs).nnz == 0
    check_close(tb.sparse.from_scipy(theirs), drawn.dense)
    check_close(a @ a.T, (theirs @ theirs.T).toarray())
    check_close(a + a, (theirs + theirs).toarray())


@pytest.mark.parametrize("backend", ["binary", "numpy"])
@profile(9)
@given(matrices(), st.sampled_from(FORMATS))
def test_gradients_are_those_of_the_dense_product(backend: str, drawn: Drawn, format: str) -> None:
    """Of the sum of w * (a @ x) by a: w @ x.T, at the places alone; by x: a.T @ w."""
    a, dense = drawn.on(backend, format), drawn.dense
    random = numpy.random.default_rng(drawn.values.size)
    x, w = (random.integers(-3, 4, (size, 2)) / 2 for size in drawn.size[::-1])

    def loss(a: SparseMatrix, x: tb.Tensor) -> tb.Tensor:
        return tb.sum((a @ x) * tb.asarray(w, backend="binary"))

    by_a, by_x = tb.grad(loss, (0, 1))(a, tb.asarray(x, backend=backend))
    ones = a.like(tb.ones(a.values.shape, dtype="f64", backend=backend))
    check_close(by_a, numpy.asarray(ones.to_dense()) * (w @ x.T))
    check_close(by_x, (numpy.swapaxes(dense, -1, -2) @ w).sum(axis=tuple(range(dense.ndim - 2))))


@profile(9)
@given(st.integers(0, 4), st.integers(0, 4), st.sampled_from(FORMATS))
def test_diagonals(rows: int, columns: int, format: Any) -> None:
    offsets = list(range(-2, 3))
    lengths = [max(0, min(rows + min(offset, 0), columns - max(offset, 0))) for offset in offsets]
    diagonals = [numpy.arange(length) + 1.0 for length in lengths]
    matrix = tb.sparse.diagonals(
        [tb.asarray(diagonal) for diagonal in diagonals], offsets, (rows, columns), format=format
    )
    reference = numpy.zeros((rows, columns))
    for diagonal, k in zip(diagonals, offsets, strict=True):
        for place, value in enumerate(diagonal):
            reference[place - min(k, 0), place + max(k, 0)] = value
    assert matrix.format == format
    check_close(matrix, reference)


def test_the_comparison_catches_a_wrong_matrix() -> None:
    one = drawn(3, (3, 2), 5)
    wrong = one._replace(columns=1 - one.columns)
    with pytest.raises(AssertionError):
        check_close(wrong.on("numpy", "csr"), one.dense)
    with pytest.raises(AssertionError):
        check_close(one.on("numpy", "csr").T, one.dense)
