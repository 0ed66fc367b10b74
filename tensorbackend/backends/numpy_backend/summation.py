"""Sums of many terms whose rounding errors stay small along every axis.

NumPy adds in pairs where the elements that it reads one after another belong to one sum. Along other axes it adds them
one by one, and float32 is off by per cent after a million terms. There each sum is made of sums of few terms (Higham,
Accuracy and Stability of Numerical Algorithms, section 4.2).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from math import prod
from typing import Any, Final, NamedTuple

from ...dtypes import DType
from ...interchange import numpy_dtype
from ...protocol import Kernel
from ...template import Shape, Template
from ..array_module.base import Array
from ..array_module.precision import ONE_BY_ONE

_TERMS: Final = 1 << 6
"""The largest number of terms that a partial sum adds one by one."""

_WIDE: Final = 1 << 8
"""From this number of elements on, NumPy adds a row in less time than it takes to begin with the next one."""


class _Step(NamedTuple):
    """A pass over an array that leaves `parts` partial sums along an axis; `rest` terms are added to the first ones."""

    parts: int
    rest: int
    split: Shape
    along: int
    sums: Shape


def steps_along(shape: Shape, axis: int, merged: bool) -> list[_Step]:
    """The steps after which at most `_TERMS` partial sums are left along an axis; none for few terms or in pairs.

    `merged` says whether axes may be merged, as in an array in row-major order. Then short rows are added many at a
    time: the partial sums are of rows that are far apart.
    """
    before, terms, behind = shape[:axis], shape[axis], shape[axis + 1 :]
    width = prod(behind)
    if terms <= ONE_BY_ONE or (merged and width == 1):
        return []
    steps, lanes = [], merged and width < _WIDE
    while terms > _TERMS:
        parts = _number_of_parts(terms, _TERMS // 2 if lanes else _TERMS)
        count, rest = divmod(terms, parts)
        split = (*before, count, parts * width) if lanes else (*before, parts, count, *behind)
        steps.append(_Step(parts, rest, split, axis + (not lanes), (*before, parts, *behind)))
        terms = parts
    return steps


def _number_of_parts(terms: int, most: int) -> int:
    """A number of parts of up to `most` terms; one that leaves no rest, if it is among the first."""
    least = -(-terms // most)
    return next((parts for parts in range(least, 2 * least) if terms % parts == 0), least)


def passes(shape: Shape, axes: tuple[int, ...], merged: bool) -> list[tuple[Shape, int]]:
    """The shapes and axes of the sums along one axis after another, the one with the most terms first.

    If axes may be merged, neighbours that are added along are one axis, and so are those that stay.
    """
    kinds = [(axis in axes, size) for axis, size in enumerate(shape) if size > 1 or not merged]
    if merged:
        kinds = [(added, prod(size for _, size in run)) for added, run in groupby(kinds, lambda kind: kind[0])]
    sizes, result = [size for _, size in kinds], list[tuple[Shape, int]]()
    for place in sorted((place for place, (added, _) in enumerate(kinds) if added), key=lambda place: -sizes[place]):
        current, axis = tuple(sizes), place
        if merged:
            current, axis = (prod(sizes[:place]), sizes[place], prod(sizes[place + 1 :])), 1
        result.append((current, axis))
        sizes[place] = 1
    return result


def partial_sums(x: Template, axes: tuple[int, ...]) -> int:
    """The number of the first partial sums of an array in row-major order; the others are few next to them."""
    if _is_plain(x, axes, x.dtype):
        return 0
    (shape, axis), *others = passes(x.shape, axes, True)
    steps = steps_along(shape, axis, True)
    return prod(steps[0].sums) if steps else prod(shape) // shape[axis] if others else 0


def _is_plain(x: Template, axes: tuple[int, ...], dtype: DType) -> bool:
    """Whether NumPy's own sum is accurate: of few terms, of integers, and along the only axis."""
    terms = prod(x.shape[axis] for axis in axes)
    return terms <= ONE_BY_ONE or not dtype.is_inexact or not x.size or len(x.shape) == 1


def sum_kernel(xp: Any, plain: Kernel, x: Template, axes: tuple[int, ...], keepdims: bool, dtype: DType) -> Kernel:
    """A kernel that adds along axes in a dtype: `plain` where that adds in pairs or few terms, else by partial sums.

    The payload of `x` may have strides of any order; `axes` are in ascending order.
    """
    if _is_plain(x, axes, dtype):
        return plain
    shape, reduce, element = x.shape, xp.add.reduce, numpy_dtype(dtype)
    kept = [1 if axis in axes else size for axis, size in enumerate(shape)]
    out = tuple(size for axis, size in enumerate(kept) if keepdims or axis not in axes)
    kernels: dict[tuple[Shape, bool], Kernel] = {}

    def kernel_in_order(order: Shape, merged: bool) -> Kernel:
        turned = tuple(shape[axis] for axis in order)
        places = tuple(place for place, axis in enumerate(order) if axis in axes)
        add = _sum_passes(reduce, turned, places, element, merged)
        sums, back = tuple(kept[axis] for axis in order), tuple(map(order.index, range(len(order))))
        return lambda values: add(values.transpose(order)).reshape(sums).transpose(back).reshape(out)

    ascending = tuple(range(len(shape)))
    if all(axis == 1 and prod(sizes[2:]) == 1 for sizes, axis in passes(shape, axes, True)):
        in_order = plain
    else:
        add = _sum_passes(reduce, shape, axes, element, True)
        in_order = lambda values: add(values).reshape(out)  # noqa: E731

    def total(values: Array) -> Array:
        if values.flags.c_contiguous:
            return in_order(values)
        strides = values.strides
        order = tuple(sorted(ascending, key=lambda axis: -abs(strides[axis])))
        key = order, values.transpose(order).flags.c_contiguous
        kernel = kernels.get(key)
        if kernel is None:
            kernel = kernels[key] = kernel_in_order(*key)
        return kernel(values)

    return total


def _sum_passes(
    reduce: Callable[..., Array], shape: Shape, axes: tuple[int, ...], element: Any, merged: bool
) -> Kernel:  # fmt: skip
    """A kernel that runs all passes; axes keep their places, unless they are merged."""
    kernels = [(sizes, _sum_along(reduce, sizes, axis, element, merged)) for sizes, axis in passes(shape, axes, merged)]
    if len(kernels) == 1:
        ((sizes, kernel),) = kernels
        return lambda values: kernel(values.reshape(sizes))

    def add(values: Array) -> Array:
        for sizes, kernel in kernels:
            values = kernel(values.reshape(sizes))
        return values

    return add


def _sum_along(reduce: Callable[..., Array], shape: Shape, axis: int, element: Any, merged: bool) -> Kernel:
    """A kernel that adds along one axis, which stays with size 1."""
    steps, before = [], (slice(None),) * axis
    for parts, rest, split, along, sums in steps_along(shape, axis, merged):
        whole = prod(split) // prod(sums) * parts
        head, main, tail = ((*before, part) for part in (slice(rest), slice(whole), slice(whole, None)))
        steps.append((rest, split, along, sums, head, main, tail))

    def add(values: Array) -> Array:
        for rest, split, along, shape, head, main, tail in steps:
            sums = reduce((values[main] if rest else values).reshape(split), along, element).reshape(shape)
            if rest:
                sums[head] += values[tail]
            values = sums
        return reduce(values, axis, element, None, True)

    return add
