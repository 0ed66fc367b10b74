"""Real functions from `exp`, `log`, `sqrt` and `atan2`, where no accuracy is lost.

Narrow floats are computed in float32, and float32 in float64 where the backend has it.
"""

from __future__ import annotations

from ....dispatch.fallbacks import fallback
from ....template import Template
from ....tensor import Tensor
from ...elementwise.binary import add, atan2, divide, equal, less, multiply, subtract
from ...elementwise.conversion import astype
from ...elementwise.ternary import where
from ...elementwise.transcendental import cos, exp, log, sin, sqrt
from ...elementwise.unary import abs as absolute
from ...elementwise.unary import negative
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
