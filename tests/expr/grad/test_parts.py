"""The parts of a graph: where they end, that they are numbered in order, and that they compute the same."""

from __future__ import annotations

import numpy

import tensorbackend as tb
from tensorbackend.expr.grad.parts import select_parts
from tensorbackend.expr.recomputation import Selection


def chain(x: tb.Tensor) -> tb.Tensor:
    """Four layers, each wide inside and narrow at its end."""
    for _ in range(4):
        wide = tb.concat([x, tb.sin(x), tb.cos(x)], axis=0)
        x = tb.sum(tb.reshape(tb.exp(tb.tanh(wide)), (3, -1)), axis=0)
    return tb.sum(x)


def test_parts_end_where_the_graph_is_narrow() -> None:
    graph, every = tb.trace(chain)("f32[100]"), Selection()
    cut = select_parts(graph, every)
    bodies = [call.body for call in every.calls]
    assert len(bodies) >= 4
    for body in bodies:
        assert body is not None
        assert sum(template.size for template in body.results) <= 100
    assert [node.op for node in cut.nodes] == ["parameter", *["checkpoint"] * len(bodies)]


def test_parts_that_are_not_chosen_stay() -> None:
    graph, none, one = tb.trace(chain)("f32[100]"), Selection(()), Selection((1,))
    assert select_parts(graph, none) is graph
    cut = select_parts(graph, one)
    assert [call.name for call in one.calls] == [call.name for call in none.calls]
    assert sum(node.op == "checkpoint" for node in cut.nodes) == 1
    x = tb.linspace(0.0, 1.0, 100)
    assert numpy.array_equal(numpy.asarray(cut(x)), numpy.asarray(graph(x)))
