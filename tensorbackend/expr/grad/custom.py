"""`custom_gradient`: a function that brings its own gradient, one node in a graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from types import MappingProxyType
from typing import Any, NamedTuple

from ...errors import ArgumentError, expected
from ...ops.creation import asarray, zeros_like
from ...protocol.core import CompositeCall
from ...select import common_backend, get_backend, move, with_default
from ...tensor import Tensor
from ..closures import close
from ..evaluate import evaluate
from ..graph import Graph
from ..node import PARAMETER, Node, Value
from ..record import ExprBackend, expr_tensor
from ..trace import argument_names, trace_leaves
from ..trees import Tree, flatten, paths, unflatten
from .registry import Cotangents, rule
from .tape import TapeBackend

_OP = "custom_gradient"


class Pullback(NamedTuple):
    """What a node keeps for its gradient: the graph of the function of cotangents, which the node itself never runs."""

    graph: Graph
    """Takes what the node does and a cotangent for each result, gives a cotangent for each argument."""


def custom_gradient(function: Callable[..., tuple[Any, Callable[..., Any]]]) -> Callable[..., Any]:
    """A function with a gradient of its own: it returns its result and the function of the result's cotangent.

    That one takes a cotangent nested as the result is and returns one for each argument, `None` for zero: a tuple,
    unless there is just one argument. Arguments and results may be nested tensors; what else the function closes over
    is constant. In a graph it is one node. JAX's own transformations do not see the gradient, those of tensorbackend
    do on every backend. Raises `ArgumentError` for cotangents that are not nested as the arguments.

    >>> import tensorbackend as tb
    >>> @tb.custom_gradient
    ... def clipped(x):
    ...     return x, lambda cotangent: tb.clip(cotangent, -1, 1)
    >>> tb.grad(lambda x: 5 * clipped(x))(2.0).item()
    1.0
    """

    @wraps(function)
    def op(*arguments: Any) -> Any:
        leaves, tree = flatten(arguments)
        tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        backend = common_backend(tensors)
        if isinstance(get_backend(), ExprBackend):
            backend = ExprBackend()  # a closed-over tensor may be one of the graph's
        if not isinstance(backend, ExprBackend | TapeBackend):
            return function(*arguments)[0]
        graphs, constants, out_tree = _traced(function, leaves, tree, argument_names(function, arguments))
        forward, backward = graphs
        call = CompositeCall(
            forward.results,
            (tuple(move(x, backend) for x in (*constants, *tensors)),),
            MappingProxyType({"forward": forward, "pullback": Pullback(backward)}),
        )
        found = with_default(backend, backend.optional, _OP, call, _forward)
        return unflatten(out_tree, found)

    return op


def _traced(
    function: Callable[..., Any], leaves: list[Any], tree: Tree, names: list[str]
) -> tuple[tuple[Graph, ...], list[Tensor], Tree]:
    """The graphs of the result and of the cotangents, closed, the tensors that they close over, the result's tree."""
    seeds: list[Value] = []
    trees: list[Tree] = []
    tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]

    def run(given: list[Any]) -> list[Tensor]:
        rest = iter(given)
        filled = [next(rest) if isinstance(leaf, Tensor) else leaf for leaf in leaves]
        value, pull = function(*unflatten(tree, filled))
        results, out_tree = flatten(value)
        outs = [x if isinstance(x, Tensor) else asarray(x) for x in results]
        seeds.extend(Value(Node(PARAMETER, x.template)) for x in outs)
        trees.append(out_tree)
        found = pull(unflatten(out_tree, map(expr_tensor, seeds)))
        cotangents = _like_arguments(found, tree, filled)
        return [*outs, *(x for x, leaf in zip(cotangents, leaves, strict=True) if isinstance(leaf, Tensor))]

    whole = trace_leaves(
        run, tensors, [name for name, leaf in zip(names, leaves, strict=True) if isinstance(leaf, Tensor)]
    )
    forward = Graph(whole.parameters, whole.outputs[: len(seeds)], names=whole.names)
    backward = Graph(
        [*whole.parameters, *seeds],
        whole.outputs[len(seeds) :],
        names=[*whole.names, *paths(trees[0], "cotangent")],
    )
    graphs, constants = close([forward, backward])
    return graphs, constants, trees[0]


def _like_arguments(found: Any, tree: Tree, leaves: Sequence[Any]) -> list[Any]:
    """A cotangent for each leaf of the arguments, zeros where there is none."""
    count = len(tree.children)
    given = (found,) if count == 1 and not (isinstance(found, tuple) and len(found) == 1) else found
    if not isinstance(given, tuple) or len(given) != count:
        raise ArgumentError(expected(f"a tuple of {count} cotangents, one for each argument", returned=found))
    cotangents: list[Any] = []
    for position, (each, branch) in enumerate(zip(given, tree.children, strict=True)):
        below, nested = flatten(each)
        if each is None:
            rest = leaves[len(cotangents) : len(cotangents) + branch.size]
            below = [zeros_like(leaf) if isinstance(leaf, Tensor) else None for leaf in rest]
        elif nested != branch:
            wanted = f"a cotangent nested as argument {position}: {', '.join(paths(branch, 'argument'))}"
            raise ArgumentError(expected(wanted, returned=each))
        cotangents.extend(below)
    return cotangents


def _forward(out: object, inputs: Sequence[Any], options: Mapping[str, Any]) -> tuple[Tensor, ...]:
    (tensors,) = inputs
    return tuple(evaluate(options["forward"], tensors, None if tensors else get_backend()))


@rule(_OP)
def _custom_gradient(
    cotangent: tuple[Tensor | None, ...],
    out: tuple[Tensor, ...],
    tensors: tuple[Tensor, ...],
    *,
    forward: Graph,
    pullback: Pullback,
) -> Cotangents:
    seeds = [zeros_like(x) if given is None else given for given, x in zip(cotangent, out, strict=True)]
    found = evaluate(pullback.graph, [*tensors, *seeds])
    return ((*(None,) * (len(tensors) - len(found)), *found),)
