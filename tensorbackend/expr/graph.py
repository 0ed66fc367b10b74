"""A graph: the nodes between a function's arguments and its results, in an order in which they can be run."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final, NamedTuple, cast

from ..caching.option_keys import is_same
from ..errors import ArgumentError, ShapeError, expected
from ..protocol import Backend
from ..template import Template
from ..tensor import Tensor
from ..tensor.missing_names import explain_missing
from .arguments import as_tensors
from .expr_backend import capture, current, depends_on_argument, expr_tensor, leak_error
from .node import CAPTURED, PARAMETER, Node, Value
from .tree_containers import LEAF, Tree
from .trees import flatten, leaves_like, paths, unflatten

NO_OPTION: Final = object()
"""Represents a tensor among the options of a call."""


class TracedCall(NamedTuple):
    """The traced call, without its tensors."""

    tree: Tree
    """How the leaves of `(arguments, keywords)` are nested."""
    options: list[Any]
    """The leaves, with `NO_OPTION` in place of those that are parameters."""

    @property
    def positional(self) -> int:
        """The number of arguments that had no keyword."""
        return len(self.tree.children[0].children)

    def tensors(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> list[Any]:
        """The tensors of a call like the traced one; `ArgumentError` if the nesting or an option differs."""
        leaves, places = [], []
        for tree, container, root in zip(
            self.tree.children, (arguments, keywords), ("arguments", "keywords"), strict=True
        ):
            leaves += leaves_like(tree, container, root, "to be nested like the traced call")
            places += paths(tree, root)
        for option, leaf, path in zip(self.options, leaves, places, strict=True):
            if option is not NO_OPTION and leaf is not option and not is_same(option, leaf):
                expectation = f"{path} as it was traced, {option!r}"
                raise ArgumentError(expected(expectation, "trace again for another option", given=leaf))
        return [leaf for option, leaf in zip(self.options, leaves, strict=True) if option is NO_OPTION]


@explain_missing
class Graph:
    """A traced function. Called with tensors, it runs on their backend.

    >>> import tensorbackend as tb
    >>> graph = tb.trace(lambda x: tb.sum(x * x))("f32[n=3]")
    >>> print(graph)
    graph(x: f32[n: 3]) -> f32
      %1 multiply  f32[n: 3]  %0 %0                            <doctest tensorbackend.expr.graph.Graph[1]>:1
      %2 sum       f32        %1     axes=(0,) keepdims=False  <doctest tensorbackend.expr.graph.Graph[1]>:1
      return %2
    >>> graph(tb.asarray([1.0, 2.0, 3.0], dtype="f32"))
    f32 numpy 14.0
    """

    __slots__ = ("__weakref__", "call", "names", "nodes", "out_tree", "outputs", "parameters", "programs", "written")

    parameters: tuple[Value, ...]
    """The values of the arguments."""
    outputs: tuple[Value, ...]
    """The values that are the results."""
    nodes: tuple[Node, ...]
    """The parameters first, then each node after its inputs. Nodes that no result needs are left out."""
    names: tuple[str, ...]
    """The names of the parameters."""
    out_tree: Tree
    """How the results are nested."""
    call: TracedCall | None
    """How the arguments were nested when `trace` made the graph."""
    written: tuple[int, ...]
    """The leaves of the arguments, tensors or not, to which the function of `jit` wrote."""

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
        self.call = None
        self.written: tuple[int, ...] = ()
        self.programs: dict[tuple[Backend, bool, tuple[int, int] | None], Any] = {}
        first = {value.node for value in parameters}
        self.nodes = (
            *(value.node for value in parameters),
            *(node for node in reachable(outputs) if node not in first),
        )

    @property
    def captured(self) -> tuple[Node, ...]:
        """The nodes that hold tensors with data, or values of an outer trace."""
        return tuple(node for node in self.nodes if node.op == CAPTURED)

    @property
    def templates(self) -> tuple[Template, ...]:
        """The templates of the arguments."""
        return tuple(value.template for value in self.parameters)

    @property
    def results(self) -> tuple[Template, ...]:
        """The templates of the results."""
        return tuple(value.template for value in self.outputs)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """The results for tensors in place of the arguments, computed on the backend of the tensors.

        The arguments are those of the traced function, with the same options; the order of dictionaries does not
        matter. Alternatively they are the tensors for the parameters, in order. Raises `ArgumentError` for another
        nesting, option or number of tensors, and `ShapeError` for a tensor with another shape or dtype than its
        parameter.
        """
        from .evaluate import evaluate

        leaves, tree = flatten((arguments, keywords))
        flat = len(leaves) == len(self.parameters) == len(arguments) and not keywords
        call = self.call
        if call is not None and (tree == call.tree or (not flat and len(arguments) == call.positional)):
            leaves = call.tensors(arguments, keywords)
        elif not flat:
            expectation = f"{len(self.parameters)} tensors, for {', '.join(self.names)}"
            raise ArgumentError(expected(expectation, given=len(leaves)))
        return unflatten(self.out_tree, evaluate(self, as_tensors(leaves)))

    def dependencies(self, of: Tensor | Value | Node | None = None) -> tuple[Node, ...]:
        """Return the nodes that a node depends on, directly or indirectly, each after its inputs; not the node itself.

        Parameters
        ----------
        of : Node, Value or Tensor, optional
            A node of the graph, one of its results, or a tensor of the traced function. By default all results of the
            graph, whose nodes are then included.

        Returns
        -------
        tuple of Node
            The nodes, including parameters and captured tensors.

        Raises
        ------
        ArgumentError
            For a value of another graph.

        Examples
        --------
        >>> import tensorbackend as tb
        >>> graph = tb.trace(lambda x, y: tb.sum(tb.exp(x)) + tb.sin(y))("f32[n=3]", "f32[]")
        >>> sine = next(node for node in graph.nodes if node.op == "sin")
        >>> [node.op for node in graph.dependencies(sine)], [node.op for node in graph.consumers(sine)]
        (['parameter'], ['add'])
        """
        if of is None:
            return tuple(reachable(self.outputs))
        node = self._node(of)
        return tuple(dependency for dependency in reachable([Value(node)]) if dependency is not node)

    def arguments_of(self, of: Tensor | Value | Node | None = None) -> tuple[str, ...]:
        """The names of the parameters on which a node depends, by default of those on which any result depends.

        >>> import tensorbackend as tb
        >>> tb.trace(lambda x, unused: x * 2)("f32[n=3]", "f32[]").arguments_of()
        ('x',)
        """
        needed = {*self.dependencies(of), *(() if of is None else (self._node(of),))}
        return tuple(name for name, value in zip(self.names, self.parameters, strict=True) if value.node in needed)

    def consumers(self, of: Tensor | Value | Node) -> tuple[Node, ...]:
        """The nodes that have any result of a node as an input; for a value or tensor, only those that have that one.

        Raises `ArgumentError` for a value of another graph.

        >>> import tensorbackend as tb
        >>> graph = tb.trace(lambda x: tb.exp(x) * x)("f32[n=3]")
        >>> [node.op for node in graph.consumers(graph.parameters[0])]
        ['exp', 'multiply']
        """
        node = self._node(of)
        value = of.data if isinstance(of, Tensor) else of
        results = {value} if isinstance(value, Value) else {*node.values}
        return tuple(consumer for consumer in self.nodes if results.intersection(consumer.operands))

    def _node(self, of: Tensor | Value | Node) -> Node:
        """The node of a value or tensor; `ArgumentError` unless it is of this graph."""
        value = of.data if isinstance(of, Tensor) else of
        node = value.node if isinstance(value, Value) else value
        if not isinstance(node, Node) or node not in self.nodes:
            expectation = "a node of this graph, a value or tensor of its trace"
            raise ArgumentError(expected(expectation, "nodes that no result needs are not part of the graph", of=of))
        return node

    def check(self, tensors: Sequence[Tensor]) -> None:
        """Raises `ShapeError` unless each tensor has its parameter's shape and dtype."""
        for name, value, x in zip(self.names, self.parameters, tensors, strict=True):
            template = value.template
            if x.template is not template and (x.shape != template.shape or x.dtype is not template.dtype):
                raise ShapeError(expected(f"{name} as it was traced, {template!r}", "trace again", given=x.template))

    def __copy__(self) -> Graph:
        return self  # a graph does not change

    def __deepcopy__(self, memo: dict[int, Any]) -> Graph:
        return self

    def __reduce__(self) -> str | tuple[Any, ...]:
        remedy = "send the function, and trace it there"
        raise ArgumentError(expected("an object that can be pickled, unlike the functions in a graph", remedy))

    def __repr__(self) -> str:
        from .show import as_text

        return as_text(self)

    def to_dot(self) -> str:
        """The graph as Graphviz source."""
        from .show import to_dot

        return to_dot(self)

    def to_mermaid(self) -> str:
        """The graph as Mermaid source."""
        from .show import to_mermaid

        return to_mermaid(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """The graph for a notebook, which draws Mermaid in Markdown as a picture."""
        return {"text/plain": repr(self), "text/markdown": f"```mermaid\n{self.to_mermaid()}\n```"}


def held_by(graph: Graph) -> list[Tensor]:
    """The tensors of the captured nodes of a graph."""
    return [node.tensor for node in graph.captured if node.tensor is not None]


def reachable(outputs: Iterable[Value]) -> list[Node]:
    """The nodes that values depend on, each after its inputs, without recursion."""
    seen: set[Node] = set()
    waiting = [value.node for value in outputs]
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            waiting += [source for source, _ in node.operands]
    return sorted(seen, key=attrgetter("serial"))


def unknown(values: Iterable[Value], known: Container[Value]) -> list[Node]:
    """The nodes of values that are not known, and of all that these need, each after its inputs."""
    nodes: set[Node] = set()
    waiting = [value for value in values if value not in known]
    while waiting:
        node = waiting.pop().node
        if node not in nodes:
            nodes.add(node)
            waiting.extend(value for value in node.operands if value not in known)
    return sorted(nodes, key=attrgetter("serial"))


def dependents(nodes: Iterable[Node], start: Iterable[Node]) -> set[Node]:
    """The nodes in `start`, and those of `nodes`, which are in order, that need one of them."""
    found = set(start)
    for node in nodes:
        if any(source in found for source, _ in node.operands):
            found.add(node)
    return found


def remake(nodes: Iterable[Node], exchanged: dict[Value, Value]) -> None:
    """Makes nodes again in their order, on the values entered for their inputs, and enters theirs if there is none."""
    for node in nodes:
        made = node if node.op == CAPTURED else node.remade(node.map_inputs(exchanged.__getitem__))
        for value, again in zip(node.values, made.values, strict=True):
            exchanged.setdefault(value, again)


def rebuilt(graph: Graph, outputs: Sequence[Value]) -> Graph:
    """A graph with the same parameters and other results, of the same number and nesting."""
    new_graph = Graph(graph.parameters, outputs, graph.out_tree, graph.names)
    new_graph.call = graph.call
    return new_graph


def capture_outer(parameters: Sequence[Value], outputs: Sequence[Value], start: int) -> tuple[list[Value], list[Value]]:
    """Captures the values from before a trace that its results need; returns the new results and the captured values.

    A traced function may use values of an outer trace. They do not depend on the parameters, so the graph
    captures each as a tensor on ExprBackend. `start` is the serial number at which the trace began.
    """
    parameter_nodes = {value.node for value in parameters}
    nodes: list[Node] = []
    seen: set[Node] = set(parameter_nodes)
    outer: dict[Value, Value] = {}
    waiting = list(outputs)
    while waiting:
        value = waiting.pop()
        node = value.node
        if node in seen:
            continue
        if node.op == PARAMETER and node.serial > start:  # of a trace inside this one, which is over
            raise leak_error(value)
        if node.serial < start and (node.inputs or node.op == PARAMETER):
            if current() is None and depends_on_argument(value):
                raise leak_error(value)
            outer.setdefault(value, capture(expr_tensor(value)))
            continue
        seen.add(node)
        nodes.append(node)
        waiting.extend(node.operands)
    if not outer:
        return list(outputs), []
    replacements: dict[Node, Node] = {}

    def exchange(value: Value) -> Value:
        return outer.get(value) or Value(replacements.get(value.node, value.node), value.index)

    for node in sorted(nodes, key=lambda node: node.serial):
        # From the first that changes on all are made again, so that their order stays that of the program.
        if node.op != CAPTURED and (replacements or any(value in outer for value in node.operands)):
            replacements[node] = node.remade(node.map_inputs(exchange))
    return [exchange(value) for value in outputs], list(outer)


def subgraphs(node: Node) -> tuple[Graph, ...]:
    """The graphs that a node runs, in the order of its options; none for most."""
    return tuple(value for value in node.options.values() if isinstance(value, Graph))


def iterations(node: Node) -> tuple[int | None, ...]:
    """The maximum number of times that a node runs each of its subgraphs; `None` if that depends on data.

    A `scan` runs its body for each of its `length` steps. A `while_loop` with a limit runs its two graphs at most
    `limit` times. A `cond` runs one of its branches once.
    """
    options = node.options
    return (cast("int | None", options.get("length", options.get("limit", 1))),) * len(subgraphs(node))


def map_subgraphs(node: Node, function: Callable[[Graph], Graph]) -> Mapping[str, object]:
    """The options of a node with `function` applied to its subgraphs.

    The graphs that it returns must have parameters and results with the same templates as the graphs that it takes.
    """
    if not subgraphs(node):
        return node.options
    return MappingProxyType(
        {name: function(value) if isinstance(value, Graph) else value for name, value in node.options.items()}
    )
