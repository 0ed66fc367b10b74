"""Equality up to a tolerance, written in public ops."""

from __future__ import annotations

from ...dispatch import composite
from ...dtypes import float32, float64, promote_types
from ...rules.broadcasting import result_type
from ...tensor import Tensor
from ..elementwise.binary import add, equal, less_equal, logical_and, logical_or, multiply, subtract
from ..elementwise.conversion import astype
from ..elementwise.unary import abs, isnan
from ..reduction import all
from .elementwise.functions import isfinite


@composite
def isclose(x1: Tensor, x2: Tensor, /, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
    """Whether abs(x1 - x2) <= atol + rtol * abs(x2), element by element; equal infinities are close.

    Integers and bool are compared in float64, float16 and bfloat16 in float32. NaN is close to nothing, to NaN with
    `equal_nan`.

    >>> import tensorbackend as tb
    >>> tb.isclose(tb.asarray([1.0, float("inf")]), tb.asarray([1.000001, float("inf")])).tolist()
    [True, True]
    """
    dtype = result_type([x1.template, x2.template])
    dtype = promote_types(dtype, float32) if dtype.is_inexact else float64
    x1, x2 = astype(x1, dtype), astype(x2, dtype)
    near = less_equal(abs(subtract(x1, x2)), add(multiply(abs(x2), rtol), atol))
    # Beside an infinite x2 the tolerance is infinite too, and says nothing.
    close = logical_or(equal(x1, x2), logical_and(isfinite(x2), near))
    return logical_or(close, logical_and(isnan(x1), isnan(x2))) if equal_nan else close


@composite
def all_close(x1: Tensor, x2: Tensor, /, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
    """Whether `isclose` holds for every pair of elements, a bool without axes.

    >>> import tensorbackend as tb
    >>> tb.all_close(tb.asarray([1.0, float("nan")]), tb.asarray([1.0, float("nan")]), equal_nan=True).item()
    True
    """
    return all(isclose(x1, x2, rtol=rtol, atol=atol, equal_nan=equal_nan))
