"""Partitions compared with NumPy's."""

from __future__ import annotations

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError


def test_the_kth_element_is_where_sort_has_it_under_jit_and_by_name() -> None:
    array = numpy.random.default_rng(0).normal(size=(4, 7)).astype("f4")
    x = tb.asarray(array, names=("row", "n"))
    divided, order = tb.jit(lambda x: (tb.partition(x, 2, axis="n"), tb.argpartition(x, -5, axis="n")))(x)
    assert divided.names == order.names == x.names
    for got in (numpy.asarray(divided), numpy.take_along_axis(array, numpy.asarray(order), 1)):
        assert (got[:, 2] == numpy.partition(array, 2, axis=1)[:, 2]).all()
        assert (got[:, :2] <= got[:, 2:3]).all()
        assert (got[:, 3:] >= got[:, 2:3]).all()


def test_a_gradient_goes_to_the_element_that_was_chosen() -> None:
    x = tb.asarray([7.0, 1.0, 5.0, 3.0])
    assert tb.grad(lambda x: tb.partition(x, 2)[2])(x).tolist() == [0.0, 0.0, 1.0, 0.0]


def test_a_place_beyond_the_axis_is_an_error() -> None:
    x = tb.template((2, 3), "f32", ("row", "n"))
    with pytest.raises(ArgumentError, match="partition: expected kth from -3 to 2 for axis 1"):
        tb.partition(x, 3)
    with pytest.raises(ArgumentError, match=r"argpartition: .* got kth=\(0, -3\)"):
        tb.argpartition(x, (0, -3), axis="row")
