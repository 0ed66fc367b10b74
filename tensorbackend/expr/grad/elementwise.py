"""Gradient rules of elementwise ops.

At a kink or a tie a rule gives what JAX gives: docs/semantics.md has the list.
"""

from __future__ import annotations

import math

from ...ops.elementwise.binary import floor_divide, logical_and, maximum, pow
from ...ops.elementwise.complex_functions import sigmoid
from ...ops.elementwise.conversion import astype
from ...ops.elementwise.ternary import where
from ...ops.elementwise.transcendental import cos, cosh, exp, log, sin, sinh, sqrt
from ...ops.elementwise.unary import abs, conj, isinf, negative, sign
from ...tensor import Tensor
from .registry import Cotangents, not_differentiable, rule, zero_gradient

zero_gradient("ceil", "floor", "floor_divide", "round", "stop_gradient", "trunc")
not_differentiable("bitcast", "nextafter", reason="it works on the bits of its input")


@rule("as_type", "positive")
def _same(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    return (cotangent,)  # the engine casts it


@rule("scaled_gradient")
def _scaled_gradient(cotangent: Tensor, out: Tensor, x: Tensor, scale: Tensor) -> Cotangents:
    return cotangent * scale, None


# Functions of one element


@rule("abs")
def _abs(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    return (cotangent * conj(sign(x)),)


@rule("acos")
def _acos(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    return (negative(cotangent) / sqrt((1 - x) * (1 + x)),)


@rule("acosh")
def _acosh(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    return (cotangent / (sqrt(x - 1) * sqrt(x + 1)),)


@rule("asin")
def _asin(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    return (cotangent / sqrt((1 - x) * (1 + x)),)


@rule("asinh")
def _asinh(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    return (cotangent / sqrt(x * x + 1),)


@rule("atan")
def _atan(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    return (cotangent / (x * x + 1),)


@rule("atanh")
def _atanh(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    return (cotangent / ((1 - x) * (1 + x)),)


@rule("cbrt")
def _cbrt(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    return (cotangent / (3 * out * out),)


@rule("conjugate")
def _conjugate(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    return (conj(cotangent),)


@rule("cos")
def _cos(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    return (negative(cotangent) * sin(x),)


@rule("cosh")
def _cosh(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    return (cotangent * sinh(x),)


@rule("erf")
def _erf(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    return (cotangent * (2 / math.sqrt(math.pi)) * exp(negative(x * x)),)


@rule("erf_inv")
def _erf_inv(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    return (cotangent * (math.sqrt(math.pi) / 2) * exp(out * out),)


@rule("erfc")
def _erfc(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    return (cotangent * (-2 / math.sqrt(math.pi)) * exp(negative(x * x)),)


@rule("exp")
def _exp(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    return (cotangent * out,)


@rule("expm1")
def _expm1(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    return (cotangent * (out + 1),)


@rule("imag")
def _imag(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    return (astype(cotangent, x.dtype) * -1j,)


@rule("log")
def _log(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    return (cotangent / x,)


@rule("log1p")
def _log1p(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    return (cotangent / (x + 1),)


@rule("negate")
def _negate(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    return (negative(cotangent),)


@rule("real")
def _real(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    return (cotangent,)


@rule("reciprocal")
def _reciprocal(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    return (negative(cotangent) * out * out,)


@rule("relu")
def _relu(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    return (where(x > 0, cotangent, 0),)


@rule("rsqrt")
def _rsqrt(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    return (cotangent * -0.5 * out / x,)


@rule("sigmoid")
def _sigmoid(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    return (cotangent * out * (1 - out),)


@rule("sign")
def _sign(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    if not x.dtype.is_complex:
        return (None,)
    size = abs(x)
    turned = conj(out)
    return ((cotangent - turned * turned * conj(cotangent)) * 0.5 / where(size == 0, 1, size),)


@rule("sin")
def _sin(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    return (cotangent * cos(x),)


@rule("sinh")
def _sinh(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    return (cotangent * cosh(x),)


@rule("sqrt")
def _sqrt(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    return (cotangent * 0.5 / out,)


@rule("square")
def _square(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    return (cotangent * 2 * x,)


@rule("tan")
def _tan(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    return (cotangent * (out * out + 1),)


@rule("tanh")
def _tanh(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    return (cotangent * ((1 - out) * (1 + out)),)


# Functions of two elements


@rule("add")
def _add(cotangent: Tensor, out: Tensor, x1: Tensor, x2: Tensor) -> Cotangents:
    return cotangent, cotangent


@rule("atan2")
def _atan2(cotangent: Tensor, out: Tensor, x1: Tensor, x2: Tensor) -> Cotangents:
    scaled = cotangent / (x1 * x1 + x2 * x2)
    return scaled * x2, negative(scaled) * x1


@rule("divide")
def _divide(cotangent: Tensor, out: Tensor, x1: Tensor, x2: Tensor) -> Cotangents:
    quotient = cotangent / x2
    return quotient, negative(quotient) * out


@rule("hypot")
def _hypot(cotangent: Tensor, out: Tensor, x1: Tensor, x2: Tensor) -> Cotangents:
    scaled = cotangent / where(out == 0, 1, out)
    return scaled * x1, scaled * x2


@rule("logaddexp")
def _logaddexp(cotangent: Tensor, out: Tensor, x1: Tensor, x2: Tensor) -> Cotangents:
    both_infinite = logical_and(isinf(x1), x1 == x2)
    share = sigmoid(where(both_infinite, 0, x1 - x2))
    return cotangent * share, cotangent * (1 - share)


def _share(chosen: Tensor, x: Tensor, other: Tensor) -> Tensor:
    """The share of the cotangent that goes to x: 1 where x was chosen, a half where the other operand is equal."""
    halves = where(other == chosen, astype(0.5, chosen.dtype), 1)
    return where(x == chosen, halves, 0)


@rule("max", "min")
def _extreme(cotangent: Tensor, out: Tensor, x1: Tensor, x2: Tensor) -> Cotangents:
    return cotangent * _share(out, x1, x2), cotangent * _share(out, x2, x1)


@rule("multiply")
def _multiply(cotangent: Tensor, out: Tensor, x1: Tensor, x2: Tensor) -> Cotangents:
    return cotangent * x2, cotangent * x1


@rule("pow")
def _pow(cotangent: Tensor, out: Tensor, x1: Tensor, x2: Tensor) -> Cotangents:
    constant = x2 == 0  # the derivative is 0, but 0 * x1 ** -1 is NaN for x1 = 0
    slope = where(constant, 0, x2 * pow(x1, where(constant, 1, x2 - 1)))
    return cotangent * slope, cotangent * out * log(where(x1 == 0, 1, x1))


@rule("remainder")
def _remainder(cotangent: Tensor, out: Tensor, x1: Tensor, x2: Tensor) -> Cotangents:
    return cotangent, negative(cotangent) * floor_divide(x1, x2)


@rule("subtract")
def _subtract(cotangent: Tensor, out: Tensor, x1: Tensor, x2: Tensor) -> Cotangents:
    return cotangent, negative(cotangent)


# Functions of three elements


@rule("clip")
def _clip(cotangent: Tensor, out: Tensor, x: Tensor, low: Tensor, high: Tensor) -> Cotangents:
    raised = maximum(x, low)
    below = cotangent * _share(out, raised, high)
    return below * _share(raised, x, low), below * _share(raised, low, x), cotangent * _share(out, high, raised)


@rule("select")
def _select(cotangent: Tensor, out: Tensor, condition: Tensor, x1: Tensor, x2: Tensor) -> Cotangents:
    return None, where(condition, cotangent, 0), where(condition, 0, cotangent)
