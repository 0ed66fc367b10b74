"""Cotangents in the dtypes of what they belong to."""

from __future__ import annotations

from ...dtypes import DType
from ...ops.conversion import astype
from ...ops.elementwise_unary import real
from ...tensor import Tensor


def cast(x: Tensor, dtype: DType) -> Tensor:
    """A tensor in an inexact dtype; what is complex leaves its imaginary part behind where the dtype is real."""
    x = real(x) if x.dtype.is_complex and not dtype.is_complex else x
    return x if x.dtype is dtype else astype(x, dtype)


def into(cotangent: Tensor, x: Tensor) -> Tensor | None:
    """The cotangent of an operand of a composite, whose dtype need not be the result's; `None` for integers."""
    return cast(cotangent, x.dtype) if x.dtype.is_inexact else None
