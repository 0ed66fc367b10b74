"""A compiled program compared with the eager one: which op is the first whose result, computed by itself, is wrong.

A compiler joins ops, so that no operand in the middle can be exchanged. So the program is cut after an op, compiled and
run; bisection finds the first op after which it is wrong. From there it is cut at the other end as well: the fewest ops
whose compilation shows the difference are what a file holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ...protocol import Backend
from ...select import move
from ...tensor import Tensor, rename_like
from ..expr_backend import capture
from ..graph import Graph, reachable, remake, unknown
from ..jit import jit
from ..node import CAPTURED, PARAMETER, RENAMED, Node, Value
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

        def keep(node: Node, inputs: tuple[Any, ...], results: Tensors) -> None:
            if walk.depth == 1:
                self.values.update(zip(node.values, results, strict=True))

        def visit(node: Node, inputs: tuple[Any, ...]) -> Tensors:
            results = first(node, inputs)
            keep(node, inputs, results)
            self.number += 1
            return results

        walk = Walk(home, visit, keep)
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
                Mover(self.home, sample, self._note).walk.run(self.graph, self.tensors)
        return self._spread

    def _note(self, node: Node, inputs: tuple[Any, ...], results: Tensors) -> None:
        """Enters what one sample has in place of the values of the program, which are not those inside of loops."""
        assert self._spread is not None
        for value, x in zip(node.values, results, strict=True):
            if value in self.values:
                self._spread.note(value, array_of(self.values[value]), array_of(x), x.dtype)

    def find(self) -> Difference | None:
        """The first op after which the compiled program is wrong; `None` if its results are right."""
        try:
            got = self._run(self.graph.outputs)
        except Exception as error:
            return self._raised(error)
        wrong = self.wrong(self.graph.outputs, got)
        return self.first_wrong(wrong[0][0], got) if wrong else None

    def wrong(self, values: Sequence[Value], got: Sequence[Tensor]) -> list[tuple[Value, Array, Array, Array]]:
        """The values that are wrong, each with the two engines' elements and where they are too far apart."""
        found = map(self._judge, values, got)
        return [each for each in found if each is not None]

    def sample_again(self, samples: int) -> None:
        """Measures the movements of values again, by another number of samples."""
        self.samples, self._spread = samples, None
        self._known.clear()

    def first_wrong(self, result: Value, got: Sequence[Tensor]) -> Difference:
        """The first op after which the program is wrong, before one of its wrong results."""
        nodes = _calls(reachable(_bare(result).node.values))
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
            source = _bare(value).node
            if source.op not in (PARAMETER, CAPTURED) and self._is_wrong(source):
                return source
        return None

    def _is_wrong(self, node: Node) -> bool:
        """Whether the program that ends after a node is wrong."""
        if node not in self._known:
            self._known[node] = self.wrong(node.values, self._run(node.values))
        return bool(self._known[node])

    def _judge(self, value: Value, x: Tensor) -> tuple[Value, Array, Array, Array] | None:
        """A value with the two engines' elements and where they are too far apart; `None` if they are not."""
        wanted, got = array_of(self.values[value]), array_of(x)
        dtype = value.template.dtype
        if not beyond(wanted, got, dtype, 0).any():
            return None
        source = _bare(value)
        allowed = self.spread.allowed(source) if source in self.spread.moved else 0.0
        wrong = beyond(wanted, got, dtype, 2 * bound_of(source.node).ulps, allowed)
        return (value, wanted, got, wrong) if wrong.any() else None

    def _run(self, outputs: Sequence[Value], inputs: Sequence[Value] | None = None) -> list[Tensor]:
        """Some values by the second engine's program, which begins at the parameters or at other values."""
        given = self.graph.parameters if inputs is None else inputs
        fresh = {value: Value(Node(PARAMETER, value.template)) for value in given}
        graph = Graph([*fresh.values()], _copied(outputs, fresh))
        tensors = [move(self.values[value], self.second) for value in given]
        return list((jit(lambda *operands: graph(*operands)) if self.compiles else graph)(*tensors))

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
            if self.wrong(node.values, self._run(node.values, inputs)):
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
        nodes = _calls(self.graph.nodes)

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


def _bare(value: Value) -> Value:
    """The value that a value is under other names."""
    while value.node.op == RENAMED:
        value = value.node.operands[0]
    return value


def _calls(nodes: Iterable[Node]) -> list[Node]:
    """The nodes that compute."""
    return [node for node in nodes if node.op not in (PARAMETER, CAPTURED, RENAMED)]


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
    remake(unknown(outputs, exchanged), known)
    return [known[value] for value in outputs]
