"""Ops of PyTorch that its exporter takes apart, put together again: their gradients keep fewer arrays."""

from __future__ import annotations

from collections.abc import Iterable

from onnx import ModelProto, NodeProto

from .compiler import origin


def join(model: ModelProto) -> None:
    """Join the sigmoid of `silu` and the product with it, in a model that PyTorch exported; they become Swish."""
    graph = model.graph
    made = {name: node for node in graph.node for name in node.output}
    for node in graph.node:
        if _is_silu(node, made):
            node.op_type = "Swish"
            del node.input[1:]
    used = {name for node in graph.node for name in _inputs(node)} | {value.name for value in graph.output}
    left = [node for node in graph.node if node.op_type != "Sigmoid" or used.intersection(node.output)]
    del graph.node[:]
    graph.node.extend(left)


def _is_silu(node: NodeProto, made: dict[str, NodeProto]) -> bool:
    found = origin(node)
    if node.op_type != "Mul" or found is None or found.op != "silu":
        return False
    gate = made.get(node.input[1])
    return gate is not None and gate.op_type == "Sigmoid" and gate.input[0] == node.input[0]


def _inputs(node: NodeProto) -> Iterable[str]:
    """The values that a node uses, in the graphs inside it as well."""
    yield from node.input
    for attribute in node.attribute:
        for graph in (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])):
            yield from (value.name for value in graph.output)
            for inner in graph.node:
                yield from _inputs(inner)
