"""The gamma function's family: primitives of real floating tensors, in the dtype of the operands.

Integers are converted to the default floating dtype. Float16, bfloat16 and float32 are computed in float64 and rounded
once. Errors: `DTypeError` for complex numbers and bool; for two operands also `ShapeError` and `NamesError`.
"""

from __future__ import annotations

from ..dispatch import primitive
from ..rules.accuracy import Bound
from ..rules.broadcasting import elementwise, to_floating
from ..rules.plan import Plan
from ..template import Template


@primitive.within(Bound(32, "near its negative zeros the terms of the reflection cancel", "one"))
def digamma(x: Template, /) -> Plan:
    """Derivative of log(gamma(x)): -inf at 0.0, inf at -0.0, NaN at negative integers and -inf.

    >>> tb.digamma(tb.asarray([0.0, 1.0, 2.0])).tolist()
    [-inf, -0.5772156715393066, 0.42278432846069336]
    """
    return elementwise(x, accept="real", convert=to_floating)


@primitive.within(Bound(16, "sums of up to some hundred terms"))
def gamma_inc_l(a: Template, x: Template, /) -> Plan:
    """Regularised lower incomplete gamma function P(a, x) (DLMF 8.2.4).

    It is the integral of t**(a - 1) exp(-t) from 0 to x, divided by gamma(a), as in the distribution function of
    chi-squared. NaN where an operand is negative, both are zero or both are infinite; P(0, x) = P(a, inf) = 1 and
    P(a, 0) = P(inf, x) = 0.

    >>> tb.gamma_inc_l(1.0, tb.asarray([0.0, 0.5, float("inf")])).tolist()
    [0.0, 0.39346933364868164, 1.0]
    """
    return elementwise(a, x, accept="real", convert=to_floating)


@primitive.within(Bound(16, "sums of up to some hundred terms"))
def gamma_inc_u(a: Template, x: Template, /) -> Plan:
    """Regularised upper incomplete gamma function Q(a, x) = 1 - P(a, x), accurate where the result is tiny.

    >>> tb.gamma_inc_u(1.0, tb.asarray([0.0, 0.5, float("inf")])).tolist()
    [1.0, 0.6065306663513184, 0.0]
    """
    return elementwise(a, x, accept="real", convert=to_floating)


@primitive.calls("log_gamma").within(Bound(4, "near its negative zeros the terms of the reflection cancel", "one"))
def lgamma(x: Template, /) -> Plan:
    """log(abs(gamma(x))): inf at 0, at negative integers and at both infinities.

    >>> tb.lgamma(tb.asarray([0.0, 1.0, 2.0, 3.0])).tolist()
    [inf, 0.0, 0.0, 0.6931471824645996]
    """
    return elementwise(x, accept="real", convert=to_floating)
