"""`checkpoint`: a function whose gradient recomputes it, rather than keep its values."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

from ...declarations.argument_errors import check_arguments_early
from ...errors.tracebacks import name_in_errors
from ...select import common_backend, get_backend, move
from ...tensor import Tensor
from ..arguments import as_tensors
from ..control import call_checkpoint
from ..record import ExprBackend
from ..trace import argument_names, trace_leaves
from ..trees import flatten, unflatten
from .tape_backend import TapeBackend

P = ParamSpec("P")
R = TypeVar("R")


@check_arguments_early
def checkpoint(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function whose gradient keeps only its arguments and recomputes its values.

    A gradient needs values of the forward pass, which occupy memory until the backward pass has used them. A chain of n
    checkpointed functions keeps n arguments, and the values of one function at a time. The gradient is the same, and
    tensors that the function closes over have a gradient too. In a graph the function is one node. `dry_run` shows how
    much memory is saved.

    Parameters
    ----------
    function
        A function of tensors, nested like the arguments of `trace`, and of any other arguments.

    Returns
    -------
    Callable
        The function. In a graph and on a tape, where a gradient might be computed, it is traced, so that its arguments
        are tensors without data.

    Raises
    ------
    TemplateDataError
        If the function reads data in a graph or on a tape.

    Examples
    --------
    >>> import tensorbackend as tb
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
    """

    @wraps(function)
    def call(*arguments: P.args, **keywords: P.kwargs) -> R:
        leaves, tree = flatten((arguments, keywords))
        leaves = as_tensors(leaves)
        tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        backend = common_backend(tensors)
        if isinstance(get_backend(), ExprBackend):
            backend = ExprBackend()  # a closed-over tensor may be one of the graph's
        if not isinstance(backend, ExprBackend | TapeBackend):
            return function(*arguments, **keywords)

        def flat(operands: list[Any]) -> Any:
            rest = iter(operands)
            positional, named = unflatten(tree, [next(rest) if isinstance(x, Tensor) else x for x in leaves])
            return function(*positional, **named)

        names = argument_names(function, arguments, dict(keywords))
        chosen = [name for name, leaf in zip(names, leaves, strict=True) if isinstance(leaf, Tensor)]
        graph = trace_leaves(flat, tensors, chosen)
        results = call_checkpoint(graph, [move(x, backend) for x in tensors])
        return cast(R, unflatten(graph.out_tree, results))

    return name_in_errors(call, "checkpoint")
