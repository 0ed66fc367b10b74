"""The graph of a gradient: from the cotangents of results back to those of parameters, by the rule of each node.

There is no recursion, and each node is visited once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from typing import Final

from ...dispatch.operands import nameless
from ...dtypes import uncast
from ...errors import ContractError, GradientError, NamesError, expected
from ...ops.creation.filled import zeros
from ...ops.elementwise.basic import astype, real
from ...ops.elementwise.binary import add
from ...ops.reduction import sum
from ...ops.shape import reshape
from ...scopes import in_own_context
from ...template import Template
from ...tensor import Tensor, rename_like
from ..collectives import collective
from ..expr_backend import expr_tensor, record_block, value_of
from ..graph import Graph, dependents, reachable
from ..mesh_variation import Known, current_mesh, order_by_mesh, parameter_options, varies
from ..node import PARAMETER, RENAMED, Node, Value, in_place_of
from ..simplify import parts, rewritten
from ..simplify import results as chosen_results
from .registry import Cotangents, NoGradient, gradient_of

Lookup = Callable[[Value], Tensor]

transposed_again: Final[ContextVar[bool]] = ContextVar("transposed_again", default=False)
"""Whether the gradient that is being derived will be transposed, which leaves tangents; see `push_graph`."""


def differentiate_graph(graph: Graph, positions: Sequence[int], results: Sequence[int] | None = None) -> Graph:
    """A graph that computes the results of `graph` and the cotangents of its parameters at `positions`.

    It takes the parameters and a cotangent for each result in `results`, by default for each floating or complex one.
    It returns all results, then a cotangent for each parameter in `positions`, with the names of that parameter. Where
    a gradient flows, composites without a rule are replaced by their parts.
    """
    chosen = [i for i, value in enumerate(graph.outputs) if inexact(value)] if results is None else results
    graph = expand_to_rules(graph, positions)
    seeds = {i: _seed(graph.outputs[i]) for i in chosen}
    gradients = pull_back(
        [graph.outputs[i] for i in seeds],
        [expr_tensor(seed) for seed in seeds.values()],
        [graph.parameters[position] for position in positions],
    )
    return Graph([*graph.parameters, *seeds.values()], [*graph.outputs, *map(value_of, gradients)])


def _seed(value: Value) -> Value:
    """A parameter for a value, or for its cotangent. It varies over the axes of a mesh over which the value varies."""
    options = {} if current_mesh() is None else parameter_options(varies(value, {}))
    return Value(Node(PARAMETER, value.template, options=options))


def linearize_graph(
    graph: Graph, positions: Sequence[int], results: Sequence[int] | None = None
) -> tuple[Graph, Graph]:
    """Two graphs: one that computes the results of a graph, and one that computes cotangents of its parameters.

    The first takes the parameters; it returns the results, then the values that the second needs. The second takes
    these values, then a cotangent for each result in `results`, by default for each floating or complex one. It returns
    the cotangents of the parameters in `positions`, which are linear in the cotangents that it takes.
    """
    count = len(graph.parameters)
    whole = differentiate_graph(graph, positions, results)
    outputs, gradients = whole.outputs[: len(graph.outputs)], whole.outputs[len(graph.outputs) :]
    seeds = whole.parameters[count:]
    dependent = dependents(whole.nodes, [value.node for value in seeds])

    def is_taken(value: Value) -> bool:
        node = value.node
        return node not in dependent and (node.op == PARAMETER or bool(node.inputs))  # a constant is made again

    results_back, taken = _cut([node for node in whole.nodes if node in dependent], gradients, is_taken)
    forward = Graph(whole.parameters[:count], [*outputs, *taken], names=graph.names)
    return forward, Graph([*taken.values(), *seeds], results_back)


def _cut(
    nodes: Iterable[Node], outputs: Sequence[Value], is_taken: Callable[[Value], bool]
) -> tuple[list[Value], dict[Value, Value]]:
    """Results on new nodes, with parameters for some values; also these parameters, by the values they stand for."""
    taken: dict[Value, Value] = {}
    copies: dict[Node, Node] = {}

    def exchange(value: Value) -> Value:
        if not is_taken(value):
            return Value(copies.get(value.node, value.node), value.index)
        if value not in taken:
            taken[value] = _seed(value)
        return taken[value]

    for node in nodes:
        # From the first that changes on all are made again, so that their order stays.
        if node.operands and (copies or any(map(is_taken, node.operands))):
            copies[node] = node.remade(node.map_inputs(exchange))
    return [exchange(value) for value in outputs], taken


@in_own_context
def push_graph(graph: Graph, positions: Sequence[int]) -> tuple[Graph, Graph]:
    """Two graphs: one that computes the results of a graph, and one that computes tangents of its results.

    The first takes the parameters, then a tensor of any value for each floating or complex result; it returns the
    results, then the values that the second needs. The second takes these values, then a tangent for each parameter in
    `positions`, and returns a tangent for each floating or complex result.

    The cotangents of the parameters are linear in those of the results. The transpose of that linear function, which is
    its gradient, maps tangents forward.
    """
    transposed_again.set(True)
    count, inputs, moved = len(graph.outputs), len(graph.parameters), len(positions)
    back = differentiate_graph(graph, positions)
    seeds = range(inputs, len(back.parameters))
    forward, linear = linearize_graph(back, seeds, range(count, count + moved))
    kept = [*range(count), *range(count + moved, len(forward.outputs))]
    return chosen_results(forward, kept), linear


def cut_graph(graph: Graph, values: Sequence[Value]) -> tuple[Graph, list[int]]:
    """A graph that takes some of its values instead of computing them, after its parameters; and which ones it needs.

    The numbers are the positions in `values`. What is cheap to make, such as a constant, stays in the graph.
    """
    places = {value: place for place, value in enumerate(values) if value.node.op != PARAMETER and value.node.operands}
    outputs, taken = _cut(graph.nodes, graph.outputs, places.__contains__)
    needed = set(reachable(outputs))
    used = {value: parameter for value, parameter in taken.items() if parameter.node in needed}
    return Graph([*graph.parameters, *used.values()], outputs), [places[value] for value in used]


def gradients_graph(graph: Graph, positions: Sequence[int], results: Sequence[int] | None = None) -> Graph:
    """The graph of `differentiate_graph`, of which only the cotangents of the parameters are results."""
    count = len(graph.outputs)
    return chosen_results(differentiate_graph(graph, positions, results), range(count, count + len(positions)))


def expand_to_rules(graph: Graph, parameters: Iterable[int]) -> Graph:
    """Replace composites without a rule by their parts, recursively, where a gradient of `parameters` flows."""
    positions = tuple(parameters)
    while True:
        flowing = find_dependents(graph.nodes, {graph.parameters[position].node for position in positions})
        if not any(_needs_expansion(node) for node in flowing):
            return graph
        # Rewriting makes new nodes, which are not in `flowing`: it is determined for them as they are made.
        reached = {graph.parameters[position].node for position in positions}

        def visit(node: Node, reached: set[Node] = reached) -> Sequence[Value]:
            if not _flows(node, reached):
                return node.values
            values = parts(node) if _needs_expansion(node) else node.values
            reached.update(value.node for value in values)
            return values

        graph = rewritten(graph, visit)


def _needs_expansion(node: Node) -> bool:
    return node.default is not None and gradient_of(node.op) is None


@in_own_context
def pull_back(
    outputs: Sequence[Value], cotangents: Sequence[Tensor], inputs: Sequence[Value], known: Lookup = expr_tensor
) -> list[Tensor]:
    """Compute the cotangents of `inputs` from those of `outputs`, as tensors of the graph with the inputs' names.

    `known` returns a tensor on ExprBackend for a value that a rule uses.
    """
    nodes = reachable(outputs)
    flowing = find_dependents(nodes, {value.node for value in inputs})
    kept = set(inputs)
    sums: dict[Value, Tensor] = {}
    place = _varying_cast()

    def give(value: Value, cotangent: Tensor) -> None:
        if place is not None:
            cotangent = place(value, cotangent)
        before = sums.get(value)
        sums[value] = cotangent if before is None else add(before, cotangent)

    with uncast(), record_block():
        for value, cotangent in zip(outputs, cotangents, strict=True):
            if value.node in flowing:
                give(value, rename_to_template(cotangent, value.template))
        for node in reversed(nodes):
            if node not in flowing or not any(value.node in flowing for value in node.operands):
                continue
            arrived = [sums.get(value) if value in kept else sums.pop(value, None) for value in node.values]
            if any(cotangent is not None for cotangent in arrived):
                with in_place_of(node):
                    for value, gradient in _apply_rule(node, arrived, known, flowing):
                        if value.node in flowing and inexact(value):
                            if isinstance(gradient, NoGradient):
                                raise _no_gradient_error(node, gradient.reason)
                            give(value, _fit(gradient, value.template, node))
        return [
            sums[value]
            if value in sums
            else zeros(value.template.shape, dtype=value.template.dtype, names=value.template.names)
            for value in inputs
        ]


def _varying_cast() -> Callable[[Value, Tensor], Tensor] | None:
    """A function that lets a cotangent vary over the mesh axes over which its value varies; `None` outside a mesh.

    A value that does not vary has one cotangent for all devices: the sum of those that come from the devices.
    """
    if current_mesh() is None:
        return None
    known: Known = {}

    def place(value: Value, cotangent: Tensor) -> Tensor:
        wanted, came = varies(value, known).over, varies(value_of(cotangent), known).over
        for kind, axes in (("sum", order_by_mesh(came - wanted)), ("vary", order_by_mesh(wanted - came))):
            if axes:
                cotangent = collective(kind, cotangent, cotangent.template, axes)
        return cotangent

    return place


def _no_gradient_error(node: Node, reason: str) -> GradientError:
    """The error for an op without a gradient that a gradient would flow through; it shows the user's line."""
    place = "" if node.line is None else f", called at {node.line.file}:{node.line.number}"
    remedy = f"{reason}; keep it out of the gradient with stop_gradient(){place}"
    return GradientError(expected("ops that have a gradient", remedy, op=node.op))


