"""A graph: the nodes between a function's arguments and its results, in an order in which they can be run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

from ..errors import ArgumentError, ShapeError, expected
from ..protocol import Backend
from ..template import Template
from ..tensor import Tensor
from .arguments import as_tensors
from .node import CAPTURED, PARAMETER, Node, Value
from .record import captured, current, depends_on_argument, expr_tensor, leaked
from .trees import LEAF, Tree, flatten, unflatten


class Graph:
    """What `trace` recorded. Called with tensors, it runs on their backend.

    >>> import tensorbackend as tb
    >>> graph = tb.trace(lambda x: tb.sum(x * x))("f32[n=3]")
    >>> print(graph)
    graph(x: f32[n: 3]) -> f32
      %1 multiply  f32[n: 3]  %0 %0                            <doctest tensorbackend.expr.graph.Graph[1]>:1
      %2 sum       f32        %1     axes=(0,) keepdims=False  <doctest tensorbackend.expr.graph.Graph[1]>:1
      return %2
    >>> graph(tb.asarray([1.0, 2.0, 3.0], dtype="f32"))
    f32 numpy
    14.0
    """

    __slots__ = ("__weakref__", "names", "nodes", "out_tree", "outputs", "parameters", "programs")

    parameters: tuple[Value, ...]
    """The values that stand for the arguments."""
    outputs: tuple[Value, ...]
    """The values that are the results."""
    nodes: tuple[Node, ...]
    """Parameters first, then each node after its inputs; none that no result needs."""
    names: tuple[str, ...]
    """What each parameter is called."""
    out_tree: Tree
    """How the results are nested."""

    def __init__(
        self,
        parameters: Sequence[Value],
        outputs: Sequence[Value],
        out_tree: Tree | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        self.parameters, self.outputs = tuple(parameters), tuple(outputs)
        self.out_tree = out_tree or Tree(tuple, tuple(range(len(outputs))), (LEAF,) * len(outputs))
        self.names = tuple(names) if names is not None else tuple(f"arguments[{i}]" for i in range(len(parameters)))
        self.programs: dict[Backend, Any] = {}
        first = {value.node for value in parameters}
        self.nodes = (
            *(value.node for value in parameters),
            *(node for node in reachable(outputs) if node not in first),
        )

    @property
    def captured(self) -> tuple[Node, ...]:
        """The nodes that hold tensors with data, or values of a trace around this one."""
        return tuple(node for node in self.nodes if node.op == CAPTURED)

    @property
    def templates(self) -> tuple[Template, ...]:
        """What each argument looks like."""
        return tuple(value.template for value in self.parameters)

    @property
    def results(self) -> tuple[Template, ...]:
        """What each result looks like."""
        return tuple(value.template for value in self.outputs)

    def __call__(self, *arguments: Any) -> Any:
        """The results for tensors in place of the arguments, on their backend.

        The arguments are those of the traced function, or the parameters one after the other. Raises `ArgumentError`
        for another number of tensors, `ShapeError` for one that does not look as its parameter.
        """
        from .evaluate import evaluate

        leaves = flatten(arguments)[0]
        if len(leaves) != len(self.parameters):  # options, which the trace has used already
            leaves = [leaf for leaf in leaves if isinstance(leaf, Tensor) or hasattr(leaf, "__array__")]
        if len(leaves) != len(self.parameters):
            wanted = f"{len(self.parameters)} tensors, for {', '.join(self.names)}"
            raise ArgumentError(expected(wanted, given=len(leaves)))
        return unflatten(self.out_tree, evaluate(self, as_tensors(leaves)))

    def check(self, tensors: Sequence[Tensor]) -> None:
        """Raises `ShapeError` unless each tensor has its parameter's template."""
        for name, value, x in zip(self.names, self.parameters, tensors, strict=True):
            template = value.template
            if x.template is not template and (x.shape != template.shape or x.dtype is not template.dtype):
                raise ShapeError(expected(f"{name} as it was traced, {template!r}", "trace again", given=x.template))

    def __repr__(self) -> str:
        from .show import as_text

        return as_text(self)

    def to_dot(self) -> str:
        """The graph in Graphviz's language."""
        from .show import to_dot

        return to_dot(self)

    def to_mermaid(self) -> str:
        """The graph in Mermaid's language."""
        from .show import to_mermaid

        return to_mermaid(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """A picture in a notebook, which draws Mermaid in Markdown."""
        return {"text/plain": repr(self), "text/markdown": f"```mermaid\n{self.to_mermaid()}\n```"}


def reachable(outputs: Iterable[Value]) -> list[Node]:
    """The nodes that values need, each after its inputs. Neither recurses nor visits a node twice."""
    seen: set[Node] = set()
    waiting = [value.node for value in outputs]
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            waiting += [each for each, _ in node.operands]
    return sorted(seen, key=attrgetter("serial"))


def rebuilt(graph: Graph, outputs: Sequence[Value]) -> Graph:
    """A graph with the parameters of another and other results, as many and nested alike."""
    return Graph(graph.parameters, outputs, graph.out_tree, graph.names)


def closed(parameters: Sequence[Value], outputs: Sequence[Value], start: int) -> tuple[list[Value], list[Value]]:
    """Results of which every value from before a trace is captured, and those values.

    A traced function may hold on to values of a trace around it. They do not depend on the parameters, so the graph
    takes each as a tensor on ExprBackend.
    """
    own = {value.node for value in parameters}
    nodes: list[Node] = []
    seen: set[Node] = set(own)
    outer: dict[Value, Value] = {}
    waiting = list(outputs)
    while waiting:
        value = waiting.pop()
        node = value.node
        if node in seen:
            continue
        if node.op == PARAMETER and node.serial > start:  # of a trace inside this one that is over
            raise leaked(value)
        if node.serial < start and (node.inputs or node.op == PARAMETER):
            if current() is None and depends_on_argument(value):
                raise leaked(value)
            outer.setdefault(value, captured(expr_tensor(value)))
            continue
        seen.add(node)
        nodes.append(node)
        waiting.extend(node.operands)
    if not outer:
        return list(outputs), []
    made: dict[Node, Node] = {}

    def exchange(value: Value) -> Value:
        return outer.get(value) or Value(made.get(value.node, value.node), value.index)

    for node in sorted(nodes, key=lambda node: node.serial):
        if any(value in outer or value.node in made for value in node.operands):
            made[node] = node.remade(node.with_inputs(exchange))
    return [exchange(value) for value in outputs], list(outer)
