"""Contractions: a number of axes may be an integer of another library."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import tensorbackend as tb


@pytest.mark.parametrize("axes", [2, numpy.int64(2), numpy.array(2)])
def test_a_number_of_axes(axes: Any) -> None:
    x = tb.ones((2, 2))
    assert tb.tensordot(x, x, axes=axes).item() == 4.0


@pytest.mark.parametrize("axes", [(1, 0), ("b", "c"), ([1], "c"), ("b", [0]), ((1,), (0,)), (-1, numpy.int64(0))])
def test_a_pair_of_axes(axes: Any) -> None:
    x, y = numpy.arange(6.0).reshape(2, 3), numpy.arange(12.0).reshape(3, 4)
    left, right = tb.asarray(x, names=("a", "b")), tb.asarray(y, names=("c", "d"))
    product = tb.tensordot(left, right, axes=axes)
    assert product.names == ("a", "d")
    assert product.tolist() == (x @ y).tolist()


@pytest.mark.parametrize("axes", [True, numpy.array(2.5), "a", None])
def test_what_is_not_a_number_of_axes(axes: Any) -> None:
    x = tb.ones((2, 2))
    with pytest.raises(tb.errors.ArgumentError, match="tensordot: expected an int"):
        tb.tensordot(x, x, axes=axes)


@pytest.mark.parametrize("axes", [
    ([0, 1], [1, 0]), ([0, 0],), ([3, 1], [1]), ([0, ...], [..., 0]), ((0, 1),), ([30, 5],), ([numpy.int64(0), 1], []),
])  # fmt: skip
def test_subscripts_as_lists(axes: Any) -> None:
    data: Any = numpy.arange(9.0).reshape(3, 3)
    assert tb.einsum(tb.asarray(data), *axes).tolist() == numpy.einsum(data, *axes).tolist()


def test_subscripts_after_each_operand() -> None:
    x: Any = numpy.arange(6.0).reshape(2, 3)
    y: Any = numpy.arange(12.0).reshape(3, 4)
    for rest in ([], [[2, 0]]):
        wanted: Any = numpy.einsum(x, [0, 1], y, [1, 2], *rest)
        got = tb.einsum(tb.asarray(x), [0, 1], tb.asarray(y), [1, 2], *rest)
        assert got.tolist() == wanted.tolist()


@pytest.mark.parametrize("rest", [(), (tb.ones(2),), ([0, 1], tb.ones(2)), ([0, 52],), ([0, -1],), ([0, "a"],)])
def test_subscripts_that_are_refused(rest: Any) -> None:
    with pytest.raises(tb.errors.TensorBackendError, match=r"^einsum: expected"):
        tb.einsum(tb.ones((2, 2)), *rest)
