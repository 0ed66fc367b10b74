"""Products of sparse matrices: with dense tensors of size 0, and of two with a given number of entries."""

from __future__ import annotations

from typing import Any, Literal

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.testing import profile


@pytest.mark.parametrize("batch", [(), (2,), (0,), (2, 0)])
@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_a_matrix_without_columns_multiplies_vectors(backend: str, batch: tuple[int, ...]) -> None:
    with tb.default_backend(backend):
        matrix = tb.sparse.coo(tb.zeros(0), tb.zeros(0, dtype="int64"), tb.zeros(0, dtype="int64"), (2, 0))
        out = tb.sparse.matvec(matrix, tb.zeros((*batch, 0)))
    assert out.tolist() == tb.zeros((*batch, 2)).tolist()


@pytest.mark.parametrize("format", ["coo", "csr", "csc"])
def test_a_product_of_a_given_size_stores_so_many_entries(format: Literal["coo", "csr", "csc"]) -> None:
    @profile(5)
    @given(st.integers(0, 999), st.integers(0, 2))
    def agrees(seed: int, more: int) -> None:
        random = numpy.random.default_rng(seed)
        left, right = (random.integers(0, 3, shape).astype("float64") for shape in ((3, 4), (4, 2)))
        a, b = (tb.sparse.from_dense(tb.asarray(x), format=format) for x in (left, right))
        count = int((numpy.count_nonzero(left, axis=0) * numpy.count_nonzero(right, axis=1)).sum())
        found: Any = tb.sparse.matmul(a, b, size=count + more)
        compiled: Any = tb.jit(lambda a, b: tb.sparse.matmul(a, b, size=count + more))(a, b)
        for product in (found, compiled) if count else ():
            assert (product.nnz, product.format) == (count + more, format)
            numpy.testing.assert_array_equal(numpy.asarray(product.to_dense()), left @ right)
        summed: Any = tb.sparse.matmul(a, b)
        assert summed.nnz == numpy.count_nonzero(left @ right)  # no numbers are negative, so that none cancel

    agrees()
