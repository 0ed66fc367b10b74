"""Elements repeated, rolled, padded, and truncated to another size."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy

import tensorbackend as tb

from ..dtypes import bool_
from ..errors import ArgumentError
from ..tensor import Tensor
from .arrays import as_shape, box, fresh, functions, ndarray
from .conversion import asarray, back, cast, host, tensor
from .functions import Array, function, public
from .selection import as_integers
from .shapes import axis_position, axis_positions, flat_along


@function
def tile(A: Array, reps: Any) -> Array:
    """The array repeated as a whole along axes."""
    times = as_shape(int(reps) if isinstance(reps, bool) else reps)
    x = tb.reshape(A, (1,) * max(0, len(times) - A.ndim) + A.shape)
    return fresh(tb.tile(x, (1,) * (x.ndim - len(times)) + times))


@function
def repeat(a: Array, repeats: Any, axis: Any = None) -> Array:
    """Each element repeated along an axis, by default of the flat array."""
    x, place = flat_along(a, axis, of_number=True)
    times: Any = tensor(repeats)
    if times.ndim == 1 and times.shape[0] == 1:
        times = times[0]
    times = as_integers(times)
    if not times.ndim and repeats.__class__ is not ndarray:
        times = int(times)
    return tb.repeat(x, times, axis=place)


@function
def roll(a: Array, shift: Any, axis: Any = None) -> Array:
    """Elements moved along axes, from the end back to the front."""
    whole = tuple(map(int, numpy.atleast_1d(host(shift)))) if numpy.ndim(host(shift)) else int(shift)
    axis = tuple(axis) if isinstance(axis, Iterator | range) else axis
    if isinstance(axis, tuple | list) and not isinstance(whole, tuple):
        whole = (whole,) * len(axis)
    if isinstance(whole, tuple) and axis is not None and not isinstance(axis, tuple | list):
        axis = (axis,) * len(whole)
    if isinstance(whole, tuple) and axis is None:
        whole = sum(whole)
    if axis is None:
        return tb.reshape(tb.roll(tb.reshape(a, (-1,)), whole, axis=0), a.shape) if a.size else a
    shifts = whole if isinstance(whole, tuple) else (whole,)
    for each, place in zip(shifts, axis if isinstance(axis, tuple | list) else (axis,), strict=True):
        a = tb.roll(a, each, axis=axis_position(place, a.ndim))
    return fresh(a)


@function
def resize(a: Array, new_shape: Any) -> Array:
    """The elements in another shape, repeated if there are too few."""
    shape_ = as_shape(new_shape)
    size_ = math.prod(shape_)
    if min(shape_, default=0) < 0:
        raise ArgumentError("all elements of `new_shape` must be non-negative")
    flat = tb.reshape(a, (-1,))
    if not size_ or not flat.shape[0]:
        return tb.zeros(shape_, dtype=a.dtype, like=a)
    times = -(-size_ // flat.shape[0])
    return tb.reshape(tb.tile(flat, (times,))[:size_], shape_)


def _resize_with_zeros(t: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The elements in another shape, followed by zeros if there are too few."""
    count = math.prod(shape)
    flat = tb.reshape(t, (-1,))[:count]
    return tb.reshape(tb.pad(flat, [(0, count - flat.shape[0])], value=False if t.dtype is bool_ else 0), shape)


@public
def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    """The array without zeros at its ends: a view."""
    sides = trim.lower()
    if sides not in ("f", "b", "fb", "bf"):
        raise ArgumentError(f"unexpected character(s) in `trim`: {trim!r}")
    x = asarray(filt)
    axes = axis_positions(axis, x.ndim)
    if x.ndim == 1 and not axes:
        return filt
    found = tb.not_equal(tensor(x), 0)
    key = []
    for place, size in enumerate(x.shape):
        others = tuple([each for each in range(x.ndim) if each != place])
        places = tb.nonzero(tb.any(found, axis=others) if others else found)[0]
        if place not in axes:
            key.append(slice(None))
        elif not places.shape[0]:
            key.append(slice(0, 0))
        else:
            key.append(slice(int(places[0]) if "f" in sides else 0, int(places[-1]) + 1 if "b" in sides else size))
    return filt[key[0]] if isinstance(filt, list | tuple) and len(key) == 1 else x[tuple(key)]


functions["resized_with_zeros"] = _resize_with_zeros


# Padding

_BY_INDEX = frozenset({"edge", "reflect", "symmetric", "wrap"})
"""Modes that repeat elements of the array."""


_OPTIONS = {
    "constant": "constant_values", "linear_ramp": "end_values", "reflect": "reflect_type", "symmetric": "reflect_type",
    "maximum": "stat_length", "minimum": "stat_length", "mean": "stat_length", "median": "stat_length",
    "edge": "", "wrap": "", "empty": "",
}  # fmt: skip
"""The option of each mode."""


@public
def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    """The array with more elements at the ends of its axes."""
    x = tensor(array)
    if isinstance(pad_width, dict):
        pad_width = [pad_width.get(axis, pad_width.get(axis - x.ndim, 0)) for axis in range(x.ndim)]
        pad_width = [each if isinstance(each, tuple) else (each, each) for each in pad_width]
    widths = _pairs(pad_width, x.ndim)
    if widths.dtype.kind != "i":
        raise TypeError("`pad_width` must be of integral type.")
    if (widths < 0).any():
        raise ArgumentError("index can't contain negative values")
    pairs = [(int(low), int(high)) for low, high in widths]
    if not callable(mode):
        if mode not in _OPTIONS:
            raise ArgumentError(f"mode '{mode}' is not supported")
        if unknown := set(kwargs) - {_OPTIONS[mode]}:
            raise ArgumentError(f"unsupported keyword arguments for mode '{mode}': {unknown}")
    if mode in ("constant", "empty"):
        return box(fresh(_constant(x, pairs, kwargs.get("constant_values", 0))))
    if mode in _BY_INDEX and kwargs.get("reflect_type", "even") == "even":
        return box(fresh(_pad_by_index(x, pairs, mode)))
    return back(numpy.pad(host(box(x)), widths, mode, **host(kwargs)))


def _pairs(value: Any, ndim: int) -> Any:
    try:
        return numpy.broadcast_to(numpy.asarray(host(value)), (ndim, 2))
    except ValueError as error:
        raise ArgumentError(f"operands could not be broadcast together with remapped shapes: {error}") from error


def _constant(x: Tensor, pairs: list[tuple[int, int]], values: Any) -> Tensor:
    numbers = _pairs(values, x.ndim) if x.ndim else numpy.zeros((0, 2))
    distinct = {number for pair in numbers.tolist() for number in pair}
    if len(distinct) <= 1:
        value = cast(tensor(distinct.pop() if distinct else 0), x.dtype)
        return tb.pad(x, pairs, value=value)
    for axis, (low, high) in enumerate(pairs):
        for place, count in ((0, low), (1, high)):
            widths = [(0, 0)] * x.ndim
            widths[axis] = (count, 0) if place == 0 else (0, count)
            x = tb.pad(x, widths, value=cast(tensor(numbers[axis][place].item()), x.dtype))
    return x


def _pad_by_index(x: Tensor, pairs: list[tuple[int, int]], mode: str) -> Tensor:
    for axis, (low, high) in enumerate(pairs):
        if not (low or high):
            continue
        size = x.shape[axis]
        if not size:
            raise ArgumentError(f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'")
        places = numpy.pad(numpy.arange(size), (low, high), mode)  # type: ignore[call-overload]  # any mode
        x = tb.take(x, tb.asarray(places), axis=axis)
    return x
