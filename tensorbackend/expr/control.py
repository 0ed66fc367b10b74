"""Control flow: `fori_loop`, `scan`, and the loop that `while_loop` runs.

Their functions are traced before anything is run. The functions see values without data, so that they behave the
same on every backend, and errors are raised before the first iteration. Each loop is then one call of a callback of
`protocol/control.py`, with the traced functions as graphs. The call runs a loop in Python on a backend without a
callback for it, and records one node in a trace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import index
from types import MappingProxyType
from typing import Any, TypeVar, cast, overload

from ..annotations import Axis
from ..declarations.argument_errors import check_arguments
from ..dispatch import perform
from ..dtypes import bool_
from ..errors import ArgumentError, DTypeError, NamesError, OperandError, ShapeError, TensorBackendError, expected
from ..ops.composite.shape.arranging import moveaxis
from ..ops.elementwise.basic import astype
from ..ops.inspection import result_type
from ..protocol import Backend, own_method
from ..protocol.callbacks import CompositeCall, Default
from ..rules.axes import normalize_axis
from ..select import call_with_default, common_backend, move
from ..template import Template
from ..tensor import Tensor, TensorLike
from .aliases import call_body, owners_of
from .closures import close, trace_flat
from .effects import run_hook, run_host, run_on_a_mesh
from .evaluate import runs_op_by_op
from .graph import Graph
from .loop_state import Leaves, flatten_state, home_of, trace_until_stable
from .loops import CONTROL
from .node import HOOK, HOST
from .tree_containers import Tree
from .trees import Nested, flatten, leaves_like, paths, unflatten

X = TypeVar("X")
Y = TypeVar("Y")

Function = Callable[..., Any]

Tensors = tuple[Tensor, ...]

Group = Leaves | Sequence[Tensor]
"""Operands that a callback takes as one sequence."""

Flat = Callable[[list[Tensor]], tuple[list[Any], list[str]]]
"""A function that takes a flat list of tensors, and returns its results and their paths."""


@contextmanager
def name_errors(name: str) -> Iterator[None]:
    """Prepends a function's name to the errors that the block raises."""
    try:
        yield
    except TensorBackendError as error:
        error.named(name)
        raise


# Calls with graphs

_DEFAULTS: Mapping[str, Default] = {
    **CONTROL,
    HOOK: run_hook,
    HOST: run_host,
    "shard_map": run_on_a_mesh,
    "collective": run_on_a_mesh,
}


def call(
    name: str, backend: Backend, out: tuple[Template, ...], inputs: tuple[Any, ...], options: Mapping[str, object]
) -> Tensors:
    """Runs a callback of control flow for tensors on one backend, with closed graphs among its options."""
    arguments, default = CompositeCall(out, inputs, MappingProxyType(dict(options))), _DEFAULTS[name]
    results: Any = (
        call_with_default(backend, default, *arguments)
        if name in CONTROL and runs_op_by_op(backend)
        else perform(backend, name, arguments, own_method(backend, name), default)
    )
    return cast(Tensors, results)


def close_on(graphs: Sequence[Graph], *groups: Group) -> tuple[tuple[Graph, ...], Backend, tuple[Tensors, ...]]:
    """Closed graphs, and groups of values as tensors on one backend, the first behind the captured tensors."""
    closed, constants = close(graphs)
    tensors = [x for group in groups for x in (group.tensors if isinstance(group, Leaves) else group)]
    backend = common_backend([*constants, *tensors])

    def on_backend(group: Group) -> Tensors:
        return group.on(backend) if isinstance(group, Leaves) else tuple([move(x, backend) for x in group])

    first, *rest = map(on_backend, groups)
    return closed, backend, ((*on_backend(constants), *first), *rest)


def call_checkpoint(body: Graph, operands: Sequence[Tensor]) -> Tensors:
    """Runs a graph as a checkpoint."""
    (body,), backend, inputs = close_on([body], operands)
    return call("checkpoint", backend, body.results, inputs, {"body": body})


def call_cond(predicate: Group, operands: Group, true_branch: Graph, false_branch: Graph) -> Tensors:
    """Runs one of two graphs, by the single tensor of `predicate`."""
    (true_branch, false_branch), backend, (taken, (asked,)) = close_on([true_branch, false_branch], operands, predicate)
    options = {"true_branch": true_branch, "false_branch": false_branch}
    return call("cond", backend, true_branch.results, (asked, taken), options)


def call_scan(
    body: Graph, constants: Group, initial: Group, xs: Group, *, length: int, reverse: bool, name: str | None = None
) -> Tensors:
    """Runs a scan whose body is a graph that takes constants, carried values and entries of `xs`.

    Returns the last carried values, then the other results of the body, stacked along a first axis called `name`.
    """
    (body,), backend, inputs = close_on([body], constants, initial, xs)
    results, count = body.results, len(inputs[1])
    ys = (Template((length, *y.shape), y.dtype, (name, *y.names)) for y in results[count:])
    options = {"body": body, "length": length, "reverse": reverse}
    return call("scan", backend, (*results[:count], *ys), inputs, options)


