"""Values between the two libraries: autograd's tests hold NumPy's arrays, and functions of them get tensors."""

from __future__ import annotations

from typing import Any

import numpy

import tensorbackend as tb
from tensorbackend.errors import TemplateDataError


def has_tensor(value: Any) -> bool:
    """Whether there is a tensor in a value or in the containers that it is made of."""
    if isinstance(value, dict):
        return any(map(has_tensor, value.values()))
    if isinstance(value, list | tuple):
        return any(map(has_tensor, value))
    return isinstance(value, tb.Tensor)


def mapped(function: Any, value: Any) -> Any:
    """A value with its leaves replaced, in containers of the same kinds."""
    if isinstance(value, dict):
        return {key: mapped(function, each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(mapped(function, each) for each in value)
    return function(value)


def to_tensor(value: Any) -> Any:
    """Numbers and arrays of float32, float64 or complex numbers as tensors; anything else as it is.

    autograd differentiates by integers as if they were float64.
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
    """Tensors that have data as NumPy's arrays, those without axes as NumPy's numbers."""

    def leaf(each: Any) -> Any:
        return numpy.asarray(each)[()] if isinstance(each, tb.Tensor) and has_data(each) else each

    return mapped(leaf, value)


def has_data(x: tb.Tensor) -> bool:
    """Whether the data of a tensor can be read: not that of a traced one."""
    try:
        x.tolist()
    except TemplateDataError:
        return False
    return True
