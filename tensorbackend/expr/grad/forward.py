"""Forward-mode derivatives, along tangents: `jvp` and `linearize`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar, TypeVarTuple, overload

from ...declarations.argument_errors import check_arguments_early
from ...ops.creation.filled import zeros
from ...protocol import Backend
from ...select import common_backend
from ...template import Template
from ...tensor import Tensor
from ..evaluate import evaluate
from ..graph import Graph
from ..tree_containers import Tree
from ..trees import flatten, unflatten
from . import rules as rules
from .calls import Call, Held, fit_nested
from .eager_traces import RecalledCall
from .eager_transforms import Linear, SplitPrograms, differentiate, later, run_transform, split_program
from .engine import push_graph, rename_to_template

R = TypeVar("R")
Primals = TypeVarTuple("Primals")


class Pushforward(NamedTuple):
    """A function at a point: its results, and the linear function from tangents of arguments to those of results."""

    results: Sequence[Tensor]
    linear: Linear
    """Takes a tangent for each parameter; computes a tangent for each floating or complex result."""


def linearize_call(call: Call, backend: Backend) -> Pushforward:
    """Linearize the function of a call at its arguments."""
    halves = _halves(call.graph, range(len(call.leaves)))
    unused = [zeros(x.shape, dtype=x.dtype, backend=backend) for x in halves.unused]
    outputs, count = evaluate(halves.forward, [*call.leaves, *unused]), len(call.graph.outputs)
    return Pushforward(outputs[:count], Linear(halves.linear, outputs[count:]))


def _halves(graph: Graph, positions: Sequence[int]) -> SplitPrograms:
    """The graph of a function's results, and that of the linear function of tangents."""
    forward, linear = push_graph(graph, positions)
    return SplitPrograms(forward, linear, [x for x in graph.results if x.dtype.is_inexact])


def _tangents(templates: Sequence[Template], out_tree: Tree, moved: Sequence[Tensor], backend: Backend) -> Any:
    """Tangents nested like the results: those in `moved` for floating and complex results, zeros for the others."""
    rest = iter(moved)
    outs = [
        rename_to_template(next(rest), template)
        if template.dtype.is_inexact
        else zeros(template.shape, dtype=template.dtype, names=template.names, backend=backend)
        for template in templates
    ]
    return unflatten(out_tree, outs)


@check_arguments_early
def jvp(function: Callable[..., R], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[R, R]:
    """Compute the result of a function, and its derivative along tangents, one for each argument.

    A result of integers or bools has a tangent of zeros.

    Parameters
    ----------
    function
        A function of tensors, nested in lists, tuples, dicts and dataclasses.
    primals
        Its arguments: floating or complex tensors, or numbers.
    tangents
        A tangent for each argument, with the same nesting.

    Returns
    -------
    tuple
        The result, and its tangent, with the same nesting.

    Examples
    --------
    >>> y, tangent = tb.jvp(lambda x: x * x, (tb.asarray(3.0),), (tb.asarray(1.0),))
    >>> y.item(), tangent.item()
    (9.0, 6.0)
    """

    def from_record(record: RecalledCall, key: Any) -> tuple[R, R]:
        moved = _flatten_tangents(record.leaves, record.tree, {}, tangents)
        return run_transform("jvp", key, record, _jvp, moved)  # type: ignore[no-any-return]

    def from_trace(call: Call) -> tuple[R, R]:
        return _jvp(call, _flatten_tangents(call.leaves, call.tree, call.held, tangents))

    return differentiate(function, range(len(primals)), primals, {}, later(from_record), later(from_trace))


def _jvp(call: Call, tangents: Sequence[Tensor]) -> tuple[Any, Any]:
    """The results of a call and their derivatives along tangents."""
    backend = common_backend([*call.leaves, *tangents])
    push = linearize_call(call, backend)
    moved = push.linear(tangents)
    return unflatten(call.out_tree, push.results), _tangents(call.graph.results, call.out_tree, moved, backend)


@overload
def linearize(function: Callable[[*Primals], R], *primals: *Primals) -> tuple[R, Callable[[*Primals], R]]: ...
@overload
def linearize(function: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]: ...
@check_arguments_early  # type: ignore[misc] # any number of primals
def linearize(function: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """Compute the result of a function, and its derivative there as a function of tangents.

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
        The result, and a function that takes a tangent for each argument, nested like the argument, and returns the
        tangent of the result. A result of integers or bools has a tangent of zeros.

    Raises
    ------
    DTypeError
        For an argument that is neither floating nor complex.
    GradientError
        For an op that has no gradient.

    Examples
    --------
    >>> y, push = tb.linearize(lambda x: x * x, tb.asarray(3.0))
    >>> y.item(), push(tb.asarray(1.0)).item(), push(0.5).item()
    (9.0, 6.0, 3.0)
    """

    def from_record(record: RecalledCall, key: Any) -> tuple[Any, Callable[..., Any]]:
        push = Pushforward(*split_program("linearize", key, record, _halves))
        return _result_and_push(push, record.out_tree, record.leaves, record.tree, {})

    def from_trace(call: Call) -> tuple[Any, Callable[..., Any]]:
        push = linearize_call(call, common_backend(call.leaves))
        return _result_and_push(push, call.out_tree, call.leaves, call.tree, call.held)

    return differentiate(function, range(len(primals)), primals, {}, later(from_record), later(from_trace))


def _result_and_push(
    push: Pushforward, out_tree: Tree, leaves: Sequence[Tensor], tree: Tree, held: Mapping[int, Held]
) -> tuple[Any, Callable[..., Any]]:
    backend, templates = common_backend(leaves), [x.template for x in push.results]

    def push_tangents(*tangents: Any) -> Any:
        """The tangent of the result, from a tangent for each argument."""
        moved = push.linear(_flatten_tangents(leaves, tree, held, tangents))
        return _tangents(templates, out_tree, moved, backend)

    return unflatten(out_tree, push.results), push_tangents


def _flatten_tangents(
    primals: Sequence[Tensor], tree: Tree, held: Mapping[int, Held], tangents: Sequence[Any]
) -> list[Tensor]:
    """Tangents in a flat list; `ArgumentError` or `ShapeError` for tangents that do not match the arguments."""
    home = common_backend([*primals, *(x for x in flatten(tuple(tangents))[0] if isinstance(x, Tensor))])
    return fit_nested(tuple(tangents), "tangents", (tree, "arguments", [x.template for x in primals]), home, held)
