"""Arithmetic, and functions of the sign, which are right for zeros and NaN as well."""

from __future__ import annotations

from ....dispatch.fallbacks import fallback
from ....dtypes import REAL_OF, float32, float64, iinfo
from ....template import Template
from ....tensor import Tensor
from ...elementwise.binary import add, divide, equal, less, logical_and, maximum, minimum, multiply
from ...elementwise.conversion import astype
from ...elementwise.ternary import where
from ...elementwise.transcendental import sqrt
from ...elementwise.unary import imag, isinf, isnan, negative, real


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
