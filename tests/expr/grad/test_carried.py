"""Which of the values that a loop carries need cotangents."""

from __future__ import annotations

from typing import Any

import tensorbackend as tb
from tensorbackend.expr.grad.carried import gradient_flows, live_positions, scatter, true_positions


def body(carry: Any) -> Any:
    """Of three carried values, the second depends on the first, and the third on neither."""
    return carry[0] * 2.0, carry[1] + carry[0], carry[2] + 1.0


def test_values_through_which_a_gradient_flows_and_which_a_result_needs() -> None:
    graph = tb.trace(body)(["f32[]"] * 3)
    assert gradient_flows(graph, ((), (True, False, False), ()), 0, 3) == [True, True, False]
    assert gradient_flows(graph, ((), (False, True, False), ()), 0, 3) == [False, True, False]
    assert live_positions(graph, [True] * 3, [False, True, False], 0) == [0, 1]
    assert live_positions(graph, [True] * 3, [False, False, True], 0) == [2]


def test_cotangents_are_put_at_their_positions() -> None:
    x = tb.ones(2)
    assert true_positions([False, True, True]) == [1, 2]
    assert scatter(3, [1], [x]) == (None, x, None)
