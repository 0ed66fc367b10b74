"""Elements of a payload in the order of an output shape, and results back to bytes."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable
from typing import Any

from ...dtypes import DType
from ...elements import pack, unpack
from ...template import Shape
from ...tensor import Tensor
from .bits import UNSIGNED


def elements(x: Tensor) -> tuple[Any, ...]:
    """The elements of a tensor as Python numbers, row-major."""
    return unpack(x.data, x.template.dtype)


def broadcast_elements(x: Tensor, shape: Shape) -> tuple[Any, ...]:
    """The elements of a tensor repeated to a shape."""
    template = x.template
    if template.shape == shape:
        return unpack(x.data, template.dtype)
    if template.size == 1:
        return unpack(x.data, template.dtype) * math.prod(shape)
    return unpack(broadcast_bytes(x, shape), template.dtype)


def broadcast_bytes(x: Tensor, shape: Shape) -> bytes:
    """The bytes of a tensor repeated to a shape, whole runs at a time.

    (3, 1) to (3, 4) repeats each element four times; (4,) to (3, 4) the whole run three times.
    """
    data: bytes = x.data
    if x.shape == shape:
        return data
    if 0 in shape:
        return b""
    aligned = (1,) * (len(shape) - len(x.shape)) + x.shape
    run = x.dtype.itemsize
    for size, target in zip(reversed(aligned), reversed(shape), strict=True):
        if size != target:
            data = b"".join([data[start : start + run] * target for start in range(0, len(data), run)])
        run *= target
    return data


def store(values: Iterable[Any], dtype: DType) -> bytes:
    """The bytes of results; integers wrap, but only where some result is too wide."""
    if not dtype.is_integer:
        return pack(values, dtype)
    exact = tuple(values)
    try:
        return pack(exact, dtype)
    except struct.error:
        mask = (1 << dtype.bits) - 1
        return pack([value & mask for value in exact], UNSIGNED[dtype.bits])


def mapped(function: Callable[..., Any], safe: Callable[..., Any], *columns: Iterable[Any]) -> list[Any]:
    """A function over columns of elements; the slower `safe` one is run only where it raises."""
    try:
        return list(map(function, *columns))
    except (ValueError, OverflowError, ZeroDivisionError):
        return list(map(safe, *columns))


def cast(x: Tensor, dtype: DType) -> Tensor:
    """A composite's operand, which arrives as it was given, in the dtype of the result."""
    if x.dtype is dtype:
        return x
    template = x.template.replace(dtype=dtype)
    return Tensor(template, x.backend, x.backend.as_type(template, x))
