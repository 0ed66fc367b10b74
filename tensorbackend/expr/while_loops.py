"""`while_loop`: iterates while a condition is true, for all examples or for each; it can return a trajectory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from operator import index
from typing import Any, cast, overload

from ..annotations import Axis
from ..declarations.argument_errors import check_arguments
from ..dtypes import bool_
from ..errors import ArgumentError, AxisError, DTypeError, ShapeError, expected
from ..ops.composite.elementwise.functions import stop_gradient
from ..ops.creation.filled import asarray, full
from ..ops.elementwise.basic import astype, where
from ..ops.elementwise.binary import less, logical_and
from ..ops.indexing.taking import take
from ..ops.reduction import any as any_
from ..ops.reduction import argmax
from ..ops.shape import permute_dims, reshape
from ..rules.axes import normalize_axis
from ..template import Template
from ..tensor import Tensor, TensorLike
from .aliases import call_body, owners_of
from .closures import trace_flat
from .control import Flat, Function, Tensors, name_errors, run_scan_of, run_while
from .loop_state import Leaves, flatten_state, home_of, trace_until_stable
from .trees import Nested, leaves_like, unflatten

Asked = Callable[[list[Tensor]], Any]


@overload
def while_loop(
    condition: Callable[[Tensor], TensorLike],
    body: Callable[[Tensor], Tensor],
    initial: TensorLike,
    *,
    limit: int | None = None,
    axis: Axis | None = None,
    trajectory: Sequence[int] | None = None,
) -> Tensor: ...
@overload
def while_loop(
    condition: Callable[[Nested], TensorLike],
    body: Callable[[Nested], Nested],
    initial: Nested,
    *,
    limit: int | None = None,
    axis: Axis | None = None,
    trajectory: Sequence[int] | None = None,
) -> Nested: ...
@overload
def while_loop(
    condition: Function,
    body: Function,
    initial: Any,
    *,
    limit: int | None = None,
    axis: Axis | None = None,
    trajectory: Sequence[int] | None = None,
) -> Any: ...
@check_arguments
def while_loop(
    condition: Callable[[Any], Any],
    body: Callable[[Any], Any],
    initial: Any,
    *,
    limit: int | None = None,
    axis: Axis | None = None,
    trajectory: Sequence[int] | None = None,
) -> Any:
    """Run `carry = body(carry)` while `condition(carry)` is true, starting from `initial`.

    Parameters
    ----------
    condition
        A function of the carried values that returns a bool without axes, or with an `axis` one bool for each example.
    body
        A function of the carried values that returns those of the next iteration: each tensor keeps its shape, dtype
        and names.
    initial
        The carried values before the first iteration: tensors, nested in lists, tuples, dicts and dataclasses. A Python
        number takes the dtype that the body returns.
    limit
        The maximum number of iterations. A loop with a limit has a gradient, for which
        the carried values of all `limit` iterations are kept. `jvp` needs no limit.
    axis
        The axis of examples, by position or name. An iteration then changes only the examples for which the condition
        is true, and the loop ends when it is false for all. An example must not depend on others: in an iteration
        after its end, the body is called with its initial values. Tensors without that axis are shared by all examples
        and change in each iteration. For a name, these are the tensors without an axis of that name; for a position,
        those without axes.
    trajectory
        Ascending numbers of iterations, such as `(0, 10, 100)`. The loop ends after at most the last of these numbers.
        It returns the carried values after each number of iterations, stacked along a new first axis. Once the
        condition is false, they stay the same.

    Returns
    -------
    Any
        The carried values at the end, nested as `initial`, or their trajectory.

    Raises
    ------
    DTypeError, ShapeError, NamesError
        For a carried value whose template changes, and for a condition with any other result.
    AxisError
        If no carried tensor has the axis.
    ArgumentError
        For a limit below 0, and for a trajectory that is empty or not in ascending order.

    Examples
    --------
    >>> tb.while_loop(lambda x: x < 100, lambda x: x * 3, tb.asarray(1)).item()
    243
    >>> tb.while_loop(lambda x: x < 100, lambda x: x * 3, tb.asarray([1, 60, 200]), axis=0).tolist()
    [243, 180, 200]
    >>> tb.while_loop(lambda x: x < 100, lambda x: x * 3, tb.asarray(1), trajectory=(0, 1, 4, 9)).tolist()
    [1, 3, 81, 243]
    """
    with name_errors("while_loop"):
        if limit is not None and (type(limit) is bool or index(limit) < 0):
            raise ArgumentError(expected("a limit of at least 0 iterations", limit=limit))
        most = None if limit is None else index(limit)
        steps = None if trajectory is None else _check_ascending(trajectory)
        carried, tree = flatten_state(initial, "carry", home_of(initial))

        def test(leaves: list[Tensor]) -> Any:
            return condition(unflatten(tree, leaves))

        def step(leaves: list[Tensor]) -> tuple[list[Any], list[str]]:
            result = call_body(body, (unflatten(tree, leaves),), owners_of(initial, tree), carried.paths)
            return leaves_like(tree, result, "carry", "to keep its nesting"), carried.paths

        holds, iteration = (test, step) if axis is None else _stop_each(carried, axis, test, step)
        results = (
            run_while(carried, holds, iteration, most)
            if steps is None
            else _scan_trajectory(steps, carried, holds, iteration, most)
        )
        return unflatten(tree, results)


def _check_ascending(trajectory: Sequence[int]) -> tuple[int, ...]:
    steps = tuple(map(index, trajectory))
    if not steps or steps[0] < 0 or any(one >= other for one, other in pairwise(steps)):
        raise ArgumentError(
            expected("a trajectory of ascending numbers of iterations, from 0 on", trajectory=trajectory)
        )
    return steps


def _scan_trajectory(
    steps: tuple[int, ...], carried: Leaves, holds: Asked, iteration: Flat, limit: int | None
) -> Tensors:
    """The carried leaves after each number of iterations in `steps`, stacked: a scan, each step of which is a loop."""
    home = home_of(carried.tensors)
    trace_until_stable(carried, lambda: trace_flat(iteration, carried.templates, carried.paths, home, carried.varying))
    start = Leaves(carried.on(home), carried.paths, home)
    ends = steps if limit is None else tuple(min(step, limit) for step in steps)
    iterations = [end - before for before, end in pairwise((0, *ends))]
    inner = None if limit is None else max(iterations)

    def segment(inputs: list[Tensor]) -> tuple[list[Any], list[str]]:
        *values, count = inputs
        inside = Leaves([full((), 0, dtype=count.dtype), *values], ["iteration", *carried.paths], home)

        def goes_on(leaves: list[Tensor]) -> Tensor:
            return logical_and(less(leaves[0], count), holds(leaves[1:]))

        def next_turn(leaves: list[Tensor]) -> tuple[list[Any], list[str]]:
            carry, names = iteration(leaves[1:])
            return [leaves[0] + 1, *carry], ["iteration", *names]

        carry = run_while(inside, goes_on, next_turn, inner)[1:]
        return [*carry, *carry], [*carried.paths, *carried.paths]

    scanned = Leaves([asarray(iterations, dtype="int64", backend=home)], ["iterations"], home)
    return run_scan_of(start, segment, scanned, len(iterations), False, None)[len(start.leaves) :]


def _stop_each(carried: Leaves, axis: Axis, holds: Asked, iteration: Flat) -> tuple[Asked, Flat]:
    """The condition and the body of a loop in which an example is unchanged once the condition is false for it."""
    places = [_place(template, axis) for template in carried.templates]
    sizes = {
        path: template.shape[place]
        for path, template, place in zip(carried.paths, carried.templates, places, strict=True)
        if place is not None
    }
    if not sizes:
        remedy = "give initial values for each example"
        raise AxisError(expected("a carried tensor with the axis of the examples", remedy, axis=axis))
    if len(set(sizes.values())) > 1:
        raise ShapeError(expected("the same number of examples in each carried tensor", "choose another axis", **sizes))
    size = next(iter(sizes.values()))

    def ask(leaves: list[Tensor]) -> Tensor:
        condition: Any = holds(leaves)
        template = condition.template if isinstance(condition, Tensor) else None
        if template is None or template.dtype is not bool_:
            remedy = "compare it, such as x != 0"
            raise DTypeError(expected("a condition of dtype bool for each example", remedy, condition=condition))
        if template.shape != (size,):
            remedy = "reduce all axes except that of the examples with any() or all()"
            raise ShapeError(expected(f"a condition of shape ({size},)", remedy, condition=template))
        return cast(Tensor, condition)

    start = [*carried.on(home_of(carried.tensors))]
    begun = ask(start)
    safe = [
        x if place is None else fill_from_active(begun, x, (place,)) for x, place in zip(start, places, strict=True)
    ]

    def keep(going: Tensor, after: Any, before: Tensor, place: int | None) -> Any:
        if place is None or (isinstance(after, Tensor) and after.shape != before.shape):
            return after  # of the wrong shape, for which a later check raises
        return where(spread(going, before, (place,)), after, before)

    def change(leaves: list[Tensor]) -> tuple[list[Any], list[str]]:
        going = ask(leaves)
        entered = [
            leaf if place is None else chosen(going, leaf, other, (place,))
            for leaf, other, place in zip(leaves, safe, places, strict=True)
        ]
        turned, names = iteration(entered)
        return [keep(going, *parts) for parts in zip(turned, leaves, places, strict=True)], names

    return lambda leaves: any_(ask(leaves)), change


def _place(template: Template, axis: Axis) -> int | None:
    """The position of the examples' axis in a carried value; `None` if all examples share the value."""
    if axis not in template.names if isinstance(axis, str) else not template.ndim:
        return None
    return normalize_axis(template, axis)


