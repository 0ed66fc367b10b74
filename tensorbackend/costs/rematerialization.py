"""Rematerialization: a step that may write over its arguments computes cheap values again rather than keep them.

The gradient of a step needs values of its forward pass, and at its peak the memory consists mostly of these. Many of
them are one elementwise operation away from others that are kept as well: a `relu` from the product before it, a
normalised activation from its difference and its deviation. Such a value is freed before the peak, and computed again
where the gradient needs it, by the same op from the same operands, so with the same bits:

    kept                                            computed again
    h = dot(x, w)      1 MB, kept                   h = dot(x, w)      1 MB, kept
    r = maximum(h, 0)  1 MB, kept                   r = maximum(h, 0)  freed after the forward pass
    ...                                             ...
    dot(r, gradient)                                dot(maximum(h, 0), gradient)

Nodes that are computed again equal those before, so common subexpressions are merged first, and not afterwards.

A compiler of the whole graph merges them all the same, unless it gets the graph in two parts, of which the second takes
what it needs of the first through a barrier.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from math import inf
from typing import Any, Final, NamedTuple

from ..declarations.op_specs import COSTS
from ..expr.donation import updates_early
from ..expr.grad.engine import cut_graph
from ..expr.graph import Graph, rebuilt, remake
from ..expr.node import PARAMETER, Node, Value
from .estimate import Estimator
from .memory import INTERMEDIATES, Block, Timeline, timeline

WORTHWHILE: Final = 0.995
"""The share of the peak before at which values of the next peak are looked for."""

WORTH_PARTS: Final = 0.9
"""The share of the peak before at which a compiler is kept from fusing ops before the peak with those after it."""


class Late(NamedTuple):
    """The value of a block, or views of it, which is computed again."""

    source: Value
    """The value whose memory it is."""
    views: tuple[Value, ...]
    """The values that later nodes need: the source, or views of it."""
    place: int
    """The number of the first of these nodes."""
    copies: tuple[Value, ...] = ()
    """Values that are equal to the source, as they were computed again before."""


def rematerialized(graph: Graph, donated: Collection[int]) -> Graph:
    """The graph with cheap values computed again where that lowers its peak, and with updates in `early_order`.

    Without donated parameters it is the graph as it is.
    """
    if not donated:
        return graph
    estimator = Estimator()
    best = updates_early(graph, donated)
    before = _timeline(best, estimator, donated)
    last = inf
    while chosen := _choose(before) if before.peak < WORTHWHILE * last else []:
        changed = _compute_again(best, before.nodes, chosen)
        after = _timeline(changed, estimator, donated)
        if after.peak >= before.peak:
            break
        best, before, last = changed, after, before.peak
    changed = _compute_again(best, before.nodes, _separate(before))
    return changed if _timeline(changed, estimator, donated).peak <= before.peak else best


def parts_at_peak(graph: Graph, donated: Collection[int]) -> tuple[Graph, Graph] | None:
    """The rematerialized graph in two: what runs up to its peak, and the rest. `None` if the peak is hardly lower.

    The first takes the parameters, and returns the values that the second needs. The second takes the parameters, then
    these values. What depends on constants alone is in each of them that needs it.
    """
    estimator = Estimator()
    spared = rematerialized(graph, donated)
    memory = _timeline(spared, estimator, donated)
    if memory.peak > WORTH_PARTS * _timeline(graph, estimator, donated).peak:
        return None
    constants: set[Node] = set()
    made: list[Value] = []
    for node in memory.nodes[: memory.peak_at + 1]:
        if (
            node.op != PARAMETER
            and node.default is None
            and constants.issuperset(source for source, _ in node.operands)
        ):
            constants.add(node)
        else:
            made += node.values
    rest, places = cut_graph(spared, made)
    return Graph(graph.parameters, [made[place] for place in places], names=graph.names), rest


def _timeline(graph: Graph, estimator: Estimator, donated: Collection[int]) -> Timeline:
    return timeline(graph, estimator.works(graph), reuse=True, donated=donated)


def _choose(memory: Timeline) -> list[Late]:
    """The values that exist at the peak only for later nodes, and that cost less memory to compute there."""
    peak, nodes = memory.peak_at, memory.nodes
    held = memory.held
    at_peak = {held[value] for value in (*nodes[peak].operands, *nodes[peak].values)}
    users: dict[Block, list[tuple[int, Value]]] = defaultdict(list)
    for number in range(peak + 1, len(nodes)):
        for value in nodes[number].operands:
            users[held[value]].append((number, value))
    place = {node: number for number, node in enumerate(nodes)}
    ends = {block: block.end for block in memory.blocks}
    alive = {block for block in memory.blocks if block.start <= peak <= block.end}
    chosen = []
    # Consumers first: where one is computed again, its operands are needed then.
    for block in sorted(alive, key=lambda block: -block.start):
        if block.kind != INTERMEDIATES or block in at_peak or not _is_cheap(block.value.node):
            continue
        late = [(number, value) for number, value in users[block] if place[value.node] < peak]
        if not late or not all(_is_view(value, block.value) for _, value in late):
            continue
        first = min(number for number, _ in late)
        operands = {held[value] for value in block.value.node.operands}
        if block in operands:
            continue
        extended = sum(each.nbytes for each in operands if each not in alive and ends[each] < first)
        if extended >= block.nbytes:
            continue
        chosen.append(Late(block.value, tuple(dict.fromkeys(value for _, value in late)), first))
        alive.discard(block)
        for value in block.value.node.operands:
            alive.add(held[value])
            ends[held[value]] = max(ends[held[value]], first)
            users[held[value]].append((first, value))
    return chosen


def _is_view(value: Value, source: Value) -> bool:
    """Whether a value is the source, or made of it alone."""
    while value != source and len(value.node.operands) == 1:
        (value,) = value.node.operands
    return value == source


def _separate(memory: Timeline) -> list[Late]:
    """For values that were computed again: the uses by elementwise ops, apart from others, and those just before.

    A backend that fuses elementwise ops then has the value in one kernel with its uses, where it takes no memory. So
    the value before is freed after the forward pass, and the one for other uses after the last of these.
    """
    nodes = memory.nodes
    uses: dict[Value, list[int]] = defaultdict(list)
    alike: dict[Any, list[int]] = defaultdict(list)
    for number, node in enumerate(nodes):
        for value in node.operands:
            uses[value].append(number)
        if _is_cheap(node):
            alike[node.op, node.out, node.operands, id(node.options)].append(number)  # a copy has the same options
    chosen = []
    for source, *copies in alike.values():
        if not copies:
            continue
        value, equal = Value(nodes[source]), tuple(Value(nodes[number]) for number in copies)
        places = sorted({source, *(use for each in (value, *equal) for use in uses[each])})
        _, late = max(pairwise(places), key=lambda gap: gap[1] - gap[0])
        others = [place for place in places if place >= late and not _is_cheap(nodes[place])]
        starts = [place for place in places if place > max(others, default=late - 1)][:1]
        chosen += [Late(value, (value,), place, equal) for place in {*others[:1], *starts}]
    return chosen


def _is_cheap(node: Node) -> bool:
    """Whether a node is one operation for each element, and no transcendental function."""
    return COSTS.get(node.op) == "operation" and len(node.outs) == 1 and node.default is None


def _compute_again(graph: Graph, nodes: Sequence[Node], chosen: Iterable[Late]) -> Graph:
    """The graph with values computed again before the first node that needs them."""
    groups: dict[int, list[Late]] = defaultdict(list)
    for late in sorted(chosen, key=lambda late: late.source.node.serial):  # operands before what is made of them
        groups[late.place].append(late)
    exchanged: dict[Value, Value] = {value: value for value in graph.parameters}
    for number, node in enumerate(nodes[len(graph.parameters) :], len(graph.parameters)):
        for late in groups.get(number, ()):
            again: dict[Value, Value] = {}
            for view in late.views:
                exchanged[view] = _again(view, late.source, exchanged, again)
            exchanged.update(dict.fromkeys(late.copies, again[late.source]))
        if Value(node) not in exchanged:
            remake([node], exchanged)
    return rebuilt(graph, [exchanged[value] for value in graph.outputs])


def _again(value: Value, source: Value, exchanged: Mapping[Value, Value], made: dict[Value, Value]) -> Value:
    """A view of the source, or itself, made again from the operands of the source."""
    if value not in made:
        take = exchanged.__getitem__ if value == source else lambda operand: _again(operand, source, exchanged, made)
        made[value] = Value(value.node.remade(value.node.map_inputs(take)))
    return made[value]
