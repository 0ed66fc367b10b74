"""Over which axes of a mesh the values of a function of `shard_map` vary: needed for gradients and results.

A value *varies* over a mesh axis if each device along it has its own: a part of a divided argument, or a value
computed from one. Such a value has its own cotangent on each device. A value that does not vary, such as a sum over the
axis, is one value of all these devices, and so is its cotangent. If an op combines it with a varying value, its
cotangents on the devices are therefore summed. Shoeybi et al., "Megatron-LM", 2019, call this pair of functions f and
g; JAX tracks it in the types of values.

A gathered tensor varies in this sense, as each device continues with its own copy, but it does not *differ*.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from functools import reduce
from typing import Any, Final, NamedTuple, cast

from ..mesh import Mesh
from ..scopes import Block
from ..tensor import Tensor
from .expr_backend import ExprBackend
from .graph import Graph, remake
from .node import CUSTOM, HOOK, PARAMETER, Node, Value, next_serial


class Variation(NamedTuple):
    """The mesh axes over which a value varies, and those over which its elements may differ."""

    over: frozenset[str]
    differs: frozenset[str]

    def union(self, other: Variation) -> Variation:
        """How a value varies that is computed from two values."""
        return Variation(self.over | other.over, self.differs | other.differs)

    def widened(self, axes: Iterable[str]) -> Variation:
        """How a value varies that differs along further axes."""
        return Variation(self.over.union(axes), self.differs.union(axes))


NOWHERE: Final = Variation(frozenset(), frozenset())
"""Of a value that is the same on all devices."""

Known = dict[Node, tuple[Variation, ...]]
"""How the results of nodes vary."""


class _Region(NamedTuple):
    mesh: Mesh
    start: int
    """The serial number at which the trace of the function of parts began."""


_region: ContextVar[_Region | None] = ContextVar("tensorbackend_mesh", default=None)


def trace_on_mesh(mesh: Mesh) -> Block[None]:
    """Inside the block, this thread traces a function of the parts that each device of a mesh holds."""
    return Block(None, [(_region, _Region(mesh, next_serial()))])


def current_mesh() -> Mesh | None:
    """The mesh of the function of parts that this thread traces; `None` outside such functions."""
    region = _region.get()
    return None if region is None else region.mesh


def order_by_mesh(axes: frozenset[str]) -> tuple[str, ...]:
    """Mesh axes in the order of the mesh."""
    mesh = current_mesh()
    return () if mesh is None else tuple([name for name in mesh.names if name in axes])


def parameter_options(varies: Variation | None) -> dict[str, object]:
    """The options of a node for a parameter, which say how it varies if that is known."""
    return {} if varies is None or _region.get() is None else {"varies": varies}


def varies_of(x: object) -> Variation:
    """How a tensor varies; a tensor with data and a number are the same on all devices."""
    if _region.get() is None or not isinstance(x, Tensor) or not isinstance(x.backend, ExprBackend):
        return NOWHERE
    return varies(x.data, {})


def varies(value: Value, known: Known) -> Variation:
    """How a value of a graph varies; `known` caches intermediate results."""
    if value.node not in known:
        for node in _unknown(value.node, known):
            known[node] = _variation_of_node(node, known)
    return known[value.node][value.index]


def _unknown(last: Node, known: Known) -> list[Node]:
    """The nodes that a node needs and that are not known, each after its inputs."""
    seen, waiting = {last}, [last]
    while waiting:
        for source in _sources(waiting.pop()):
            if source not in seen and source not in known:
                seen.add(source)
                waiting.append(source)
    return sorted(seen, key=lambda node: node.serial)


def _sources(node: Node) -> list[Node]:
    if node.tensor is not None:  # captured: perhaps a value of a trace around this one
        return [node.tensor.data.node] if isinstance(node.tensor.backend, ExprBackend) else []
    return [value.node for value in node.operands]


def _variation_of_node(node: Node, known: Known) -> tuple[Variation, ...]:
    """How the results of a node vary, whose operands are known."""
    region = _region.get()
    if node.op == PARAMETER:
        said = node.options.get("varies")
        if isinstance(said, Variation):
            return (said,)
        # Parameters of traces around `shard_map` are the same on all devices. Of others the worst is assumed.
        outer = region is None or node.serial < region.start
        return (NOWHERE if outer or region is None else NOWHERE.widened(region.mesh.names),)
    if node.tensor is not None:
        outer_value = node.tensor.data if isinstance(node.tensor.backend, ExprBackend) else None
        return (NOWHERE if outer_value is None else known[outer_value.node][outer_value.index],)
    operands = [known[value.node][value.index] for value in node.operands]
    rule = _RULES.get(node.op)
    return _join(node, operands) if rule is None else tuple(rule(node, operands))


def _join(node: Node, operands: Sequence[Variation]) -> tuple[Variation, ...]:
    return (reduce(Variation.union, operands, NOWHERE),) * len(node.outs)


def results_of(graph: Graph, parameters: Sequence[Variation]) -> list[Variation]:
    """How the results of a graph vary, if its parameters vary as given."""
    known: Known = {value.node: (said,) for value, said in zip(graph.parameters, parameters, strict=True)}
    return [varies(value, known) for value in graph.outputs]


# Rules of ops


def _collective(node: Node, operands: Sequence[Variation]) -> list[Variation]:
    options: Any = node.options
    kind, axes = options["kind"], frozenset(options["axes"])
    over, differs = operands[0] if operands else NOWHERE
    if kind in ("sum", "max", "min"):
        return [Variation(over - axes, differs - axes)]
    if kind in ("gather", "vary"):
        return [Variation(over | axes, differs - axes if kind == "gather" else differs)]
    return [Variation(over | axes, differs | axes)]


def _body(name: str) -> Callable[[Node, Sequence[Variation]], Sequence[Variation]]:
    """The rule of an op that runs one graph on its operands."""
    return lambda node, operands: results_of(cast(Graph, node.options[name]), operands)


def _cond(node: Node, operands: Sequence[Variation]) -> list[Variation]:
    options: Any = node.options
    predicate, *others = operands
    branches = [results_of(options[name], others) for name in ("true_branch", "false_branch")]
    return [predicate.union(one).union(other) for one, other in zip(*branches, strict=True)]


def _scan(node: Node, operands: Sequence[Variation]) -> list[Variation]:
    inputs: Any = node.inputs
    fixed, count = len(inputs[0]), len(inputs[1])
    carried = loop_variation(node.options["body"], operands, fixed, count)
    body = cast(Graph, node.options["body"])
    return [*carried, *results_of(body, [*operands[:fixed], *carried, *operands[fixed + count :]])[count:]]


def _while_loop(node: Node, operands: Sequence[Variation]) -> list[Variation]:
    options, inputs = node.options, cast(Any, node.inputs)
    return loop_variation(options["body"], operands, len(inputs[0]), len(inputs[1]), options["condition"])


def loop_variation(
    body: Any, operands: Sequence[Variation], fixed: int, count: int, condition: Any = None
) -> list[Variation]:
    """How the values that a loop carries vary in any iteration, from how its operands vary.

    Devices on which the condition differs end the loop at different times.
    """
    carried, entries = [*operands[fixed : fixed + count]], operands[fixed + count :]
    while True:
        inside = [*operands[:fixed], *carried, *entries]
        after = results_of(body, inside)[:count]
        if condition is not None:
            (goes_on,) = results_of(condition, inside)
            after = [goes_on.union(x) for x in after]
        after = [before.union(x) for before, x in zip(carried, after, strict=True)]
        if after == carried:
            return carried
        carried = after


_RULES: Final[dict[str, Callable[[Node, Sequence[Variation]], Sequence[Variation]]]] = {
    "collective": _collective,
    HOOK: lambda node, operands: operands[: len(node.outs)],
    "checkpoint": _body("body"),
    CUSTOM: _body("forward"),
    "cond": _cond,
    "scan": _scan,
    "while_loop": _while_loop,
}
"""The rules of ops whose results do not vary over just the axes over which an operand does."""


def level_graph(graph: Graph, parameters: Sequence[Variation]) -> Graph:
    """The same graph, with parameters that declare how they vary; outside functions of parts the graph itself."""
    if _region.get() is None:
        return graph
    exchanged: dict[Value, Value] = {}
    for value, said in zip(graph.parameters, parameters, strict=True):
        options = parameter_options(said)
        exchanged[value] = Value(Node(PARAMETER, value.template, options=options, line=value.node.line))
    remake(graph.nodes[len(graph.parameters) :], exchanged)
    fresh = [exchanged[value] for value in graph.parameters]
    return Graph(fresh, [exchanged[value] for value in graph.outputs], graph.out_tree, graph.names)