def _apply_rule(
    node: Node, arrived: list[Tensor | None], known: Lookup, flowing: set[Node]
) -> list[tuple[Value, Tensor | NoGradient]]:
    """The inputs of a node, each with the cotangent that the node's rule returns for it."""
    if node.op == RENAMED:
        (value,), (cotangent,) = node.operands, arrived
        return [] if cotangent is None else [(value, cotangent)]
    gradient = gradient_of(node.op)
    if gradient is None or gradient.reason:
        raise _no_gradient_error(
            node, gradient.reason if gradient else "no rule is declared for it, see docs/adding-an-op.md"
        )
    rule = gradient.rule
    if rule is None:
        return []
    options = dict(node.options)
    if gradient.selective:
        options["needed"] = node.map_inputs(lambda value: value.node in flowing and inexact(value))

    def call_rule(seen: Callable[[Tensor], Tensor]) -> Cotangents:
        """Call the rule with the result of `seen` for each tensor, which keeps the names or drops them."""
        cotangents = tuple(x if x is None else seen(x) for x in arrived)
        results = tuple(seen(known(value)) for value in node.values)
        inputs = node.map_inputs(lambda value: seen(known(value)))
        if isinstance(node.out, Template):
            return rule(cotangents[0], results[0], *inputs, **options)
        return rule(cotangents, results, *inputs, **options)

    try:
        input_cotangents = call_rule(lambda x: x)
    except NamesError:
        # Rules refer to axes by position, so they work without names. Names clash where a rule multiplies a matrix by
        # its transpose, and may clash where an input was renamed on its way to the op, which no node shows.
        input_cotangents = call_rule(nameless)
    if len(input_cotangents) != len(node.inputs):
        expectation = f"the gradient rule of {node.op} to return {len(node.inputs)} cotangents"
        raise ContractError(expected(expectation, "fix the rule", given=len(input_cotangents)))
    pairs: list[tuple[Value, Tensor | NoGradient]] = []
    for operand, input_cotangent in zip(node.inputs, input_cotangents, strict=True):
        if isinstance(operand, Value):
            if isinstance(input_cotangent, Tensor | NoGradient):
                pairs.append((operand, input_cotangent))
        elif operand is not None and isinstance(input_cotangent, tuple):
            pairs.extend((value, x) for value, x in zip(operand, input_cotangent, strict=True) if x is not None)
    return pairs


