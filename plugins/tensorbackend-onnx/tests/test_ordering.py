"""Nodes in any order run as those of the standard's order do."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy
import onnx
import pytest
from onnx import helper
from small_models import model, value

from tensorbackend_onnx import ModelError, load
from tensorbackend_onnx.ordering import in_order


def branch(name: str, *nodes: onnx.NodeProto) -> onnx.GraphProto:
    return helper.make_graph(list(nodes), name, [], [value(nodes[-1].output[0] if nodes else name, "float", (2,))])


NODES = [
    helper.make_node("Relu", ["x"], ["a"], name="first"),
    helper.make_node("Neg", ["a"], ["b"], name="second"),
    helper.make_node("ReduceMax", ["b"], ["m"], name="third", keepdims=0),
    helper.make_node("Cast", ["m"], ["c"], name="fourth", to=onnx.TensorProto.BOOL),
    helper.make_node(
        "If", ["c"], ["y"], name="last",
        then_branch=branch("then", helper.make_node("Exp", ["a"], ["t"])),
        else_branch=branch("b"),  # a value around it, which no node of it reads
    ),
]  # fmt: skip


@pytest.mark.parametrize("order", [*permutations(range(5))][::7])
def test_a_model_computes_the_same_in_any_order_of_its_nodes(order: Any) -> None:
    proto = model([NODES[number] for number in order], [value("x", "float", (2,))], [value("y", "float", (2,))])
    assert [node.name for node in in_order(proto.graph.node)] == ["first", "second", "third", "fourth", "last"]
    x = numpy.array([1.0, 2.0], "f")
    assert numpy.allclose(load(proto)(x), numpy.exp(x))


def test_nodes_in_order_stay_where_they_are_also_next_to_inner_values_of_like_names() -> None:
    inner = branch("then", helper.make_node("Exp", ["x"], ["z"]), helper.make_node("Neg", ["z"], ["t"]))
    first = helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=inner)
    nodes = [first, helper.make_node("Relu", ["y"], ["z"])]
    assert in_order(nodes) == nodes


def test_nodes_in_a_circle_are_refused_by_name() -> None:
    nodes = [helper.make_node("Relu", ["b"], ["a"], name="one"), helper.make_node("Neg", ["a"], ["b"], name="two")]
    with pytest.raises(ModelError, match="computed before"):
        load(model(nodes, [value("x", "float", (2,))], [value("b", "float", (2,))]))
