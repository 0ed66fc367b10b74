"""Real functions from `exp`, `log`, `sqrt` and `atan2`, where no accuracy is lost.

Narrow floats are computed in float32, and float32 in float64 where the backend has it. The corrections by which
`expm1` and `log1p` keep their digits are Kahan's (Higham, Accuracy and Stability of Numerical Algorithms, section
1.14.1): the errors of u = exp(x) and of u = 1 + x drop out of (u - 1) * x / log(u) and of log(u) * x / (u - 1).
"""

from __future__ import annotations

import math

from ....dispatch.fallbacks import fallback
from ....dtypes import finfo
from ....template import Template
from ....tensor import Tensor
from ...elementwise.basic import abs as absolute
from ...elementwise.basic import astype, negative, where
from ...elementwise.binary import add, atan2, divide, equal, less, multiply, subtract
from ...elementwise.transcendental import cos, exp, expm1, log, log1p, sin, sqrt
from ..common import widen


@fallback("sigmoid", "floating")
def _sigmoid(out: Template, x: Tensor, /) -> Tensor:
    wide = widen(x)
    small = exp(negative(absolute(wide)))  # never above 1
    return astype(divide(where(less(wide, 0), small, 1.0), add(small, 1.0)), x.dtype)


@fallback("tan", "floating")
def _tan(out: Template, x: Tensor, /) -> Tensor:
    wide = widen(x)
    return astype(divide(sin(wide), cos(wide)), x.dtype)


@fallback("atan", "floating")
def _atan(out: Template, x: Tensor, /) -> Tensor:
    return atan2(x, 1.0)


@fallback("asin", "floating")
def _asin(out: Template, x: Tensor, /) -> Tensor:
    wide = widen(x)
    return astype(atan2(wide, sqrt(multiply(subtract(1.0, wide), add(1.0, wide)))), x.dtype)


@fallback("acos", "floating")
def _acos(out: Template, x: Tensor, /) -> Tensor:
    wide = widen(x)
    return astype(atan2(sqrt(multiply(subtract(1.0, wide), add(1.0, wide))), wide), x.dtype)


@fallback("cbrt", "floating")
def _cbrt(out: Template, x: Tensor, /) -> Tensor:
    """Computes a first root by logarithms; a step of Newton's method makes it accurate to the last digits."""
    wide = widen(x)
    size = absolute(wide)
    special = equal(multiply(size, 0), 0)
    usual = where(special, where(equal(size, 0), 1.0, size), 1.0)
    root = exp(divide(log(usual), 3.0))
    better = subtract(root, divide(subtract(root, divide(usual, multiply(root, root))), 3.0))
    signed = where(less(wide, 0), negative(better), better)
    ordinary = where(equal(size, 0), wide, signed)
    return astype(where(special, ordinary, wide), x.dtype)


@fallback("expm1", "floating")
def _expm1(out: Template, x: Tensor, /) -> Tensor:
    wide = widen(x)
    power = exp(wide)
    below = subtract(power, 1.0)
    near = divide(multiply(below, wide), log(power))
    return astype(where(equal(power, 1.0), wide, where(less(absolute(wide), 1.0), near, below)), x.dtype)


@fallback("log1p", "floating")
def _log1p(out: Template, x: Tensor, /) -> Tensor:
    wide = widen(x)
    sum_ = add(wide, 1.0)
    near = divide(multiply(log(sum_), wide), subtract(sum_, 1.0))
    return astype(where(equal(sum_, 1.0), wide, where(less(wide, 1.0), near, log(sum_))), x.dtype)


def _copy_sign(size: Tensor, x: Tensor) -> Tensor:
    """Copies the sign of x to a magnitude; keeps zeros and NaN."""
    return where(less(x, 0), negative(size), where(equal(x, 0), x, size))


@fallback("sinh", "floating")
def _sinh(out: Template, x: Tensor, /) -> Tensor:
    wide = widen(x)
    size = absolute(wide)
    less_one = expm1(size)
    small = multiply(add(less_one, divide(less_one, add(less_one, 1.0))), 0.5)
    return astype(_copy_sign(where(less(size, 20.0), small, _half_power(size)), wide), x.dtype)


@fallback("cosh", "floating")
def _cosh(out: Template, x: Tensor, /) -> Tensor:
    wide = widen(x)
    size = absolute(wide)
    power = exp(size)
    small = multiply(add(power, divide(1.0, power)), 0.5)
    return astype(where(less(size, 20.0), small, _half_power(size)), x.dtype)


def _half_power(x: Tensor) -> Tensor:
    """exp(x) / 2, also where exp(x) alone would overflow."""
    root = exp(multiply(x, 0.5))
    power = exp(x)
    return where(less(power, finfo(x.dtype).max), multiply(power, 0.5), multiply(multiply(root, 0.5), root))


@fallback("tanh", "floating")
def _tanh(out: Template, x: Tensor, /) -> Tensor:
    wide = widen(x)
    double = multiply(absolute(wide), 2.0)
    less_one = expm1(double)
    small = divide(less_one, add(less_one, 2.0))
    large = subtract(1.0, divide(2.0, add(exp(double), 1.0)))
    return astype(_copy_sign(where(less(double, 2.0), small, large), wide), x.dtype)


@fallback("asinh", "floating")
def _asinh(out: Template, x: Tensor, /) -> Tensor:
    wide = widen(x)
    size = absolute(wide)
    square = multiply(size, size)
    small = log1p(add(size, divide(square, add(sqrt(add(square, 1.0)), 1.0))))
    large = add(log(size), math.log(2.0))
    return astype(_copy_sign(where(less(size, _HUGE), small, large), wide), x.dtype)


@fallback("acosh", "floating")
def _acosh(out: Template, x: Tensor, /) -> Tensor:
    wide = widen(x)
    above = subtract(wide, 1.0)
    small = log1p(add(above, sqrt(add(multiply(above, 2.0), multiply(above, above)))))
    large = add(log(wide), math.log(2.0))
    return astype(where(less(wide, 1.0), math.nan, where(less(wide, _HUGE), small, large)), x.dtype)


@fallback("atanh", "floating")
def _atanh(out: Template, x: Tensor, /) -> Tensor:
    wide = widen(x)
    size = absolute(wide)
    ratio = divide(multiply(size, 2.0), subtract(1.0, size))
    return astype(_copy_sign(multiply(log1p(ratio), 0.5), wide), x.dtype)


_HUGE = 2.0**30
"""From this number on, adding 1 to the square does not change it, in any dtype."""
