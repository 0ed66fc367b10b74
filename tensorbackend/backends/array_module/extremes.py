"""Maxima and minima in which NaN wins and 0.0 is above -0.0, which array libraries leave open."""

from __future__ import annotations

from typing import Any


def maximum(xp: Any, left: Any, right: Any) -> Any:
    """The greater of two elements; its sign is negative where both signs are, which decides between zeros."""
    greater = xp.maximum(left, right)
    if _has_one_zero(left):
        return greater
    return xp.copysign(greater, (_bits(left) & _bits(right)).view(left.dtype))


def minimum(xp: Any, left: Any, right: Any) -> Any:
    """The lesser of two elements; its sign is negative where either sign is, which decides between zeros."""
    lesser = xp.minimum(left, right)
    if _has_one_zero(left):
        return lesser
    return xp.copysign(lesser, (_bits(left) | _bits(right)).view(left.dtype))


def clip(xp: Any, values: Any, low: Any, high: Any) -> Any:
    """`minimum(maximum(values, low), high)`, with the signs of zeros decided in one step."""
    between = xp.minimum(xp.maximum(values, low), high)
    if _has_one_zero(values):
        return between
    return xp.copysign(between, (_bits(values) & _bits(low) | _bits(high)).view(values.dtype))


def signed_maximum(xp: Any, values: Any, axes: tuple[int, ...], keepdims: bool = False) -> Any:
    """The largest element along axes."""
    maxima = xp.max(values, axis=axes, keepdims=keepdims)
    if _has_one_zero(values) or not (maxima == 0).any():
        return maxima
    plus = xp.any((values == 0) & ~xp.signbit(values), axis=axes, keepdims=keepdims)
    return xp.where((maxima == 0) & plus, xp.abs(maxima), maxima)


def signed_minimum(xp: Any, values: Any, axes: tuple[int, ...], keepdims: bool = False) -> Any:
    """The minimum along axes."""
    minima = xp.min(values, axis=axes, keepdims=keepdims)
    if _has_one_zero(values) or not (minima == 0).any():
        return minima
    minus = xp.any((values == 0) & xp.signbit(values), axis=axes, keepdims=keepdims)
    return xp.where((minima == 0) & minus, -xp.abs(minima), minima)


def _has_one_zero(values: Any) -> bool:
    """Whether the dtype has no signed zeros: bools and integers."""
    return values.dtype.kind in "biu"


def _bits(values: Any) -> Any:
    return values.view(f"int{8 * values.dtype.itemsize}")
