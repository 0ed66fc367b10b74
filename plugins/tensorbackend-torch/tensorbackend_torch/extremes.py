"""Maxima and minima in which NaN wins and 0.0 is above -0.0, which PyTorch leaves open."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from .library import torch
from .looking import may_look
from .ways import Array, in_order, turned_over

_INTEGERS = {2: "int16", 4: "int32", 8: "int64"}


def maximum(left: Array, right: Array) -> Array:
    """Returns the greater of two elements; a zero is negative only if both elements have a negative sign."""
    greater = torch.maximum(left, right)
    if not left.is_floating_point() or _is_settled(left) or _is_settled(right):
        return greater
    if _is_zero(left) or _is_zero(right):
        return greater.abs_()  # 0.0 is above -0.0, and nothing is below it
    return _signed(greater, _bits(left) & _bits(right))  # other elements have this sign already


def minimum(left: Array, right: Array) -> Array:
    """Returns the lesser of two elements; a zero is negative if one of the elements has a negative sign."""
    lesser = torch.minimum(left, right)
    if not left.is_floating_point() or _is_settled(left) or _is_settled(right):
        return lesser
    return _signed(lesser, _bits(left) | _bits(right))


def clip(values: Array, low: Array, high: Array) -> Array:
    """`minimum(maximum(values, low), high)`."""
    if values.is_floating_point() and _is_settled(low) and _is_settled(high):
        bounds = low.item(), high.item()
        if bounds[0] <= bounds[1]:  # neither is NaN
            return torch.clamp(values, *bounds)
    return minimum(maximum(values, low), high)


def signed_maximum(values: Array, axes: Sequence[int], keepdims: bool = False) -> Array:
    """The largest element along axes."""
    return extreme_along(axes, keepdims, largest=True)(values)


def signed_minimum(values: Array, axes: Sequence[int], keepdims: bool = False) -> Array:
    """The minimum along axes."""
    return extreme_along(axes, keepdims, largest=False)(values)


def extreme_along(axes: Sequence[int], keepdims: bool, *, largest: bool) -> Callable[[Array], Array]:
    """Returns the function that finds the largest or least element along axes."""
    find, count = torch.amax if largest else torch.amin, torch.count_nonzero
    axis = axes[0] if len(axes) == 1 else tuple(axes)

    def extreme(values: Array) -> Array:
        found = find(values, axis, keepdims) if axes else reduced(find, values, axes, keepdims)
        if not values.is_floating_point():
            return found
        # To count is the quickest way of PyTorch's to see that there is no zero.
        if may_look() and (count(found).item() == found.numel() or not has_negative_zero(values)):
            return found
        negative = torch.signbit(values)
        wins = reduced(torch.any, (values == 0) & (~negative if largest else negative), axes, keepdims)
        return torch.where((found == 0) & wins, 0.0 if largest else -0.0, found)

    return extreme


def reduced(
    function: Callable[..., Array], values: Array, axes: Sequence[int], keepdims: bool, **options: object
) -> Array:
    """Applies a reduction of PyTorch along axes; PyTorch would take no axes for all axes."""
    if not axes:
        return function(values[..., None], dim=-1, **options)
    return function(values, axes[0] if len(axes) == 1 else tuple(axes), keepdims, **options)  # an int is read quicker


def in_line(values: Array) -> Array:
    """Integers in the order of the elements: -0.0 before 0.0, and NaN last."""
    if not values.is_floating_point():
        return in_order(values)
    return _turned(_bits(torch.where(values == values, values, torch.nan)))


def out_of_line(line: Array, dtype: torch.dtype) -> Array:
    """The inverse of `in_line`: makes elements of a dtype from its integers."""
    if dtype.is_floating_point:
        return _turned(line).view(dtype)
    return line if line.dtype is dtype else turned_over(line).view(dtype)


def _turned(bits: Array) -> Array:
    """Flips all bits but the sign of negative numbers: makes ordered integers of the bits of floats, and back."""
    info = torch.iinfo(bits.dtype)
    return bits ^ ((bits >> info.bits - 1) & info.max)


def _is_settled(operand: Array) -> bool:
    """Whether an operand is one number that is not 0, so that each zero of a result is one of the other operand."""
    return operand.ndim == 0 and operand.device.type == "cpu" and may_look() and operand.item() != 0


def _is_zero(operand: Array) -> bool:
    """Whether an operand is one number that is 0.0."""
    if operand.ndim or operand.device.type != "cpu" or not may_look():
        return False
    number = operand.item()
    return number == 0 and math.copysign(1, number) > 0


def has_negative_zero(values: Array) -> bool:
    """Whether an element of floating values may be -0.0; its bits are those of the smallest integer."""
    if not may_look():
        return True
    bits = _bits(values)
    return bool(values.numel()) and bits.amin().item() == torch.iinfo(bits.dtype).min


def _bits(values: Array) -> Array:
    return values.view(getattr(torch, _INTEGERS[values.element_size()]))


def _signed(values: Array, signs: Array) -> Array:
    """Copies the signs of integers to the values, in place; `torch.where` by a random mask takes ten times as long."""
    return values.copysign_(signs.view(values.dtype))
