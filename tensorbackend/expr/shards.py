"""`shard_map`: a function that is applied to the part of each device of a mesh."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar, overload

from ..declarations.argument_errors import check_arguments_early
from ..errors import OperandError, ShapeError, expected
from ..mesh import Layout, Mesh, Sharding, spread
from ..scopes import in_own_context
from ..tensor import Tensor
from .aliases import call_watched
from .arguments import as_tensors, split
from .control import call, close_on, name_errors
from .graph import Graph
from .mesh_variation import NOWHERE, Variation, results_of, trace_on_mesh
from .trace import argument_names, trace_leaves
from .trees import flatten, paths, unflatten

P = ParamSpec("P")
R = TypeVar("R")

Axes = tuple[tuple[str, ...], ...]


@overload
def shard_map(
    function: Callable[P, R], *, mesh: Mesh, layout: Mapping[str, str | Sequence[str] | None]
) -> Callable[P, R]: ...
@overload
def shard_map(
    function: None = None, *, mesh: Mesh, layout: Mapping[str, str | Sequence[str] | None]
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
@check_arguments_early
def shard_map(
    function: Callable[..., Any] | None = None, *, mesh: Mesh, layout: Mapping[str, str | Sequence[str] | None]
) -> Any:
    """Map a function of parts over the devices of a mesh: each device calls it with its own parts of the arguments.

    The results of the devices are combined. By default XLA divides the work of a function of whole tensors. Inside
    `shard_map` the work is divided explicitly: the function gets parts, and communicates by collectives (`psum`,
    `all_gather`, ...). `jit`, `grad` and `vmap` take the mapped function like any other function.

    Parameters
    ----------
    function : Callable, optional
        A function of tensors, nested like the arguments of `trace`, which returns tensors. Tensors that it closes over
        are whole on each device. Without a function, `shard_map` is a decorator with options.
    mesh : Mesh
        The mesh of the arguments' backend.
    layout : mapping of str to str, sequence of str or None
        Rules as for `JaxBackend`, often the same rules. An axis with a rule is divided, both of arguments and of
        results; any other axis is whole.

    Returns
    -------
    Callable
        The function of whole tensors. If no axis of a result is divided over some mesh axis, the result must be the
        same on all devices along that mesh axis, as after `psum`.

    Raises
    ------
    ShapeError
        If a rule cannot be satisfied: the mesh does not divide the axis, or two rules need the same mesh axis. Also for
        a result that may differ between devices along a mesh axis over which it is not divided.
    BackendError
        For tensors that are not on a mesh.

    Examples
    --------
    >>> mesh, rules = tb.Mesh({"data": 1}), {"batch": "data"}
    >>> @tb.shard_map(mesh=mesh, layout=rules)
    ... def mean(x):
    ...     return tb.pmean(tb.mean(x, axis="batch"), "data")
    >>> x = tb.asarray([1.0, 2.0], names=("batch",), backend=tb.JaxBackend(mesh=mesh, layout=rules))
    >>> mean(x).item()
    1.5
    """
    if function is None:
        return partial(shard_map, mesh=mesh, layout=layout)
    rules = Layout(mesh, layout)

    @wraps(function)
    @in_own_context
    def call(*arguments: Any, **keywords: Any) -> Any:
        with name_errors("shard_map"):
            leaves, tree = flatten((arguments, keywords))
            leaves = as_tensors(leaves)
            tensors, fill = split(leaves)
            every = zip(argument_names(function, arguments, keywords), leaves, strict=True)
            labels = [label for label, leaf in every if isinstance(leaf, Tensor)]
            shardings = [_check_rules(rules.of(x.template), label) for x, label in zip(tensors, labels, strict=True)]
        out_tree = None

        def call_on_parts(parts: list[Any]) -> Any:
            nonlocal out_tree
            result = call_watched(function, unflatten(tree, fill(parts)), (arguments, keywords))
            results, out_tree = flatten(result)
            with name_errors("shard_map"):
                return _tensors(results, paths(out_tree, "result"))

        with trace_on_mesh(mesh):
            parts = [x.template.replace(shape=x.shard_shape) for x in shardings]
            varying = [NOWHERE.widened(mesh_axes_of(x.axes)) for x in shardings]
            body = trace_leaves(call_on_parts, parts, labels, varying=varying)
            assert out_tree is not None  # set by the trace
            found = results_of(body, varying)
        with name_errors("shard_map"):
            wholes = [spread(rules, part) for part in body.results]
            for label, whole, varies in zip(paths(out_tree, "result"), wholes, found, strict=True):
                _refuse_differing(label, whole, varies)
            results = call_shard_map(mesh, body, tensors, [x.axes for x in shardings], wholes)
        return unflatten(out_tree, results)

    return call


def call_shard_map(
    mesh: Mesh, body: Graph, operands: Sequence[Tensor], inside: Sequence[Axes], wholes: Sequence[Sharding]
) -> tuple[Tensor, ...]:
    """Runs a graph of parts on operands, each divided as `inside` says, and combines the results.

    Captured tensors are whole on each device.
    """
    (body,), backend, inputs = close_on([body], operands)
    constants = [((),) * x.ndim for x in inputs[0][: len(inputs[0]) - len(operands)]]
    outside = tuple([x.axes for x in wholes])
    options = {"body": body, "mesh": mesh, "inside": (*constants, *inside), "outside": outside}
    return call("shard_map", backend, tuple([x.template for x in wholes]), inputs, options)


def mesh_axes_of(axes: Axes) -> tuple[str, ...]:
    """The mesh axes that divide some axis of a tensor."""
    return tuple([name for mesh_axes in axes for name in mesh_axes])


def _refuse_differing(label: str, whole: Sharding, varies: Variation) -> None:
    """Raises `ShapeError` for a result that may differ along a mesh axis over which it is not divided."""
    left = [name for name in whole.mesh.names if name in varies.differs - {*mesh_axes_of(whole.axes)}]
    if left and any(whole.mesh.sizes[name] > 1 for name in left):
        over = repr(left[0] if len(left) == 1 else tuple(left))
        expectation = (
            f"{label} to be the same on all devices along {' and '.join(left)}, as no axis of it is divided there"
        )
        remedy = f"combine it with psum(..., {over}), pmean() or all_gather(), or name an axis that layout divides"
        raise ShapeError(expected(expectation, remedy, result=whole.template))


def _check_rules(sharding: Sharding, label: str) -> Sharding:
    """The sharding itself; `ShapeError` if it does not satisfy all rules."""
    if sharding.notes:
        raise ShapeError(expected("arguments that all rules divide", sharding.notes[0], **{label: sharding.template}))
    return sharding


def _tensors(results: Sequence[Any], labels: Sequence[str]) -> list[Tensor]:
    """The results of a function, which are all tensors."""
    for result, label in zip(results, labels, strict=True):
        if not isinstance(result, Tensor):
            raise OperandError(expected(f"a tensor as {label}", "wrap it in tb.asarray()", value=result))
    return list(results)
