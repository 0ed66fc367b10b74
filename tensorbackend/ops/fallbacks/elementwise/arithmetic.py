"""Arithmetic, comparisons, logic, rounding and casts from `equal`, `less`, `select` and casts to int64, right for zeros
and NaN as well.

Floats from 1 / eps on are integral and are kept; only smaller ones are rounded.
"""

from __future__ import annotations

import math

from ....dispatch.fallbacks import fallback
from ....dtypes import REAL_OF, bool_, finfo, float32, float64, iinfo, int64
from ....template import Template
from ....tensor import Tensor
from ...creation.filled import from_binary, full
from ...elementwise.basic import abs as absolute
from ...elementwise.basic import astype, bitwise_invert, floor, imag, isinf, isnan, negative, real, where
from ...elementwise.binary import (
    add,
    divide,
    equal,
    less,
    less_equal,
    logical_and,
    logical_or,
    maximum,
    minimum,
    multiply,
    not_equal,
    subtract,
)
from ...elementwise.transcendental import sqrt


@fallback("negate", "real")
def _negate(out: Template, x: Tensor, /) -> Tensor:
    # Because products wrap, the largest unsigned number acts as -1.
    return multiply(x, iinfo(x.dtype).max if x.dtype.kind == "uint" else -1)


@fallback("subtract")
def _subtract(out: Template, x1: Tensor, x2: Tensor, /) -> Tensor:
    return add(x1, negative(x2))


@fallback("max", "real")
def _max(out: Template, x1: Tensor, x2: Tensor, /) -> Tensor:
    greater = where(less(x1, x2), x2, x1)
    if x1.dtype.is_integer:
        return greater
    # The sum of two zeros is -0.0 only if both are.
    zeros = logical_and(equal(x1, 0), equal(x2, 0))
    return where(isnan(x2), x2, where(zeros, add(x1, x2), greater))


@fallback("min", "real")
def _min(out: Template, x1: Tensor, x2: Tensor, /) -> Tensor:
    if x1.dtype.is_integer:
        return where(less(x2, x1), x2, x1)
    return negative(maximum(negative(x1), negative(x2)))


@fallback("clip", "real")
def _clip(out: Template, x: Tensor, low: Tensor, high: Tensor, /) -> Tensor:
    return minimum(maximum(x, low), high)


@fallback("abs", "real")
def _abs(out: Template, x: Tensor, /) -> Tensor:
    return x if x.dtype.kind == "uint" else maximum(x, negative(x))


@fallback("abs", "complex")
def _abs_of_complex(out: Template, x: Tensor, /) -> Tensor:
    """Divides both parts by the larger one before they are squared, so that nothing overflows or underflows."""
    part = REAL_OF[x.dtype]
    a, b = (maximum(component, negative(component)) for component in (real(x), imag(x)))
    if part is float32 and float64 in x.backend.dtypes:
        a, b = astype(a, float64), astype(b, float64)
    large, small = maximum(a, b), minimum(a, b)
    ratio = divide(small, where(equal(large, 0), 1.0, large))
    magnitude = multiply(large, sqrt(add(multiply(ratio, ratio), 1.0)))
    infinite = where(isinf(a), a, where(isinf(b), b, magnitude))
    return astype(infinite, part)


@fallback("sign", "real")
def _sign(out: Template, x: Tensor, /) -> Tensor:
    natural = where(less(0, x), 1, where(equal(x, 0), 0, x))
    return natural if x.dtype.kind == "uint" else where(less(x, 0), -1, natural)


@fallback("conjugate", "real")
def _conjugate(out: Template, x: Tensor, /) -> Tensor:
    return x


@fallback("real", "real")
def _real(out: Template, x: Tensor, /) -> Tensor:
    return x


@fallback("rsqrt", "floating")
def _rsqrt(out: Template, x: Tensor, /) -> Tensor:
    return divide(1.0, sqrt(x))


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


@fallback("not_equal")
def _not_equal(out: Template, x1: Tensor, x2: Tensor, /) -> Tensor:
    return bitwise_invert(equal(x1, x2))


@fallback("greater")
def _greater(out: Template, x1: Tensor, x2: Tensor, /) -> Tensor:
    return less(x2, x1)


@fallback("less_equal")
def _less_equal(out: Template, x1: Tensor, x2: Tensor, /) -> Tensor:
    return logical_or(less(x1, x2), equal(x1, x2))


@fallback("greater_equal")
def _greater_equal(out: Template, x1: Tensor, x2: Tensor, /) -> Tensor:
    return less_equal(x2, x1)


@fallback("logical_and")
def _logical_and(out: Template, x1: Tensor, x2: Tensor, /) -> Tensor:
    return where(x1, x2, False)


@fallback("logical_or")
def _logical_or(out: Template, x1: Tensor, x2: Tensor, /) -> Tensor:
    return where(x1, True, x2)


@fallback("logical_xor")
def _logical_xor(out: Template, x1: Tensor, x2: Tensor, /) -> Tensor:
    return not_equal(x1, x2)


@fallback("is_nan")
def _is_nan(out: Template, x: Tensor, /) -> Tensor:
    return not_equal(x, x)


@fallback("is_infinity", "real")
def _is_infinity(out: Template, x: Tensor, /) -> Tensor:
    if x.dtype.is_integer:
        return full(out.shape, False, dtype=bool_)
    return _is_infinite(x)


@fallback("is_infinity", "complex")
def _is_infinity_of_complex(out: Template, x: Tensor, /) -> Tensor:
    return logical_or(_is_infinite(real(x)), _is_infinite(imag(x)))


def _is_infinite(x: Tensor) -> Tensor:
    return logical_or(equal(x, math.inf), equal(x, -math.inf))


@fallback("bitcast")
def _bitcast(out: Template, x: Tensor, /) -> Tensor:
    return from_binary(x.to_binary(), out)
