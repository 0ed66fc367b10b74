"""`np.pad` in its modes."""

from __future__ import annotations

from typing import Any

import numpy

import tensorbackend as tb

from ..errors import ArgumentError
from ..tensor import Tensor
from .arrays import box, fresh
from .conversion import back, cast, host, tensor
from .functions import public

_BY_INDEX = {"edge": "edge", "reflect": "reflect", "symmetric": "symmetric", "wrap": "wrap"}
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
    host_options = {name: host(value) for name, value in kwargs.items()}
    return back(numpy.pad(host(box(x)), widths, mode, **host_options))


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
