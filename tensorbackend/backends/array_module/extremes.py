"""Maxima and minima in which NaN wins and 0.0 is above -0.0, which array libraries leave open."""

from __future__ import annotations

from typing import Any


def maximum(xp: Any, left: Any, right: Any) -> Any:
    """The greater of two elements."""
    greater = xp.maximum(left, right)
    if _has_one_zero(left):
        return greater
    # Equal floats differ in the sign of a zero at most, and only two minus signs leave one.
    bits = f"int{8 * left.dtype.itemsize}"
    return xp.where(left == right, (left.view(bits) & right.view(bits)).view(left.dtype), greater)


def minimum(xp: Any, left: Any, right: Any) -> Any:
    """The lesser of two elements."""
    lesser = xp.minimum(left, right)
    if _has_one_zero(left):
        return lesser
    bits = f"int{8 * left.dtype.itemsize}"
    return xp.where(left == right, (left.view(bits) | right.view(bits)).view(left.dtype), lesser)


def greatest(xp: Any, values: Any, axes: tuple[int, ...], keepdims: bool = False) -> Any:
    """The greatest element along axes."""
    found = xp.max(values, axis=axes, keepdims=keepdims)
    if _has_one_zero(values) or not (found == 0).any():
        return found
    plus = xp.any((values == 0) & ~xp.signbit(values), axis=axes, keepdims=keepdims)
    return xp.where((found == 0) & plus, xp.abs(found), found)


def least(xp: Any, values: Any, axes: tuple[int, ...], keepdims: bool = False) -> Any:
    """The least element along axes."""
    found = xp.min(values, axis=axes, keepdims=keepdims)
    if _has_one_zero(values) or not (found == 0).any():
        return found
    minus = xp.any((values == 0) & xp.signbit(values), axis=axes, keepdims=keepdims)
    return xp.where((found == 0) & minus, -xp.abs(found), found)


def _has_one_zero(values: Any) -> bool:
    """Whether the dtype has no signed zeros: bools and integers."""
    return values.dtype.kind in "biu"
