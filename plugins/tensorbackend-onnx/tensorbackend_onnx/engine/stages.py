"""A graph as stages, which run one after another: in the engine, in NumPy, and so on, as few as there can be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tensorbackend.expr.graph import Graph, map_subgraphs, subgraphs
from tensorbackend.expr.node import CAPTURED, PARAMETER, Node, Value
from tensorbackend.expr.simplify import expanded, remove_names, rewritten, simplified
from tensorbackend.protocol import Backend, Kernel


class Stage(NamedTuple):
    """Nodes that run together."""

    in_engine: bool
    nodes: list[Node]
    """The nodes, as they are in the whole graph."""
    inputs: list[Value]
    """What it takes: arguments, and results of earlier stages."""
    outputs: list[Value]
    """What later stages, or the function's results, need of it."""

    def graph(self) -> Graph:
        """The stage as a graph of its own."""
        exchanged = {value: Value(Node(PARAMETER, value.template)) for value in self.inputs}
        parameters = [*exchanged.values()]

        def exchange(value: Value) -> Value:
            found = exchanged.get(value)
            if found is None:  # a constant, which each stage has for itself
                found = exchanged[value] = Value(value.node if is_captured(value) else value.node.remade(()))
            return found

        for node in self.nodes:
            remade = node if node.op == CAPTURED else node.remade(node.map_inputs(exchange))
            exchanged.update(zip(node.values, remade.values, strict=True))
        return Graph(parameters, [exchanged[value] for value in self.outputs])


def is_captured(value: Value) -> bool:
    """Whether a value is a tensor that the function holds."""
    return value.node.op == CAPTURED


def is_constant(node: Node) -> bool:
    """Whether a node costs nothing, so that each stage has it for itself."""
    return node.op in (CAPTURED, "constant")


def prepared(graph: Graph, backend: Backend, keep: Callable[[Node], bool]) -> Graph:
    """The graph, and those inside, simplified and without composites, except those to keep."""
    graph = expanded(graph, keep)

    def visit(node: Node) -> Sequence[Value]:
        if node.op == "concatenate":
            return _without_empty(node)
        if not subgraphs(node):
            return node.values
        return node.remade(node.inputs, map_subgraphs(node, lambda inner: prepared(inner, backend, keep))).values

    return rewritten(remove_names(simplified(graph, backend)), visit)


def _without_empty(node: Node) -> Sequence[Value]:
    """What joins tensors without those that have no entries, such as a state of which a model keeps nothing."""
    some = tuple([value for value in node.operands if value.template.size])
    if not some or len(some) == len(node.operands):
        return node.values
    return some if len(some) == 1 else node.remade((some,)).values


def divided(graph: Graph, in_engine: Callable[[Node], bool]) -> list[Stage]:
    """The stages of a graph in the order in which they run.

    A stage's number is even in the engine and odd in NumPy. Each node is in the first stage after its operands'.
    """
    number: dict[Node, int] = {}
    for node in graph.nodes:
        if node.op == PARAMETER or (is_constant(node) and not any(node == value.node for value in graph.outputs)):
            continue
        odd = int(is_constant(node) or not in_engine(node))
        least = max((number.get(value.node, 0) for value in node.operands if not is_constant(value.node)), default=0)
        number[node] = least + (least % 2 != odd)
    stages = {place: Stage(place % 2 == 0, [], [], []) for place in sorted({*number.values()})}
    for node, place in number.items():
        stage = stages[place]
        stage.nodes.append(node)
        for value in node.operands:
            if is_constant(value.node) or number.get(value.node) == place:
                continue
            if value not in stage.inputs:
                stage.inputs.append(value)
            if value.node in number and value not in stages[number[value.node]].outputs:
                stages[number[value.node]].outputs.append(value)
    for value in graph.outputs:
        if value.node in number and value not in stages[number[value.node]].outputs:
            stages[number[value.node]].outputs.append(value)
    return [*stages.values()]


def chained(graph: Graph, stages: Sequence[Stage], kernels: Sequence[Kernel]) -> Kernel:
    """The kernel of a whole graph, which runs the kernels of its stages; each value is freed after its last use."""
    if len(stages) == 1 and stages[0].inputs == [*graph.parameters] and stages[0].outputs == [*graph.outputs]:
        (only,) = kernels
        return lambda *payloads: tuple(only(*payloads))
    places: dict[Value, int] = {}
    for value in (*graph.parameters, *(value for stage in stages for value in stage.outputs)):
        places.setdefault(value, len(places))
    results = [places[value] for value in graph.outputs]
    last = {value: step for step, stage in enumerate(stages) for value in stage.inputs}
    steps = []
    for step, (stage, kernel) in enumerate(zip(stages, kernels, strict=True)):
        over = [places[value] for value in stage.inputs if last[value] == step and places[value] not in results]
        steps.append((kernel, [places[value] for value in stage.inputs], over))

    def run(*payloads: object) -> tuple[object, ...]:
        values: list[object] = [*payloads]
        for kernel, inputs, over in steps:
            values += kernel(*[values[place] for place in inputs])
            for place in over:
                values[place] = None
        return tuple([values[place] for place in results])

    return run
