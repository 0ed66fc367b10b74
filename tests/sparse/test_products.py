"""Products of sparse matrices and dense tensors of size 0."""

from __future__ import annotations

import pytest

import tensorbackend as tb


@pytest.mark.parametrize("batch", [(), (2,), (0,), (2, 0)])
@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_a_matrix_without_columns_multiplies_vectors(backend: str, batch: tuple[int, ...]) -> None:
    with tb.default_backend(backend):
        matrix = tb.sparse.coo(tb.zeros(0), tb.zeros(0, dtype="int64"), tb.zeros(0, dtype="int64"), (2, 0))
        out = tb.sparse.matvec(matrix, tb.zeros((*batch, 0)))
    assert out.tolist() == tb.zeros((*batch, 2)).tolist()
