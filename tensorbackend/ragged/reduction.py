"""Sums, means, extremes and other reductions of the elements within the lengths."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..annotations import Axes, Axis
from ..declarations.argument_errors import check_arguments
from ..dtypes import DType, Scalar, float32, int64, promote_types, value_range
from ..expr.grad.custom import custom_gradient
from ..ops.composite.reduction import cast_to_float32
from ..ops.composite.reduction import logsumexp as _logsumexp
from ..ops.creation.filled import zeros
from ..ops.elementwise.basic import astype, isnan, where
from ..ops.elementwise.binary import divide, logical_and, maximum, subtract
from ..ops.elementwise.transcendental import sqrt
from ..ops.padding import pad
from ..ops.reduction import all as _all
from ..ops.reduction import any as _any
from ..ops.reduction import max as _max
from ..ops.reduction import min as _min
from ..ops.reduction import prod as _prod
from ..ops.reduction import sum as _sum
from ..ops.shape import squeeze
from ..rules.axes import sorted_axes
from ..rules.broadcasting import check_dtype, to_floating
from ..tensor import Tensor
from .value import Either, Ragged, as_ragged, mask_in, position_of, ragged_or_tensor


def lowest_value(dtype: DType) -> Scalar:
    """The minimum of a dtype, -inf for floats."""
    check_dtype(dtype, "real or bool")
    return value_range(dtype)[0]


def highest_value(dtype: DType) -> Scalar:
    """The maximum of a dtype, inf for floats."""
    check_dtype(dtype, "real or bool")
    return value_range(dtype)[1]


def lengths_after(x: Ragged, axes: tuple[int, ...], keepdims: bool) -> dict[str, Tensor]:
    """The lengths after a reduction; of lengths over reduced axes, the maximum along these axes remains.

    [batch: 2][time: 3] with lengths 3, 1 reduced along batch is [time: 3] with the length 3.
    """
    gone = {name for name in (x.names[axis] for axis in axes) if name is not None}
    remaining_lengths = {}
    for name, lengths in x.lengths.items():
        if name in gone:
            continue
        over = [other for other in lengths.names if other in gone]
        if over:
            inner = Ragged(lengths, {other: x.lengths[other] for other in lengths.names if other in x.lengths})  # type: ignore[index,misc] # all named
            kept = inner.filled(0)
            if 0 in (kept.shape[kept.names.index(other)] for other in over):
                lengths = _sum(kept, axis=over, keepdims=keepdims)
            else:
                lengths = _max(kept, axis=over, keepdims=keepdims)
        remaining_lengths[name] = lengths
    return remaining_lengths


def _reduced(function: Callable[..., Tensor], x: Ragged, axis: Axes, keepdims: bool, identity: Scalar) -> Any:
    """x reduced with `identity`, the identity of the reduction, in place of the padding."""
    axes, values = sorted_axes(x.template, axis), x.filled(identity)
    empty: dict[Axis, tuple[int, int]] = {
        axis: (0, 1) for axis in axes if not values.shape[axis] and x.names[axis] in x.lengths
    }
    if empty:
        values = pad(values, empty, value=identity)  # as a reduction of no elements may raise, or have another identity
    return ragged_or_tensor(function(values, axis=axes, keepdims=keepdims), lengths_after(x, axes, keepdims))


def has_gradient(x: Ragged) -> bool:
    """Whether something records what becomes of floating or complex values, whose padding a gradient must leave out."""
    backend = x.values.backend
    return bool(x.lengths) and x.dtype.is_inexact and backend.dispatch_priority > 1 and not backend.template_only


def _reduced_to_extreme(
    function: Callable[..., Tensor], x: Ragged, axis: Axes, keepdims: bool, identity: Scalar
) -> Any:
    """An extreme whose gradient has no shares for the padding, which equals the elements of a row of identities."""
    if not has_gradient(x) or not x.template.size:
        return _reduced(function, x, axis, keepdims, identity)
    axes, mask = sorted_axes(x.template, axis), x.mask()

    @custom_gradient
    def extreme(values: Tensor, mask: Tensor) -> Any:
        out = function(where(mask, values, identity), axis=axes, keepdims=True)

        def pull(cotangent: Tensor) -> Any:
            chosen = astype(logical_and(values == out, mask), promote_types(values.dtype, float32))
            shares = cotangent * chosen / _sum(chosen, axis=axes, keepdims=True)
            return astype(where(mask, shares, 0), values.dtype), None

        return out, pull

    out = extreme(x.values, mask)
    return ragged_or_tensor(out if keepdims else squeeze(out, axes), lengths_after(x, axes, keepdims))


def _prepare(x: Any, axis: Axes) -> tuple[Ragged, tuple[int, ...]]:
    ragged = as_ragged(x)
    return ragged, sorted_axes(ragged.template, axis)


def _count(x: Ragged, mask: Tensor | None, axes: tuple[int, ...], keepdims: bool) -> Tensor | int:
    """The number of elements within the lengths along some axes."""
    if mask is None:
        return math.prod(x.shape[axis] for axis in axes)
    factor = math.prod(x.shape[axis] for axis in axes if mask.shape[axis] == 1)
    counted = _sum(astype(mask, int64), axis=axes, keepdims=keepdims)
    return counted if factor == 1 else counted * factor


def _positive(count: Tensor | int) -> Any:
    """The count as a divisor: at least 1."""
    return (count or 1) if isinstance(count, int) else maximum(count, 1)


@check_arguments
def sum(x: Ragged | Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Any:
    """Sum the elements within the lengths; 0 for a length of 0.

    Returns
    -------
    Ragged or Tensor
        A `Ragged` if any axis with lengths remains. Small integers and bool are summed in 64 bits.

    Examples
    --------
    >>> x = tb.ragged.from_list([[1, 2, 3], [4]])
    >>> tb.ragged.sum(x, axis="time").tolist(), tb.ragged.sum(x, axis="batch")
    ([6, 4], ragged s64[time: 3] numpy, time=3)
    """
    return _reduced(_sum, as_ragged(x), axis, keepdims, 0)


@check_arguments
def prod(x: Ragged | Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Any:
    """Multiply the elements within the lengths; 1 for a length of 0.

    >>> tb.ragged.prod(tb.ragged.from_list([[2, 3], [4]]), axis="time").tolist()
    [6, 4]
    """
    return _reduced(_prod, as_ragged(x), axis, keepdims, 1)


@check_arguments
def max(x: Ragged | Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Any:
    """Compute the maximum within the lengths: -inf, or the smallest integer, for a length of 0.

    The result is NaN if any element is NaN.

    >>> tb.ragged.max(tb.ragged.from_list([[-1.0, -2.0], [-3.0]]), axis="time").tolist()
    [-1.0, -3.0]
    """
    ragged = as_ragged(x)
    return _reduced_to_extreme(_max, ragged, axis, keepdims, lowest_value(ragged.dtype))


@check_arguments
def min(x: Ragged | Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Any:
    """Compute the minimum within the lengths: inf, or the largest integer, for a length of 0.

    The result is NaN if any element is NaN.

    >>> tb.ragged.min(tb.ragged.from_list([[1.0, 2.0], [3.0]]), axis="time").tolist()
    [1.0, 3.0]
    """
    ragged = as_ragged(x)
    return _reduced_to_extreme(_min, ragged, axis, keepdims, highest_value(ragged.dtype))


@check_arguments
def any(x: Ragged | Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Any:
    """Test whether any element within the lengths is true; False for a length of 0.

    >>> tb.ragged.any(tb.ragged.from_list([[False, True], [False]]), axis="time").tolist()
    [True, False]
    """
    return _reduced(_any, as_ragged(x), axis, keepdims, False)


@check_arguments
def all(x: Ragged | Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Any:
    """Test whether all elements within the lengths are true; True for a length of 0.

    >>> tb.ragged.all(tb.ragged.from_list([[False, True], [True]]), axis="time").tolist()
    [False, True]
    """
    return _reduced(_all, as_ragged(x), axis, keepdims, True)


def _cast(x: Ragged, dtype: DType) -> Ragged:
    return Ragged(astype(x.values, dtype), x.lengths)


@check_arguments
def logsumexp(x: Ragged | Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Any:
    """Compute the logarithm of the sum of exp(x) within the lengths without overflow; -inf for a length of 0.

    >>> tb.ragged.logsumexp(tb.ragged.from_list([[1000.0, -1000.0], [3.0]]), axis="time").tolist()
    [1000.0, 3.0]
    """
    ragged = as_ragged(x)
    work = ragged if ragged.dtype.is_inexact else _cast(ragged, to_floating(ragged.dtype))
    return _reduced(_logsumexp, work, axis, keepdims, -math.inf)


@check_arguments
def mean(x: Ragged | Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Any:
    """Compute the mean within the lengths; 0 for a length of 0.

    Integers and bool are converted to the default floating dtype.

    >>> tb.ragged.mean(tb.ragged.from_list([[1.0, 2.0, 6.0], [4.0]]), axis="time").tolist()
    [3.0, 4.0]
    """
    ragged, axes = _prepare(x, axis)
    return ragged_or_tensor(_mean(ragged, axes, keepdims), lengths_after(ragged, axes, keepdims))


def _mean(x: Ragged, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    mask, wide = mask_in(x, x.template), _wide(x.values)
    total = _sum(wide if mask is None else where(mask, wide, 0), axis=axes, keepdims=keepdims)
    count = _positive(_count(x, mask, axes, keepdims))
    return astype(divide(total, _cast_like(count, total)), to_floating(x.values.dtype))


def _wide(x: Tensor) -> Tensor:
    """Casts to at least float32; a tensor of such a dtype is not copied."""
    return x if promote_types(to_floating(x.dtype), float32) is x.dtype else cast_to_float32(x)


def _cast_like(count: Any, like: Tensor) -> Any:
    """A count in the dtype of the tensor that it divides."""
    return astype(count, like.dtype) if isinstance(count, Tensor) else float(count)


@check_arguments
def var(x: Ragged | Tensor, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """Compute the variance within the lengths; 0 for a length of 0.

    The divisor is the count minus `correction`. If that is not above 0, the result is NaN, as in `tb.var`, except
    for a length of 0.

    >>> tb.ragged.var(tb.ragged.from_list([[1.0, 3.0], [4.0]]), axis="time").tolist()
    [1.0, 0.0]
    """
    ragged, axes = _prepare(x, axis)
    return ragged_or_tensor(variance(ragged, axes, correction, keepdims), lengths_after(ragged, axes, keepdims))


def variance(x: Ragged, axes: tuple[int, ...], correction: float, keepdims: bool) -> Tensor:
    """The variance within the lengths."""
    check_dtype(x.dtype, "real")
    wide = Ragged(cast_to_float32(x.filled(0)), x.lengths)
    centred = Ragged(wide.values - _mean(wide, axes, True), x.lengths).filled(0)
    squares = _sum(centred * centred, axis=axes, keepdims=keepdims)
    count = _count(x, mask_in(x, x.template), axes, keepdims)
    if isinstance(count, int):
        left = count - correction
        divisor: Any = left if left > 0 else 1.0 if not count else math.nan
    else:
        rest = subtract(_cast_like(count, squares), correction)
        divisor = where(rest > 0, rest, where(count > 0, math.nan, 1.0))
    return astype(divide(squares, divisor), to_floating(x.values.dtype))


@check_arguments
def std(x: Ragged | Tensor, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """Compute the standard deviation within the lengths; 0 for a length of 0.

    >>> tb.ragged.std(tb.ragged.from_list([[1.0, 5.0], [4.0]]), axis="time").tolist()
    [2.0, 0.0]
    """
    ragged, axes = _prepare(x, axis)
    wide = _cast(ragged, promote_types(to_floating(ragged.dtype), float32))
    squares = variance(wide, axes, correction, keepdims)
    zero = squares == 0  # the gradient is 0 there, as that of `tb.std`
    root = where(zero, 0, sqrt(where(zero, 1, squares)))
    return ragged_or_tensor(astype(root, to_floating(ragged.dtype)), lengths_after(ragged, axes, keepdims))


@check_arguments
def argmax(x: Ragged | Tensor, /, *, axis: Axis, keepdims: bool = False) -> Any:
    """Find the position (int64) of the maximum within the lengths along an axis, the first of equal ones.

    -1 for a length of 0. NaN counts as the largest.

    >>> tb.ragged.argmax(tb.ragged.from_list([[1.0, 9.0], [-1.0]]), axis="time").tolist()
    [1, 0]
    """
    return _extreme(x, axis, keepdims, _max, lowest_value)


@check_arguments
def argmin(x: Ragged | Tensor, /, *, axis: Axis, keepdims: bool = False) -> Any:
    """Find the position (int64) of the minimum within the lengths along an axis, the first of equal ones.

    -1 for a length of 0. NaN counts as the smallest.

    >>> tb.ragged.argmin(tb.ragged.from_list([[1.0, -9.0], [5.0]]), axis="time").tolist()
    [1, 0]
    """
    return _extreme(x, axis, keepdims, _min, highest_value)


def _extreme(
    x: Either, axis: Axis, keepdims: bool, function: Callable[..., Tensor], identity: Callable[[DType], Scalar]
) -> Any:
    """Find the first position of an extreme within the lengths.

    Along an axis that lengths are over, padding may come before entries, so a mask marks the valid positions.
    """
    ragged = as_ragged(x)
    axes = (position_of(ragged, axis),)
    rest = lengths_after(ragged, axes, keepdims)
    if not ragged.shape[axes[0]] and ragged.names[axes[0]] in ragged.lengths:
        shape, names = list(ragged.shape), list(ragged.names)
        if keepdims:
            shape[axes[0]] = 1
        else:
            del shape[axes[0]], names[axes[0]]
        return ragged_or_tensor(zeros(shape, dtype=int64, names=names, like=ragged.values) - 1, rest)
    values = ragged.filled(identity(ragged.dtype))
    best = function(values, axis=axes, keepdims=True)
    hit = values == best
    if values.dtype.is_floating:
        hit = where(isnan(best), isnan(values), hit)
    mask = mask_in(ragged, ragged.template)
    if mask is not None:
        hit = logical_and(hit, mask)
    where_first = astype(hit, "uint8").argmax(axis=axes[0], keepdims=keepdims)
    return ragged_or_tensor(where(_any(hit, axis=axes, keepdims=keepdims), where_first, -1), rest)
