"""`shard_map`: a function of the parts that each device of a mesh holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar, overload

from ..blocks import contained
from ..entry import checked
from ..errors import OperandError, ShapeError, expected
from ..mesh import Layout, Mesh, Sharding, spread
from ..select import common_backend
from ..template import Template
from ..tensor import Tensor
from .arguments import as_tensors
from .closures import close
from .collectives import on_mesh
from .control import call, named, on_backend
from .graph import Graph
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
@checked
def shard_map(
    function: Callable[..., Any] | None = None, *, mesh: Mesh, layout: Mapping[str, str | Sequence[str] | None]
) -> Any:
    """Turn a function of parts into a function of whole tensors: each device of a mesh calls it with its own parts.

    The results of the devices are put together. By default XLA divides the work of a function of whole tensors. Inside
    `shard_map` the work is divided by hand: the function sees parts, and says by collectives (`psum`, `all_gather`,
    ...) what the devices do together. `jit`, `grad` and `vmap` take the mapped function like any other function.

    Parameters
    ----------
    function : Callable, optional
        A function of tensors, nested as the arguments of `trace`, which returns tensors. Tensors that it closes over
        are whole on each device. Without a function, `shard_map` is a decorator with options.
    mesh : Mesh
        The mesh of the arguments' backend.
    layout : mapping of str to str, sequence of str or None
        Rules as `JaxBackend` takes them, often the same rules. An axis with a rule is divided, both of arguments and of
        results; any other axis is whole.

    Returns
    -------
    Callable
        The function of whole tensors. If no axis of a result is divided over some mesh axis, the result must be the
        same on all devices along that mesh axis, as after `psum`; it is not defined which device's result is taken.

    Raises
    ------
    ShapeError
        If a rule cannot be met: the mesh does not divide the axis, or two rules want the same mesh axis.
    BackendError
        For tensors that are not on a mesh.

    Examples
    --------
    >>> import tensorbackend as tb
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
    @contained
    def mapped(*arguments: Any, **keywords: Any) -> Any:
        with named("shard_map"):
            leaves, tree = flatten((arguments, keywords))
            leaves = as_tensors(leaves)
            places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
            labels = [*argument_names(function, arguments, keywords)]
            shardings = [_met(rules.of(leaves[place].template), labels[place]) for place in places]
        out_tree = None

        def of_parts(parts: list[Any]) -> Any:
            nonlocal out_tree
            filled = list(leaves)
            for place, part in zip(places, parts, strict=True):
                filled[place] = part
            positional, by_name = unflatten(tree, filled)
            results, out_tree = flatten(function(*positional, **by_name))
            with named("shard_map"):
                return _tensors(results, paths(out_tree, "result"))

        with on_mesh(mesh):
            parts = [x.template.replace(shape=x.shard_shape) for x in shardings]
            body = trace_leaves(of_parts, parts, [labels[place] for place in places])
        with named("shard_map"):
            wholes = [spread(rules, part) for part in body.results]
            results = call_shard_map(
                mesh, body, [leaves[place] for place in places], [x.axes for x in shardings], wholes
            )
        assert out_tree is not None  # set by the trace
        return unflatten(out_tree, results)

    return mapped


def call_shard_map(
    mesh: Mesh, body: Graph, operands: Sequence[Tensor], inside: Sequence[Axes], wholes: Sequence[Sharding]
) -> tuple[Tensor, ...]:
    """Runs a graph of parts on operands, each divided as `inside` says, and puts the results together.

    Captured tensors are whole on each device.
    """
    (body,), constants = close([body])
    backend = common_backend([*constants, *operands])
    options = {
        "body": body,
        "mesh": mesh,
        "inside": (*[((),) * x.ndim for x in constants], *inside),
        "outside": tuple([x.axes for x in wholes]),
    }
    out: tuple[Template, ...] = tuple([x.template for x in wholes])
    return call("shard_map", backend, out, (on_backend((*constants, *operands), backend),), options)


def _met(sharding: Sharding, label: str) -> Sharding:
    """The sharding itself; `ShapeError` if it does not meet all rules."""
    if sharding.notes:
        raise ShapeError(expected("arguments that all rules divide", sharding.notes[0], **{label: sharding.template}))
    return sharding


def _tensors(results: Sequence[Any], labels: Sequence[str]) -> list[Tensor]:
    """The results of a function, which are all tensors."""
    for result, label in zip(results, labels, strict=True):
        if not isinstance(result, Tensor):
            raise OperandError(expected(f"a tensor as {label}", "wrap it in tb.asarray()", value=result))
    return list(results)
