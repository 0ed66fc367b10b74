"""The order in which nodes run: some files have a node in front of those whose values it uses."""

from __future__ import annotations

from collections.abc import Sequence

from onnx import AttributeProto, GraphProto, NodeProto


def in_order(nodes: Sequence[NodeProto]) -> list[NodeProto]:
    """Return nodes such that each follows those whose values it uses, else in the order of the file.

    ONNX asks for this order; onnxruntime, and the tools of some writers, take nodes in any. Where nodes use each
    other's values in a circle, one of them comes too early, as in the file.
    """
    makers = {name: number for number, node in enumerate(nodes) for name in node.output if name}
    needs = [[makers[name] for name in sorted(names_used(node)) if name in makers] for node in nodes]
    found: list[NodeProto] = []
    seen: set[int] = set()
    for first in range(len(nodes)):
        path = [] if first in seen else [first]
        while path:
            seen.add(path[-1])
            need = next((need for need in needs[path[-1]] if need not in seen), None)
            if need is None:
                found.append(nodes[path.pop()])
            else:
                path.append(need)
    return found


def names_used(node: NodeProto) -> set[str]:
    """Return the names of the values that a node reads, also in the graphs that it holds."""
    graphs = (graph for attribute in node.attribute for graph in graphs_of(attribute))
    return {*filter(None, node.input)}.union(*map(names_from_outside, graphs))


def names_from_outside(graph: GraphProto) -> set[str]:
    """Return the names of the values that a graph inside a node takes from the graphs around it."""
    own = {value.name for value in (*graph.input, *graph.initializer)}
    own.update(name for node in graph.node for name in node.output)
    used = {value.name for value in graph.output}.union(*map(names_used, graph.node))
    return used - own


def graphs_of(attribute: AttributeProto) -> Sequence[GraphProto]:
    """Return the graphs that an attribute holds."""
    if attribute.type == AttributeProto.GRAPH:
        return [attribute.g]
    return attribute.graphs if attribute.type == AttributeProto.GRAPHS else ()
