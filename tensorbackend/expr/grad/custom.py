"""`custom_gradient`: a function with its own gradient, one node in a graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from types import MappingProxyType
from typing import Any, NamedTuple, ParamSpec, TypeVar

from ...declarations.argument_errors import check_arguments_early
from ...errors import ArgumentError, expected
from ...errors.tracebacks import name_in_errors
from ...ops.creation.filled import asarray, zeros_like
from ...protocol.callbacks import CompositeCall
from ...scopes import in_own_context
from ...select import call_with_default, common_backend, default_backend, get_backend, move
from ...tensor import Tensor
from ..aliases import call_watched
from ..arguments import split
from ..closures import close, close_over, freeze_variables, intern_graph, reachable_tensors
from ..evaluate import evaluate
from ..expr_backend import ExprBackend, capture, current, expr_tensor, home_of_call, outside_traces
from ..graph import Graph
from ..mesh_variation import varies_of
from ..node import CUSTOM, Node, Value, next_serial
from ..simplify import rewritten
from ..trace import argument_names, resume_trace, trace_leaves
from ..tree_containers import Tree
from ..trees import flatten, paths, tree_map, unflatten
from .engine import find_dependents, inexact, sum_broadcast
from .registry import Cotangents, NoGradient, rule
from .tape import current_tape
from .tape_backend import TapeBackend, again, earlier_values, recorder_of, underlying_tensor

P = ParamSpec("P")
R = TypeVar("R")


class Pullback:
    """The gradient that a node keeps: the graph of a function of cotangents, which the node itself never runs.

    The graph is made when it is first needed. A function of cotangents may call the function whose gradient it is, so
    that tracing it at once would never end. Two are equal if they were made from equal graphs.
    """

    def __init__(self, source: Graph | Callable[[], Graph]) -> None:
        self._source = source
        self._graph = source if isinstance(source, Graph) else None

    @property
    def graph(self) -> Graph:
        """The graph from the node's operands and a cotangent for each result to a cotangent for each argument."""
        # Not a `cached_property`: before Python 3.12 that computes under a lock, and a forked child would wait for it.
        if self._graph is None:
            assert not isinstance(self._source, Graph)
            self._graph = self._source()
        return self._graph

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pullback) and self._source == other._source

    def __hash__(self) -> int:
        return hash(self._source)


@check_arguments_early
def custom_gradient(function: Callable[P, tuple[R, Callable[..., Any]]]) -> Callable[P, R]:
    """Define a gradient: the function returns its result and a function of the result's cotangent.

    In a graph the function is one node. The function of cotangents is traced only when a gradient is computed, so it
    may call the function itself. JAX's own transformations do not use the gradient; the transformations of
    tensorbackend do, on every backend.

    Parameters
    ----------
    function
        Takes nested tensors and options. It returns a pair: its result (nested tensors), and a function of a cotangent
        that is nested like the result. The latter returns a cotangent for each argument, `None` for zero: a tuple, or
        just the cotangent if there is one argument. A tensor that the result depends on and that a gradient is computed
        with respect to must be an argument; if it is only closed over, the gradient is an error. `stop_gradient` makes
        it a constant.

    Returns
    -------
    Callable
        A function of the same arguments that returns the result. A second derivative differentiates the function of
        cotangents. On a tape both functions run eagerly, on tensors with data.

    Raises
    ------
    ArgumentError
        For a function that does not return such a pair, and for cotangents that are not nested like the arguments.
    GradientError
        For a gradient with respect to a tensor that the function closes over. In a graph, also for a function of
        cotangents that gets a value of the graph from anywhere but its arguments, its closure, or their attributes.

    Examples
    --------
    >>> @tb.custom_gradient
    ... def clipped(x):
    ...     return x, lambda cotangent: tb.clip(cotangent, -1, 1)
    >>> tb.grad(lambda x: 5 * clipped(x))(2.0).item()
    1.0
    >>> @tb.custom_gradient
    ... def inverse(x):
    ...     return 1 / x, lambda cotangent: -cotangent * inverse(x) ** 2
    >>> tb.grad(tb.grad(inverse))(2.0).item()
    0.25
    """

    called: Callable[..., tuple[Any, Callable[..., Any]]] = function

    @wraps(called)
    def op(*arguments: Any) -> Any:
        leaves, tree = flatten(arguments)
        tensors, _ = split(leaves)
        backend = home_of_call(tensors)
        if not isinstance(backend, ExprBackend):
            if isinstance(backend, TapeBackend) or current_tape() is not None:  # a closed-over tensor may be on a tape
                return _record_on_tape(function, arguments, leaves, tree)
            return tree_map(_constant, _pair(called(*arguments))[0])
        traced = _TracedGradient(function, arguments, leaves, tree)
        forward, pullback, constants = traced.close_graphs()
        call = CompositeCall(
            forward.results,
            (tuple(move(x, backend) for x in (*constants, *tensors)),),
            MappingProxyType({"forward": forward, "pullback": pullback}),
        )
        results = call_with_default(backend, backend.optional, CUSTOM, call, _forward)
        return unflatten(traced.forward.out_tree, results)

    # The op takes the parameters of the function, by position only.
    return name_in_errors(op, "custom_gradient")  # type: ignore[return-value]