def check_predicate(predicate: Template, what: str) -> None:
    """Raises `DTypeError` or `ShapeError` for anything but a single bool."""
    if predicate.dtype is not bool_:
        raise DTypeError(expected(f"a {what} of dtype bool", "compare it, such as x != 0", **{what: predicate}))
    if predicate.shape:
        remedy = "reduce it with any() or all(), or choose elements with where()"
        raise ShapeError(expected(f"a {what} without axes", remedy, **{what: predicate}))


def check_integer(template: Template, what: str) -> None:
    """Raises `DTypeError` for anything but a single integer."""
    if not template.dtype.is_integer or template.shape:
        remedy = "cast it with astype()" if not template.shape else "index it first"
        raise DTypeError(expected(f"{what} as an integer without axes", remedy, **{what.split()[-1]: template}))


# Loops


def run_while(carried: Leaves, holds: Callable[[list[Tensor]], Any], iteration: Flat, limit: int | None) -> Tensors:
    """Runs a loop while a condition is true, for at most `limit` iterations; returns the carried leaves at the end."""
    home = home_of(carried.tensors)
    traced_body = trace_until_stable(
        carried, lambda: trace_flat(iteration, carried.templates, carried.paths, home, carried.varying)
    )
    asked = trace_flat(
        lambda leaves: ([holds(leaves)], ["condition"]), carried.templates, carried.paths, home, carried.varying
    )
    check_predicate(asked.graph.results[0], "condition")
    (condition, body), backend, inputs = close_on([asked.graph, traced_body.graph], (), carried)
    return call("while_loop", backend, body.results, inputs, {"condition": condition, "body": body, "limit": limit})


@overload
def fori_loop(
    lower: TensorLike, upper: TensorLike, body: Callable[[Tensor, Tensor], Tensor], initial: TensorLike
) -> Tensor: ...
@overload
def fori_loop(
    lower: TensorLike, upper: TensorLike, body: Callable[[Tensor, Nested], Nested], initial: Nested
) -> Nested: ...
@overload
def fori_loop(lower: TensorLike, upper: TensorLike, body: Function, initial: Any) -> Any: ...
@check_arguments
def fori_loop(lower: TensorLike, upper: TensorLike, body: Callable[[Any, Any], Any], initial: Any) -> Any:
    """Run `carry = body(i, carry)` for each i from `lower` up to but excluding `upper`.

    i is a tensor without axes: int64, or of the bounds' dtype. With Python ints as bounds the loop has a known length
    and a gradient. Carried values are as in `while_loop`.

    Parameters
    ----------
    lower, upper : int or Tensor
        The first i, and its exclusive upper bound.
    body
        A function (i, carry) that returns the next carry.

    Returns
    -------
    Any
        The carried values at the end, with the same nesting.

    Examples
    --------
    >>> tb.fori_loop(1, 6, lambda i, product: product * i, 1).item()
    120
    """
    with name_errors("fori_loop"):
        home = home_of(lower, upper, initial)
        inner, tree = flatten_state(initial, "carry", home)
        bounds = Leaves([lower, upper], ["lower", "upper"], home)
        for path, template in zip(bounds.paths, bounds.templates, strict=True):
            check_integer(template, path)
        first, last = bounds.leaves
        if isinstance(first, Tensor):
            first = astype(first, result_type(first, last))
        carried = Leaves([first, *inner.leaves], ["i", *inner.paths], home)

        def iteration(leaves: list[Tensor]) -> tuple[list[Any], list[str]]:
            given = leaves[0], unflatten(tree, leaves[1:])
            result = call_body(body, given, [None, *owners_of(initial, tree)], carried.paths, first=1)
            carry = leaves_like(tree, result, "carry", "to keep its nesting")
            return [leaves[0] + 1, *carry], carried.paths

        if not bounds.tensors:
            length = max(0, index(last) - index(first))
            return unflatten(tree, run_scan_of(carried, iteration, Leaves([], [], home), length, False, None)[1:])
        if not isinstance(first, Tensor):
            carried.templates[0] = Template((), result_type(first, last))
        return unflatten(tree, run_while(carried, lambda leaves: leaves[0] < last, iteration, None)[1:])


