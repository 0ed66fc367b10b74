"""`shard_map`: a function of the parts that each device of a mesh holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar, overload

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
    """A function that each device of a mesh calls with its parts of the arguments; the results are put together.

    By default XLA divides the work of a function of whole tensors. Inside `shard_map` the work is divided by hand: the
    function sees parts, and says by collectives (`psum`, `all_gather`, ...) what the devices do together. `jit`,
    `grad` and `vmap` take it as any function.

    Parameters
    ----------
    function : Callable, optional
        A function of tensors, nested as the arguments of `trace`, which gives tensors. Tensors that it closes over are
        whole on each device. Without it `shard_map` is a decorator with options.
    mesh : Mesh
        The mesh of the arguments' backend.
    layout : mapping of str to str, sequence of str or None
        Rules as `JaxBackend` takes them, often the same. An axis with a rule is divided, both of arguments and of
        results; any other is whole.

    Returns
    -------
    Callable
        The function of whole tensors. A result without an axis on some mesh axis must be the same on all devices along
        it, as after `psum`; which device's is taken is not said.

    Raises
    ------
    ShapeError
        Where a rule cannot be met, as the mesh does not divide the axis or two rules want one mesh axis.
    BackendError
        For tensors on no mesh.

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
        assert out_tree is not None  # by the trace
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
    """A sharding that meets all rules; `ShapeError` for one that does not."""
    if sharding.notes:
        raise ShapeError(expected("arguments that all rules divide", sharding.notes[0], **{label: sharding.template}))
    return sharding


def _tensors(results: Sequence[Any], labels: Sequence[str]) -> list[Tensor]:
    """The results of a function, which are all tensors."""
    for result, label in zip(results, labels, strict=True):
        if not isinstance(result, Tensor):
            raise OperandError(expected(f"a tensor as {label}", "return tb.asarray(...) of it", value=result))
    return list(results)
