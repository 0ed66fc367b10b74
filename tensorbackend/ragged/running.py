"""Cumulative sums and extremes, sorting, and the k largest elements, along axes with lengths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from ..annotations import Axis
from ..declarations.argument_errors import check_arguments
from ..dtypes import Scalar, finfo, float32, promote_types, uint8
from ..expr.grad.custom import custom_gradient
from ..expr.grad.functions import vjp
from ..ops.composite.cumulative import cumulative_max as _cumulative_max
from ..ops.composite.cumulative import cumulative_min as _cumulative_min
from ..ops.composite.cumulative import cumulative_prod as _cumulative_prod
from ..ops.composite.cumulative import cumulative_sum as _cumulative_sum
from ..ops.composite.sorting.searching import TopKResult
from ..ops.composite.sorting.searching import top_k as _top_k
from ..ops.elementwise.basic import astype, where
from ..ops.elementwise.binary import maximum, minimum
from ..ops.indexing.taking import take_along_axis_at
from ..ops.shape import broadcast_to
from ..ops.sorting import argsort as _argsort
from ..rules.plan import integer
from ..tensor import Tensor
from .reduction import has_gradient, highest_value, lowest_value
from .value import Ragged, as_ragged, position_of, ragged_or_tensor, refuse_dependents

_SORTED = "its entries differ in length: sort the result of to_list(), or pack() first"


def _cumulative(x: Any, function: Callable[..., Tensor], axis: Axis, reverse: bool, identity: Scalar) -> Any:
    ragged = as_ragged(x)
    position = position_of(ragged, axis)
    return ragged_or_tensor(function(ragged.filled(identity), axis=position, reverse=reverse), ragged.lengths)


def _cumulative_extreme(x: Any, function: Callable[..., Tensor], axis: Axis, reverse: bool, least: bool) -> Any:
    """A running extreme whose gradient has no shares for padding that equals elements of -inf, or inf."""
    ragged = as_ragged(x)
    position = position_of(ragged, axis)
    identity = (highest_value if least else lowest_value)(ragged.dtype)
    behind = not reverse and set(ragged.lengths) == {ragged.names[position]}  # no element's run has padding in it
    if behind or not has_gradient(ragged):
        return _cumulative(ragged, function, axis, reverse, identity)

    def run(values: Tensor, mask: Tensor) -> Tensor:
        return function(where(mask, values, identity), axis=position, reverse=reverse)

    @custom_gradient
    def extreme(values: Tensor, mask: Tensor) -> Any:
        def pull(cotangent: Tensor) -> Any:
            # Of infinite elements the shares are those of numbers next to the padding's, of which no run is made.
            wide = astype(values, promote_types(values.dtype, float32))
            limit = float(finfo(wide.dtype).max)
            apart = minimum(wide, limit) if least else maximum(wide, -limit)
            return astype(vjp(lambda x: run(x, mask), apart)[1](astype(cotangent, wide.dtype))[0], values.dtype), None

        return run(values, mask), pull

    return ragged_or_tensor(extreme(ragged.values, ragged.mask()), ragged.lengths)


def _running_product(
    values: Tensor, mask: Tensor, axis: int, reverse: bool, padding: Literal["first", "last"]
) -> Tensor:
    """The running product of elements whose padding counts as 1, and which the run meets first or last."""
    filled, front = where(mask, values, 1), (padding == "first") != reverse
    if mask.shape[axis] == 1:
        return _cumulative_prod(filled, axis=axis, reverse=reverse)
    whole = broadcast_to(mask, values.shape)
    order = _argsort(astype(whole if front else ~whole, uint8), axis=axis)
    run = _cumulative_prod(take_along_axis_at(filled, order, axis=axis, mode="clip"), axis=axis, reverse=reverse)
    return take_along_axis_at(run, _argsort(order, axis=axis), axis=axis, mode="clip")


@check_arguments
def cumulative_sum(x: Ragged | Tensor, /, *, axis: Axis, reverse: bool = False) -> Any:
    """Compute the cumulative sum along an axis; with `reverse`, from the end of each example.

    Parameters
    ----------
    axis : int or str
        The axis to sum along.
    reverse : bool, default False
        Whether each sum is of the element and those after it, rather than those before it.

    Returns
    -------
    Ragged or Tensor
        Like x; small integers and bool are summed in 64 bits.

    Examples
    --------
    >>> x = tb.ragged.from_list([[1, 2, 3], [4]])
    >>> tb.ragged.cumulative_sum(x, axis="time", reverse=True).filled(0).tolist()
    [[6, 5, 3], [4, 0, 0]]
    """
    ragged = as_ragged(x)
    # The sum of -0.0 and 0.0 would be 0.0.
    zero = complex(-0.0, -0.0) if ragged.dtype.is_complex else -0.0 if ragged.dtype.is_floating else 0
    return _cumulative(ragged, _cumulative_sum, axis, reverse, zero)


@check_arguments
def cumulative_prod(x: Ragged | Tensor, /, *, axis: Axis, reverse: bool = False) -> Any:
    """Compute the cumulative product along an axis.

    >>> tb.ragged.cumulative_prod(tb.ragged.from_list([[2, 3], [4]]), axis="time").filled(0).tolist()
    [[2, 6], [4, 0]]
    """
    ragged = as_ragged(x)
    position = position_of(ragged, axis)
    is_complex, behind = ragged.dtype.is_complex, set(ragged.lengths) == {ragged.names[position]}

    def run(values: Tensor, mask: Tensor) -> Tensor:
        # Of an infinite complex number, a product with 1 makes NaN: padding is only to be met after the elements.
        if is_complex and (reverse or not behind):
            return _running_product(values, mask, position, reverse, "last")
        return _cumulative_prod(where(mask, values, 1), axis=position, reverse=reverse)

    if not has_gradient(ragged) or (reverse and behind and not is_complex):
        return ragged_or_tensor(run(ragged.values, ragged.mask()), ragged.lengths)

    @custom_gradient
    def product(values: Tensor, mask: Tensor) -> Any:
        def pull(cotangent: Tensor) -> Any:
            # The slope of an element is a sum over the products after it, each times its cotangent. That of padding
            # is 0, and 0 times infinity is NaN: padding is only to be met before the elements.
            return vjp(lambda x: _running_product(x, mask, position, reverse, "first"), values)[1](cotangent)[0], None

        return run(values, mask), pull

    return ragged_or_tensor(product(ragged.values, ragged.mask()), ragged.lengths)


@check_arguments
def cumulative_max(x: Ragged | Tensor, /, *, axis: Axis, reverse: bool = False) -> Any:
    """Compute the cumulative maximum along an axis.

    >>> tb.ragged.cumulative_max(tb.ragged.from_list([[3, 2], [4]]), axis="time").filled(0).tolist()
    [[3, 3], [4, 0]]
    """
    return _cumulative_extreme(x, _cumulative_max, axis, reverse, least=False)


@check_arguments
def cumulative_min(x: Ragged | Tensor, /, *, axis: Axis, reverse: bool = False) -> Any:
    """Compute the cumulative minimum along an axis.

    >>> tb.ragged.cumulative_min(tb.ragged.from_list([[3, 2], [4]]), axis="time").filled(0).tolist()
    [[3, 2], [4, 0]]
    """
    return _cumulative_extreme(x, _cumulative_min, axis, reverse, least=True)


def _order(x: Ragged, axis: int, descending: bool) -> Tensor:
    """The positions of the elements in sorted order, with the positions of the padding last.

    The sort is stable: elements that equal the number in the padding come before the padding.
    """
    if descending:
        return _argsort(x.filled(lowest_value(x.dtype)), axis=axis, descending=True)
    if not x.dtype.is_floating:
        return _argsort(x.filled(highest_value(x.dtype)), axis=axis)
    return _argsort(x.filled(float("nan")), axis=axis)  # NaN comes after all numbers


@check_arguments
def sort(x: Ragged | Tensor, /, *, axis: Axis, descending: bool = False) -> Any:
    """Sort the elements within the lengths along an axis; stable, NaN last in ascending order.

    Parameters
    ----------
    x : Ragged or Tensor
        Real values.
    axis : int or str
        An axis that no lengths are over.
    descending : bool, default False
        Whether to sort in descending order.

    Raises
    ------
    AxisError
        For an axis that lengths are over, such as the batch: its entries differ in length.

    Examples
    --------
    >>> tb.ragged.sort(tb.ragged.from_list([[3, 1, 2], [4]]), axis="time").filled(0).tolist()
    [[1, 2, 3], [4, 0, 0]]
    """
    ragged = as_ragged(x)
    refuse_dependents(ragged, axis, _SORTED)
    position = position_of(ragged, axis)
    order = _order(ragged, position, descending)
    return ragged_or_tensor(take_along_axis_at(ragged.values, order, axis=position, mode="clip"), ragged.lengths)


@check_arguments
def argsort(x: Ragged | Tensor, /, *, axis: Axis, descending: bool = False) -> Any:
    """Find the positions of the elements in sorted order: int64.

    Raises
    ------
    AxisError
        For an axis that lengths are over, such as the batch: its entries differ in length.

    Examples
    --------
    >>> tb.ragged.argsort(tb.ragged.from_list([[3, 1, 2], [4]]), axis="time").filled(-1).tolist()
    [[1, 2, 0], [0, -1, -1]]
    """
    ragged = as_ragged(x)
    refuse_dependents(ragged, axis, _SORTED)
    return ragged_or_tensor(_order(ragged, position_of(ragged, axis), descending), ragged.lengths)


@check_arguments
def top_k(x: Ragged | Tensor, k: int, /, *, axis: Axis) -> Any:
    """Find the k largest elements within the lengths along an axis, the largest first, and their positions.

    Parameters
    ----------
    x : Ragged or Tensor
        Real values.
    k : int
        The number of elements, at most the size of the axis.
    axis : int or str
        An axis that no lengths are over. If it has lengths, each length becomes the minimum of itself and k.

    Returns
    -------
    TopKResult
        `values` and `indices` (int64), each a `Ragged` if an axis has lengths.

    Raises
    ------
    AxisError
        For an axis that lengths are over.
    ShapeError
        For a k greater than the size of the axis.

    Examples
    --------
    >>> best = tb.ragged.top_k(tb.ragged.from_list([[3, 1, 2], [4]]), 2, axis="time")
    >>> best.values.filled(0).tolist(), best.indices
    ([[3, 2], [4, 0]], ragged s64[batch: 2][time: 2] numpy, time=[2, 1])
    """
    ragged = as_ragged(x)
    refuse_dependents(ragged, axis, _SORTED)
    position, count = position_of(ragged, axis), integer(k=k)
    _, indices = _top_k(ragged.filled(lowest_value(ragged.dtype)), count, axis=position)
    name = ragged.names[position]
    lengths = {
        other: minimum(other_lengths, count) if other == name else other_lengths
        for other, other_lengths in ragged.lengths.items()
    }
    return TopKResult(
        ragged_or_tensor(take_along_axis_at(ragged.values, indices, axis=position, mode="clip"), lengths),
        ragged_or_tensor(indices, lengths),
    )
