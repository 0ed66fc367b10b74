"""Which values of a graph decide on shapes, axes and branches, so that they must be known when it is traced."""

from __future__ import annotations

from collections.abc import Iterable

from .graph import Graph, Step
from .operators.registry import Reading

KNOWN_ALWAYS = ("Shape", "Size")
"""Operators whose results are known from templates."""


def read_values(graph: Graph, constants: Iterable[str], inputs: Iterable[str]) -> frozenset[str]:
    """The values from which the graph reads numbers while it is traced.

    Parameters
    ----------
    graph
        The graph of the model.
    constants
        Initialisers that may be read: those that are small. What is computed from any other is data.
    inputs
        Inputs that may be read. They are where an operator needs a number to know a shape, and are not where it selects
        among elements.
    """
    stored, both = set(constants), {*constants, *inputs}
    return frozenset((_read(graph, stored, selects=True) & stored) | (_read(graph, both, selects=False) & both))


def _read(graph: Graph, known: set[str], selects: bool) -> set[str]:
    """The values, of this graph or captured, that must be known; `known` is extended by what can be."""
    known = known | graph.constants.keys()
    for step in graph.steps:
        if step.node.operator in KNOWN_ALWAYS or step.used <= known:
            known.update(name for name in step.node.outputs if name)
    needed: set[str] = set()
    for step in reversed(graph.steps):
        needed |= _read_by(step, known, selects)
        if needed.intersection(step.node.outputs) and step.node.operator not in KNOWN_ALWAYS:
            needed |= known.intersection(step.used)
    return needed


def _read_by(step: Step, known: set[str], selects: bool) -> set[str]:
    """The known values that a step and the graphs in it read, those among which `Data` selects if `selects`."""
    readings = [step.operator.reading(position) for position in range(len(step.inputs))]
    read = {
        name
        for name, reading in zip(step.inputs, readings, strict=True)
        if reading is not None and (selects or reading is not Reading.DATA)
    }
    if step.node.operator in ("If", "Loop"):
        read.update(step.inputs[:2])
    for body in step.graphs():
        inside = _read(body, known | set(body.inputs), selects)
        if inside.intersection(body.inputs):
            read.update(step.inputs)
        read |= inside - body.own
    return (read & known) - {""}
