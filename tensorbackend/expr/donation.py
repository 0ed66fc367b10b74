"""Donated arguments of compiled functions: tensors that the caller gives up, so that their memory can be used again.

The payloads of donated tensors reach a kernel in one list, behind the other payloads, and the kernel empties the list:
so it has the only references to them, and each is freed at its last use.

As it is written, a training step computes all gradients, and then updates each parameter. So all gradients exist at the
same time. With donated parameters an update takes no more memory than the gradient that it frees. If it runs at once,
only few of them exist.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from inspect import Parameter, signature
from typing import Any

from ..declarations.op_specs import CALLBACKS, ELEMENTWISE
from ..errors import ArgumentError, expected
from ..protocol import Payload
from ..select.choice import release
from ..template import Template
from ..tensor import Tensor
from .graph import Graph, rebuilt, remake
from .node import Node, Value


def check_donated(function: Callable[..., Any], donate: str | Sequence[str]) -> tuple[str, ...]:
    """The names of donated parameters; `ArgumentError` for one that the function does not have."""
    names = (donate,) if isinstance(donate, str) else tuple(donate)
    if not names:
        return ()
    try:
        parameters = signature(function).parameters
    except ValueError:
        raise ArgumentError(expected("a function with a signature for donated arguments", function=function)) from None
    unknown = sorted({*names} - {*parameters})
    if unknown or any(parameters[name].kind is Parameter.VAR_POSITIONAL for name in names):
        remedy = f"the parameters are {', '.join(parameters)}"
        raise ArgumentError(expected("the names of parameters to donate", remedy, donate=donate))
    return names


def donated_places(names: Sequence[str], paths: Sequence[str], leaves: Sequence[Any]) -> tuple[int, ...]:
    """The positions, among the tensors of the leaves, of those that belong to donated parameters."""
    return places_of(names, [path for path, leaf in zip(paths, leaves, strict=True) if isinstance(leaf, Tensor)])


def places_of(names: Sequence[str], paths: Sequence[str]) -> tuple[int, ...]:
    """The positions of the paths that begin with one of the names of parameters."""
    return tuple(place for place, path in enumerate(paths) if _root(path) in names)


def donatable(graph: Graph, donated: Sequence[str]) -> tuple[str, ...]:
    """The names of further parameters for each of whose tensors there is a result of its template."""
    results, found = Counter(map(_form, graph.results)), []
    for path, template in zip(graph.names, graph.templates, strict=True):
        if _root(path) in donated:
            results[_form(template)] -= 1
    for root in dict.fromkeys(map(_root, graph.names)):
        needed = Counter(
            _form(template) for path, template in zip(graph.names, graph.templates, strict=True) if _root(path) == root
        )
        if root not in donated and all(results[form] >= count for form, count in needed.items()):
            results -= needed
            found.append(root)
    return tuple(found)


def _root(path: str) -> str:
    """The name of the parameter at the beginning of a path, such as `state["first"].value`."""
    return re.split(r"[.\[]", path, maxsplit=1)[0]


def give_up(tensors: Sequence[Tensor], donated: Sequence[int]) -> list[Any]:
    """The arguments of a kernel that takes donated payloads: the others, then a list of the donated ones.

    The donated tensors are deallocated. Raises `ArgumentError` where one of them is an argument twice. Different
    tensors may have one payload: a copy, a view, or a number that a backend keeps. A kernel takes the memory of a
    payload only if nothing else refers to it.
    """
    payloads = [x.data for x in tensors]
    for place in donated:
        if sum(one is tensors[place] for one in tensors) > 1:
            remedy = "copy it with asarray(x, copy=True), or do not donate it"
            raise ArgumentError(expected("a donated tensor that is an argument once", remedy, tensor=tensors[place]))
    chosen = {*donated}
    given: list[Payload] = [payloads[place] for place in donated]
    for place in donated:
        release(tensors[place])
    return [*(data for place, data in enumerate(payloads) if place not in chosen), given]


def in_order(arguments: Sequence[Any], donated: Sequence[int]) -> list[Payload]:
    """The payloads in the order of the parameters, for a kernel that takes them one by one; the list is emptied."""
    payloads, given = list(arguments[:-1]), arguments[-1]
    for place, data in zip(donated, given, strict=True):
        payloads.insert(place, data)
    given.clear()
    return payloads


def usable(graph: Graph, donated: Sequence[int]) -> tuple[int, ...]:
    """The donated parameters whose memory a result can take: those with axes for which a result has their template.

    A backend may keep a number, and make it the payload of several tensors: its memory is not for others to take.
    """
    results = Counter(map(_form, graph.results))
    chosen = []
    for place in donated:
        form = _form(graph.templates[place])
        if graph.templates[place].ndim and results[form]:
            results[form] -= 1
            chosen.append(place)
    return tuple(chosen)


def _form(template: Template) -> Any:
    return template.shape, template.dtype


def updates_early(graph: Graph, donated: Collection[int]) -> Graph:
    """The graph with its nodes in `early_order`."""
    order = early_order(graph, donated)
    if order == graph.nodes:
        return graph
    exchanged: dict[Value, Value] = {value: value for value in graph.parameters}
    remake(order[len(graph.parameters) :], exchanged)
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
