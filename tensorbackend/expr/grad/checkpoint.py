"""`checkpoint`: a function whose gradient recomputes it, rather than keep its values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast, overload

from ...declarations.argument_errors import check_arguments_early
from ...errors.tracebacks import name_in_errors
from ...select import move
from ...tensor import Tensor
from ..aliases import call_watched
from ..arguments import as_tensors, split
from ..control import call_checkpoint
from ..expr_backend import ExprBackend, home_of_call
from ..graph import Graph
from ..recomputation import Policy, selection, values_to_keep
from ..trace import argument_names, trace_leaves
from ..trees import flatten, unflatten
from .tape_backend import TapeBackend

P = ParamSpec("P")
R = TypeVar("R")


@overload
def checkpoint(function: Callable[P, R], *, policy: Policy = ...) -> Callable[P, R]: ...
@overload
def checkpoint(*, policy: Policy) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
@check_arguments_early
def checkpoint(function: Callable[..., Any] | None = None, *, policy: Policy = "nothing") -> Any:
    """Make a function whose gradient keeps only its arguments and recomputes its values.

    A gradient needs values of the forward pass, which occupy memory until the backward pass has used them. A chain of n
    checkpointed functions keeps n arguments, and the values of one function at a time. The gradient is the same, and
    tensors that the function closes over have a gradient too. In a graph the function is one node. `dry_run` shows how
    much memory is saved.

    Parameters
    ----------
    function
        A function of tensors, nested like the arguments of `trace`, and of any other arguments. Without it, a decorator
        is returned.
    policy : {"nothing", "products"}, collection of str, or callable, default "nothing"
        The values that are kept besides the arguments and the results: none, the results of matrix products and
        convolutions, those of the named ops, or those for which a function of an op's name and its result's template
        returns True. All others are recomputed.

    Returns
    -------
    Callable
        The function. In a graph and on a tape, where a gradient might be computed, it is traced, so that its arguments
        are tensors without data.

    Raises
    ------
    ArgumentError
        For another policy.
    TemplateDataError
        If the function reads data in a graph or on a tape.

    See Also
    --------
    fit : Chooses which calls of checkpointed functions are recomputed, for a limit of memory.

    Examples
    --------
    >>> def layer(x):
    ...     return tb.sin(tb.exp(tb.tanh(x)))
    >>> def chain(layer, x):
    ...     for _ in range(16):
    ...         x = layer(x)
    ...     return tb.sum(x)
    >>> x = "f32[100000]"
    >>> plain = tb.dry_run(lambda x: chain(layer, x), x, gradient=True)
    >>> spared = tb.dry_run(lambda x: chain(tb.checkpoint(layer), x), x, gradient=True)
    >>> spared.peak.memory < 0.65 * plain.peak.memory
    True

    A policy that keeps products recomputes the rest, which costs few operations:

    >>> @tb.checkpoint(policy="products")
    ... def dense(x, w):
    ...     return tb.tanh(x @ w)
    >>> tb.grad(lambda w: tb.sum(dense(tb.ones((1, 2)), w)))(tb.zeros((2, 1))).tolist()
    [[1.0], [1.0]]
    """
    if function is None:
        return lambda function: _wrap(function, policy)
    return _wrap(function, policy)


def _wrap(function: Callable[P, R], policy: Policy) -> Callable[P, R]:

    @wraps(function)
    def call(*arguments: P.args, **keywords: P.kwargs) -> R:
        chosen, number = selection.get(), None
        if chosen is not None:
            # Each call counts, also one without a gradient: the choice was made in a trace, which cannot tell them.
            number = chosen.enter_call(name)
            if number is None:
                return function(*arguments, **keywords)
        leaves, tree = flatten((arguments, keywords))
        leaves = as_tensors(leaves)
        tensors, fill = split(leaves)
        backend = home_of_call(tensors)
        if not isinstance(backend, ExprBackend | TapeBackend):
            return function(*arguments, **keywords)

        def flat(operands: list[Any]) -> Any:
            return call_watched(function, unflatten(tree, fill(operands)), (arguments, dict(keywords)))

        names = argument_names(function, arguments, dict(keywords))
        names = [name for name, leaf in zip(names, leaves, strict=True) if isinstance(leaf, Tensor)]
        graph = trace_leaves(flat, tensors, names)
        if chosen is not None and number is not None:
            chosen.enter_body(number, graph)
        kept = values_to_keep(graph, policy)
        body = Graph(graph.parameters, [*graph.outputs, *kept]) if kept else graph
        results = call_checkpoint(body, [move(x, backend) for x in tensors])
        return cast(R, unflatten(graph.out_tree, results[: len(graph.outputs)]))

    name = getattr(function, "__qualname__", type(function).__name__)
    return name_in_errors(call, "checkpoint")


def compute_apart(function: Callable[..., tuple[Tensor, ...]], operands: Sequence[Tensor | None]) -> Sequence[Tensor]:
    """The results of a function of tensors, for a gradient rule that computes again what an op computed.

    In a graph it is one node. Its values are not merged with those of the op, which would then be kept.
    """
    tensors, fill = split(operands)
    backend = home_of_call(tensors)
    if not isinstance(backend, ExprBackend | TapeBackend):
        return function(*operands)
    graph = trace_leaves(lambda given: function(*fill(given)), tensors, [""] * len(tensors))
    return call_checkpoint(graph, [move(x, backend) for x in tensors])
