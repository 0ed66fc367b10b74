"""Functions that move entries, such as slices and shifts with a number for each example."""

from __future__ import annotations

import tensorbackend as tb
from tensorbackend import ragged as tr

X = tr.from_list([[1, 2, 3, 4], [5, 6]])
NESTED = tr.with_lengths(
    tb.reshape(tb.iota(8), (2, 2, 2), names=("batch", "word", "letter")), word=[2, 1], letter=[[2, 1], [1, 0]]
)


def listed(x: tr.Ragged) -> list[list[int]]:
    return [row.tolist() for row in tr.to_list(x)]


def test_slices_with_a_start_and_a_length_for_each_example() -> None:
    starts, lengths = tb.asarray([1, -1], names=("batch",)), tb.asarray([2, 9], names=("batch",))
    assert listed(tr.slice_along_axis(X, starts, lengths, axis="time")) == [[2, 3], [6]]
    assert tr.slice_along_axis(X, starts, lengths, axis="time", size=2).shape == (2, 2)
    assert listed(tr.slice_along_axis(X, 3, 2, axis="time")) == [[4], []]
    assert listed(tr.slice_along_axis(X, -9, 1, axis="time")) == [[1], [5]]


def test_shifts_for_each_example() -> None:
    assert listed(tr.shift(X, tb.asarray([1, -1], names=("batch",)), axis="time")) == [[0, 1, 2, 3], [6, 0]]


def test_lengths_over_an_axis_move_with_it() -> None:
    def words(x: tr.Ragged) -> list[list[list[int]]]:
        return [[word.tolist() for word in sentence] for sentence in tr.to_list(x)]

    assert words(tr.flip(NESTED, axis="word")) == [[[2], [0, 1]], [[4]]]
    assert words(tr.concat([NESTED, NESTED], axis="word")) == [[[0, 1], [2], [0, 1], [2]], [[4], [4]]]
    assert words(tr.slice_along_axis(NESTED, 1, 1, axis="word")) == [[[2]], []]
    assert words(tr.pad(NESTED, (1, 0), axis="word")) == [[[], [0, 1], [2]], [[], [4]]]
    assert words(tr.shift(NESTED, 1, axis="word")) == [[[], [0, 1]], [[]]]
    assert words(tr.take(NESTED, [1, 0], axis="batch")) == [[[4]], [[0, 1], [2]]]
    assert [words(part) for part in tr.split(NESTED, [1], axis="word")] == [[[[0, 1]], [[4]]], [[[2]], []]]


def test_numbers_of_a_trace_choose_entries_of_what_is_outside() -> None:
    here, starts = tb.asarray([1, 0]), tb.asarray([1, -1], names=("batch",))
    assert listed(tb.jit(lambda i: tr.take(X, i, axis="batch"))(here)) == [[5, 6], [1, 2, 3, 4]]
    assert tb.jit(lambda i: tr.take(X, i, axis="batch").filled(0))(tb.asarray(1)).tolist() == [5, 6, 0, 0]
    sliced = tb.jit(lambda start, size: tr.slice_along_axis(X, start, size, axis="time", size=2))
    assert listed(sliced(starts, tb.asarray([2, 1], names=("batch",)))) == [[2, 3], [6]]
    assert listed(tb.jit(lambda amount: tr.shift(X, amount, axis="time"))(starts)) == [[0, 1, 2, 3], [6, 0]]


def test_an_axis_that_stands_first() -> None:
    x = tr.with_lengths(X.values.T, time=tb.asarray([4, 2], names=("batch",)))
    assert x.names == ("time", "batch")
    assert tr.flip(x, axis="time").filled(0).tolist() == [[4, 6], [3, 5], [2, 0], [1, 0]]
