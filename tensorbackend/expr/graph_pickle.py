"""Graphs as bytes, for another process that has the same packages, where they are compiled but not run.

Objects that are pickled by name, such as a user's function for `map` or `reduce`, must be importable there too.
Functions that run on the host are not sent.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from types import MappingProxyType, MethodType
from typing import Any, Final, NamedTuple

from ..declarations.op_specs import OPS
from ..dispatch.composites import CompositePath
from ..errors import ArgumentError, expected
from ..tensor import Tensor
from .evaluate import inline_custom_gradients
from .graph import Graph
from .node import HOOK, HOST, Node, Value, map_each, spec_of_default


def to_bytes(graph: Graph) -> bytes:
    """A graph as bytes; `ArgumentError` for a function in it that no other process can import."""
    stream = BytesIO()
    try:
        _Pickler(stream, pickle.HIGHEST_PROTOCOL).dump(inline_custom_gradients(graph))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        remedy = "define the functions of map() and reduce() at the top of a module"
        raise ArgumentError(expected("a graph for another process", remedy, error=str(error))) from error
    return stream.getvalue()


def from_bytes(data: bytes) -> Graph:
    """The graph that `to_bytes` wrote. As any pickle can run code, load only bytes from a trusted source."""
    graph = pickle.loads(data)
    assert isinstance(graph, Graph)  # only graphs are dumped
    return graph


class _Pickler(pickle.Pickler):
    def reducer_override(self, part: Any) -> Any:
        """How graphs and the default implementations of composites are pickled."""
        if isinstance(part, Graph):
            return _graph, _flat(part)
        spec = spec_of_default(part) if isinstance(part, MethodType) else None
        if spec is not None:
            # The public function is pickled by its name, so that the process imports the module that declares the op.
            return _default, (getattr(sys.modules[spec.module], spec.function.__name__), spec.name)
        return NotImplemented


class _Place(NamedTuple):
    """The number of a node, and of one of its results: what stands for a value."""

    node: int
    result: int


def _flat(graph: Graph) -> tuple[Any, ...]:
    """The nodes in order, and numbers in place of values: nested nodes would exceed pickle's recursion limit."""
    places = {value: _Place(number, value.index) for number, node in enumerate(graph.nodes) for value in node.values}
    nodes = [
        (
            node.op,
            node.out,
            node.map_inputs(places.__getitem__),
            {**node.options, **_BEHIND.get(node.op, {})},
            node.default,
            node.tensor,
            node.line,
            node.products,
        )
        for node in graph.nodes
    ]
    outputs = [places[value] for value in graph.outputs]
    return nodes, [places[value] for value in graph.parameters], outputs, graph.names


def _refuse_host_call(tensors: Sequence[Tensor]) -> Sequence[Tensor]:
    """A placeholder for a function of the host that was not sent."""
    raise ArgumentError(expected("a graph that is only compiled, not run", "run it in the process that traced it"))


_BEHIND: Final[Mapping[str, Mapping[str, object]]] = {HOOK: {"function": None}, HOST: {"function": _refuse_host_call}}
"""Options in place of those that are not sent."""


def _graph(nodes: list[Any], parameters: list[Any], outputs: list[Any], names: Any) -> Graph:
    """The graph from the result of `_flat`."""
    graph_nodes: list[Node] = []

    def value(place: _Place) -> Value:
        return Value(graph_nodes[place.node], place.result)

    for op, out, inputs, options, default, tensor, line, products in nodes:
        operands, read_only = map_each(value, inputs, _Place), MappingProxyType(options)
        node = Node(op, out, operands, read_only, default=default, tensor=tensor, line=line, products=products)
        graph_nodes.append(node)
    return Graph([*map(value, parameters)], [*map(value, outputs)], names=names)


def _default(public: Callable[..., Any], name: str) -> Any:
    """The default implementation of a composite, which the import of its public function has declared."""
    return CompositePath(OPS[name]).default
