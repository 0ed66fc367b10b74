"""A compiled program compared with the eager one: which op is the first whose result, computed by itself, is wrong.

A compiler joins ops, so that no operand in the middle can be exchanged. So the program is cut after an op, compiled and
run; bisection finds the first op after which it is wrong. From there it is cut at the other end as well: the fewest ops
whose compilation shows the difference are what a file holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...protocol import Backend
from ...select import move
from ...tensor import Tensor, rename_like
from ..expr_backend import capture
from ..graph import Graph, reachable
from ..jit import jit
from ..node import CAPTURED, PARAMETER, RENAMED, Node, Value, in_place_of
from ..simplify import rewritten
from .allowances import bound_of
from .lockstep import describe
from .result import Difference
from .spread import SAMPLES, Mover, Spread
from .values import Array, array_of, beyond
from .walk import Tensors, Visit, Walk, opened


class CompiledSide:
    """Compares values of a program, which the second engine runs as a whole, with the first engine's."""

    def __init__(
        self,
        graph: Graph,
        tensors: Sequence[Tensor],
        home: Backend,
        first: Visit,
        second: Backend,
        *,
        compiles: bool = True,
    ) -> None:
        self.graph, self.tensors = opened(graph), tensors
        self.home, self.second = home, second
        self.compiles, self.samples = compiles, SAMPLES
        self.values: dict[Value, Tensor] = dict(zip(self.graph.parameters, tensors, strict=True))
        self.number = 0

        def visit(node: Node, inputs: tuple[Any, ...]) -> Tensors:
            results = first(node, inputs)
            if walk.depth == 1:
                self.values.update(zip(node.values, results, strict=True))
            self.number += 1
            return results

        def finish(node: Node, inputs: tuple[Any, ...], results: Tensors) -> None:
            if walk.depth == 1:
                self.values.update(zip(node.values, results, strict=True))

        walk = Walk(home, visit, finish)
        walk.run(self.graph, tensors)
        for node in self.graph.nodes:
            if node.op == RENAMED:
                held = self.values[node.operands[0]]
                self.values[Value(node)] = rename_like(held, node.outs[0])
            elif node.tensor is not None:
                self.values[Value(node)] = move(node.tensor, home)
        self._spread: Spread | None = None
        self._known: dict[Node, list[tuple[Value, Array, Array, Array]]] = {}

    @property
    def spread(self) -> Spread:
        """The movements of all values; measured when a value is not equal."""
        if self._spread is None:
            self._spread = Spread()
            for sample in range(self.samples):
                Mover(lambda visit: Walk(self.home, visit, self._keep_loop), sample, self._keep).walk.run(
                    self.graph, self.tensors
                )
        return self._spread

    def _keep(self, value: Value, x: Tensor) -> None:
        assert self._spread is not None
        if value in self.values:
            self._spread.note(value, array_of(self.values[value]), array_of(x), x.dtype)

    def _keep_loop(self, node: Node, inputs: tuple[Any, ...], results: Tensors) -> None:
        for value, x in zip(node.values, results, strict=True):
            self._keep(value, x)

    def find(self) -> Difference | None:
        """The first op after which the compiled program is wrong; `None` if its results are right."""
        try:
            got = self._run(self.graph.outputs)
        except Exception as error:
            return self._raised(error)
        wrong = self.wrong_results(got)
        return self.first_wrong(wrong[0][0], got) if wrong else None

    def wrong_results(self, got: Sequence[Tensor]) -> list[tuple[Value, Array, Array, Array]]:
        """The results that are wrong, each with the two engines' elements and where they are too far apart."""
        found = (self._judge(value, x) for value, x in zip(self.graph.outputs, got, strict=True))
        return [each for each in found if each is not None]

    def sample_again(self, samples: int) -> None:
        """Measures the movements of values again, by another number of samples."""
        self.samples, self._spread = samples, None
        self._known.clear()

    def first_wrong(self, result: Value, got: Sequence[Tensor]) -> Difference:
        """The first op after which the program is wrong, before one of its wrong results."""
        last = result.node
        while last.op == RENAMED:
            last = last.operands[0].node
        nodes = [node for node in reachable(last.values) if node.op not in (PARAMETER, CAPTURED, RENAMED)]
        low, high = -1, len(nodes) - 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._is_wrong(nodes[middle]) else (middle, high)
        culprit = nodes[high]
        while (earlier := self._wrong_operand(culprit)) is not None:
            culprit = earlier
        if not self._is_wrong(culprit):  # only the whole program shows it
            x = got[self.graph.outputs.index(result)]
            self._known[culprit] = [found] if (found := self._judge(result, x)) is not None else []
            return self._difference(culprit, self._held(self.graph.outputs, self.graph.parameters))
        return self._difference(culprit, self._smallest(culprit))

    def _wrong_operand(self, node: Node) -> Node | None:
        for value in node.operands:
            source = value.node
            while source.op == RENAMED:
                source = source.operands[0].node
            if source.op not in (PARAMETER, CAPTURED) and self._is_wrong(source):
                return source
        return None

    def _is_wrong(self, node: Node) -> bool:
        """Whether the program that ends after a node is wrong."""
        if node not in self._known:
            self._known[node] = self._wrong_values(node, self._run(node.values))
        return bool(self._known[node])

    def _wrong_values(self, node: Node, got: Sequence[Tensor]) -> list[tuple[Value, Array, Array, Array]]:
        found = (self._judge(value, x) for value, x in zip(node.values, got, strict=True))
        return [each for each in found if each is not None]

    def _judge(self, value: Value, x: Tensor) -> tuple[Value, Array, Array, Array] | None:
        """A value with the two engines' elements and where they are too far apart; `None` if they are not."""
        wanted, got = array_of(self.values[value]), array_of(x)
        dtype = value.template.dtype
        if not beyond(wanted, got, dtype, 0).any():
            return None
        source = value
        while source.node.op == RENAMED:
            source = source.node.operands[0]
        allowed = self.spread.allowed(source) if source in self.spread.moved else 0.0
        wrong = beyond(wanted, got, dtype, 2 * bound_of(source.node).ulps, allowed)
        return (value, wanted, got, wrong) if wrong.any() else None

    def _run(self, outputs: Sequence[Value], inputs: Sequence[Value] | None = None) -> list[Tensor]:
        """Some values by the second engine's program, which begins at the parameters or at other values."""
        given = self.graph.parameters if inputs is None else inputs
        graph = self._between(outputs, given)
        tensors = [move(self.values[value], self.second) for value in given]
        return list((jit(lambda *operands: graph(*operands)) if self.compiles else graph)(*tensors))

    def _between(self, outputs: Sequence[Value], inputs: Sequence[Value]) -> Graph:
        """The program from some values to others."""
        if inputs is self.graph.parameters:
            return Graph(inputs, outputs)
        fresh = {value: Value(Node(PARAMETER, value.template)) for value in inputs}
        return Graph([*fresh.values()], _copied(outputs, fresh))

    def _held(self, outputs: Sequence[Value], inputs: Sequence[Value]) -> Graph:
        """The program from some values to others, which holds the tensors of the first ones."""
        return Graph([], _copied(outputs, {value: capture(self.values[value]) for value in inputs}))

    def _smallest(self, node: Node) -> Graph:
        """The program of the fewest ops before a node that shows its difference."""
        depth = 0
        while True:
            inputs = _boundary(node, depth)
            if all(value.node.op == PARAMETER for value in inputs):
                return self._held(node.values, [value for value in self.graph.parameters if value in inputs])
            if self._wrong_values(node, self._run(node.values, inputs)):
                return self._held(node.values, inputs)
            depth = 2 * depth + 1

    def _difference(self, node: Node, graph: Graph) -> Difference:
        inputs = node.map_inputs(self.values.__getitem__)
        number = 1 + sum(1 for each in self.graph.nodes if each.serial < node.serial and each.operands)
        if not self._known[node]:
            return describe(node, inputs, 0, number, graph=graph)
        value, wanted, got, wrong = self._known[node][0]
        place = value.index if value.node is node else 0
        return describe(node, inputs, place, number, wanted, got, wrong, graph=graph)

    def _raised(self, error: Exception) -> Difference:
        """The difference where the compiled program raises an error: at the first op after which it does."""
        nodes = [node for node in self.graph.nodes if node.op not in (PARAMETER, CAPTURED, RENAMED)]

        def raises(node: Node) -> bool:
            try:
                self._run(node.values)
            except Exception:
                return True
            return False

        culprit = next((node for node in nodes if raises(node)), nodes[-1])
        inputs = culprit.map_inputs(self.values.__getitem__)
        text = f"{type(error).__name__}: {error}"
        graph = self._held(culprit.values, _boundary(culprit, 0))
        return describe(culprit, inputs, 0, nodes.index(culprit) + 1, error=text, graph=graph)


