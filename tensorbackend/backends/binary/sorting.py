"""Orderings on bytes: Python's own sort (Timsort; Peters, 2002) is stable in both directions."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import Any

from ...dtypes import promote_types
from ...protocol import Backend, Payload
from ...template import Template
from ...tensor import Tensor
from .storage import cast, elements, store


def apply_along(
    values: Sequence[Any], shape: Sequence[int], axis: int, function: Callable[[Any], list[Any]]
) -> list[Any]:
    """Applies a function to each run of elements along an axis; its results are along the same axis.

    For (2, 3) along axis 0 it is called on three runs of two, each a slice with step 3. All results have one length.
    """
    blocks, length, step = math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])
    block = length * step
    if step == 1 and blocks == 1:
        return function(values)
    result: list[Any] = []
    for first in range(0, blocks * block, block) if block else [0] * blocks:
        runs = [function(values[start : first + block : step]) for start in range(first, first + step)]
        result += runs[0] if step == 1 else [element for entries in zip(*runs, strict=True) for element in entries]
    return result


def sort_elements(values: Sequence[Any], descending: bool) -> list[Any]:
    """Elements sorted. NaNs have no order, so they are set apart; they come last, or first if descending."""
    numbers = [value for value in values if value == value]
    numbers.sort(reverse=descending)
    nans = [math.nan] * (len(values) - len(numbers))
    return nans + numbers if descending else numbers + nans


def order_of(values: Sequence[Any], descending: bool) -> list[int]:
    """The positions of the elements in sorted order. NaNs keep their order and come last, or first if descending."""
    numbers = [position for position, value in enumerate(values) if value == value]
    numbers.sort(key=values.__getitem__, reverse=descending)
    nans = [position for position, value in enumerate(values) if value != value]
    return nans + numbers if descending else numbers + nans


class BinarySorting(Backend):
    """The callbacks of the family `protocol.reduction` that sort."""

    def sort(self, out: Template, x: Tensor, /, *, axis: int, descending: bool) -> Payload:
        return store(apply_along(elements(x), x.shape, axis, lambda run: sort_elements(run, descending)), out.dtype)

    def argsort(self, out: Template, x: Tensor, /, *, axis: int, descending: bool) -> Payload:
        return store(apply_along(elements(x), x.shape, axis, lambda run: order_of(run, descending)), out.dtype)

    # Overrides of composites

    def searchsorted(self, out: Template, x1: Tensor, x2: Tensor, /, *, side: str) -> Payload:
        """Where values would be inserted, by bisection; NaNs are at the end of x1, and NaN is inserted there."""
        dtype = promote_types(x1.dtype, x2.dtype)
        line = [value for value in elements(cast(x1, dtype)) if value == value]
        find = bisect_left if side == "left" else bisect_right
        beyond = len(line) if side == "left" else x1.size
        values = elements(cast(x2, dtype))
        return store([find(line, value) if value == value else beyond for value in values], out.dtype)

    def isin(self, out: Template, x1: Tensor, x2: Tensor, /, *, invert: bool) -> Payload:
        """Membership in a set without NaN, as NaN equals nothing."""
        dtype = promote_types(x1.dtype, x2.dtype)
        among = {value for value in elements(cast(x2, dtype)) if value == value}
        return store([(value in among) is not invert for value in elements(cast(x1, dtype))], out.dtype)
