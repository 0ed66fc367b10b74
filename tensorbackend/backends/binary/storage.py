"""Elements of a payload in the order of an output shape, and results back to bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import index
from typing import Any

from ...dtypes import DType
from ...elements import pack, unpack
from ...template import Shape
from ...tensor import Tensor


def elements(x: Tensor) -> Sequence[Any]:
    """The elements of a tensor as Python numbers, row-major."""
    return unpack(x.data, x.dtype)


def broadcast_elements(x: Tensor, shape: Shape) -> Sequence[Any]:
    """The elements of a tensor repeated to a shape, whole runs at a time.

    (3, 1) to (3, 4) repeats each element four times; (4,) to (3, 4) the whole run three times.
    """
    values = elements(x)
    if x.shape == shape:
        return values
    if 0 in shape:
        return []
    aligned = (1,) * (len(shape) - len(x.shape)) + x.shape
    values = list(values)
    run = 1
    for size, target in zip(reversed(aligned), reversed(shape), strict=True):
        if size != target:
            chunks = [values[start : start + run] for start in range(0, len(values), run)]
            values = [element for chunk in chunks for element in chunk * target]
        run *= target
    return values


def wrapped(value: int, dtype: DType) -> int:
    """An integer modulo the width of a dtype: 128 is -128 in int8."""
    value &= (1 << dtype.bits) - 1
    return value - (1 << dtype.bits) if dtype.kind == "int" and value >> (dtype.bits - 1) else value


def store(values: Iterable[Any], dtype: DType) -> bytes:
    """The bytes of results; integers wrap, but only where some result is too wide."""
    if not dtype.is_integer:
        return pack(values, dtype)
    exact = list(map(index, values))
    try:
        return pack(exact, dtype)
    except OverflowError:
        return pack([wrapped(value, dtype) for value in exact], dtype)


def mapped(function: Callable[..., Any], safe: Callable[..., Any], *columns: Sequence[Any]) -> list[Any]:
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