def _boundary(node: Node, depth: int) -> list[Value]:
    """The values before a node and what is at most `depth` steps before it; captured ones stay inside, as constants."""
    inside = {node}
    edge = {node}
    for _ in range(depth):
        edge = {value.node for each in edge for value in each.operands if value.node.op != PARAMETER} - inside
        inside |= edge
    values = dict.fromkeys(value for each in sorted(inside, key=lambda each: each.serial) for value in each.operands)
    return [value for value in values if value.node not in inside]


def _copied(outputs: Sequence[Value], exchanged: dict[Value, Value]) -> list[Value]:
    """The values computed by new nodes, with others in place of some values."""
    known = dict(exchanged)
    needed: list[Node] = []
    waiting, seen = [value.node for value in outputs if value not in known], set()
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            needed.append(node)
            waiting += [value.node for value in node.operands if value not in known]
    for node in sorted(needed, key=lambda each: each.serial):
        if node.op == CAPTURED:
            known[Value(node)] = Value(node)
            continue
        with in_place_of(node):
            made = node.remade(node.map_inputs(known.__getitem__))
        known.update({value: copy for value, copy in zip(node.values, made.values, strict=True) if value not in known})
    return [known[value] for value in outputs]


def lifted(graph: Graph) -> tuple[Graph, list[Tensor]]:
    """A graph without parameters with its captured tensors as parameters: a compiler would compute all of it."""
    held = [node for node in graph.captured if node.tensor is not None]
    fresh = {node: Value(Node(PARAMETER, node.outs[0])) for node in held}
    outputs = rewritten(graph, lambda node: [fresh[node]] if node in fresh else node.values).outputs
    made = Graph([*fresh.values()], outputs, graph.out_tree)
    return made, [node.tensor for node in held if node.tensor is not None]
