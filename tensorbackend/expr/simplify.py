"""Rewrites: functions from graph to equivalent graph.

Dead code needs no separate pass, since a `Graph` holds only the nodes that its results need; `results` drops some of
the results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..caching.option_keys import options_key
from ..errors import TensorBackendError
from ..protocol import Backend
from ..scopes import in_own_context
from ..select import call_with_default, get_backend
from ..tensor import Tensor
from .effects import order_effects
from .evaluate import KEPT_BYTES, compute_node, inline_custom_gradients
from .expr_backend import ExprBackend, capture, expr_tensor, record_block, value_of
from .graph import Graph, rebuilt, subgraphs
from .kept_nodes import value_under
from .node import CAPTURED, HOOK, HOST, RENAMED, Node, Value, in_place_of, is_sized
from .tree_containers import LEAF, Tree

Visit = Callable[[Node], Sequence[Value]]


def rewritten(graph: Graph, visit: Visit) -> Graph:
    """Replaces the values of each node by those that `visit` returns for the node on rewritten inputs.

    The result is the graph itself if `visit` replaces nothing.
    """
    exchanged: dict[Value, Value] = {value: value for value in graph.parameters}
    same = True  # until a value is replaced; from then on nodes are made again, so that their order stays
    for node in graph.nodes[len(graph.parameters) :]:
        updated = node
        if not same and node.op != CAPTURED:
            updated = node.remade(node.map_inputs(exchanged.__getitem__))
        for index, replacement in enumerate(visit(updated)):
            value = Value(node, index)
            exchanged[value] = replacement
            same = same and replacement == value
    if same:
        return graph
    return rebuilt(graph, [value_under(value.template, exchanged[value]) for value in graph.outputs])


def results(graph: Graph, chosen: Sequence[int]) -> Graph:
    """The graph of some of the results, without the nodes that only the others need.

    >>> import tensorbackend as tb
    >>> graph = tb.trace(lambda x: (tb.sum(x), tb.exp(x)))("f32[n=3]")
    >>> [node.op for node in results(graph, [0]).nodes]
    ['parameter', 'sum']
    """
    tree = Tree(tuple, tuple(range(len(chosen))), (LEAF,) * len(chosen))
    outputs = [graph.outputs[index] for index in chosen]
    reduced_graph = Graph(graph.parameters, outputs, tree, graph.names)
    reduced_graph.call = graph.call
    return reduced_graph


def common_subexpressions(graph: Graph) -> Graph:
    """Replaces equal nodes by one node: the same op with the same inputs and options.

    >>> import tensorbackend as tb
    >>> graph = tb.trace(lambda x: tb.exp(x) + tb.exp(x))("f32[n=3]")
    >>> [node.op for node in common_subexpressions(graph).nodes]
    ['parameter', 'exp', 'add']
    """
    known: dict[Any, Node] = {}

    def visit(node: Node) -> Sequence[Value]:
        try:
            return known.setdefault(_key(node), node).values
        except TypeError:  # an option that does not hash
            return node.values

    return rewritten(graph, visit)


def _key(node: Node) -> tuple[Any, ...]:
    if node.tensor is not None:
        return CAPTURED, node.out, id(node.tensor.data), node.tensor.backend
    options = node.options
    if not options:
        return node.op, node.out, node.inputs, node.default, node.products
    return node.op, node.out, node.inputs, node.default, node.products, *options_key(options)


@in_own_context
def constant_folding(graph: Graph, backend: Backend | str | None = None) -> Graph:
    """Computes each value that does not depend on the parameters once, on a backend, unless it is large.

    >>> import tensorbackend as tb
    >>> graph = tb.trace(lambda x: x * tb.sqrt(tb.asarray(2.0)))("f32[n=3]")
    >>> [node.op for node in constant_folding(graph).nodes]
    ['parameter', 'captured', 'multiply']
    """
    chosen = get_backend(backend)
    known: dict[Node, Tensor | tuple[Tensor, ...]] = {}

    def tensor(value: Value) -> Tensor:
        result = known[value.node]
        return result[value.index] if isinstance(result, tuple) else result

    def visit(node: Node) -> Sequence[Value]:
        if node.op in (HOOK, HOST) or is_sized(node) or any(source not in known for source, _ in node.operands):
            return node.values
        small = sum(template.nbytes for template in node.outs) <= KEPT_BYTES
        if node.tensor is not None:
            if not isinstance(node.tensor.backend, ExprBackend):
                known[node] = compute_node(node, chosen, ())
            return node.values
        if not small:
            return node.values
        try:
            result = call_with_default(chosen, compute_node, node, chosen, node.map_inputs(tensor))
        except TensorBackendError:  # an error that data causes is raised when the graph runs
            return node.values
        if not node.inputs:  # a constant already
            known[node] = result
            return node.values
        with in_place_of(node):
            values = [capture(x) for x in (result if isinstance(result, tuple) else (result,))]
        for value in values:
            assert value.node.tensor is not None  # a captured node has one
            known[value.node] = value.node.tensor
        return values

    return rewritten(graph, visit)


def expanded(graph: Graph, keep: Callable[[Node], bool]) -> Graph:
    """Replaces composites by their parts, recursively, except control flow and nodes to keep.

    >>> import tensorbackend as tb
    >>> graph = tb.trace(lambda x: tb.square(x))("f32[n=3]")
    >>> [node.op for node in expanded(graph, lambda node: False).nodes]
    ['parameter', 'multiply']
    """

    def divides(node: Node) -> bool:
        return node.default is not None and node.op not in (HOOK, HOST) and not subgraphs(node) and not keep(node)

    graph = inline_custom_gradients(graph)
    while any(map(divides, graph.nodes)):
        graph = rewritten(graph, lambda node: parts(node) if divides(node) else node.values)
    return graph


def remove_names(graph: Graph) -> Graph:
    """Removes the nodes that rename axes, except those of results, as callbacks do not depend on names.

    Also removes casts, reshapes and transpositions that do not change a value.
    """
    return rewritten(graph, lambda node: node.operands if _changes_nothing_but_names(node) else node.values)


def _changes_nothing_but_names(node: Node) -> bool:
    if node.op not in (RENAMED, "as_type", "reshape", "squeeze", "broadcast", "transpose"):
        return False
    (x,), (out,) = node.operands, node.outs
    same = x.template.dtype is out.dtype and x.template.shape == out.shape
    if node.op in ("broadcast", "transpose"):
        return same and node.options["axes"] == tuple(range(out.ndim))
    return same


@in_own_context
def parts(node: Node) -> tuple[Value, ...]:
    """A composite's results, computed by new nodes that its default implementation records."""
    assert node.default is not None  # a composite has one
    with in_place_of(node), record_block() as scope:
        result = node.default(node.out, node.map_inputs(expr_tensor), node.options)
        tensors = (result,) if isinstance(result, Tensor) else result
        return tuple(order_effects(scope, [value_of(x) for x in tensors]))


def simplified(graph: Graph, backend: Backend | str | None = None) -> Graph:
    """A graph that will run on a backend, with common subexpressions merged and constants folded."""
    merged = common_subexpressions(graph)
    folded = constant_folding(merged, backend)
    return merged if folded is merged else common_subexpressions(folded)
