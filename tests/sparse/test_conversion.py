"""Conversions between formats where several values are at one place, in any order, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.errors import DataError
from tensorbackend.testing import profile


def drawn(data: st.DataObject) -> tuple[tb.sparse.COO, Any]:
    """Draw a matrix of which many values are at one place, or a batch of them, each with places of its own or not."""
    size = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    count, batch = data.draw(st.integers(0, 7)), data.draw(st.sampled_from([(), (2,)]))
    random = numpy.random.default_rng(data.draw(st.integers(0, 9999)))
    apart = data.draw(st.sampled_from([(), batch]))
    rows, columns = (random.integers(0, length, (*apart, count)) for length in size)
    values = random.integers(-4, 5, (*batch, count)) / 2
    dense = numpy.zeros((*batch, *size))
    for place in numpy.ndindex(batch):
        at = place if apart else ()
        numpy.add.at(dense[place], (rows[at], columns[at]), values[place])
    return tb.sparse.coo(tb.asarray(values), tb.asarray(rows), tb.asarray(columns), shape=size), dense


@pytest.mark.parametrize("format", ["coo", "csr", "csc"])
def test_duplicates_are_added_and_each_place_is_stored_once(format: str) -> None:
    @profile(30)
    @given(st.data())
    def agrees(data: st.DataObject) -> None:
        matrix, dense = drawn(data)
        converted = getattr(matrix, f"to_{format}")()
        once = tb.sparse.sum_duplicates(converted)
        assert (converted.nnz, once.format) == (matrix.nnz, format)
        for result in (converted, once, once.to_coo().to_csc().to_csr()):
            numpy.testing.assert_array_equal(numpy.asarray(result.to_dense()), dense)
        coordinates = once.to_coo()
        pairs = [numpy.asarray(coordinates.rows), numpy.asarray(coordinates.columns)]
        distinct = []
        for place in numpy.ndindex(pairs[0].shape[:-1]):
            places = [*zip(*(part[place].tolist() for part in pairs), strict=True)]
            assert places == sorted(places, key=lambda at: at[::-1] if format == "csc" else at)
            distinct.append(len({*places}))
        assert max(distinct, default=0) <= once.nnz
        if pairs[0].ndim == 1:
            assert distinct == [once.nnz]

    agrees()


@profile(30)
@given(st.data())
def test_a_size_fills_up_or_refuses(data: st.DataObject) -> None:
    matrix, dense = drawn(data)
    needed = tb.sparse.sum_duplicates(matrix).nnz
    size = data.draw(st.integers(max(0, needed - 1), needed + 2))
    if size < needed:
        with pytest.raises(DataError):
            tb.sparse.sum_duplicates(matrix, size=size)
    else:
        filled = tb.sparse.sum_duplicates(matrix, size=size)
        assert filled.nnz == size
        numpy.testing.assert_array_equal(numpy.asarray(filled.to_dense()), dense)
        added = filled.to_coo()
        last_row, last_column = (place - 1 for place in dense.shape[-2:])
        assert not numpy.asarray(added.values)[..., needed:].any()
        assert bool(tb.all(added.rows[..., needed:] == last_row))
        assert bool(tb.all(added.columns[..., needed:] == last_column))


@pytest.mark.parametrize("format", ["coo", "csr", "csc"])
def test_a_matrix_without_values_is_filled_up_with_zeros_at_its_last_place(format: str) -> None:
    matrix = getattr(tb.sparse.from_dense(tb.zeros((2, 5))), f"to_{format}")()
    filled = tb.sparse.sum_duplicates(matrix, size=3)
    added = filled.to_coo()
    assert (filled.format, filled.shape, added.values.tolist()) == (format, (2, 5), [0.0] * 3)
    assert (added.rows.tolist(), added.columns.tolist()) == ([1] * 3, [4] * 3)


@pytest.mark.parametrize("batch", ["one of its axes", "no axis", "all axes"])
def test_the_names_of_a_batch_are_kept_where_duplicates_are_added(batch: str) -> None:
    names: list[str | None] = ["series", "step"] if batch == "all axes" else [None, "step"]
    names = [None, None] if batch == "no axis" else names
    for rank in (1, 2):
        for apart in (False, True):
            sizes = (2,) * rank
            rows, columns = (
                tb.asarray(numpy.broadcast_to(place, (*sizes, 3) if apart else (3,)))
                for place in ([0, 0, 1], [1, 1, 0])
            )
            matrix = tb.sparse.coo(tb.asarray(numpy.ones((*sizes, 3))), rows, columns, shape=(2, 2))
            once = tb.sparse.sum_duplicates(matrix.rename(*names[2 - rank :], "row", "column"))
            assert once.names == once.to_dense().names == (*names[2 - rank :], "row", "column")
            assert once.nnz == 2
