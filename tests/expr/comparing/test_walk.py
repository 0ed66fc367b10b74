"""Branches and loops are followed inside."""

from __future__ import annotations

from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend import Tensor

from .wrong_kernels import line_of, wrong_class


@pytest.mark.parametrize("loop", ["scan", "while", "cond", "checkpoint"])
def test_loops_and_branches_are_followed_inside(loop: str) -> None:
    def body(x: Tensor) -> Tensor:
        return tb.exp(-x)

    def run(x: Tensor) -> Any:
        if loop == "scan":
            return tb.scan(lambda carried, _: (body(carried), carried), x, tb.zeros(3))[0]
        if loop == "while":
            return tb.while_loop(lambda state: tb.sum(state) > 1.0, body, x)
        if loop == "cond":
            return tb.cond(tb.sum(x) > 0, body, lambda x: x, x)
        return tb.checkpoint(body)(x)

    x = tb.asarray([0.5, 1.5])
    assert tb.compare(run, x, backends=("numpy", "jax")).agrees
    found = tb.compare(run, x, backends=("numpy", wrong_class("jax", "exp")))
    assert found.difference is not None
    assert found.difference.op == "exp"
    assert line_of(found) == body.__code__.co_firstlineno + 1
