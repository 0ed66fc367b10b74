"""Reductions along the batch, along several axes and along axes of size 0."""

from __future__ import annotations

import math
from typing import Any

import numpy
import pytest

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


INFINITE_ROWS = [[-math.inf, -math.inf], [1.0, -math.inf, 1.0], [], [-math.inf], [math.inf, -math.inf], [math.nan, 1.0]]


@pytest.mark.parametrize("backend", ["binary", "jax", "numpy"])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("name", ["max", "min"])
def test_no_share_of_a_gradient_of_an_extreme_goes_to_the_padding(name: str, dtype: str, backend: str) -> None:
    sign = 1.0 if name == "max" else -1.0
    whole = numpy.asarray([row + [7.0] * (4 - len(row)) for row in INFINITE_ROWS]) * sign
    lengths = tb.asarray([len(row) for row in INFINITE_ROWS], names=("batch",), backend=backend)

    def total(values: tb.Tensor) -> tb.Tensor:
        x = tr.with_lengths(values, time=lengths)
        return tb.sum(getattr(tr, name)(x, axis="time", keepdims=True))

    def alone(values: tb.Tensor) -> tb.Tensor:
        return tb.sum(getattr(tb, name)(values))

    values = tb.asarray(whole, dtype=dtype, names=("batch", "time"), backend=backend)
    for gradient in (tb.grad(total), tb.jit(tb.grad(total))):
        found: Any = numpy.asarray(gradient(values))
        for row, entries in zip(INFINITE_ROWS, found, strict=True):
            assert not entries[len(row) :].any()
            if row:
                expected = tb.grad(alone)(tb.asarray(numpy.asarray(row) * sign, dtype=dtype))
                numpy.testing.assert_array_equal(entries[: len(row)], numpy.asarray(expected))
