"""Conversion between the two libraries: autograd's tests hold NumPy arrays, and the functions in them get tensors."""

from __future__ import annotations

from typing import Any

import numpy

import tensorbackend as tb
from tensorbackend.errors import TemplateDataError


def has_tensor(value: Any) -> bool:
    """Return whether a value is a tensor, or a container with a tensor in it."""
    if isinstance(value, dict):
        return any(map(has_tensor, value.values()))
    if isinstance(value, list | tuple):
        return any(map(has_tensor, value))
    return isinstance(value, tb.Tensor)


def mapped(function: Any, value: Any) -> Any:
    """Apply a function to each leaf of a value, and keep its containers."""
    if isinstance(value, dict):
        return {key: mapped(function, each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(mapped(function, each) for each in value)
    return function(value)


def to_tensor(value: Any) -> Any:
    """Convert numbers and arrays to tensors, and leave anything else unchanged.

    Integers become float64, as autograd differentiates with respect to them as if they were.
    """

    def leaf(each: Any) -> Any:
        if isinstance(each, bool | str | tb.Tensor) or not isinstance(
            each, int | float | complex | numpy.ndarray | numpy.generic
        ):
            return each
        array = numpy.asarray(each)
        return tb.asarray(array.astype("float64") if array.dtype.kind in "iub" else array)

    return mapped(leaf, value)


def to_numpy(value: Any) -> Any:
    """Convert tensors that have data to NumPy arrays, and those without axes to NumPy scalars."""

    def leaf(each: Any) -> Any:
        return numpy.asarray(each)[()] if isinstance(each, tb.Tensor) and has_data(each) else each

    return mapped(leaf, value)


def has_data(x: tb.Tensor) -> bool:
    """Return whether the data of a tensor can be read; a traced tensor has none."""
    try:
        x.tolist()
    except TemplateDataError:
        return False
    return True
