"""Which values of a graph decide on shapes, axes and branches, so that they must be known when it is traced."""

from __future__ import annotations

from collections.abc import Iterable

from .graph import Graph, Step

KNOWN_ALWAYS = ("Shape", "Size")
"""Operators whose results are known from templates."""


def read_values(graph: Graph, known: Iterable[str]) -> frozenset[str]:
    """The values among `known` from which the graph reads numbers while it is traced.

    Parameters
    ----------
    graph
        The graph of the model.
    known
        Inputs and initialisers that may be read: those that are small. What is computed from any other is data.
    """
    return frozenset(_read(graph, set(known)) & set(known))


def _read(graph: Graph, known: set[str]) -> set[str]:
    """The values, of this graph or captured, that must be known; `known` is extended by what can be."""
    known = known | graph.constants.keys()
    for step in graph.steps:
        if step.node.operator in KNOWN_ALWAYS or all(name in known for name in _used(step)):
            known.update(name for name in step.node.outputs if name)
    needed: set[str] = set()
    for step in reversed(graph.steps):
        needed |= _read_by(step, known)
        if needed.intersection(step.node.outputs) and step.node.operator not in KNOWN_ALWAYS:
            needed |= known.intersection(_used(step))
    return needed


def _read_by(step: Step, known: set[str]) -> set[str]:
    """The known values that a step and the graphs in it read."""
    read = {name for position, name in enumerate(step.inputs) if step.operator.reading(position) is not None}
    if step.node.operator in ("If", "Loop"):
        read.update(step.inputs[:2])
    for body in step.graphs():
        inside = _read(body, known | set(body.inputs))
        if inside.intersection(body.inputs):
            read.update(step.inputs)
        read |= inside - body.own
    return (read & known) - {""}


def _used(step: Step) -> set[str]:
    """The values that a step and the graphs in it use."""
    return set(step.inputs).union(*(body.captured for body in step.bodies.values())) - {""}