@overload
def scan(
    function: Callable[[Nested, X], tuple[Nested, Y]],
    initial: Nested,
    xs: X,
    length: int | None = None,
    reverse: bool = False,
    *,
    axis: Axis = 0,
) -> tuple[Nested, Y]: ...
@overload
def scan(
    function: Function,
    initial: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    *,
    axis: Axis = 0,
) -> tuple[Any, Any]: ...
@check_arguments
def scan(
    function: Callable[[Any, Any], Any],
    initial: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    *,
    axis: Axis = 0,
) -> tuple[Any, Any]:
    """Run `carry, y = function(carry, x)` for each entry x along an axis; returns the last carry and all y, stacked.

    The axis is the first one by default, and may be given by its name, as in `axis="time"`. The y are stacked along a
    first axis of that name. `xs` may be nested tensors of the same size along the axis, or `None` with a `length`. Each
    y may be nested tensors or `None`. With `reverse` the scan begins with the last entry, but each y is stored at
    the position of its x. Carried values are as in `while_loop`. Raises `ShapeError` for axes of different sizes, and
    `AxisError` if a tensor lacks the axis.

    Parameters
    ----------
    function
        A function (carry, x) that returns (carry, y).
    xs : optional
        Tensors with entries along the axis, nested in any way.
    length : int, optional
        The number of steps, if `xs` is omitted.
    reverse : bool, default False
        Whether to scan from the last entry to the first.
    axis : int or str, default 0
        The axis of the entries, by position or by name.

    Returns
    -------
    tuple
        The carried values at the end, and the stacked y.

    Examples
    --------
    >>> x = tb.asarray([[1.0, 2.0, 3.0]], names=("batch", "time"))
    >>> total, sums = tb.scan(lambda total, x: (total + x, total + x), tb.zeros(1, names=("batch",)), x, axis="time")
    >>> sums
    f32[time: 3][batch: 1] numpy
    [[1.0],
     [3.0],
     [6.0]]
    """
    with name_errors("scan"):
        home = home_of(initial, xs)
        carried, tree = flatten_state(initial, "carry", home)
        scanned, xs_tree = flatten_state(xs, "xs", home)
        size, name = bring_forward(scanned, axis, length)
        out_tree: list[Tree] = []

        def step(leaves: list[Tensor]) -> tuple[list[Any], list[str]]:
            count = tree.size
            given = unflatten(tree, leaves[:count]), unflatten(xs_tree, leaves[count:])
            owners = [*owners_of(initial, tree), *owners_of(xs, xs_tree)]
            names = [*carried.paths, *scanned.paths]
            result = call_body(function, given, owners, names, lambda result: result[0])
            if not isinstance(result, tuple) or len(result) != 2:
                raise OperandError(expected("a function that returns a pair (carry, y)", returned=type(result)))
            carry = leaves_like(tree, result[0], "carry", "to keep its nesting")
            ys, ys_tree = flatten(result[1])
            out_tree[:] = [ys_tree]
            return [*carry, *ys], [*carried.paths, *paths(ys_tree, "y")]

        results = run_scan_of(carried, step, scanned, size, bool(reverse), name)
        return unflatten(tree, results[: tree.size]), unflatten(out_tree[0], results[tree.size :])


def bring_forward(scanned: Leaves, axis: Axis, length: int | None) -> tuple[int, str | None]:
    """Moves the scanned axis of each leaf to the front; returns the size and the name of the axis."""
    size, source = None if length is None else index(length), "length= says"
    if size is not None and size < 0:
        raise ArgumentError(expected("a length of at least 0", length=length))
    name = axis if isinstance(axis, str) else None
    for position, (leaf, path) in enumerate(zip(scanned.leaves, scanned.paths, strict=True)):
        if not isinstance(leaf, Tensor):
            raise OperandError(expected(f"{path} as a tensor with an axis to scan", "close over numbers", given=leaf))
        try:
            along = normalize_axis(leaf.template, axis)
        except TensorBackendError as error:
            error.args = (f"{path}: {error}", *error.args[1:])
            raise
        if size is not None and leaf.shape[along] != size:
            remedy = "scan axes of one size"
            raise ShapeError(expected(f"{path} to have {size} entries, as {source}", remedy, given=leaf.template))
        axis_name = leaf.names[along]
        if name is not None and axis_name not in (None, name):
            remedy = "rename() one of them"
            raise NamesError(expected(f"the scanned axis of {path} to be named {name!r}", remedy, given=leaf.template))
        if size is None:
            size, source = leaf.shape[along], f"{path} has"
        name = name or axis_name
        moved = leaf if along == 0 else moveaxis(leaf, along, 0)
        scanned.leaves[position], scanned.templates[position] = moved, moved.template
    if size is None:
        raise ArgumentError(expected("xs or a length", "pass length= for a scan without xs", xs=None))
    return size, name


def run_scan_of(carried: Leaves, step: Flat, scanned: Leaves, length: int, reverse: bool, name: str | None) -> Tensors:
    """Runs a scan of a step; returns the carried leaves after all steps, then the stacked results."""
    entries = [x.replace(shape=x.shape[1:], names=x.names[1:]) for x in scanned.templates]
    names = [*carried.paths, *(path.replace("xs", "x", 1) for path in scanned.paths)]
    home = home_of(carried.tensors, scanned.tensors)
    traced_step = trace_until_stable(
        carried,
        lambda: trace_flat(step, [*carried.templates, *entries], names, home, [*carried.varying, *scanned.varying]),
    )
    return call_scan(traced_step.graph, (), carried, scanned, length=length, reverse=reverse, name=name)
