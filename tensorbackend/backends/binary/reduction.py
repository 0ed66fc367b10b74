"""Reductions on bytes: elements are collected into groups, one for each result, and each group is folded."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product
from operator import ne
from typing import Any

from ...dtypes import bool_
from ...dtypes.packing import iterable
from ...protocol import Backend, Payload
from ...protocol.reduction import TieBreak
from ...template import Shape, Template
from ...tensor import Tensor
from . import bits, complex_scalars
from .scalars import sum_of_floats
from .shape import steps
from .storage import cast, elements, store


def groups(values: Sequence[Any], shape: Shape, axes: tuple[int, ...]) -> Sequence[Sequence[Any]]:
    """Groups of the elements along `axes`, one for every position on the other axes, all in row-major order.

    (2, 3) over (0,) has three groups of two, each a slice with stride 3.
    """
    if len(axes) == len(shape):
        return [values]
    first, last = (axes[0], axes[-1] + 1) if axes else (0, 0)
    if last - first == len(axes):  # adjacent axes count as one
        length, step = math.prod(shape[first:last]), math.prod(shape[last:])
        if not values:
            return [()] * (math.prod(shape[:first]) * step)
        block = length * step
        starts = range(0, len(values), block)
        if step == 1:
            return [values[start : start + length] for start in starts]
        return [values[at : start + block : step] for start in starts for at in range(start, start + step)]
    if not values:
        return [()] * math.prod(size for axis, size in enumerate(shape) if axis not in axes)
    apart = steps(shape)
    places = _offsets(shape, apart, [axis for axis in range(len(shape)) if axis not in axes])
    within = _offsets(shape, apart, axes)
    return [[values[place + offset] for offset in within] for place in places]


def _offsets(shape: Shape, apart: Sequence[int], axes: Sequence[int]) -> list[int]:
    ranges = (range(0, apart[axis] * shape[axis], apart[axis]) for axis in axes)
    return list(map(sum, product(*ranges)))


def maximum_of(values: Sequence[Any]) -> Any:
    """The largest element, NaN if there is one."""
    return _extreme(values, max)


def minimum_of(values: Sequence[Any]) -> Any:
    """The minimum, NaN if there is one."""
    return _extreme(values, min)


def _extreme(values: Sequence[Any], choose: Callable[[Sequence[Any]], Any]) -> Any:
    total = sum(values)  # a fast test for NaN; the sum of infinities of both signs is NaN too
    if total != total and any(map(ne, values, values)):
        return math.nan
    extreme = choose(values)
    if extreme == 0 and isinstance(extreme, float):  # -0.0 is below 0.0, which Python finds equal
        return choose([math.copysign(1.0, value) for value in values if value == 0]) * 0.0
    return extreme


def index_of(values: Sequence[Any], choose: Callable[[Sequence[Any]], Any], tie_break: TieBreak) -> int:
    """The position of the extreme element, a NaN if there is one; among equals the first or last by `tie_break`."""
    sought = choose(values)
    if sought != sought:
        sought, values = True, list(map(ne, values, values))
    return values.index(sought) if tie_break == "low" else len(values) - 1 - values[::-1].index(sought)


class BinaryReduction(Backend):
    """The callbacks of the family `protocol.reduction` that reduce."""

    def _fold(self, fold: Callable[[Any], Any], out: Template, x: Tensor, axes: tuple[int, ...]) -> Payload:
        return store(map(fold, groups(elements(x), x.shape, axes)), out.dtype)

    def _total(self, fold: Callable[[Any], Any], out: Template, x: Tensor, axes: tuple[int, ...]) -> Payload:
        """Like `_fold`, for a fold that iterates over the elements once and so needs no tuple of all of them."""
        values = iterable(x.data, x.dtype) if len(axes) == x.ndim else elements(x)
        return store(map(fold, groups(values, x.shape, axes)), out.dtype)

    def all(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Payload:
        return bytes(0 not in group for group in self._truth(x, axes))

    def any(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Payload:
        return bytes(1 in group for group in self._truth(x, axes))

    def _truth(self, x: Tensor, axes: tuple[int, ...]) -> Sequence[Sequence[int]]:
        """The groups, slices of bytes, with 1 for each element that is not zero."""
        return groups(cast(x, bool_).data if x.dtype is not bool_ else bits.truth(x.data), x.shape, axes)

    def sum(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Payload:
        total = complex_scalars.total if x.dtype.is_complex else sum_of_floats if x.dtype.is_floating else sum
        return self._total(total, out, x, axes)

    def product(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Payload:
        return self._total(complex_scalars.product if x.dtype.is_complex else math.prod, out, x, axes)

    def reduce_max(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Payload:
        return self._fold(maximum_of, out, x, axes)

    def reduce_min(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Payload:
        return self._fold(minimum_of, out, x, axes)

    def argmax(self, out: Template, x: Tensor, /, *, axis: int | None, keepdims: bool, tie_break: TieBreak) -> Payload:
        axes = tuple(range(len(x.shape))) if axis is None else (axis,)
        return self._fold(lambda values: index_of(values, maximum_of, tie_break), out, x, axes)

    def argmin(self, out: Template, x: Tensor, /, *, axis: int | None, keepdims: bool, tie_break: TieBreak) -> Payload:
        axes = tuple(range(len(x.shape))) if axis is None else (axis,)
        return self._fold(lambda values: index_of(values, minimum_of, tie_break), out, x, axes)
