"""The order of a step that may write over its arguments: an update runs as soon as its gradient is there.

As it is written, a training step computes all gradients, and then updates each parameter. So all gradients exist at the
same time. With donated parameters an update takes no more memory than the gradient that it frees. If it runs at once,
only few of them exist.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from ..declarations.op_specs import CALLBACKS, ELEMENTWISE
from .graph import Graph, rebuilt
from .node import CAPTURED, Node, Value


def updates_early(graph: Graph, donated: Collection[int]) -> Graph:
    """The graph with its nodes in `early_order`."""
    order = early_order(graph, donated)
    if order == graph.nodes:
        return graph
    exchanged: dict[Value, Value] = {value: value for value in graph.parameters}
    for node in order[len(graph.parameters) :]:
        made = node if node.op == CAPTURED else node.remade(node.map_inputs(exchanged.__getitem__))
        exchanged.update(zip(node.values, made.values, strict=True))
    return rebuilt(graph, [exchanged[value] for value in graph.outputs])


def early_order(graph: Graph, donated: Collection[int]) -> tuple[Node, ...]:
    """The nodes with each update at the first place where it takes no more memory than it frees.

    Updates are elementwise ops that only results need. Without donated parameters that is the order of the graph.
    """
    if not donated:
        return graph.nodes
    places = {node: place for place, node in enumerate(graph.nodes)}
    consumers: dict[Value, list[Node]] = defaultdict(list)
    for node in graph.nodes:
        for value in {*node.operands}:
            consumers[value].append(node)
    results, given = {*graph.outputs}, {graph.parameters[number] for number in donated}
    updates = _updates(graph, consumers)
    # Numbers that are written in the function are recorded where they are first used.
    start = len(graph.parameters) - 1
    moved = {node: start for node in graph.nodes if node.op == "constant" and not node.outs[0].shape}
    for chain in _chains(graph, updates):
        members = {*chain}
        outside = {value for node in chain for value in node.operands if value.node not in members}
        before = (user for value in outside for user in _nodes_before(value, consumers, updates))
        place = max(start, *(moved.get(user, places[user]) for user in before))
        freed = sum(
            value.template.payload_nbytes
            for value in outside - results
            if members.issuperset(updates.intersection(consumers[value]))
            and (value in given or (value.node.operands and value.node.op != "broadcast"))
        )
        made = sum(value.template.payload_nbytes for value in results if value.node in members)
        if place < places[chain[0]] and made <= freed:
            moved |= dict.fromkeys(chain, place)
    if moved.keys().isdisjoint(updates):
        return graph.nodes
    return tuple(sorted(places, key=lambda node: (moved.get(node, places[node]), node in moved, places[node])))


def _updates(graph: Graph, consumers: Mapping[Value, Sequence[Node]]) -> set[Node]:
    """The elementwise ops, and those that only arrange elements, that are needed by results and such ops alone."""
    updates: set[Node] = set()
    for node in reversed(graph.nodes):
        callback = CALLBACKS.get(node.op)
        if callback is None or not node.operands:
            continue
        largest = max(value.template.payload_nbytes for value in node.operands)
        arranges = callback.family == "shape" and sum(out.payload_nbytes for out in node.outs) <= largest
        if (arranges or callback.family in ELEMENTWISE) and all(
            user in updates for value in node.values for user in consumers.get(value, ())
        ):
            updates.add(node)
    return updates


def _chains(graph: Graph, updates: Collection[Node]) -> list[list[Node]]:
    """The updates in groups that share values with axes, in the order of their first nodes."""
    leader: dict[Node, Node] = {}

    def lead(node: Node) -> Node:
        while leader.setdefault(node, node) is not node:
            leader[node] = node = leader[leader[node]]
        return node

    ordered = [node for node in graph.nodes if node in updates]
    for node in ordered:
        for value in node.operands:
            if value.node in updates and value.template.shape:
                leader[lead(node)] = lead(value.node)
    groups: dict[Node, list[Node]] = defaultdict(list)
    for node in ordered:
        groups[lead(node)].append(node)
    return list(groups.values())


def _nodes_before(value: Value, consumers: Mapping[Value, Sequence[Node]], updates: Collection[Node]) -> list[Node]:
    """The nodes that run before an update that has a value: the one that makes it, and others that read its memory."""
    readers = [user for user in consumers[value] if user not in updates] if value.template.shape else []
    return [value.node, *readers]
