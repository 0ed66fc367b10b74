"""Sums and products of sparse matrices that share both, one or none of their index tensors, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.sparse import CSC, CSR, SparseMatrix
from tensorbackend.testing import profile


def dense(values: Any, rows: Any, columns: Any, size: tuple[int, int]) -> Any:
    result = numpy.zeros((*values.shape[:-1], *size), values.dtype)
    for place in numpy.ndindex(values.shape[:-1]):
        numpy.add.at(result[place], (rows, columns), values[place])
    return result


class Pair:
    """Two matrices of one format and size; each index tensor is one object for both, or a tensor of its own."""

    def __init__(self, data: st.DataObject, format: str) -> None:
        random = numpy.random.default_rng(data.draw(st.integers(0, 9999)))
        large_first = st.sampled_from([4, 3, 2, 1])  # where many draws are alike, the first choice comes most often
        size = (data.draw(large_first), data.draw(large_first))
        count = data.draw(st.sampled_from([6, 5, 4, 3, 2, 1, 0]))
        self.shared = data.draw(st.sampled_from(["both", "first", "second", "none"]))
        batches = data.draw(st.sampled_from([((), ()), ((2,), (2,)), ((2,), ())]))
        major, minor = size if format != "csc" else size[::-1]
        firsts = [numpy.sort(random.integers(0, major, count)) for _ in range(2)]
        seconds = [random.integers(0, minor, count) for _ in range(2)]
        if self.shared in ("both", "first"):
            firsts[1] = firsts[0]
        if self.shared in ("both", "second"):
            seconds[1] = seconds[0]
        self.matrices: list[SparseMatrix] = []
        given = data.draw(st.sampled_from([("batch", "row", "column"), ("batch", None, "column"), (None, None, None)]))
        self.names = given[1 - len(batches[0]) :]
        self.dense = []
        for first, second, batch in zip(firsts, seconds, batches, strict=True):
            values = random.integers(-4, 5, (*batch, count)) / 2
            rows, columns = (second, first) if format == "csc" else (first, second)
            self.dense.append(dense(values, rows, columns, size))
            one, other = self._first(first, major, format), tb.asarray(second)
            held = tb.asarray(values)
            shape = (*batch, *size)
            if format == "coo":
                matrix: SparseMatrix = tb.sparse.coo(held, one, other, shape=shape)
            else:
                make: Any = tb.sparse.csr if format == "csr" else tb.sparse.csc
                matrix = make(held, other, one, shape=shape)
            self.matrices.append(matrix.rename(*given[1 - len(batch) :]))
        # Constructors convert what they are given, so the second matrix is made of the tensors of the first.
        a, b = self.matrices
        one = a.first if self.shared in ("both", "first") else b.first
        other = a.second if self.shared in ("both", "second") else b.second
        self.matrices[1] = type(b)(b.values, one, other, b.matrix_size, b.matrix_names)

    def _first(self, places: Any, major: int, format: str) -> tb.Tensor:
        if format == "coo":
            return tb.asarray(places)
        return tb.asarray(numpy.searchsorted(places, numpy.arange(major + 1)))


@pytest.mark.parametrize("format", ["coo", "csr", "csc"])
def test_sums_of_pairs_that_share_parts(format: str) -> None:
    seen = set()

    @profile(60)
    @given(st.data())
    def agrees(data: st.DataObject) -> None:
        pair = Pair(data, format)
        a, b = pair.matrices
        seen.add((a.first is b.first, a.second is b.second))
        for found, expected in ((a + b, pair.dense[0] + pair.dense[1]), (a - b, pair.dense[0] - pair.dense[1])):
            assert found.format == format
            assert found.names == pair.names
            numpy.testing.assert_array_equal(numpy.asarray(found.to_dense()), expected)
        recorded = tb.jit(lambda a, b: (a + b).to_dense())(a, b)
        numpy.testing.assert_array_equal(numpy.asarray(recorded), pair.dense[0] + pair.dense[1])

    agrees()
    assert len(seen) == 4


@pytest.mark.parametrize("format", ["coo", "csr", "csc"])
def test_products_with_dense_tensors_that_broadcast(format: str) -> None:
    @profile(40)
    @given(st.data())
    def agrees(data: st.DataObject) -> None:
        pair = Pair(data, format)
        a, array = pair.matrices[0], pair.dense[0]
        rows, columns = a.matrix_size
        shape = data.draw(st.sampled_from([(), (columns,), (1,), (rows, columns), (rows, 1), (1, columns), (1, 1)]))
        if len(shape) == 2 and data.draw(st.booleans()):
            shape = (*array.shape[:-2], *shape)  # a factor for each matrix of a batch
        factor = numpy.random.default_rng(3).integers(1, 9, shape) / 2
        given = data.draw(st.sampled_from([tb.asarray(factor), factor, factor.tolist()]))
        numpy.testing.assert_array_equal(numpy.asarray((a * given).to_dense()), array * factor)
        numpy.testing.assert_allclose(numpy.asarray((a / given).to_dense()), array / factor, rtol=1e-12)

    agrees()


@pytest.mark.parametrize("kind", [CSR, CSC])
def test_transposes_of_one_matrix_do_not_share_places(kind: type[SparseMatrix]) -> None:
    """A matrix and its transpose have the same two index tensors, which stand for other places."""
    make: Any = tb.sparse.csr if kind is CSR else tb.sparse.csc
    a = make([1.0, 2.0, 4.0], [1, 0, 2], [0, 1, 2, 3], shape=(3, 3))
    array = numpy.asarray(a.to_dense())
    for first, second in ((a, a.mT), (a.mT, a)):
        left = array if first is a else array.T
        numpy.testing.assert_array_equal(numpy.asarray((first + second).to_dense()), left + left.T)


def test_the_sum_of_a_matrix_and_its_transpose_says_how_to_rename() -> None:
    a = tb.sparse.from_dense(tb.asarray([[0.0, 2.0], [5.0, 1.0]], names=("from", "to")))
    with pytest.raises(tb.errors.NamesError, match=r"x2.rename\('from', 'to'\) pairs the axes by position"):
        a + a.T
    assert (a + a.T.rename("from", "to")).to_dense().tolist() == [[0.0, 7.0], [7.0, 2.0]]
