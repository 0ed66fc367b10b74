"""Tensor arrays in loops, eager and compiled."""

from __future__ import annotations

import pytest

import tensorbackend as tb
from tensorbackend import ragged as tr
from tensorbackend.errors import DataError


def test_a_loop_carries_an_array() -> None:
    def halves(start: tb.Tensor) -> tr.Ragged:
        array = tr.tensor_array(start, 8)
        _, array = tb.while_loop(lambda c: c[0] > 0, lambda c: (c[0] // 2, c[1].push(c[0])), (start, array), limit=8)
        assert isinstance(array, tr.TensorArray)
        return array.stack()

    start = tb.asarray(13)
    assert tr.to_list(halves(start)).tolist() == tr.to_list(tb.jit(halves)(start)).tolist() == [13, 6, 3, 1]


def test_entries_are_read_and_written() -> None:
    array = tr.tensor_array(tb.Template((2,), "f32", ("feature",)), 3).push(tb.ones(2)).push(tb.zeros(2))
    changed = array.put(0, tb.full(2, 5.0))
    assert changed[0].tolist() == [5.0, 5.0]
    assert changed[-1].tolist() == [0.0, 0.0]
    assert array[0].tolist() == [1.0, 1.0]  # no method changes an array
    assert array.stack().names == ("time", "feature")


def test_a_full_array() -> None:
    array = tr.tensor_array(tb.Template((), "f32"), 1).push(1.0)
    with pytest.raises(DataError, match="room for 2 entries"):
        array.push(2.0)
    assert (
        tr.tensor_array(tb.template((), "f32"), 2).push(tb.template((), "f32")).stack().values.backend.name
        == "template"
    )
    pushed = tb.jit(lambda array: array.push(2.0))(array)
    assert tr.to_list(pushed.stack()).tolist() == [1.0]
