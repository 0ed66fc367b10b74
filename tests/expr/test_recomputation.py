"""Which values of a graph a policy keeps, and which calls a selection leaves."""

from __future__ import annotations

from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.expr.recomputation import Selection, values_to_keep


@pytest.mark.parametrize(
    ("policy", "kept"),
    [
        ("nothing", []),
        ("products", ["matmul"]),
        (("sin", "exp"), ["sin", "exp"]),
        (lambda op, result: "batch" in result.names and op != "sin", ["matmul", "exp"]),
    ],
)
def test_values_to_keep(policy: Any, kept: list[str]) -> None:
    graph = tb.trace(lambda x, w: tb.exp(tb.sin(x @ w)) @ w)("f32[batch=3, 4]", "f32[4, 4]")
    assert [value.node.op for value in values_to_keep(graph, policy)] == kept


def test_a_selection_numbers_calls_in_order() -> None:
    some, every = Selection([1]), Selection()
    assert [some.enter_call(name) for name in ("a", "b", "c")] == [None, 1, None]
    assert [every.enter_call(name) for name in ("a", "b")] == [0, 1]
    assert [call.name for call in some.calls] == ["a", "b", "c"]
