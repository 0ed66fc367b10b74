"""Graphs and rewrites keep the meaning: every op traced, rewritten and run, against the same call run eagerly."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.dtypes import ALL_DTYPES
from tensorbackend.errors import TemplateDataError, TensorBackendError
from tensorbackend.expr.evaluate import evaluate
from tensorbackend.expr.graph import Graph
from tensorbackend.expr.node import Node, Value
from tensorbackend.expr.simplify import common_subexpressions, constant_folding, expanded, results, rewritten
from tensorbackend.expr.trace import trace_leaves
from tensorbackend.protocol import own_method
from tensorbackend.testing import Invocation, calls, names, profile
from tensorbackend.testing.bounds import READS_DATA

NUMPY = tb.get_backend("numpy")


def without_override(node: Node) -> bool:
    return own_method(NUMPY, node.op) is not None


REWRITES: dict[str, Callable[[Graph], Graph]] = {
    "traced": lambda graph: graph,
    "results": lambda graph: results(graph, range(len(graph.outputs))),
    "common_subexpressions": common_subexpressions,
    "constant_folding": lambda graph: constant_folding(graph, NUMPY),
    "expanded": lambda graph: expanded(graph, without_override),
}


def traced(call: Invocation) -> Graph:
    """The graph of a call, with a parameter for each of its tensors."""

    def function(tensors: list[tb.Tensor]) -> object:
        rest = iter(tensors)
        return call.mapped(lambda x: next(rest)).run()

    found = call.tensors
    return trace_leaves(function, found, [f"x{number}" for number in range(len(found))])


def alike(found: list[tb.Tensor], wanted: list[tb.Tensor]) -> bool:
    """Whether tensors are equal to the last bit, names and all."""
    return [(x.template, x.to_binary()) for x in found] == [(x.template, x.to_binary()) for x in wanted]


def agree(call: Invocation, rewrite: Callable[[Graph], Graph]) -> None:
    """Raises `AssertionError` unless a call gives the same eagerly and as a rewritten graph, errors included."""
    call = call.on(NUMPY)
    try:
        result = call.run()
        wanted = [result] if isinstance(result, tb.Tensor) else list(result)
    except TensorBackendError as error:
        with pytest.raises(type(error)):
            evaluate(rewrite(traced(call)), call.tensors, NUMPY)
        return
    try:
        graph = traced(call)
    except TemplateDataError:
        assert call.name in READS_DATA
        return
    found = evaluate(rewrite(graph), call.tensors, NUMPY)
    assert alike(found, wanted), f"{call!r} gives {found!r}, not {wanted!r}, as\n{graph}"


@pytest.mark.parametrize("name", names())
def test_a_graph_of_an_op_gives_what_the_op_gives(name: str) -> None:
    @profile(20)
    @given(st.one_of([calls(name, dtype) for dtype in ALL_DTYPES]), st.sampled_from(sorted(REWRITES)))
    def agrees(call: Invocation, rewrite: str) -> None:
        agree(call, REWRITES[rewrite])

    agrees()


def test_a_wrong_rewrite_is_caught() -> None:
    def first_operand(node: Node) -> tuple[Value, ...]:
        return (node.operands[0],) if node.op == "subtract" else node.values

    call = Invocation("subtract", (tb.asarray([1.0, 2.0]), tb.asarray([1.0, 1.0])), {})
    agree(call, REWRITES["traced"])
    with pytest.raises(AssertionError, match="subtract"):
        agree(call, lambda graph: rewritten(graph, first_operand))
