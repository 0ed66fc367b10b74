"""Gradients of the gamma function's family."""

from __future__ import annotations

import math

from ...ops.elementwise.ternary import where
from ...ops.elementwise.transcendental import exp, log, sin
from ...ops.elementwise.unary import round
from ...ops.special import digamma, lgamma
from ...tensor import Tensor
from .registry import Cotangents, NoGradient, rule

_SHIFT = 12
"""The least argument for which the series is accurate to the rounding of float64."""

_SERIES = (7 / 6, -691 / 2730, 5 / 66, -1 / 30, 1 / 42, -1 / 30, 1 / 6)
"""The Bernoulli numbers B(14), ..., B(2), the coefficients of trigamma's series."""


@rule("log_gamma")
def _log_gamma(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    return (cotangent * digamma(x),)


@rule("digamma")
def _digamma(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    return (cotangent * trigamma(x),)


def _density(a: Tensor, x: Tensor) -> Tensor:
    """The density of the gamma distribution, the derivative of P(a, x) by x (DLMF 8.8.13); zero below 0."""
    inside = x > 0
    safe = where(inside, x, 1)
    edge = where(a < 1, math.inf, where(a == 1, 1.0, 0.0))
    return where(inside, exp((a - 1) * log(safe) - safe - lgamma(a)), where(x == 0, edge, 0.0))


_BY_A = NoGradient("the derivative with respect to the first operand has no closed form")


@rule("gamma_inc_l")
def _gamma_inc_l(cotangent: Tensor, out: Tensor, a: Tensor, x: Tensor) -> Cotangents:
    return _BY_A, cotangent * _density(a, x)


@rule("gamma_inc_u")
def _gamma_inc_u(cotangent: Tensor, out: Tensor, a: Tensor, x: Tensor) -> Cotangents:
    return _BY_A, -cotangent * _density(a, x)


def trigamma(x: Tensor) -> Tensor:
    """The derivative of digamma, in public ops, so that its own derivatives are those of the series.

    It uses the recurrence (DLMF 5.15.5), the asymptotic series (5.15.8), and reflection for negative numbers (5.15.6).
    """
    negative = x < 0
    above = where(negative, 1 - x, x)
    total = _asymptotic(above + _SHIFT)
    for step in range(_SHIFT):
        total = total + 1 / (above + step) ** 2
    sine = sin(where(negative, x - round(x), 0.5) * math.pi)
    return where(negative, (math.pi / sine) ** 2 - total, total)


def _asymptotic(x: Tensor) -> Tensor:
    reciprocal = 1 / x
    square = reciprocal * reciprocal
    total = square * _SERIES[0]
    for coefficient in _SERIES[1:]:
        total = (total + coefficient) * square
    return (total + 1) * reciprocal + 0.5 * square
