"""Selecting entries by a mask."""

from __future__ import annotations

import tensorbackend as tb
from tensorbackend import ragged as tr

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