def _constant(leaf: Any) -> Any:
    return underlying_tensor(leaf) if isinstance(leaf, Tensor) else leaf


def _pair(returned: Any) -> tuple[Any, Callable[..., Any]]:
    if not isinstance(returned, tuple) or len(returned) != 2 or not callable(returned[1]):
        expectation = "a function that returns its result and a function of cotangents"
        raise ArgumentError(expected(expectation, returned=returned))
    return returned


# In a graph


class _TracedGradient:
    """The graph of a function on arguments, and that of its function of cotangents, which continues the same trace."""

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...], leaves: list[Any], tree: Tree) -> None:
        self.tree, (_, self.fill) = tree, split(leaves)
        names = argument_names(function, arguments)
        pairs = [(leaf, name) for leaf, name in zip(leaves, names, strict=True) if isinstance(leaf, Tensor)]
        self.names = [name for _, name in pairs]

        def call(parameters: list[Any]) -> Any:
            self.parameters, self.scope = parameters, current()
            given = unflatten(tree, self.fill(parameters))
            result, pull = _pair(call_watched(function, (given, {}), (arguments, {})))
            self.pull = freeze_variables(pull)
            return result

        self.forward = trace_leaves(
            call, [x.template for x, _ in pairs], self.names, varying=[varies_of(x) for x, _ in pairs]
        )
        assert self.scope is not None  # while a function is traced
        self.held = [
            x
            for x in reachable_tensors(function, self.pull)
            if isinstance(x.backend, ExprBackend) and x.data.node.serial < self.scope.start
        ]

    def backward(self) -> Graph:
        """The graph of the function of cotangents: it takes the arguments, and a cotangent for each result."""
        out_tree = self.forward.out_tree

        def pull(cotangents: list[Any]) -> list[Any]:
            returned = self.pull(unflatten(out_tree, cotangents))
            return cotangents_of_arguments(returned, self.tree, self.fill(self.parameters))

        assert self.scope is not None  # while a function is traced
        return resume_trace(
            pull,
            self.scope,
            [x.data for x in self.parameters],
            self.forward.results,
            [*self.names, *paths(out_tree, "cotangent")],
        )

    def close_graphs(self) -> tuple[Graph, Pullback, list[Tensor]]:
        """Both graphs with the tensors that they close over as their first parameters, and these tensors."""
        (forward,), constants = close([self.forward], self.held)
        return forward, Pullback(lambda: close_over(self.backward(), constants)), constants


def cotangents_of_arguments(returned: Any, tree: Tree, leaves: Sequence[Any]) -> list[Any]:
    """A cotangent for each tensor among the leaves of the arguments, zeros where there is none."""
    count = len(tree.children)
    by_argument = (returned,) if count == 1 and not (isinstance(returned, tuple) and len(returned) == 1) else returned
    if not isinstance(by_argument, tuple) or len(by_argument) != count:
        raise ArgumentError(expected(f"a tuple of {count} cotangents, one for each argument", returned=returned))
    cotangents: list[Any] = []
    for position, (cotangent, branch) in enumerate(zip(by_argument, tree.children, strict=True)):
        below, nested = flatten(cotangent)
        if cotangent is None:
            rest = leaves[len(cotangents) : len(cotangents) + branch.size]
            below = [_zero_cotangent(leaf) if isinstance(leaf, Tensor) else None for leaf in rest]
        elif nested != branch:
            expectation = f"a cotangent nested like argument {position}: {', '.join(paths(branch, 'argument'))}"
            raise ArgumentError(expected(expectation, returned=cotangent))
        cotangents.extend(below)
    # Here the axes of a broadcast are known. Under `vmap` one more, of the examples, would be in front of them.
    return [
        sum_broadcast(x, leaf.template) if isinstance(x, Tensor) else x
        for x, leaf in zip(cotangents, leaves, strict=True)
        if isinstance(leaf, Tensor)
    ]


def _zero_cotangent(leaf: Tensor) -> Tensor:
    """The cotangent of a tensor for which there is none: zeros.

    For a narrow dtype, which may have no zero and whose cotangent nothing reads, it is the tensor itself.
    """
    return leaf if leaf.dtype.is_narrow else zeros_like(leaf)


def _forward(out: object, inputs: Sequence[Any], options: Mapping[str, Any]) -> tuple[Tensor, ...]:
    (tensors,) = inputs
    return tuple(evaluate(options["forward"], tensors, None if tensors else get_backend()))


