"""Averages, written in public ops."""

from __future__ import annotations

import builtins
import math

from ...dispatch import composite
from ...dtypes import DType, default_dtype, float32, promote_types
from ...rules.broadcasting import check_dtype
from ...tensor import Axes, Tensor
from ..conversion import astype
from ..elementwise_binary import divide, multiply, subtract
from ..reduction import sum


def _count(x: Tensor, axis: Axes) -> float:
    """How many elements a normalised reduction takes together; the axes are positions by now."""
    assert isinstance(axis, tuple)
    return float(math.prod(x.shape[each] for each in axis if isinstance(each, int)))


def _result(x: Tensor) -> DType:
    return x.dtype if x.dtype.is_inexact else default_dtype("float")


def _wide(x: Tensor) -> Tensor:
    """In at least float32: neither a sum of float16 nor a count of elements may overflow."""
    return astype(x, promote_types(_result(x), float32))


@composite
def mean(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Arithmetic mean; of integers and bool in the default floating dtype, of none NaN.

    >>> import tensorbackend as tb
    >>> tb.mean(tb.asarray([True, False])).item()
    0.5
    """
    total = sum(_wide(x), axis=axis, keepdims=keepdims)
    return astype(divide(total, _count(x, axis)), _result(x))


@composite
def var(x: Tensor, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Mean of the squared distances from the mean, the divisor reduced by `correction`, but not below 0.

    >>> import tensorbackend as tb
    >>> tb.var(tb.asarray([1.0, 3.0])).item(), tb.var(tb.asarray([1.0, 3.0]), correction=1).item()
    (1.0, 2.0)
    """
    check_dtype(x.dtype, "real")
    wide = _wide(x)
    centred = subtract(wide, mean(wide, axis=axis, keepdims=True))
    squares = sum(multiply(centred, centred), axis=axis, keepdims=keepdims)
    return astype(divide(squares, builtins.max(_count(x, axis) - correction, 0.0)), _result(x))
