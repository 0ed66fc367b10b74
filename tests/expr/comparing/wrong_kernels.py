"""A program with an op in each line, and backends of which one kernel is wrong."""

from __future__ import annotations

from typing import Any

import numpy

import tensorbackend as tb
from tensorbackend import Tensor
from tensorbackend.expr.comparing.result import Comparison

WRONG_OPS = ("dot", "tanh", "sum", "exp", "multiply", "subtract", "cumulative_sum", "sort", "take")


def program(w: Tensor, x: Tensor) -> Tensor:
    """Each of the ops once, each at a line of its own."""
    h = tb.dot(x, w, contract=((1,), (0,)))
    h = tb.tanh(h)
    total = tb.sum(h, axis=0)
    grown = tb.exp(total)
    scaled = tb.multiply(grown, total)
    less = tb.subtract(scaled, grown)
    running = tb.cumulative_sum(less)
    ordered = tb.sort(running)
    return tb.take(ordered, tb.asarray([2, 0, 2]))


LINES = dict(zip(WRONG_OPS, range(program.__code__.co_firstlineno + 2, 99), strict=False))


def operands() -> tuple[Tensor, Tensor]:
    return tb.random.normal(tb.random.key(0), (3, 4)), tb.random.normal(tb.random.key(1), (5, 3))


def wrong_class(base: str, op: str, factor: float = 1.001) -> type[tb.Backend]:
    """A backend with one kernel whose results are too large."""
    right = type(tb.get_backend(base))

    def kernel(self: Any, out: Any, *inputs: Any, **options: Any) -> Any:
        payload = getattr(right, op)(self, out, *inputs, **options)
        if isinstance(payload, bytes):
            return (numpy.frombuffer(payload, numpy.float32) * numpy.float32(factor)).tobytes()
        return payload * numpy.float32(factor)

    return type(f"Wrong{base.title()}", (right,), {op: kernel})


def line_of(comparison: Comparison) -> int:
    assert comparison.difference is not None
    assert comparison.difference.line is not None
    return comparison.difference.line.number
