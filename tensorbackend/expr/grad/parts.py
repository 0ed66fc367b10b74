"""The parts of a graph that a gradient may compute again, where the program wraps no function in `checkpoint`.

About sqrt(n) parts of sqrt(n) nodes hold the fewest values if all are computed again. A part ends where the graph is
narrow, as between two layers: after the node where the values that later nodes need have the fewest bytes.

Only nodes that depend on the graph's parameters count. All others compute from constants: a trace of a whole step
records them, an eager gradient has their results, and both must find the same parts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import isqrt
from types import MappingProxyType

from ..closures import intern_graph
from ..graph import Graph, dependents, rebuilt, remake, subgraphs
from ..loops import run_checkpoint
from ..node import CAPTURED, HOOK, HOST, PARAMETER, Node, Value, in_place_of
from ..recomputation import PART, Selection

Uses = Mapping[Value, Node | None]
"""The last node that needs each value; `None` for a result of the graph."""


def select_parts(graph: Graph, selection: Selection) -> Graph:
    """A graph whose parts are calls of a selection: those that are computed again are checkpoints."""
    if _calls_users(graph) or any(value.node.options for value in graph.parameters):
        return graph  # a user's function is called once; parameters with options belong to one device of a mesh
    uses: Uses = {value: node for node in graph.nodes for value in node.operands} | dict.fromkeys(graph.outputs)
    chosen: dict[Node, tuple[list[Node], int]] = {}
    for part in _parts(graph, uses):
        number = selection.enter_call(PART)
        if number is not None:
            chosen[part[-1]] = part, number
    inside = {node for part, _ in chosen.values() for node in part}
    exchanged: dict[Value, Value] = {value: value for value in graph.parameters}
    same = True  # until a part is a checkpoint; from then on nodes are made again, so that their order stays
    for node in graph.nodes[len(graph.parameters) :]:
        if node in chosen:
            part, number = chosen[node]
            body, taken, results = _body(part, uses)
            selection.enter_body(number, body)
            operands = tuple([exchanged[value] for value in taken])
            with in_place_of(node):
                options = MappingProxyType({"body": body})
                made = Node("checkpoint", body.results, (operands,), options, default=run_checkpoint)
            exchanged.update(zip(results, made.values, strict=True))
            same = False
        elif node not in inside:
            if same:
                exchanged.update((value, value) for value in node.values)
            else:
                remake([node], exchanged)
    return graph if same else rebuilt(graph, [exchanged[value] for value in graph.outputs])


def _calls_users(graph: Graph) -> bool:
    """Whether a graph, or one inside its nodes, calls a function of the user's."""
    return any(node.op in (HOOK, HOST) or any(map(_calls_users, subgraphs(node))) for node in graph.nodes)


def _parts(graph: Graph, uses: Uses) -> list[list[Node]]:
    """The nodes that depend on the parameters, in parts that end where few bytes are needed later."""
    counted = dependents(graph.nodes, [value.node for value in graph.parameters])
    nodes = [node for node in graph.nodes if node in counted and node.op != PARAMETER]
    held, widths = 0, []
    freed: dict[Node | None, int] = defaultdict(int)
    for node in nodes:
        for value in node.values:
            if value in uses:
                held += value.template.nbytes
                freed[uses[value]] += value.template.nbytes
        held -= freed[node]
        widths.append(held)
    length, start = isqrt(len(nodes)), 0
    parts = []
    while len(nodes) - start > length + length // 2:
        ends = range(start + (length + 1) // 2, start + length + length // 2 + 1)
        end = min(ends, key=lambda end: (widths[end - 1], abs(end - start - length)))
        parts.append(nodes[start:end])
        start = end
    return [*parts, nodes[start:]] if parts else []


def _body(part: Sequence[Node], uses: Uses) -> tuple[Graph, list[Value], list[Value]]:
    """A part as a graph of its own, with the values that it takes, and those of its values that others need.

    Constants without operands are made inside it.
    """
    own = set(part)
    inner: dict[Value, Value] = {}
    taken: list[Value] = []
    for node in part:
        for value in node.operands:
            if value not in inner and (value.node.operands or value.node.op in (PARAMETER, CAPTURED)):
                inner[value] = Value(Node(PARAMETER, value.template, line=node.line))
                taken.append(value)
            inner.setdefault(value, value)
        remake([node], inner)
    results = [value for node in part for value in node.values if uses.get(value, node) not in own]
    body = Graph([inner[value] for value in taken], [inner[value] for value in results])
    return intern_graph(body), taken, results
