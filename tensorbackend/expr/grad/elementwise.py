"""Gradient rules of elementwise ops.

At a kink or a tie a rule returns what JAX returns: docs/semantics.md has the
list. A rule does not square an operand unless its result does: the square could overflow although the result is in
range. Nor does it take the difference of a rounded result from 1, which is 0 for sigmoid(20). If such a step is
unavoidable, `widen_rule` makes it harmless in float16 and bfloat16, and docs/gradients.md describes the effect for the
others.
"""

from __future__ import annotations

import math
from functools import wraps
from typing import Any

from ...dtypes import finfo
from ...ops.composite.elementwise.functions import complex, hypot
from ...ops.composite.reduction import cast_to_float32
from ...ops.creation.filled import full
from ...ops.elementwise.basic import abs, astype, conj, imag, isinf, negative, real, round, sign, where
from ...ops.elementwise.binary import floor_divide, logical_and, logical_or, maximum, minimum, pow
from ...ops.elementwise.complex_functions import sigmoid
from ...ops.elementwise.transcendental import cos, cosh, erfc, exp, log, sin, sinh, sqrt
from ...tensor import Tensor
from ..node import Value
from .registry import Cotangents, Rule, declare_slopes, not_differentiable, rule, zero_gradient


def _wide(value: Any) -> Any:
    narrow = isinstance(value, Tensor) and value.dtype.is_floating and value.dtype.bits < 32
    return cast_to_float32(value) if narrow else value


def widen_rule(function: Rule) -> Rule:
    """Convert a rule to one that gets float32 for cotangents, results and inputs of narrower dtypes.

    The steps of a rule may exceed the range of a narrow dtype although its result does not: the gradient of atan(x) is
    1 / (x * x + 1), and in float16 the square of 1000 is infinite. The result is rounded when the engine casts it.
    """

    @wraps(function)
    def wide_rule(*tensors: Any, **options: Any) -> Cotangents:
        return function(*map(_wide, tensors), **options)

    return wide_rule


zero_gradient("ceil", "floor", "floor_divide", "round", "stop_gradient", "trunc")
not_differentiable("bitcast", "nextafter", reason="it works on the bits of its input")


# Functions of one element


def _leg(x: Tensor) -> Tensor:
    """sqrt(1 - x**2); a complex x may be so large that its square overflows."""
    return sqrt(1 - x) * sqrt(1 + x) if x.dtype.is_complex else sqrt((1 - x) * (1 + x))


def _slope(x: Tensor) -> Tensor:
    """The derivative of sigmoid; 4 times that of 2 x is the derivative of tanh.

    It is not out * (1 - out), since 1 - out would be a rounding error for a large x.
    """
    if x.dtype.is_complex:
        return sigmoid(x) * sigmoid(negative(x))
    # The slope is an even function, so that it has all its derivatives with either sign, also at 0.
    one, minus_one = [full((), number, dtype=x.dtype, backend=x.backend) for number in (1, -1)]
    power = exp(x * where(x > 0, minus_one, one))
    total = power + 1
    return power / (total * total)


def _direction(x: Tensor) -> Tensor:
    """x divided by its magnitude, 0 at 0; of an infinite complex number, the limit along its infinite parts."""
    if not x.dtype.is_complex:
        return sign(x)
    parts = real(x), imag(x)
    infinite = logical_or(isinf(parts[0]), isinf(parts[1]))
    # Products with 0 leave NaN.
    ends = (where(isinf(part), sign(part), part * 0) for part in parts)
    return sign(where(infinite, complex(*ends), x))


