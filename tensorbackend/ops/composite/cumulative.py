"""Running sums, products and extremes, written in public ops.

Each is computed by doubling (Hillis and Steele, 1986): the tensor is combined with itself moved by 1, 2, 4, ...
places. After log2(n) such steps, which any backend can do, every element holds the whole run up to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import index
from typing import Any

from ...accuracy import PRODUCT, SUM
from ...dispatch import composite
from ...dtypes import DTypeLike, Scalar, as_dtype, iinfo
from ...entry import entry
from ...errors import ArgumentError, expected
from ...rules.axes import normalize_axis
from ...rules.broadcasting import check_dtype
from ...rules.reduction import accumulator
from ...template import Template
from ...tensor import Axis, SoleAxis, Tensor, TensorLike
from ..creation.filled import asarray
from ..elementwise.binary import add, maximum, minimum, multiply, subtract
from ..elementwise.conversion import astype
from ..indexing.slices import slice_
from ..padding import pad
from ..shape import concatenate


def _running(
    combine: Callable[[Any, Any], Tensor], identity: Scalar, x: Tensor, axis: SoleAxis, reverse: bool, initial: bool
) -> Tensor:
    assert isinstance(axis, int)  # by the dispatcher
    if initial:
        x = pad(x, {axis: (0, 1) if reverse else (1, 0)}, value=identity)
    distance = 1
    while distance < x.shape[axis]:
        moved = pad(x, {axis: (-distance, distance) if reverse else (distance, -distance)}, value=identity)
        x = combine(moved, x)
        distance *= 2
    return x


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
    """Running sum along an axis, from the end if `reverse`.

    Small integers and bool are summed in 64 bits unless `dtype` is given. With `include_initial` the run starts with
    one more element, 0.

    >>> import tensorbackend as tb
    >>> tb.cumulative_sum(tb.asarray([1, 2, 3])).tolist()
    [1, 3, 6]
    >>> tb.cumulative_sum(tb.asarray([1, 2, 3]), include_initial=True, reverse=True).tolist()
    [6, 5, 3, 0]
    """
    return _running(add, 0, _summable(x, dtype), axis, reverse, include_initial)


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
    """Running product along an axis, from the end if `reverse`.

    Small integers and bool are multiplied in 64 bits unless `dtype` is given. With `include_initial` the run starts
    with one more element, 1.

    >>> import tensorbackend as tb
    >>> tb.cumulative_prod(tb.asarray([2, 3, 4])).tolist()
    [2, 6, 24]
    """
    return _running(multiply, 1, _summable(x, dtype), axis, reverse, include_initial)


def _limits(x: Tensor) -> tuple[Scalar, Scalar]:
    """The least and the greatest value of a dtype."""
    check_dtype(x.dtype, "real")
    return (-math.inf, math.inf) if x.dtype.is_floating else (iinfo(x.dtype).min, iinfo(x.dtype).max)


@composite.costing(_one_pass)
def cumulative_max(x: Tensor, /, *, axis: SoleAxis = None, reverse: bool = False) -> Tensor:
    """Running maximum along an axis, from the end if `reverse`; NaN from the first NaN on.

    >>> import tensorbackend as tb
    >>> tb.cumulative_max(tb.asarray([1, 3, 2])).tolist()
    [1, 3, 3]
    """
    return _running(maximum, _limits(x)[0], x, axis, reverse, False)


@composite.costing(_one_pass)
def cumulative_min(x: Tensor, /, *, axis: SoleAxis = None, reverse: bool = False) -> Tensor:
    """Running minimum along an axis, from the end if `reverse`; NaN from the first NaN on.

    >>> import tensorbackend as tb
    >>> tb.cumulative_min(tb.asarray([2, 3, 1])).tolist()
    [2, 2, 1]
    """
    return _running(minimum, _limits(x)[1], x, axis, reverse, False)


@composite.calls("diff")
def _diff(x: Tensor, /, *, axis: Axis, n: int) -> Tensor:
    """See `diff`."""
    check_dtype(x.dtype, "numeric")
    along = normalize_axis(x.template, axis)
    for _ in range(min(n, x.shape[along])):
        lengths = list(x.shape)
        lengths[along] -= 1
        starts = [0] * x.ndim
        before = slice_(x, starts=tuple(starts), lengths=tuple(lengths), strides=(1,) * x.ndim)
        starts[along] = 1 if lengths[along] else 0
        after = slice_(x, starts=tuple(starts), lengths=tuple(lengths), strides=(1,) * x.ndim)
        x = subtract(after, before)
    return x


@entry
def diff(
    x: TensorLike,
    /,
    *,
    axis: Axis = -1,
    n: int = 1,
    prepend: TensorLike | None = None,
    append: TensorLike | None = None,
) -> Tensor:
    """Differences between neighbours along an axis, taken n times, each of which shortens the axis by 1.

    Integers wrap around. `prepend` and `append` have the sizes of x except along the axis. Raises `DTypeError` for
    bool, `ArgumentError` for a negative n.

    >>> import tensorbackend as tb
    >>> tb.diff(tb.asarray([1, 4, 9])).tolist(), tb.diff(tb.asarray([1, 4, 9]), prepend=tb.asarray([0])).tolist()
    ([3, 5], [1, 3, 5])
    """
    x = asarray(x)
    along = normalize_axis(x.template, axis)
    if index(n) < 0:
        raise ArgumentError(expected("n to be at least 0", n=n))
    parts = [prepend, x, append]
    if prepend is not None or append is not None:
        x = concatenate([asarray(part) for part in parts if part is not None], axis=along)
    return _diff(x, axis=along, n=index(n))
