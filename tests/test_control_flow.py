"""Control flow: cond, while_loop, fori_loop and scan, eager, in graphs and on JAX."""

from __future__ import annotations

import tensorbackend as tb
from tensorbackend.expr.node import Node
from tensorbackend.expr.subgraphs import subgraphs, turns, with_subgraphs

F32 = tb.Template((), "f32")


def test_the_subgraphs_of_a_node() -> None:
    one, two = (tb.trace(function)("f32") for function in (tb.exp, tb.sin))
    node = Node("while_loop", F32, options={"condition": one, "body": two, "limit": None})
    assert subgraphs(node) == (one, two)
    assert turns(node) == (None, None)
    assert with_subgraphs(node, lambda graph: {one: two, two: one}[graph]) == {
        "condition": two, "body": one, "limit": None,
    }  # fmt: skip
    assert turns(Node("while_loop", F32, options={"body": one, "limit": 3})) == (3,)
    assert turns(Node("scan", F32, options={"body": one, "length": 7})) == (7,)
    assert turns(Node("cond", F32, options={"true_branch": one, "false_branch": two})) == (1, 1)
    plain = Node("exp", F32)
    assert (subgraphs(plain), turns(plain)) == ((), ())
    assert with_subgraphs(plain, lambda graph: graph) is plain.options