@rule("sign")
def _sign(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    if not x.dtype.is_complex:
        return (None,)
    size = abs(x)
    turned = conj(out)
    return ((cotangent - turned * turned * conj(cotangent)) * 0.5 / where(size == 0, 1, size),)


declare_slopes({
    "abs": lambda cotangent, out, x: cotangent * conj(_direction(x)),
    "acos": lambda cotangent, out, x: negative(cotangent) / _leg(x),
    "asin": lambda cotangent, out, x: cotangent / _leg(x),
    "as_type": lambda cotangent, out, x: cotangent,  # the engine casts it
    "asinh": lambda cotangent, out, x: cotangent / (_leg(x * 1j) if x.dtype.is_complex else hypot(x, 1)),
    "conjugate": lambda cotangent, out, x: conj(cotangent),
    "cos": lambda cotangent, out, x: negative(cotangent) * sin(x),
    "cosh": lambda cotangent, out, x: cotangent * sinh(x),
    "exp": lambda cotangent, out, x: cotangent * out,
    "expm1": lambda cotangent, out, x: cotangent * exp(x),
    "imag": lambda cotangent, out, x: astype(cotangent, x.dtype) * -1j,
    "log": lambda cotangent, out, x: cotangent / x,
    "log1p": lambda cotangent, out, x: cotangent / (x + 1),
    "negate": lambda cotangent, out, x: negative(cotangent),
    "positive": lambda cotangent, out, x: cotangent,
    "real": lambda cotangent, out, x: cotangent,
    "relu": lambda cotangent, out, x: where(out > 0, cotangent, 0),  # x need not be kept
    "sigmoid": lambda cotangent, out, x: cotangent * _slope(x),
    "sin": lambda cotangent, out, x: cotangent * cos(x),
    "sinh": lambda cotangent, out, x: cotangent * cosh(x),
    "sqrt": lambda cotangent, out, x: cotangent * 0.5 / out,
    "square": lambda cotangent, out, x: cotangent * 2 * x,
    "tanh": lambda cotangent, out, x: cotangent * (4 * _slope(x + x)),
})  # fmt: skip
declare_slopes({
    "acosh": lambda cotangent, out, x: cotangent / (sqrt(x - 1) * sqrt(x + 1)),
    "atan": lambda cotangent, out, x: cotangent / (1 - x * 1j) / (1 + x * 1j) if x.dtype.is_complex
    else cotangent / (x * x + 1),
    "atanh": lambda cotangent, out, x: cotangent / (1 - x) / (1 + x),
    "cbrt": lambda cotangent, out, x: cotangent / (3 * out * out),
    "erf": lambda cotangent, out, x: cotangent * (2 / math.sqrt(math.pi)) * exp(negative(x * x)),
    "erf_inv": lambda cotangent, out, x: cotangent * (math.sqrt(math.pi) / 2) * exp(out * out),
    "erfc": lambda cotangent, out, x: cotangent * (-2 / math.sqrt(math.pi)) * exp(negative(x * x)),
    "reciprocal": lambda cotangent, out, x: negative(cotangent) * out * out,
    "rsqrt": lambda cotangent, out, x: cotangent * -0.5 * out / x,
    "tan": lambda cotangent, out, x: cotangent * (4 * _slope(x * 2j) if x.dtype.is_complex else out * out + 1),
}, widen_rule)  # fmt: skip


# Activations. Each rule keeps x alone; the rules of the ops that compute an activation would keep all their values.
# Terms are computed in an order in which few arrays exist at once, from a bounded x alone, so that x is freed.


def _bounded(x: Tensor, limit: float) -> Tensor:
    """x clipped to finite numbers, so that its product with 0 is 0."""
    return minimum(maximum(x, -limit), limit)


def _silu(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    # Far below 0 the sigmoid is exp(x), which is subnormal before the slope is: so it is multiplied by its root twice.
    x = _bounded(x, finfo(x.dtype).max)
    near = x * _slope(x) + sigmoid(x)
    root = exp(minimum(x, 0) * 0.5)
    return (cotangent * where(x < -40, root * (x + 1) * root, near),)


def _gelu(cotangent: Tensor, out: Tensor, x: Tensor, *, approximate: bool) -> Cotangents:
    x = _bounded(x, 32 if approximate else 64)  # beyond that the gate is 0 or 1, and the density 0
    if approximate:
        twice = (x + x * x * x * 0.044715) * (2 * math.sqrt(2 / math.pi))
        slope = x * _slope(twice)
        slope = slope * ((x * x * (3 * 0.044715) + 1) * (2 * math.sqrt(2 / math.pi)))
        return (cotangent * (slope + sigmoid(twice)),)
    slope = x * (exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi)))
    return (cotangent * (slope + erfc(x * -math.sqrt(0.5)) * 0.5),)


def _inside(x: Tensor, limit: float) -> Tensor:
    """1 within limits, 1/2 at them and 0 beyond."""
    size = abs(x)
    return astype(size < limit, x.dtype) + astype(size == limit, x.dtype) * 0.5


