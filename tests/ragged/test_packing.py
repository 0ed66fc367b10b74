"""Merging axes and packing examples."""

from __future__ import annotations

import pytest

import tensorbackend as tb
from tensorbackend import ragged as tr
from tensorbackend.errors import ShapeError

NESTED = tr.with_lengths(
    tb.reshape(tb.iota(8), (2, 2, 2), names=("batch", "word", "letter")), word=[2, 1], letter=[[2, 1], [1, 0]]
)


def test_two_axes_with_lengths_become_one() -> None:
    text = tr.merge_axes(NESTED, ["word", "letter"], name="text")
    assert text.names == ("batch", "text")
    assert [row.tolist() for row in tr.to_list(text)] == [[0, 1, 2], [4]]
    packed = tr.pack(NESTED, axis="letter", size=4)
    assert packed.values.tolist() == [0, 1, 2, 4]
    words = tr.merge_axes(NESTED, ["batch", "word"], name="all")
    assert [row.tolist() for row in tr.to_list(words)] == [[0, 1], [2], [4]]


def test_packing_keeps_other_axes_where_they_are() -> None:
    x = tr.with_lengths(tb.reshape(tb.iota(12), (2, 2, 3), names=("batch", "feature", "time")), time=[1, 3])
    packed = tr.pack(x, axis="time", size=4)
    assert packed.names == ("packed", "feature")
    assert packed.values.tolist() == [[0, 3], [6, 9], [7, 10], [8, 11]]


def test_what_was_packed_otherwise_is_refused() -> None:
    with pytest.raises(ShapeError, match="the same lengths of the axes 'packed'"):
        tr.unpack(tr.pack(NESTED, axis="letter"), like=tr.from_list([[1, 2], [3]]), axis="time")
