"""Reductions along the batch, along several axes and along axes of size 0."""

from __future__ import annotations

import tensorbackend as tb
from tensorbackend import ragged as tr

X = tr.with_lengths(tb.asarray([[1.0, 2.0, 3.0], [10.0, 0.0, 0.0]], names=("batch", "time")), time=[3, 1])


def test_along_the_batch_the_longest_counts() -> None:
    mean = tr.mean(X, axis="batch")
    assert tr.to_list(mean).tolist() == [5.5, 2.0, 3.0]
    assert tr.to_list(tr.argmax(X, axis="batch")).tolist() == [1, 0, 0]
    kept = tr.max(X, axis="batch", keepdims=True)
    assert kept.lengths["time"].shape == (1,)


def test_along_all_axes_each_element_counts_once() -> None:
    assert tr.mean(X).item() == 4.0
    assert tr.var(X, axis=["batch", "time"]).item() == 12.5
    assert (X - tr.mean(X, axis="time", keepdims=True)).filled(0).tolist() == [[-1.0, 0.0, 1.0], [0.0, 0.0, 0.0]]


def test_an_extreme_among_padding_that_is_not_a_suffix() -> None:
    """At time 1 only the second example counts. Its -inf must not be mistaken for the padding of the first."""
    x = tr.with_lengths(tb.full((2, 2), -tb.inf, names=("batch", "time")), time=[1, 2])
    assert tr.to_list(tr.argmax(x, axis="batch")).tolist() == [0, 1]


def test_no_room_at_all() -> None:
    x = tr.with_lengths(tb.zeros((2, 0, 3), names=("batch", "time", "feature")), time=[0, 0])
    assert tr.mean(x, axis="time").tolist() == [[0.0] * 3] * 2
    assert tr.max(x, axis="time").tolist() == [[-tb.inf] * 3] * 2
    assert tr.argmax(x, axis="time").tolist() == [[-1] * 3] * 2
    assert tr.softmax(x, axis="time").shape == (2, 0, 3)


def test_dtypes_are_those_of_plain_reductions() -> None:
    for dtype in ("int8", "uint8", "bool", "float16", "bfloat16", "float64"):
        x = tr.with_lengths(tb.astype(X.values, dtype), **X.lengths)
        for ours, plain in ((tr.sum, tb.sum), (tr.mean, tb.mean), (tr.max, tb.max), (tr.logsumexp, tb.logsumexp)):
            if dtype == "bool" and plain is tb.max:
                continue  # tb.max takes only numbers
            assert ours(x, axis="time").template == plain(x.values, axis="time").template, (dtype, plain)
    halves = tr.with_lengths(tb.full((1, 4000), 60000.0, dtype="f16", names=("batch", "time")), time=[3000])
    assert tr.mean(halves, axis="time").tolist() == [60000.0]  # the sum is beyond float16
