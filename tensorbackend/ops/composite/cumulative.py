"""Cumulative sums, products and extremes, written in public ops.

Each is computed by doubling (Hillis and Steele, 1986): each element is combined with the one that is 1, 2, 4, ...
positions before it. After log2(n) such steps, which any backend can do, every element holds the result up to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import index
from typing import Any

from ...annotations import Axis, SoleAxis
from ...declarations.argument_errors import check_arguments
from ...dispatch import composite
from ...dtypes import DTypeLike, Scalar, as_dtype, float32, float64, promote_types, scalar_kind
from ...errors import ArgumentError, ShapeError, expected
from ...rules.accuracy import PRODUCT, SUM, Bound
from ...rules.axes import normalize_axis
from ...rules.broadcasting import check_dtype, result_type, to_floating
from ...rules.reduction import accumulator
from ...template import Template, weak_template
from ...tensor import Tensor, TensorLike
from ..creation.filled import asarray
from ..creation.values import operand_tensor
from ..elementwise.basic import abs, astype, where
from ..elementwise.binary import add, logical_and, maximum, minimum, multiply, subtract
from ..indexing.slices import entries
from ..padding import pad
from ..reduction import sum
from ..shape import broadcast_to, concatenate, reshape


def _accumulate(combine: Callable[[Any, Any], Tensor], x: Tensor, axis: SoleAxis, reverse: bool) -> Tensor:
    """Combines each element with all elements before it along an axis; if `reverse`, with all elements after it."""
    assert isinstance(axis, int)  # by the dispatcher
    if x.backend.template_only:
        return combine(x, x)  # the template is that of one step, and the number of steps need not be known
    distance = 1
    while distance < (size := x.shape[axis]):
        low, high = entries(x, axis, 0, size - distance), entries(x, axis, distance, size - distance)
        if reverse:
            x = concatenate([combine(high, low), entries(x, axis, size - distance, distance)], axis=axis)
        else:
            x = concatenate([entries(x, axis, 0, distance), combine(low, high)], axis=axis)
        distance *= 2
    return x


def _append_entry(first: Scalar, x: Tensor, axis: SoleAxis, reverse: bool) -> Tensor:
    """x with one more entry along an axis, at the start of the run."""
    assert isinstance(axis, int)  # by the dispatcher
    return pad(x, {axis: (0, 1) if reverse else (1, 0)}, value=first)


def _one_pass(out: Template, x: Template, /, *, axis: int, **options: object) -> int:
    """The operations of one pass over the elements; the extra operations of doubling are not counted."""
    return x.size - (x.size // x.shape[axis] if x.size else 0)


def _summable(x: Tensor, dtype: DTypeLike | None) -> Tensor:
    """x in the given dtype, by default the one in which x is summed."""
    return astype(x, accumulator(x.dtype) if dtype is None else check_dtype(as_dtype(dtype), "numeric"))


@composite.within(SUM).costing(_one_pass)
def cumulative_sum(
    x: Tensor,
    /,
    *,
    axis: SoleAxis = None,
    dtype: DTypeLike | None = None,
    include_initial: bool = False,
    reverse: bool = False,
) -> Tensor:
    """Cumulative sum along an axis, from the end if `reverse`.

    Small integers and bool are summed in 64 bits unless `dtype` is given. With `include_initial` the result starts
    with one more element, 0.

    >>> tb.cumulative_sum(tb.asarray([1, 2, 3])).tolist()
    [1, 3, 6]
    >>> tb.cumulative_sum(tb.asarray([1, 2, 3]), include_initial=True, reverse=True).tolist()
    [6, 5, 3, 0]
    """
    x = _summable(x, dtype)
    return _accumulate(add, _append_entry(0, x, axis, reverse) if include_initial else x, axis, reverse)


@composite.calls("cumulative_product").within(PRODUCT).costing(_one_pass)
def cumulative_prod(
    x: Tensor,
    /,
    *,
    axis: SoleAxis = None,
    dtype: DTypeLike | None = None,
    include_initial: bool = False,
    reverse: bool = False,
) -> Tensor:
    """Cumulative product along an axis, from the end if `reverse`.

    Small integers and bool use 64 bits unless `dtype` is given. With `include_initial` the result starts
    with one more element, 1.

    >>> tb.cumulative_prod(tb.asarray([2, 3, 4])).tolist()
    [2, 6, 24]
    """
    x = _summable(x, dtype)
    return _accumulate(multiply, _append_entry(1, x, axis, reverse) if include_initial else x, axis, reverse)


@composite.costing(_one_pass)
def cumulative_max(x: Tensor, /, *, axis: SoleAxis = None, reverse: bool = False) -> Tensor:
    """Cumulative maximum along an axis, from the end if `reverse`; NaN from the first NaN on.

    >>> tb.cumulative_max(tb.asarray([1, 3, 2])).tolist()
    [1, 3, 3]
    """
    check_dtype(x.dtype, "real")
    return _accumulate(maximum, x, axis, reverse)


@composite.costing(_one_pass)
def cumulative_min(x: Tensor, /, *, axis: SoleAxis = None, reverse: bool = False) -> Tensor:
    """Cumulative minimum along an axis, from the end if `reverse`; NaN from the first NaN on.

    >>> tb.cumulative_min(tb.asarray([2, 3, 1])).tolist()
    [2, 2, 1]
    """
    check_dtype(x.dtype, "real")
    return _accumulate(minimum, x, axis, reverse)


@composite.calls("diff")
def _diff(x: Tensor, /, *, axis: Axis, n: int) -> Tensor:
    """See `diff`."""
    check_dtype(x.dtype, "numeric")
    along = normalize_axis(x.template, axis)
    for _ in range(min(n, x.shape[along])):
        length = x.shape[along] - 1
        x = entries(x, along, 1 if length else 0, length) - entries(x, along, 0, length)
    return x


@check_arguments
def diff(
    x: TensorLike,
    /,
    *,
    axis: Axis = -1,
    n: int = 1,
    prepend: TensorLike | None = None,
    append: TensorLike | None = None,
) -> Tensor:
    """Differences between adjacent elements along an axis, taken n times; each time shortens the axis by 1.

    Integers wrap around. `prepend` and `append` are numbers, or have the sizes of x except along the axis. Raises
    `DTypeError` for bool, `ArgumentError` for a negative n.

    >>> tb.diff(tb.asarray([1, 4, 9])).tolist(), tb.diff(tb.asarray([1, 4, 9]), prepend=0).tolist()
    ([3, 5], [1, 3, 5])
    """
    x = asarray(x)
    along = normalize_axis(x.template, axis)
    if index(n) < 0:
        raise ArgumentError(expected("n to be at least 0", n=n))
    parts = [prepend, x, append]
    if prepend is not None or append is not None:
        x = concatenate([_beside(part, x, along) for part in parts if part is not None], axis=along)
    return _diff(x, axis=along, n=index(n))


def _beside(part: TensorLike, x: Tensor, along: int) -> Tensor:
    """What `diff` puts before or after x; a number stands next to each entry of the other axes."""
    kind = scalar_kind(part)
    dtype = None if kind is None else result_type([x.template, weak_template(kind)])
    part = operand_tensor(part, x) if kind is None else asarray(part, dtype, backend=x.backend)
    return part if part.ndim else broadcast_to(part, (*x.shape[:along], 1, *x.shape[along + 1 :]))


def neighbours(x: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """The entries along an axis that have one before them, and the entries that have one after them."""
    size = x.shape[axis]
    if not size:
        return x, x
    return entries(x, axis, 1, size - 1), entries(x, axis, 0, size - 1)


def places_along(x: Tensor, y: Tensor, along: int) -> Tensor:
    """The places of the values y: a vector along the axis as a tensor that broadcasts to y."""
    if x.ndim == 1:
        sizes = [1] * y.ndim
        sizes[along] = x.shape[0]
        names = [y.names[along] if x.names[0] is None and at == along else x.names[0] if at == along else None
                 for at in range(y.ndim)]  # fmt: skip
        x = reshape(x, tuple(sizes), names=tuple(names))
    if x.ndim != y.ndim or x.shape[along] != y.shape[along]:
        raise ShapeError(expected("places along the axis, or for each value", y=y.template, x=x.template))
    return x


@composite.within(Bound(64, "a sum of products with differences", "square", tame=True))
def trapezoid(y: Tensor, x: Tensor | None = None, /, *, dx: float = 1.0, axis: Axis = -1) -> Tensor:
    """The integral along an axis by the trapezoidal rule.

    Parameters
    ----------
    y : Tensor
        The values to integrate.
    x : Tensor, optional
        Their places: a vector along the axis, or a tensor that broadcasts to y.
    dx : float, default 1.0
        The distance of neighbours, if no places are given.
    axis : int or str, default -1
        The axis of y, by position or by name.

    Returns
    -------
    Tensor
        A tensor without the axis, in the floating dtype to which the operands are promoted.

    Raises
    ------
    ShapeError
        For places that do not fit.

    Examples
    --------
    >>> tb.trapezoid(tb.asarray([1.0, 2.0, 3.0])).item()
    4.0
    >>> tb.trapezoid(tb.asarray([1.0, 2.0, 3.0]), tb.asarray([0.0, 1.0, 3.0])).item()
    6.5
    """
    along = normalize_axis(y.template, axis)
    templates = [y.template] if x is None else [y.template, x.template]
    dtype = to_floating(check_dtype(result_type(templates), "numeric"))
    work = promote_types(dtype, float32)
    y = astype(y, work)
    pairs = add(*neighbours(y, along))
    if x is None:
        return astype(sum(pairs, axis=along) * (dx / 2), dtype)
    widths = subtract(*neighbours(astype(places_along(x, y, along), work), along))
    return astype(sum(widths * pairs, axis=along) / 2, dtype)


@composite.within(Bound(64, "a running sum of whole periods", "operand", tame=True))
def unwrap(x: Tensor, /, *, axis: Axis = -1, discontinuity: float | None = None, period: float = 2 * math.pi) -> Tensor:
    """Angles without jumps: whole periods are added to elements, so that neighbours differ by half a period at most.

    Parameters
    ----------
    x : Tensor
        Angles, of a real dtype. Integers stay integers if the period is an int.
    axis : int or str, default -1
        The axis, by position or by name.
    discontinuity : float, optional
        Only jumps of at least this size are taken away; by default, and at least, half a period.
    period : float, default 2 * pi
        The period.

    Returns
    -------
    Tensor
        A tensor with the shape and names of x.

    Examples
    --------
    >>> tb.unwrap(tb.asarray([0.0, 3.0, 1.0, 3.0]), period=4).tolist()
    [0.0, -1.0, -3.0, -1.0]
    """
    along = normalize_axis(x.template, axis)
    check_dtype(x.dtype, "real")
    whole = x.dtype.is_integer and isinstance(period, int)
    dtype = x.dtype if whole else to_floating(x.dtype)
    angles = x if whole else astype(x, promote_types(dtype, float32))
    jumps = diff(angles, axis=along)
    half: float = period // 2 if whole else period / 2
    moved = jumps + half
    turns = moved // period
    if not whole or period % 2 == 0:  # a jump by half a period keeps its sign
        turns = turns - astype(logical_and(moved % period == 0, jumps > 0), turns.dtype)
    limit = period / 2 if discontinuity is None else discontinuity
    turns = where(abs(jumps) < limit, 0, turns)
    # A sum of whole turns is exact, where a sum of angles is rounded at each step.
    turns = cumulative_sum(turns, axis=along, dtype=angles.dtype if whole else float64)
    later, _ = neighbours(angles, along)
    first = entries(angles, along, 0, angles.shape[along] - later.shape[along])
    later = astype(later, turns.dtype) - turns * period
    return concatenate([astype(first, dtype), astype(later, dtype)], axis=along)
