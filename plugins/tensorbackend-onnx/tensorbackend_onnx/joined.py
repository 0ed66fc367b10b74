"""Ops of PyTorch that its exporter takes apart, put together again: their gradients keep fewer arrays."""

from __future__ import annotations

from collections.abc import Iterable

from onnx import ModelProto, NodeProto

from .compiler import origin
from .operators.registry import JOINED


def join(model: ModelProto) -> None:
    """Join nodes of a model that PyTorch exported, where they are one of its ops.

    The sigmoid of `silu` and the product with it become Swish. Under a mask the Softmax of an attention has zeros where
    nothing is seen; the nodes that write them for some masks are left out.
    """
    graph = model.graph
    made = {name: node for node in graph.node for name in node.output}
    for node in graph.node:
        if _is_silu(node, made):
            node.op_type = "Swish"
            del node.input[1:]
        elif _is_masked(node, made):
            node.domain = JOINED
        elif _is_cleaned(node, made):
            node.op_type = "Identity"
            del node.input[:2]
    used = {name for node in graph.node for name in _inputs(node)} | {value.name for value in graph.output}
    left = [node for node in graph.node if node.op_type not in ("Sigmoid", "IsNaN") or used.intersection(node.output)]
    del graph.node[:]
    graph.node.extend(left)
    model.opset_import.add(domain=JOINED, version=1)


def _is_silu(node: NodeProto, made: dict[str, NodeProto]) -> bool:
    if node.op_type != "Mul" or not _comes_from(node, "silu"):
        return False
    gate = made.get(node.input[1])
    return gate is not None and gate.op_type == "Sigmoid" and gate.input[0] == node.input[0]


def _is_masked(node: NodeProto, made: dict[str, NodeProto]) -> bool:
    """Whether a node is the softmax of an attention to whose scores a mask is added."""
    if node.op_type != "Softmax" or not _comes_from(node, "scaled_dot_product_attention"):
        return False
    return node.input[0] in made and made[node.input[0]].op_type == "Add"


def _is_cleaned(node: NodeProto, made: dict[str, NodeProto]) -> bool:
    """Whether a node sets to 0 what is NaN in the weights of an attention under a mask, where none is NaN."""
    if node.op_type != "Where" or not _comes_from(node, "scaled_dot_product_attention"):
        return False
    spoilt, weights = made.get(node.input[0]), made.get(node.input[2])
    if spoilt is None or spoilt.op_type != "IsNaN" or weights is None or weights.domain != JOINED:
        return False
    return bool(spoilt.input[0] == node.input[2])


def _comes_from(node: NodeProto, op: str) -> bool:
    """Whether a node was exported from an op of PyTorch."""
    found = origin(node)
    return found is not None and found.op == op


def _inputs(node: NodeProto) -> Iterable[str]:
    """The values that a node uses, in the graphs inside it as well."""
    yield from node.input
    for attribute in node.attribute:
        for graph in (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])):
            yield from (value.name for value in graph.output)
            for inner in graph.node:
                yield from _inputs(inner)
