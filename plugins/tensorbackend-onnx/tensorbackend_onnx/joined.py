"""Ops of PyTorch that its exporter takes apart, put together again: their gradients keep fewer arrays."""

from __future__ import annotations

from onnx import ModelProto, NodeProto

from .compiler import origin
from .exporting.size_nodes import all_nodes


def join(model: ModelProto) -> None:
    """Join the sigmoid of `silu` and the product with it, in a model that PyTorch exported; they become Swish."""
    graph = model.graph
    made = {name: node for node in graph.node for name in node.output}
    for node in graph.node:
        if _is_silu(node, made):
            node.op_type = "Swish"
            del node.input[1:]
    every = [*all_nodes(graph.node)]
    inside = (attribute.g for node in every for attribute in node.attribute)
    used = {name for node in every for name in node.input}
    used |= {value.name for own in (graph, *inside) for value in own.output}
    left = [node for node in graph.node if node.op_type != "Sigmoid" or used.intersection(node.output)]
    del graph.node[:]
    graph.node.extend(left)


def _is_silu(node: NodeProto, made: dict[str, NodeProto]) -> bool:
    found = origin(node)
    if node.op_type != "Mul" or found is None or found.op != "silu":
        return False
    gate = made.get(node.input[1])
    return gate is not None and gate.op_type == "Sigmoid" and gate.input[0] == node.input[0]
