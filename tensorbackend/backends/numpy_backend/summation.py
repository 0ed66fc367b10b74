"""Sums of many terms whose rounding errors stay small along every axis.

NumPy adds in pairs where the elements that it reads one after another belong to one sum. Along other axes it adds them
one by one, and float32 is off by per cent after a million terms. There each sum is made of sums of few terms (Higham,
Accuracy and Stability of Numerical Algorithms, section 4.2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import prod
from typing import Any, Final, NamedTuple

from ...dtypes import DType
from ...interchange import numpy_dtype
from ...protocol import Kernel
from ...template import Shape, Template
from ..array_module.base import Array
from ..array_module.precision import ONE_BY_ONE, WIDER

_TERMS: Final = 1 << 6
"""The number of terms of a partial sum: so many that the further steps have little to add."""

_FEW_SUMS: Final = 1 << 3
"""Up to this number of sums, each is computed on its own: NumPy is slow where the rows are short."""

_SMALL: Final = 1 << 14
"""Up to this number of elements, sums in twice the width are quicker than partial sums."""


class _Step(NamedTuple):
    """A pass over an array that adds along some axes as a whole, and along one of them `terms` elements at a time."""

    whole: tuple[int, ...]
    split: int | None
    terms: int


def partial_sums(shape: Shape, axes: Sequence[int], ordered: bool) -> list[_Step]:
    """The steps of a sum: each adds at most `_TERMS` terms one by one.

    Parameters
    ----------
    shape : tuple of int
        The shape of the array.
    axes : sequence of int
        The axes to add along.
    ordered : bool
        Whether NumPy reads the elements in row-major order, so that it adds along the last axis in pairs.

    Returns
    -------
    list of _Step
        The steps; the last one leaves the sums.
    """
    sizes, steps = list(shape), list[_Step]()
    left = [axis for axis in reversed(axes) if sizes[axis] > 1]
    in_pairs = ordered and bool(left) and all(size == 1 for size in sizes[left[0] + 1 :])
    while left or not steps:
        room, whole, split = _TERMS, [], None
        for axis in left:
            if in_pairs:
                in_pairs = False
            elif sizes[axis] <= room:
                room //= sizes[axis]
            else:
                split = axis if room > 1 else None
                break
            whole.append(axis)
        steps.append(_Step(tuple(whole), split, room))
        for axis in whole:
            sizes[axis] = 1
        if split is not None:
            sizes[split] = -(-sizes[split] // room)
        left = [axis for axis in left if sizes[axis] > 1]
    return steps


def summing(xp: Any, plain: Kernel, x: Template, axes: tuple[int, ...], keepdims: bool, dtype: DType) -> Kernel:
    """A kernel that adds along axes: `plain` where that adds in pairs or adds few terms, else by partial sums.

    Parameters
    ----------
    xp : module
        NumPy.
    plain : Kernel
        The sum as NumPy computes it.
    x : Template
        The operand; its payload may have strides of any order.
    axes : tuple of int
        The axes to add along, in ascending order.
    keepdims : bool
        Whether the axes stay, with size 1.
    dtype : DType
        The dtype to add in.

    Returns
    -------
    Kernel
        The kernel.
    """
    terms = prod(x.shape[axis] for axis in axes)
    if terms <= ONE_BY_ONE or not dtype.is_inexact or not x.size or len(x.shape) == 1:
        return plain
    behind = prod(x.shape[axes[-1] + 1 :])
    kept = x.size // terms
    shape = tuple(
        1 if axis in axes else size for axis, size in enumerate(x.shape) if keepdims or axis not in axes
    )  # fmt: skip
    by_steps, in_order = _by_steps(xp, x.shape, axes, shape, dtype, False), _in_order_sum(xp, x, axes, shape, dtype)
    alone = kept == 1 or (behind == 1 and axes == tuple(range(axes[0], len(x.shape))))
    narrow, element = numpy_dtype(dtype), x.dtype
    few = _each(xp, x.shape, axes, shape, dtype) if len(axes) == 1 and kept <= _FEW_SUMS else None
    small = None
    if x.size <= _SMALL and dtype in WIDER and element is dtype and few is None:
        reduce, wider = xp.add.reduce, numpy_dtype(WIDER[dtype])
        small = lambda values: reduce(values, axes, wider, None, keepdims).astype(narrow)  # noqa: E731

    def total(values: Array) -> Array:
        if values.flags.c_contiguous:
            return plain(values) if alone else small(values) if small else in_order(values)
        if few is not None:
            return few(values)
        return small(values) if small else by_steps(values)

    return total


def _in_order_sum(xp: Any, x: Template, axes: tuple[int, ...], shape: Shape, dtype: DType) -> Kernel:
    """A kernel for arrays in row-major order, where leading axes are merged into one."""
    terms = prod(x.shape[axis] for axis in axes)
    if axes != tuple(range(len(axes))):
        return _by_steps(xp, x.shape, axes, shape, dtype, True)
    merged = terms, x.size // terms
    form = _each if merged[1] <= _FEW_SUMS else _in_rows
    kernel = form(xp, merged, (0,), shape, dtype)
    return lambda values: kernel(values.reshape(merged))


def _each(xp: Any, shape: Shape, axes: tuple[int, ...], out: Shape, dtype: DType) -> Kernel:
    """A kernel that computes few sums one after another: along one axis NumPy adds in pairs, whatever the stride."""
    reduce, empty, element = xp.add.reduce, xp.empty, numpy_dtype(dtype)
    (axis,) = axes
    kept = shape[:axis] + shape[axis + 1 :]
    order = (*range(axis), *range(axis + 1, len(shape)), axis)
    places = list(product(*map(range, kept)))

    def sums(values: Array) -> Array:
        lines, totals = values.transpose(order), empty(kept, element)
        for place in places:
            totals[place] = reduce(lines[place], None, element)
        return totals.reshape(out)

    return sums


def _in_rows(xp: Any, shape: Shape, axes: tuple[int, ...], out: Shape, dtype: DType) -> Kernel:
    return _by_steps(xp, shape, axes, out, dtype, True)


def _by_steps(xp: Any, shape: Shape, axes: tuple[int, ...], out: Shape, dtype: DType, ordered: bool) -> Kernel:
    """A kernel that runs the steps of `partial_sums`."""
    steps, current = [], list(shape)
    for step in partial_sums(shape, axes, ordered):
        steps.append(_step(xp, tuple(current), step, numpy_dtype(dtype)))
        for axis in step.whole:
            current[axis] = 1
        if step.split is not None:
            current[step.split] = -(-current[step.split] // step.terms)

    def sums(values: Array) -> Array:
        for step in steps:
            values = step(values)
        return values.reshape(out)

    return sums


def _step(xp: Any, shape: Shape, step: _Step, element: Any) -> Callable[[Array], Array]:
    """A function that runs a step; axes keep their places."""
    reduce, empty = xp.add.reduce, xp.empty
    whole, axis, terms = step
    if axis is None:
        return lambda values: reduce(values, whole, element, None, True)
    count, rest = divmod(shape[axis], terms)
    before: tuple[Any, ...] = (slice(None),) * axis
    result = tuple(1 if place in whole else size for place, size in enumerate(shape))
    result = *result[:axis], count + bool(rest), *result[axis + 1 :]
    blocks = *shape[:axis], count, terms, *shape[axis + 1 :]
    inner = (*(place + (place > axis) for place in whole), axis + 1)
    outer = (*whole, axis)
    main, tail = (*before, slice(count * terms)), (*before, slice(count * terms, None))
    to_main, to_tail = (*before, slice(count), None), (*before, slice(count, None))

    def run(values: Array) -> Array:
        totals = empty(result, element)
        if not rest:
            reduce(values.reshape(blocks), inner, element, totals[to_main], True)
            return totals
        reduce(values[main].reshape(blocks), inner, element, totals[to_main], True)
        reduce(values[tail], outer, element, totals[to_tail], True)
        return totals

    return run
