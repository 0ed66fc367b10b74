"""Derivatives forward, along tangents: `jvp` and `linearize`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar, TypeVarTuple, overload

from ...entry import checked
from ...errors import ArgumentError, expected
from ...ops.creation.filled import zeros
from ...protocol import Backend
from ...select import common_backend
from ...tensor import Tensor
from ..evaluate import evaluate
from ..graph import Graph
from ..simplify import results
from ..trees import flatten, paths, unflatten
from . import rules as rules
from .calls import Call, like, named_like, traced
from .engine import differentiated, linearized

R = TypeVar("R")
Primals = TypeVarTuple("Primals")


class Push(NamedTuple):
    """A function at a point: its results, and the linear function from tangents of arguments to those of results."""

    results: list[Tensor]
    residuals: list[Tensor]
    linear: Graph
    """Takes the residuals and a tangent for each parameter; computes a tangent for each floating or complex result."""

    def __call__(self, tangents: Sequence[Tensor]) -> list[Tensor]:
        """The tangents of the floating and complex results."""
        return evaluate(self.linear, [*self.residuals, *tangents])


def pushed(call: Call, backend: Backend) -> Push:
    """Linearize the function of a call at its arguments.

    The cotangents of the arguments are linear in the cotangents of the results. The transpose of that linear function,
    which is its gradient, takes tangents forward.
    """
    graph, count, inputs = call.graph, len(call.graph.outputs), len(call.leaves)
    back = differentiated(graph, range(inputs))
    seeds = back.templates[inputs:]
    forward, linear = linearized(back, range(inputs, inputs + len(seeds)), range(count, count + inputs))
    kept = [*range(count), *range(count + inputs, len(forward.outputs))]
    unused = [zeros(template.shape, dtype=template.dtype, backend=backend) for template in seeds]
    outputs = evaluate(results(forward, kept), [*call.leaves, *unused])
    return Push(outputs[:count], outputs[count:], linear)


def _tangents(call: Call, moved: Sequence[Tensor], backend: Backend) -> Any:
    """Tangents nested as the results: those in `moved` for floating and complex results, zeros for the others."""
    rest = iter(moved)
    outs = [
        named_like(next(rest), template)
        if template.dtype.is_inexact
        else zeros(template.shape, dtype=template.dtype, names=template.names, backend=backend)
        for template in call.graph.results
    ]
    return unflatten(call.out_tree, outs)


@checked
def jvp(function: Callable[..., R], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[R, R]:
    """The result of a function, and its derivative along tangents, one for each argument.

    A result of integers or bools has a tangent of zeros.

    Parameters
    ----------
    function
        A function of tensors, nested in lists, tuples, dicts and dataclasses.
    primals
        Its arguments: floating or complex tensors, or numbers.
    tangents
        A tangent for each argument, nested as it is.

    Returns
    -------
    tuple
        The result, and its tangent, nested likewise.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> y, tangent = tb.jvp(lambda x: x * x, (tb.asarray(3.0),), (tb.asarray(1.0),))
    >>> y.item(), tangent.item()
    (9.0, 6.0)
    """
    call = traced(function, range(len(primals)), primals, {})
    tensors = [x for x in (*call.leaves, *flatten(tuple(tangents))[0]) if isinstance(x, Tensor)]
    backend = common_backend(tensors)
    push = pushed(call, backend)
    moved = push(_like_arguments(call, tangents, backend))
    return unflatten(call.out_tree, push.results), _tangents(call, moved, backend)


@overload
def linearize(function: Callable[[*Primals], R], *primals: *Primals) -> tuple[R, Callable[[*Primals], R]]: ...
@overload
def linearize(function: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]: ...
@checked  # type: ignore[misc] # any primals stand for those of the function
def linearize(function: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """The result of a function, and its derivative there as a function of tangents.

    It is `jvp` in two steps: the function is computed once, and then its derivative along any number of tangents.

    Parameters
    ----------
    function
        A function of tensors, nested in any way.
    *primals
        Its arguments: floating or complex tensors, or numbers.

    Returns
    -------
    tuple
        The result, and a function that takes a tangent for each argument, nested as the argument, and returns the
        tangent of the result. A result of integers or bools has a tangent of zeros.

    Raises
    ------
    DTypeError
        For an argument that is neither floating nor complex.
    GradientError
        For an op that has no gradient.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> y, push = tb.linearize(lambda x: x * x, tb.asarray(3.0))
    >>> y.item(), push(tb.asarray(1.0)).item(), push(0.5).item()
    (9.0, 6.0, 3.0)
    """
    call = traced(function, range(len(primals)), primals, {})
    backend = common_backend(call.leaves)
    push = pushed(call, backend)

    def along(*tangents: Any) -> Any:
        """The tangent of the result, from a tangent for each argument."""
        return _tangents(call, push(_like_arguments(call, tangents, backend)), backend)

    return unflatten(call.out_tree, push.results), along


def _like_arguments(call: Call, tangents: Sequence[Any], backend: Backend) -> list[Tensor]:
    """Tangents in a flat list; `ArgumentError` or `ShapeError` for tangents that do not match the arguments."""
    leaves, tree = flatten(tuple(tangents))
    if tree != call.tree:
        expectation = f"tangents nested like the arguments: {', '.join(paths(call.tree, 'arguments'))}"
        raise ArgumentError(expected(expectation, given=", ".join(paths(tree, "tangents"))))
    chosen, chosen_paths = call.for_parameters(leaves), call.for_parameters(paths(tree, "tangents"))
    return [
        like(x, primal.template, path, backend)
        for x, primal, path in zip(chosen, call.leaves, chosen_paths, strict=True)
    ]
