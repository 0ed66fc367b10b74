"""Sums, extremes and diagonals of sparse matrices, against those of the dense ones."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.errors import ArgumentError
from tensorbackend.testing import profile

NAMES = ("batch", "row", "column")
REDUCED = [(-1,), (-2,), (-2, -1), (-1, -2), (0, -1), (0, 1), (0, 1, 2)]


def drawn(data: st.DataObject, format: str) -> tuple[Any, Any]:
    """Draw a batch of matrices, some without rows, columns or values, and the array of their elements."""
    shape = 2, *(data.draw(st.sampled_from([3, 2, 0])) for _ in range(2))
    random = numpy.random.default_rng(data.draw(st.integers(0, 999)))
    array = random.integers(-4, 5, shape) * (random.random(shape) < 0.5) / 2
    names = data.draw(st.sampled_from([NAMES, (None, None, None), ("batch", None, None)]))
    return getattr(tb.sparse.from_dense(tb.asarray(array, names=names)), f"to_{format}")(), array


@pytest.mark.parametrize("format", ["coo", "csr", "csc"])
def test_reductions_are_those_of_the_dense_matrices(format: str) -> None:
    @profile(5)
    @given(st.data())
    def agrees(data: st.DataObject) -> None:
        matrix, array = drawn(data, format)
        dense = matrix.to_dense()
        for axis in REDUCED:
            found = tb.sparse.sum(matrix, axis=axis)
            assert found.template == tb.sum(dense, axis=axis).template
            numpy.testing.assert_array_equal(numpy.asarray(found), array.sum(axis))
        found = tb.sparse.diagonal(matrix)
        numpy.testing.assert_array_equal(numpy.asarray(found), array.diagonal(axis1=1, axis2=2))
        assert found.names == matrix.names[:2]
        for of_sparse, of_dense in (tb.sparse.max, tb.max), (tb.sparse.min, tb.min):
            for place in (-1, -2) if array.size else ():
                extreme = of_sparse(matrix, axis=place)
                assert extreme.template == of_dense(dense, axis=place).template
                assert extreme.tolist() == of_dense(dense, axis=place).tolist()

    agrees()


def test_a_sum_over_a_batch_alone_is_an_error() -> None:
    with pytest.raises(ArgumentError, match="sum: expected an axis of rows or columns among those to sum over"):
        tb.sparse.sum(tb.sparse.from_dense(tb.ones((2, 3, 3))), axis=0)
