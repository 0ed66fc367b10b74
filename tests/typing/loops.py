"""Traceable control flow: branches, and loops over tensors and over tuples of tensors."""

from __future__ import annotations

from typing import assert_type

import tensorbackend as tb
from tensorbackend import Tensor

State = tuple[Tensor, Tensor]


def running(total: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    return total + x, total * 2


def fibonacci(_: Tensor, state: State) -> State:
    first, second = state
    return second, first + second


def small(x: Tensor) -> Tensor:
    return x < 100


def double(x: Tensor) -> Tensor:
    return x * 2


def halve(x: Tensor) -> Tensor:
    return x / 2


def unfinished(state: State) -> Tensor:
    return state[0] < 3


def step(state: State) -> State:
    count, total = state
    return count + 1, total + count


x = tb.asarray([1.0, 2.0, 3.0], names=("time",))
last, doubled = tb.scan(running, tb.zeros(()), x, axis="time")
assert_type(last, Tensor)
assert_type(doubled, Tensor)
assert_type(tb.while_loop(small, double, x[0]), Tensor)
assert_type(tb.while_loop(unfinished, step, (tb.asarray(0), tb.asarray(0))), State)
assert_type(tb.fori_loop(0, 8, fibonacci, (tb.asarray(0), tb.asarray(1))), State)
assert_type(tb.cond(x[0] > 0, double, halve, x), Tensor)
assert_type(tb.switch(1, [double, halve], x), Tensor)
assert_type(tb.associative_scan(tb.add, x), Tensor)
assert_type(tb.map_along_axis(double, x), Tensor)
assert tb.fori_loop(0, 8, fibonacci, (tb.asarray(0), tb.asarray(1)))[0].item() == 21
