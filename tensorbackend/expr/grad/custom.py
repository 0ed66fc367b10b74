"""`custom_gradient`: a function that brings its own gradient, one node in a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from functools import cache, wraps
from types import MappingProxyType
from typing import Any, NamedTuple

from ...entry import checked
from ...errors import ArgumentError, expected
from ...ops.creation.filled import zeros_like
from ...protocol.core import CompositeCall
from ...select import common_backend, get_backend, move, with_default
from ...tensor import Tensor
from ..closures import close, close_over
from ..evaluate import evaluate
from ..graph import Graph
from ..record import ExprBackend
from ..trace import argument_names, trace_leaves
from ..trees import Tree, flatten, paths, unflatten
from .registry import Cotangents, rule
from .tape import TapeBackend

_OP = "custom_gradient"


class Pullback(NamedTuple):
    """What a node keeps for its gradient: the graph of the function of cotangents, which the node itself never runs."""

    made: Graph | Callable[[], Graph]
    """The graph, or what makes it: a function of cotangents may hold the very node whose gradient it is."""

    @property
    def graph(self) -> Graph:
        """Takes what the node does and a cotangent for each result, gives a cotangent for each argument."""
        return self.made if isinstance(self.made, Graph) else self.made()


@checked
def custom_gradient(function: Callable[..., tuple[Any, Callable[..., Any]]]) -> Callable[..., Any]:
    """A function with a gradient of its own: it returns its result and the function of the result's cotangent.

    That one takes a cotangent nested as the result is and returns one for each argument, `None` for zero: a tuple,
    unless there is just one argument. Arguments and results may be nested tensors; what else the function closes over
    is constant. It may call the function itself. A second derivative is that of the function of cotangents. In a graph
    it is one node. JAX's own transformations do not see the gradient, those of tensorbackend do on every backend.
    Raises `ArgumentError` for cotangents that are not nested as the arguments.

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
            return _pair(function(*arguments))[0]
        traced = _Traced(function, leaves, tree, argument_names(function, arguments))
        forward, pullback, constants = traced.closed()
        call = CompositeCall(
            forward.results,
            (tuple(move(x, backend) for x in (*constants, *tensors)),),
            MappingProxyType({"forward": forward, "pullback": pullback}),
        )
        found = with_default(backend, backend.optional, _OP, call, _forward)
        return unflatten(traced.forward.out_tree, found)

    return op


def _pair(found: Any) -> tuple[Any, Callable[..., Any]]:
    if not isinstance(found, tuple) or len(found) != 2 or not callable(found[1]):
        wanted = "a function that returns its result and a function of cotangents"
        raise ArgumentError(expected(wanted, returned=found))
    return found


_pulling: ContextVar[tuple[Callable[..., Any], ...]] = ContextVar("tensorbackend_pulling", default=())
"""The functions whose functions of cotangents are being traced."""


class _Traced:
    """A function on arguments: its graph, and that of its function of cotangents, for which it is run again."""

    def __init__(self, function: Callable[..., Any], leaves: list[Any], tree: Tree, names: list[str]) -> None:
        self.function, self.leaves, self.tree = function, leaves, tree
        pairs = [(leaf, name) for leaf, name in zip(leaves, names, strict=True) if isinstance(leaf, Tensor)]
        self.templates, self.names = [x.template for x, _ in pairs], [name for _, name in pairs]
        self.forward = trace_leaves(lambda given: self._called(given)[0], self.templates, self.names)

    def _filled(self, given: Iterable[Any]) -> list[Any]:
        rest = iter(given)
        return [next(rest) if isinstance(leaf, Tensor) else leaf for leaf in self.leaves]

    def _called(self, given: Iterable[Any]) -> tuple[Any, Callable[..., Any]]:
        return _pair(self.function(*unflatten(self.tree, self._filled(given))))

    def backward(self) -> Graph:
        """The graph of the function of cotangents: it takes the arguments, and a cotangent for each result."""
        count, out_tree = len(self.templates), self.forward.out_tree

        def pulled(given: list[Any]) -> list[Any]:
            _, pull = self._called(given[:count])
            found = pull(unflatten(out_tree, given[count:]))
            cotangents = _like_arguments(found, self.tree, self._filled(given[:count]))
            return [x for x, leaf in zip(cotangents, self.leaves, strict=True) if isinstance(leaf, Tensor)]

        before = _pulling.get()
        try:
            _pulling.set((*_pulling.get(), self.function))
            names = [*self.names, *paths(out_tree, "cotangent")]
            return trace_leaves(pulled, [*self.templates, *self.forward.results], names)
        finally:
            _pulling.set(before)

    def closed(self) -> tuple[Graph, Pullback, list[Tensor]]:
        """Both graphs as ones that take first what they close over, and that."""
        if self.function not in _pulling.get():
            (forward, backward), constants = close([self.forward, self.backward()])
            return forward, Pullback(backward), constants
        # Its own function of cotangents asks for it, and would go on to do so for ever.
        (forward,), constants = close([self.forward])
        return forward, Pullback(cache(lambda: close_over(self.backward(), constants))), constants


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