def _hard_silu(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    near = _bounded(x, 3)
    return (cotangent * ((near + 3 + near * _inside(x, 3)) * (1 / 6)),)


rule("gelu")(widen_rule(_gelu))
rule("silu")(widen_rule(_silu))
rule("hard_silu")(widen_rule(_hard_silu))
declare_slopes({
    "hard_sigmoid": lambda cotangent, out, x: cotangent * (_inside(x, 3) * (1 / 6)),
    "hard_tanh": lambda cotangent, out, x: cotangent * _inside(x, 1),
}, widen_rule)  # fmt: skip


# Functions of two elements, and of three


declare_slopes({
    "add": lambda cotangent, out, x1, x2: (cotangent, cotangent),
    "multiply": lambda cotangent, out, x1, x2: (cotangent * x2, cotangent * x1),
    "remainder": lambda cotangent, out, x1, x2: (cotangent, negative(cotangent) * floor_divide(x1, x2)),
    "scaled_gradient": lambda cotangent, out, x, scale: (cotangent * scale, None),
    "select": lambda cotangent, out, condition, x1, x2: (
        None, where(condition, cotangent, 0), where(condition, 0, cotangent)
    ),
    "subtract": lambda cotangent, out, x1, x2: (cotangent, negative(cotangent)),
})  # fmt: skip
declare_slopes({
    "divide": lambda cotangent, out, x1, x2: ((quotient := cotangent / x2), negative(quotient) * out),
    "fmod": lambda cotangent, out, x1, x2: (cotangent, negative(cotangent) * round((x1 - out) / x2)),
}, widen_rule)  # fmt: skip


@rule("atan2")
@widen_rule
def _atan2(cotangent: Tensor, out: Tensor, x1: Tensor, x2: Tensor) -> Cotangents:
    length = hypot(x1, x2)
    length = where(length == 0, 1, length)
    scaled = cotangent / length
    return scaled * (x2 / length), negative(scaled) * (x1 / length)


@rule("hypot")
def _hypot(cotangent: Tensor, out: Tensor, x1: Tensor, x2: Tensor) -> Cotangents:
    if out.dtype.bits < 32:  # a length that is a subnormal of float16 has lost digits
        x1, x2 = cast_to_float32(x1), cast_to_float32(x2)
        out = hypot(x1, x2)
    infinite = isinf(out)
    x1, x2 = (astype(x, out.dtype) for x in (x1, x2))
    x1, x2 = (where(infinite, where(isinf(x), sign(x), x * 0), x) for x in (x1, x2))
    out = where(infinite, sqrt(where(infinite, x1 * x1 + x2 * x2, 1)), out)
    length = where(out == 0, 1, out)  # quotients first: the reciprocal of a length may be out of range
    return cotangent * (x1 / length), cotangent * (x2 / length)


@rule("logaddexp")
@widen_rule
def _logaddexp(cotangent: Tensor, out: Tensor, x1: Tensor, x2: Tensor) -> Cotangents:
    x1, x2 = (astype(x, out.dtype) for x in (x1, x2))  # one of them may be a bool
    both_infinite = logical_and(isinf(x1), x1 == x2)
    apart = where(both_infinite, 0, x1 - x2)
    return cotangent * sigmoid(apart), cotangent * sigmoid(negative(apart))


def _share(chosen: Tensor, x: Tensor, other: Tensor) -> Tensor:
    """The fraction of the cotangent that x gets: 1 where x was chosen, a half where the other operand is equal."""
    halves = where(other == chosen, full((), 0.5, dtype=chosen.dtype, like=chosen), 1)
    return where(x == chosen, halves, 0)


@rule("max", "min")
def _extreme(cotangent: Tensor, out: Tensor, x1: Tensor, x2: Tensor) -> Cotangents:
    return cotangent * _share(out, x1, x2), cotangent * _share(out, x2, x1)


def _is_number(x: Tensor) -> bool:
    """Whether a tensor of a graph is a number that the function has in it, such as the 2 of x**2."""
    return isinstance(x.data, Value) and x.data.node.op == "constant"


@rule("pow")
@widen_rule
def _pow(cotangent: Tensor, out: Tensor, x1: Tensor, x2: Tensor) -> Cotangents:
    constant = x2 == 0  # the derivative is 0, but 0 * x1 ** -1 is NaN for x1 = 0
    if x1.ndim and _is_number(x2):  # the common case is quick: nothing is differentiated by such a power
        slope = where(constant, 0, x2 * pow(x1, where(constant, 1, x2 - 1)))
    else:  # by the power the slope has the derivative 1 / x1 at 0
        near_zero = abs(x1) < finfo(x1.dtype).smallest_normal
        slope = x2 * pow(where(logical_and(constant, near_zero), 1, x1), x2 - 1)
    return cotangent * slope, cotangent * out * log(where(x1 == 0, 1, x1))


@rule("clip")
def _clip(cotangent: Tensor, out: Tensor, x: Tensor, low: Tensor, high: Tensor) -> Cotangents:
    raised = maximum(x, low)
    below = cotangent * _share(out, raised, high)
    return below * _share(raised, x, low), below * _share(raised, low, x), cotangent * _share(out, high, raised)
