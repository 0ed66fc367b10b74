"""The program that is compared, and a walk that hands each of its calls, also in branches and loops, to a visitor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from ...declarations.op_specs import OpSpec
from ...errors import ArgumentError, expected
from ...ops.composite.shape.arranging import stack
from ...ops.creation.filled import zeros
from ...protocol import Backend
from ...select import call_with_default, move
from ...tensor import Tensor, rename_like
from ..arguments import as_tensors
from ..evaluate import compute_node, last_uses
from ..graph import Graph, held_by
from ..loops import CONTROL
from ..node import CAPTURED, HOOK, HOST, PARAMETER, RENAMED, Node, Value, map_each, spec_of_default
from ..saved_nodes import PACKAGE, specs
from ..simplify import expanded, rewritten
from ..trace import trace
from ..trees import flatten, unflatten

Tensors: TypeAlias = "tuple[Tensor, ...]"

Visit: TypeAlias = Callable[[Node, "tuple[Any, ...]"], Tensors]
"""Computes a node for tensors in place of its inputs."""

Finish: TypeAlias = Callable[[Node, "tuple[Any, ...]", Tensors], None]
"""Called for a loop or a branch after its nodes, with its inputs and results."""


def spec_of(node: Node) -> OpSpec | None:
    """The declaration of a node's op; `None` for control flow and for a composite that is not the package's."""
    if node.default is None:
        return specs().get(node.op)
    spec = spec_of_default(node.default)
    return spec if spec is not None and spec.module.startswith(PACKAGE) else None


def opened(graph: Graph) -> Graph:
    """A graph of ops whose accuracy the package declares: others are replaced by their parts."""
    return expanded(graph, lambda node: spec_of(node) is not None)


def computed(backend: Backend, node: Node, inputs: tuple[Any, ...]) -> Tensors:
    """The results of a node for tensors, which are moved to the backend."""
    moved = map_each(lambda x: move(x, backend), inputs, Tensor)
    result = call_with_default(backend, compute_node, node, backend, moved)
    return result if isinstance(result, tuple) else (result,)


class Walk:
    """Runs graphs on one backend, whose tensors decide which branches are taken and how often loops run."""

    def __init__(self, backend: Backend, visit: Visit, finish: Finish | None = None) -> None:
        self.backend, self.visit, self.finish = backend, visit, finish
        self.depth = 0
        """How many graphs run in one another."""
        self._opened: dict[Graph, Graph] = {}

    def run(self, graph: Any, tensors: Sequence[Tensor]) -> Tensors:
        """The results of a graph."""
        if graph not in self._opened:
            self._opened[graph] = opened(graph)
        graph = self._opened[graph]
        held: dict[Value, Tensor] = {}
        for value, x in zip(graph.parameters, tensors, strict=True):
            held[value] = rename_like(move(x, self.backend), value.template)
        ends = last_uses(graph)
        outputs = set(graph.outputs)
        self.depth += 1
        try:
            for node in graph.nodes[len(graph.parameters) :]:
                results = self._node(node, node.map_inputs(held.__getitem__))
                held.update(zip(node.values, results, strict=True))
                for value in ends[node]:
                    if value not in outputs:
                        held.pop(value, None)
        finally:
            self.depth -= 1
        return tuple([held[value] for value in graph.outputs])

    def _node(self, node: Node, inputs: tuple[Any, ...]) -> Tensors:
        if node.op == CAPTURED:
            assert node.tensor is not None
            return (move(node.tensor, self.backend),)
        if node.op == RENAMED:
            return (rename_like(inputs[0], node.outs[0]),)
        if node.op == HOOK:  # called for its effects, which one comparison should not repeat
            return tuple(inputs[0])
        if node.op == HOST:  # the same function whatever the engine
            return computed(self.backend, node, inputs)
        if node.op in ("shard_map", "collective"):
            remedy = "compare a function of one device's part"
            raise ArgumentError(expected("a function without shard_map", remedy, op=node.op, line=str(node.line)))
        if node.op not in CONTROL:
            return self.visit(node, inputs)
        results: Tensors = call_with_default(self.backend, getattr(self, f"_{node.op}"), node, *inputs)
        results = tuple([rename_like(x, out) for x, out in zip(results, node.outs, strict=True)])
        if self.finish is not None:
            self.finish(node, inputs, results)
        return results

    def _checkpoint(self, node: Node, operands: Tensors) -> Tensors:
        return self.run(node.options["body"], operands)

    def _cond(self, node: Node, predicate: Tensor, operands: Tensors) -> Tensors:
        return self.run(node.options["true_branch" if bool(predicate) else "false_branch"], operands)

    def _while_loop(self, node: Node, constants: Tensors, carried: Tensors) -> Tensors:
        left: Any = node.options["limit"]
        while left != 0 and bool(self.run(node.options["condition"], [*constants, *carried])[0]):
            carried = self.run(node.options["body"], [*constants, *carried])
            left = None if left is None else left - 1
        return carried

    def _scan(self, node: Node, constants: Tensors, carried: Tensors, xs: Tensors) -> Tensors:
        length: Any = node.options["length"]
        count, rows = len(carried), []
        for position in reversed(range(length)) if node.options["reverse"] else range(length):
            results = self.run(node.options["body"], [*constants, *carried, *[x[position] for x in xs]])
            carried, row = results[:count], results[count:]
            rows.append(row)
        if node.options["reverse"]:
            rows.reverse()
        if not rows:
            return *carried, *[zeros(out.shape, dtype=out.dtype) for out in node.outs[count:]]
        columns = zip(
            *[[rename_like(x, x.template.replace(names=(None,) * x.ndim)) for x in row] for row in rows], strict=True
        )
        return *carried, *map(stack, columns)


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


def lifted(graph: Graph) -> tuple[Graph, list[Tensor]]:
    """A graph without parameters with its captured tensors as parameters: a compiler would compute all of it."""
    fresh = {node: Value(Node(PARAMETER, node.outs[0])) for node in graph.captured}
    outputs = rewritten(graph, lambda node: [fresh[node]] if node in fresh else node.values).outputs
    return Graph([*fresh.values()], outputs, graph.out_tree), held_by(graph)