def sum_broadcast(cotangent: Tensor, template: Template) -> Tensor:
    """Sum a cotangent over the axes that the input was broadcast along; where it was not, nothing changes."""
    extra = cotangent.ndim - template.ndim
    if cotangent.shape == template.shape or extra < 0:
        return cotangent
    sizes = zip(template.shape, cotangent.shape[extra:], strict=True)
    axes = (
        *range(extra),
        *(extra + axis for axis, (size, broadcast_size) in enumerate(sizes) if size == 1 != broadcast_size),
    )
    if not axes:
        return cotangent
    return reshape(sum(cotangent, axis=axes, dtype=cotangent.dtype), template.shape, names=template.names)


def _fit(cotangent: Tensor, template: Template, node: Node) -> Tensor:
    """Sum a cotangent over the axes that the input was broadcast along, and cast and rename it to match the input."""
    cotangent = sum_broadcast(cotangent, template)
    if cotangent.dtype is not template.dtype:
        part = real(cotangent) if cotangent.dtype.is_complex and template.dtype.is_floating else cotangent
        cotangent = astype(part, template.dtype)
    if cotangent.shape != template.shape:
        expectation = f"the gradient rule of {node.op} to return a cotangent like {template!r}"
        raise ContractError(expected(expectation, "fix the rule", given=cotangent.template))
    return rename_to_template(cotangent, template)


def find_dependents(nodes: Iterable[Node], start: set[Node]) -> set[Node]:
    """The nodes in `start`, and those of `nodes` (in order) through which a gradient can reach one of them."""
    reached = set(start)
    for node in nodes:
        if _flows(node, reached):
            reached.add(node)
    return reached


def _flows(node: Node, reached: set[Node]) -> bool:
    """Whether a gradient can flow through a node to one of the nodes in `reached`."""
    return any(value.node in reached and inexact(value) for value in node.operands) and has_cotangents(node)


def has_cotangents(node: Node) -> bool:
    """Whether the inputs of a node get cotangents, or an error in place of them: not if its derivative is zero."""
    gradient = gradient_of(node.op)
    return gradient is None or gradient.rule is not None or bool(gradient.reason)


def inexact(value: Value) -> bool:
    """Whether a value is floating or complex, so that it has a cotangent."""
    return value.template.dtype.is_inexact


def rename_to_template(x: Tensor, template: Template) -> Tensor:
    """A tensor under the names of a template of its shape and dtype."""
    return x if x.names == template.names else rename_like(x, template)
