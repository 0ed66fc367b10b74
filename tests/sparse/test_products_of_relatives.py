"""Products and solutions with a matrix, then with its relatives, which share tensors: caches must tell them apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.solvers.linear import linear
from tensorbackend.solvers.padded import quickest_form
from tensorbackend.sparse import SparseMatrix
from tensorbackend.testing import profile

SIZE = 4
Relative = tuple[SparseMatrix, Any, bool]
"""A matrix, its dense array, and whether it is lower triangular."""


def relatives(data: st.DataObject, backend: str) -> list[Relative]:
    """Draw a triangular matrix. Return it with others that hold some of the same tensors and have the same size."""
    random = numpy.random.default_rng(data.draw(st.integers(0, 9999)))
    dense = numpy.tril(random.integers(-1, 2, (SIZE, SIZE))).astype("float64")
    numpy.fill_diagonal(dense, random.choice([2.0, -4.0], SIZE))
    rows, columns = (tb.asarray(places, backend=backend) for places in dense.nonzero())
    values = tb.asarray(dense[dense.nonzero()], backend=backend)
    coo = tb.sparse.coo(values, rows, columns, shape=(SIZE, SIZE))
    csr = coo.to_csr()
    swapped = tb.sparse.csc(csr.values, csr.indices, csr.pointers, shape=(SIZE, SIZE))
    found: list[Relative] = []
    for matrix in (coo, csr, coo.to_csc()):
        found += [(matrix, dense, True), (matrix.mT, dense.T, False), (matrix.mT.mT, dense, True)]
        found += [(matrix * 2, 2 * dense, True), (matrix.mT * 2, 2 * dense.T, False)]
    return [
        *found,
        (swapped, dense.T, False),
        (tb.sparse.coo(values, columns, rows, shape=(SIZE, SIZE)), dense.T, False),
    ]


def solved(a: SparseMatrix, x: tb.Tensor, lower: bool) -> tb.Tensor:
    return tb.sparse.triangular_solve(a, x, lower=lower)


FUNCTIONS: list[tuple[Callable[[SparseMatrix, tb.Tensor, bool], tb.Tensor], Callable[[Any, Any], Any]]] = [
    (lambda a, x, lower: a @ x, lambda dense, x: dense @ x),
    (lambda a, x, lower: x @ a, lambda dense, x: x @ dense),
    (lambda a, x, lower: a @ tb.stack([x, -x], axis=1), lambda dense, x: dense @ numpy.stack([x, -x], 1)),
    (solved, numpy.linalg.solve),
    (lambda a, x, lower: a.to_dense() @ x, lambda dense, x: dense @ x),
    (lambda a, x, lower: form(a)(x), lambda dense, x: dense @ x),
    (lambda a, x, lower: form(a).T(x), lambda dense, x: dense.T @ x),
    (lambda a, x, lower: tb.solvers.solve(a, x, method="direct").x, numpy.linalg.solve),
]


def form(a: SparseMatrix) -> Any:
    """Return the form in which solvers keep a matrix, which is remembered by its tensors of indices."""
    return quickest_form(linear(a, tb.template((SIZE,), "f64").template, 1, "A"))


@pytest.mark.parametrize("backend", ["numpy", "binary"])
def test_what_is_known_of_a_matrix_is_not_taken_for_its_relatives(backend: str) -> None:
    @profile(25)
    @given(st.data())
    def agrees(data: st.DataObject) -> None:
        kin = relatives(data, backend)
        x = numpy.arange(1.0, SIZE + 1)
        for at, which in data.draw(st.lists(st.tuples(st.integers(0, len(kin) - 1), st.integers(0, 7)), max_size=12)):
            (matrix, dense, lower), (ours, numpys) = kin[at], FUNCTIONS[which]
            found = numpy.asarray(ours(matrix, tb.asarray(x, backend=backend), lower))
            numpy.testing.assert_allclose(found, numpys(dense, x), rtol=1e-9, atol=1e-9)

    agrees()
