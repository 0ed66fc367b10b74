"""Rounding by casts to int64. Floats from 1 / eps on are integral and are kept; only smaller ones are rounded."""

from __future__ import annotations

from ....dispatch.fallbacks import fallback
from ....dtypes import finfo, int64
from ....template import Template
from ....tensor import Tensor
from ...elementwise.binary import add, equal, less, logical_and, logical_or, multiply, not_equal, subtract
from ...elementwise.conversion import astype
from ...elementwise.ternary import where
from ...elementwise.unary import abs as absolute
from ...elementwise.unary import floor, negative


def _fractional(x: Tensor) -> Tensor:
    """Whether elements are small enough to have a fraction; false for NaN."""
    return less(absolute(x), 1 / finfo(x.dtype).eps)


@fallback("floor", "real")
def _floor(out: Template, x: Tensor, /) -> Tensor:
    if x.dtype.is_integer:
        return x
    whole = astype(astype(x, int64), x.dtype)
    below = where(less(x, whole), subtract(whole, 1), whole)
    # Integral numbers do not change, nor does -0.0.
    return where(logical_and(_fractional(x), not_equal(whole, x)), below, x)


@fallback("ceil", "real")
def _ceil(out: Template, x: Tensor, /) -> Tensor:
    return x if x.dtype.is_integer else negative(floor(negative(x)))


@fallback("round", "real")
def _round(out: Template, x: Tensor, /) -> Tensor:
    if x.dtype.is_integer:
        return x
    below = floor(x)
    rest = subtract(x, below)
    halved = multiply(below, 0.5)
    odd = not_equal(floor(halved), halved)
    up = logical_or(less(0.5, rest), logical_and(equal(rest, 0.5), odd))
    nearest = where(up, add(below, 1), below)
    # A zero has the sign of x.
    signed = where(equal(nearest, 0), multiply(x, 0), nearest)
    return where(_fractional(x), signed, x)
