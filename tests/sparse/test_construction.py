"""Which shapes a sparse matrix may have, and the names of its axes, in any batch."""

from __future__ import annotations

from typing import Any, Literal

import numpy
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.errors import ShapeError
from tensorbackend.testing import profile


@profile(80)
@given(st.lists(st.integers(-1, 2), max_size=3), st.sampled_from(["coo", "csr", "csc"]))
def test_a_shape_has_rows_and_columns_of_which_there_may_be_none(shape: list[int], format: str) -> None:
    nothing: list[Any] = [[], [], []]
    good = len(shape) == 2 and min(shape) >= 0
    if format != "coo" and good:
        nothing[2] = [0] * (shape[format == "csc"] + 1)
    make = getattr(tb.sparse, format)
    if good:
        a = make(*nothing, shape=shape)
        assert (a.shape, a.nnz) == (tuple(shape), 0)
        assert a.to_dense().shape == tuple(shape)
    elif len(shape) < 2 or min(shape) < 0:
        with pytest.raises(ShapeError):
            make(*nothing, shape=shape)


NAMES = st.permutations(["a", "b", "c", "d"])


@pytest.mark.parametrize("format", ["coo", "csr", "csc"])
def test_names_follow_the_axes_of_a_batch(format: Literal["coo", "csr", "csc"]) -> None:
    @profile(20)
    @given(st.data())
    def agrees(data: st.DataObject) -> None:
        batch = data.draw(st.sampled_from([(), (2,), (2, 3)]))
        own = data.draw(st.booleans())
        rank = len(batch) + 2
        random = numpy.random.default_rng(data.draw(st.integers(0, 99)))
        rows, columns = (random.integers(0, size, (*(batch if own else ()), 3)) for size in (2, 4))
        values = random.integers(1, 9, (*batch, 3)) / 2
        words = [name if data.draw(st.booleans()) else None for name in data.draw(NAMES)][:rank]
        held = tb.asarray(values, names=[*words[: rank - 2], None])
        coo = tb.sparse.coo(held, tb.asarray(rows), tb.asarray(columns), shape=(2, 4), names=words[-2:])
        whole = tb.sparse.coo(
            tb.asarray(values), tb.asarray(rows), tb.asarray(columns), shape=(*batch, 2, 4), names=words
        )
        assert whole.names == coo.names
        a = getattr(coo, f"to_{format}")()
        transposed = (*words[:-2], words[-1], words[-2])
        assert a.names == a.to_dense().names == (a * 2).names == (-a).names == tuple(words)
        assert a.mT.names == a.mT.to_dense().names == transposed
        for joined in (
            tb.sparse.concatenate([a, a * 2], axis=-data.draw(st.integers(1, 2))),
            tb.sparse.block_diagonal([a]),
        ):
            assert joined.names == joined.to_dense().names == tuple(words)
        others = [name if data.draw(st.booleans()) else None for name in data.draw(NAMES)][:rank]
        renamed = a.rename(*others)
        assert renamed.names == renamed.to_dense().names == tuple(others)
        numpy.testing.assert_array_equal(numpy.asarray(renamed.to_dense()), numpy.asarray(a.to_dense()))
        again = tb.sparse.from_dense(renamed.to_dense(), format=format)
        assert again.names == tuple(others)
        numpy.testing.assert_array_equal(numpy.asarray(again.to_dense()), numpy.asarray(a.to_dense()))

    agrees()


@profile(20)
@given(st.integers(1, 5), st.integers(1, 5), st.lists(st.integers(-4, 4), min_size=1, max_size=3, unique=True))
def test_diagonals_are_scipys(rows: int, columns: int, offsets: list[int]) -> None:
    inside = [offset for offset in offsets if -rows < offset < columns]
    if not inside:
        inside = [0]
    values = [float(place + 1) for place in range(len(inside))]
    found = tb.sparse.diagonals(values, inside, (rows, columns))
    theirs = scipy.sparse.diags(values, inside, shape=(rows, columns), format=found.format)
    numpy.testing.assert_array_equal(numpy.asarray(found.to_dense()), theirs.toarray())
    assert found.first.dtype.name == found.second.dtype.name == theirs.indices.dtype.name


@profile(40)
@given(st.data())
def test_what_fills_a_matrix_up_is_at_its_last_place(data: st.DataObject) -> None:
    rows, columns = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    dense = numpy.asarray(data.draw(st.lists(st.integers(0, 1), min_size=rows * columns, max_size=rows * columns)))
    more = data.draw(st.integers(0, 3))
    size = int(dense.sum()) + more
    found = tb.sparse.from_dense(tb.asarray(dense.reshape(rows, columns) * 2.0), format="coo", size=size).to_coo()
    flat = numpy.asarray(found.rows) * columns + numpy.asarray(found.columns)
    assert flat.tolist() == [*numpy.flatnonzero(dense), *[rows * columns - 1] * more]
    assert numpy.asarray(found.values).tolist() == [2.0] * int(dense.sum()) + [0.0] * more


@pytest.mark.parametrize("format", ["coo", "csr"])
@pytest.mark.parametrize(("size", "dtype"), [(5, tb.int32), (2**31 - 2, tb.int32), (2**31, tb.int64)])
def test_places_are_as_wide_as_they_need_to_be(size: int, dtype: tb.DType, format: Literal["coo", "csr"]) -> None:
    half = tb.sparse.eye(2, size // 2, format=format)
    matrices = [
        tb.sparse.eye(2, size, format=format),
        tb.sparse.diagonals([1.0, 2.0], [0, 1], (2, size), format=format),
        tb.sparse.concatenate([half, tb.sparse.eye(2, size - size // 2, format=format)], axis=-1),
        tb.sparse.block_diagonal([half, tb.sparse.eye(2, size - size // 2, format=format)]),
    ]
    for matrix in matrices:
        assert (matrix.format, matrix.shape[1]) == (format, size)
        assert (matrix.first.dtype, matrix.second.dtype) == (dtype, dtype)
    assert sorted(matrices[2].to_coo().columns.tolist()) == [0, 1, size // 2, size // 2 + 1]