def spread(mask: Tensor, x: Tensor, places: Sequence[int]) -> Tensor:
    """A mask over examples without names, ready to broadcast with x, which has the examples' axes at some positions."""
    shape = [1] * x.ndim
    for place in places:
        shape[place] = x.shape[place]
    order = sorted(range(len(places)), key=places.__getitem__)
    bare = mask.rename(*(None,) * mask.ndim)
    return reshape(permute_dims(bare, order) if order != [*range(len(order))] else bare, tuple(shape))


def chosen(mask: Tensor, x: Tensor, other: Tensor, places: Sequence[int]) -> Tensor:
    """x for the examples for which a mask is true, `other` for the rest, through which no gradient flows."""
    return where(spread(mask, x, places), x, stop_gradient(other))


def fill_from_active(mask: Tensor, x: Tensor, places: Sequence[int]) -> Tensor:
    """x, with the entries of examples for which a mask is false replaced by those of the first for which it is true."""
    if not mask.size:
        return x
    names, rest = x.names, [place for place in range(x.ndim) if place not in places]
    bare = permute_dims(x.rename(*(None,) * x.ndim), (*places, *rest))
    rows = reshape(bare, (mask.size, *bare.shape[len(places) :]))
    first = argmax(astype(reshape(mask.rename(*(None,) * mask.ndim), (-1,)), "int64"))
    shape = tuple(1 if place in places else size for place, size in enumerate(x.shape))
    return chosen(mask, x, reshape(take(rows, first, axis=0), shape, names=names), places)
