"""Programs with control flow, whose results and gradients are tested."""

from __future__ import annotations

from typing import Any

import tensorbackend as tb


def chosen(x: tb.Tensor) -> Any:
    return tb.cond(tb.sum(x) > 3, lambda x: x * 2, lambda x: -x, x)


def held_on_to(x: tb.Tensor) -> Any:
    weight = tb.exp(x)
    return tb.cond(x[0] > 0, lambda: {"a": weight, "b": (x, None)}, lambda: {"b": (weight, None), "a": x})


def limited(x: tb.Tensor) -> Any:
    return tb.while_loop(
        lambda state: tb.max(state["x"]) < 100,
        lambda state: {"count": state["count"] + 1, "x": state["x"] * 2},
        {"x": x, "count": 0},
        limit=3,
    )


def backwards(x: tb.Tensor) -> Any:
    return tb.scan(lambda total, entry: (total * 0.5 + entry, (total, entry)), 0.0, x, reverse=True)


def without_xs(x: tb.Tensor) -> Any:
    return tb.scan(lambda carry, nothing: (carry * x, carry[0]), x, length=4)


def empty(x: tb.Tensor) -> Any:
    return tb.scan(lambda carry, entry: (carry + entry, x * entry), x[0], x[:0])
