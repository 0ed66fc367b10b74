"""Running a graph on a backend, each value freed after its last use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from ..dispatch import implementation, perform
from ..errors import TensorBackendError
from ..protocol import Backend, own_method
from ..protocol.core import CompositeCall
from ..select import common_backend, move
from ..template import Template
from ..tensor import Tensor, late
from .graph import Graph
from .node import CAPTURED, RENAMED, Node, Value, at_line
from .record import ExprBackend


def last_uses(graph: Graph) -> dict[Node, list[Value]]:
    """For each node the values that nothing after it needs, its own unused results among them."""
    kept = set(graph.outputs)
    seen: set[Value] = set(kept)
    found: dict[Node, list[Value]] = {}
    for node in reversed(graph.nodes):
        ends = []
        for value in (*node.values, *node.operands):
            if value not in seen:
                seen.add(value)
                ends.append(value)
        found[node] = ends
    return found


def evaluate(graph: Graph, arguments: Sequence[Any], backend: Backend | None = None) -> list[Tensor]:
    """The results of a graph for tensors in place of its parameters, on their backend unless one is given.

    Raises `ShapeError` for a tensor that does not look as its parameter was traced.
    """
    tensors = [x if isinstance(x, Tensor) else late("asarray")(x) for x in arguments]
    graph.check(tensors)
    if backend is None:
        held = [node.tensor for node in graph.captured if node.tensor is not None]
        backend = common_backend([*tensors, *held])
    values = {
        value: Tensor(value.template, backend, move(x, backend).data)
        for value, x in zip(graph.parameters, tensors, strict=True)
    }
    ends, recorded = last_uses(graph), isinstance(backend, ExprBackend)
    for node in graph.nodes[len(graph.parameters) :]:
        inputs = node.with_inputs(values.__getitem__)
        try:
            if recorded:
                with at_line(node.line):
                    result = run(node, inputs, backend)
            else:
                result = run(node, inputs, backend)
        except TensorBackendError as error:
            if node.line is not None:
                error.add_note(f"in {node.op}, traced at {node.line.file}:{node.line.number}")
            raise
        for value, x in zip(node.values, result if isinstance(result, tuple) else (result,), strict=True):
            values[value] = x
        for value in ends[node]:
            del values[value]
    return [values[value] for value in graph.outputs]


def run(node: Node, inputs: tuple[Any, ...], backend: Backend) -> Tensor | tuple[Tensor, ...]:
    """What a node gives for tensors on a backend."""
    if node.op == CAPTURED:
        assert node.tensor is not None  # by what a captured node is
        return move(node.tensor, backend)
    if node.op == RENAMED:
        assert isinstance(node.out, Template)  # one value has one template
        return Tensor(node.out, backend, inputs[0].data)
    call = CompositeCall(node.out, inputs, node.options)
    method: Callable[..., Any] | None
    if node.default is None:
        flat = [x for each in inputs for x in (each if isinstance(each, tuple) else (each,))]
        method = implementation(backend, node.op, node.out, flat)
    else:
        method = own_method(backend, node.op)
    return cast("Tensor | tuple[Tensor, ...]", perform(backend, node.op, call, method, node.default))
