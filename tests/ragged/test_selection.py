"""Selecting entries by a mask."""

from __future__ import annotations

import numpy
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend import ragged as tr
from tensorbackend.testing import profile

NESTED = tr.with_lengths(
    tb.reshape(tb.iota(8), (2, 2, 2), names=("batch", "word", "letter")), word=[2, 1], letter=[[2, 1], [1, 0]]
)


def test_a_mask_over_two_axes() -> None:
    picked = tr.select(NESTED, NESTED % 2 == 0, axis="letter")
    assert [[word.tolist() for word in words] for words in tr.to_list(picked)] == [[[0], [2]], [[4]]]


def test_a_plain_tensor_is_selected_from() -> None:
    x = tb.asarray([[1, 2, 3], [4, 5, 6]], names=("batch", "time"))
    assert [row.tolist() for row in tr.to_list(tr.select(x, x % 2 == 0, axis="time", name="even"))] == [[2], [4, 6]]
    whole = tr.put_selected(x, x % 2 == 0, tr.select(x, x % 2 == 0, axis="time") * 10, axis="time")
    assert whole.tolist() == [[1, 20, 3], [40, 5, 60]]


@profile(30)
@given(st.data())
def test_padding_is_not_selected_even_where_a_mask_is_true(data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.lists(st.integers(0, 9), max_size=4), min_size=1, max_size=3))
    x = tr.from_list([[float(number) for number in row] for row in rows])
    longest = x.values.shape[1]
    mask = [data.draw(st.lists(st.booleans(), min_size=longest, max_size=longest)) for _ in rows]
    plain = tb.asarray(numpy.array(mask, bool).reshape(len(rows), longest), names=x.names)
    expected = [[number for number, kept in zip(*pair, strict=False) if kept] for pair in zip(rows, mask, strict=True)]
    found = tr.select(x, plain, axis="time")
    assert [row.tolist() for row in tr.to_list(found)] == expected
