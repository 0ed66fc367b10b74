"""The program that is compared: a function, or its gradient, traced once, and the tensors for its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...errors import ArgumentError, expected
from ...tensor import Tensor
from ..arguments import as_tensors
from ..graph import Graph
from ..node import HOST
from ..trace import trace
from ..trees import flatten, unflatten
from .compiled import lifted
from .walk import opened


def trace_for(
    function: Callable[..., Any], arguments: Sequence[Any], keywords: Mapping[str, Any], *, gradient: bool, lift: bool
) -> tuple[Graph, list[Tensor], str]:
    """The graph of a function or of its gradient, the tensors for its parameters, and the function's name."""
    name = getattr(function, "__name__", type(function).__name__)
    given, tree = flatten((tuple(arguments), dict(keywords)))
    leaves = as_tensors(given)
    arguments, keywords = unflatten(tree, leaves)
    tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
    if gradient:
        from ..grad.functions import value_and_grad

        function = value_and_grad(function)
    graph = opened(function if isinstance(function, Graph) else trace(function)(*arguments, **keywords))
    if lift and not graph.parameters and not any(node.op == HOST for node in graph.nodes):
        graph, tensors = lifted(graph)
    if len(graph.parameters) != len(tensors):
        remedy = "give tensors, by asarray()"
        raise ArgumentError(expected("tensors with data as arguments", remedy, parameters=graph.names))
    return graph, tensors, name