def trace_pullbacks(graph: Graph) -> Graph:
    """A graph with each function of cotangents traced that a gradient of the parameters needs."""
    flowing = find_dependents(graph.nodes, {value.node for value in graph.parameters})
    # A node that is remade with other inputs keeps its options object, by which it is recognised here.
    option_ids = {id(node.options) for node in flowing if node.op == CUSTOM}

    def visit(node: Node) -> Sequence[Value]:
        if id(node.options) not in option_ids:
            return node.values
        pullback = node.options["pullback"]
        assert isinstance(pullback, Pullback)  # as the graph's option is one
        return node.remade(node.inputs, {**node.options, "pullback": Pullback(intern_graph(pullback.graph))}).values

    return rewritten(graph, visit) if option_ids else graph


@rule(CUSTOM, selective=True)
def _custom_gradient(
    cotangent: tuple[Tensor | None, ...],
    out: tuple[Tensor, ...],
    tensors: tuple[Tensor, ...],
    *,
    needed: tuple[tuple[bool, ...]],
    pullback: Pullback | _TapePullback,
    forward: Graph | None = None,
) -> Cotangents:
    seeds = [zeros_like(x) if seed is None else seed for seed, x in zip(cotangent, out, strict=True)]
    on_tape = isinstance(pullback, _TapePullback)
    count = pullback.argument_count if isinstance(pullback, _TapePullback) else len(pullback.graph.outputs)
    held = len(tensors) - count
    wanted = [place for place in range(held) if needed[0][place]]
    closed_over = [place for place in wanted if on_tape or _flows_to(forward, place)]
    if closed_over:
        return (tuple([_not_an_argument(x) if place in closed_over else None for place, x in enumerate(tensors)]),)
    if isinstance(pullback, _TapePullback):
        return ((*(None,) * held, *pullback(seeds)),)
    return ((*(None,) * held, *evaluate(pullback.graph, [*tensors, *seeds])),)


def _flows_to(forward: Graph | None, place: int) -> bool:
    """Whether a gradient would flow from the results of a graph to the parameter at a position."""
    assert forward is not None  # as the node is one of a graph
    reached = find_dependents(forward.nodes, {forward.parameters[place].node})
    return any(value.node in reached and inexact(value) for value in forward.outputs)


def _not_an_argument(x: Tensor) -> NoGradient:
    return NoGradient(f"it has none with respect to {x.template!r}, which its function closes over: pass that to it")


# On a tape


def _record_on_tape(function: Callable[..., Any], arguments: tuple[Any, ...], leaves: Sequence[Any], tree: Tree) -> Any:
    """Call a function on a tape, and record it as one node from its arguments to its result."""
    start = next_serial()
    # The function gets nodes of its own for its arguments, which tell them from the same tensors in its closure.
    passed = [again(leaf) if isinstance(leaf, Tensor) else leaf for leaf in leaves]
    given: tuple[Any, dict[str, Any]] = unflatten(tree, passed), {}
    result, pull = _pair(call_watched(function, given, (arguments, {})))
    result_leaves, out_tree = flatten(result)
    tensors = [x if isinstance(x, Tensor) else asarray(x) for x in result_leaves]
    taken = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
    closed_over = earlier_values(tensors, [x for x in passed if isinstance(x, Tensor)], start)
    backend = common_backend([*closed_over, *taken])
    if not isinstance(backend, TapeBackend):
        return tree_map(_constant, result)
    results = tuple(move(underlying_tensor(x), backend.on) for x in tensors)
    options = {"pullback": _TapePullback(freeze_variables(pull), leaves, tree, results, out_tree, len(taken))}
    out = tuple(x.template for x in results)
    operands = tuple(move(x, backend) for x in (*closed_over, *taken))
    values = backend.record_results(CUSTOM, out, (operands,), options, None, results)
    return unflatten(out_tree, [Tensor(x, backend, value) for x, value in zip(out, values, strict=True)])


class _TapePullback(NamedTuple):
    """The function of cotangents of a call on a tape, which runs on data."""

    pull: Callable[..., Any]
    leaves: Sequence[Any]
    tree: Tree
    results: tuple[Tensor, ...]
    out_tree: Tree
    argument_count: int
    """The number of tensors among the arguments."""

    @in_own_context
    def __call__(self, seeds: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """The cotangents of the arguments, as constants of the gradient's graph."""
        backend = recorder_of(self.results[0])
        with outside_traces(), default_backend(backend):
            data = evaluate(Graph((), [x.data for x in seeds]), (), backend)
            cotangents = [Tensor(like.template, x.backend, x.data) for like, x in zip(self.results, data, strict=True)]
            gradients = cotangents_of_arguments(self.pull(unflatten(self.out_tree, cotangents)), self.tree, self.leaves)
            tensors = [x if isinstance(x, Tensor) else asarray(x) for x in gradients]
        keeps = isinstance(backend, TapeBackend)
        return tuple(expr_tensor(capture(x if keeps else underlying_tensor(x))) for x in tensors)
