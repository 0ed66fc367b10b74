"""Gradients of the gamma function's family."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...dtypes import finfo
from ...ops.composite.elementwise.functions import isfinite, square
from ...ops.composite.special.bessel import i0, i0e, i1, i1e, j0, j1
from ...ops.composite.special.normal import ndtri
from ...ops.composite.special.zeta import polygamma
from ...ops.elementwise.basic import abs, isinf, isnan, round, sign, where
from ...ops.elementwise.binary import logical_and, maximum
from ...ops.elementwise.transcendental import exp, log, sin
from ...ops.special import digamma, lgamma
from ...tensor import Tensor
from .elementwise import widen_rule
from .registry import NoGradient, declare_slopes

_SHIFT = 12
"""The least argument for which the series is accurate to the rounding of float64."""

_SERIES_END = 27
"""The last power of the series of atanh(r) for an r up to 1/3, to the rounding of float64."""

_SERIES = (7 / 6, -691 / 2730, 5 / 66, -1 / 30, 1 / 42, -1 / 30, 1 / 6)
"""The Bernoulli numbers B(14), ..., B(2), the coefficients of trigamma's series."""


_STIRLING_FROM = 10
"""The least `a` for which Stirling's series is accurate to the rounding of float64."""

_STIRLING = (-3617 / 122400, 1 / 156, -691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12)
"""B(2k) / (2k (2k - 1)), from k = 8 down to 1 (DLMF 5.11.1)."""


_ORDER = NoGradient("the order is a whole number")
_BY_A = NoGradient("the derivative with respect to the first operand has no closed form")


def _order_1_rest(x: Tensor, of_0: Tensor, of_1: Tensor) -> Tensor:
    """What the derivative of a Bessel function of order 1 has of the others: of_0 - of_1 / x, half of of_0 at 0."""
    zero, large = x == 0, isinf(of_0)  # infinity less infinity is NaN
    rest = where(zero, 0.5 * of_0, of_1 / where(zero, 1, x))
    return of_0 - where(large, 0, rest)


declare_slopes({
    "digamma": lambda cotangent, out, x: cotangent * trigamma(x),
    "factorial": lambda cotangent, out, x: cotangent * out * digamma(x + 1),
    "i0": lambda cotangent, out, x: cotangent * i1(x),
    "i0e": lambda cotangent, out, x: cotangent * (i1e(x) - sign(x) * i0e(x)),
    "i1": lambda cotangent, out, x: cotangent * _order_1_rest(x, i0(x), i1(x)),
    "i1e": lambda cotangent, out, x: cotangent * (_order_1_rest(x, i0e(x), i1e(x)) - sign(x) * i1e(x)),
    "j0": lambda cotangent, out, x: -cotangent * j1(x),
    "j1": lambda cotangent, out, x: cotangent * _order_1_rest(x, j0(x), j1(x)),
    "log_gamma": lambda cotangent, out, x: cotangent * digamma(x),
    "ndtri": lambda cotangent, out, p: cotangent * math.sqrt(2 * math.pi) * exp(0.5 * square(ndtri(p))),
    "polygamma": lambda cotangent, out, n, x: (_ORDER, cotangent * polygamma(n + 1, x)),
    "gamma_inc_l": lambda cotangent, out, a, x: (_BY_A, cotangent * _density(a, x)),
    "gamma_inc_u": lambda cotangent, out, a, x: (_BY_A, -cotangent * _density(a, x)),
}, widen_rule)  # fmt: skip


def _density(a: Tensor, x: Tensor) -> Tensor:
    """The density of the gamma distribution, the derivative of P(a, x) by x (DLMF 8.8.13); zero below 0."""
    inside = logical_and(x > 0, isfinite(x))
    safe = where(inside, x, 1)
    large = a >= _STIRLING_FROM
    small_a, large_a = where(large, 1, a), where(large, a, _STIRLING_FROM)
    direct = (small_a - 1) * log(safe) - safe - lgamma(small_a)
    # The terms of a large `a` are about a * log(a) and cancel. By Stirling's series (DLMF 5.11.1) the density is
    # sqrt(a / (2 pi)) / x * exp(-a * _excess(a, x)), but for the rest of the series.
    combined = -large_a * _excess(large_a, safe) - _stirling_rest(large_a) - log(safe) + 0.5 * log(large_a)
    power = where(large, combined - 0.5 * math.log(2 * math.pi), direct)
    edge = where(a < 1, math.inf, where(a == 1, 1 - x, where(a == 2, x, 0.0)))  # with their slopes
    return where(inside, exp(power), where(x == 0, edge, where(isnan(x), x, 0.0)))


def _excess(a: Tensor, x: Tensor) -> Tensor:
    """u - log(1 + u) for u = x / a - 1.

    Where the terms cancel, it is computed by a series in r = u / (2 + u), as log(1 + u) is 2 atanh(r).
    """
    apart = (x - a) / a
    near = abs(apart) < 0.5
    u = where(near, apart, 0)
    r = u / (u + 2)
    square = r * r
    total = _series(square, [1 / divisor for divisor in range(_SERIES_END, 1, -2)])
    far = where(near, 1, maximum(x / a, finfo(x.dtype).smallest_normal))
    return where(near, r * (u - 2 * total), apart - log(far))


def _stirling_rest(a: Tensor) -> Tensor:
    """log(gamma(a)) - (a - 1/2) log(a) + a - log(2 pi) / 2 of a large `a`."""
    reciprocal = 1 / a
    square = reciprocal * reciprocal
    return (_series(square, _STIRLING[:-1]) + _STIRLING[-1]) * reciprocal


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
    return (_series(square, _SERIES) + 1) * reciprocal + 0.5 * square


def _series(x: Tensor, coefficients: Sequence[float]) -> Tensor:
    """The sum of powers of x with these coefficients, that of x itself last."""
    total = x * coefficients[0]
    for coefficient in coefficients[1:]:
        total = (total + coefficient) * x
    return total
