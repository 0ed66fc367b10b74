"""Movements follow the accuracy of the ops, and their growth."""

from __future__ import annotations

from collections.abc import Callable

import numpy

import tensorbackend as tb
from tensorbackend.expr.comparing.spread import MARGIN, spread_of
from tensorbackend.expr.comparing.values import Array


def allowed(function: Callable[[tb.Tensor], tb.Tensor], x: tb.Tensor) -> Array:
    graph = tb.trace(function)(x)
    wanted = graph(x)
    return spread_of(graph, [x], tb.get_backend("numpy"), [wanted]).allowed(0)


def test_errors_grow_where_results_cancel() -> None:
    x = tb.asarray([1.0, 2.0])
    error = allowed(lambda x: tb.exp(x) - 2.718, x)
    assert (error > 2**-24).all()
    assert (error <= MARGIN * 5 * 2**-20).all()


def test_what_is_moved_or_whole_does_not_move() -> None:
    assert not allowed(lambda x: tb.flip(x) * 2 + tb.ones(2), tb.asarray([1.0, 2.0])).any()
    assert not allowed(lambda x: tb.max(x, axis=0, keepdims=True) - x, tb.asarray([0.1, 0.1])).any()


def test_a_choice_between_nearly_equal_numbers_may_be_any() -> None:

    assert numpy.isinf(allowed(lambda x: tb.exp(x) > 1.3498588, tb.asarray([0.3]))).all()


def test_zeros_of_a_rounded_sum_may_have_either_sign() -> None:
    zero, one = tb.asarray([0.0]), tb.asarray([1.0])
    assert 0.0 < allowed(lambda x: tb.max(tb.convolve(x, -one)), zero) < 1e-300
    assert not allowed(lambda x: -x, zero).any()
    assert numpy.isinf(allowed(lambda x: 1 / tb.convolve(x, -one), zero)).all()
