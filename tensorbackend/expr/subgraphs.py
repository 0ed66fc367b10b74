"""Graphs inside nodes: what `cond`, `while_loop` and `scan` run, and how often.

A node holds its subgraphs as options. They are closed: everything they need from the outer graph is among the node's
inputs, so a rewrite of one graph does not affect another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import cast

from .graph import Graph
from .node import Node


def subgraphs(node: Node) -> tuple[Graph, ...]:
    """The graphs that a node runs, in the order of its options; none for most."""
    return tuple(value for value in node.options.values() if isinstance(value, Graph))


def iterations(node: Node) -> tuple[int | None, ...]:
    """The maximum number of times that a node runs each of its subgraphs; `None` if that depends on data.

    A `scan` runs its body for each of its `length` steps. A `while_loop` with a limit runs its two graphs at most
    `limit` times. A `cond` runs one of its branches once.
    """
    options = node.options
    return (cast("int | None", options.get("length", options.get("limit", 1))),) * len(subgraphs(node))


def map_subgraphs(node: Node, function: Callable[[Graph], Graph]) -> Mapping[str, object]:
    """The options of a node with `function` applied to its subgraphs.

    The graphs that it returns must have parameters and results with the same templates as the graphs that it takes.
    """
    if not subgraphs(node):
        return node.options
    return MappingProxyType(
        {name: function(value) if isinstance(value, Graph) else value for name, value in node.options.items()}
    )
