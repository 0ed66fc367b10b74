"""The regularised incomplete gamma functions P(a, x) and Q(a, x) on float64 arrays.

Each element is computed in one of four ways, numbered as in the Digital Library of Mathematical Functions: the power
series 8.11.4 where x is small or below `a`, Legendre's continued fraction 8.9.2 where x is above `a`, Temme's uniform
expansion 8.12.7 for a large `a` with x near it, and the series 8.7.1 of 1 - Q(a, x) for a small `a` with a small x.

x**a exp(-x) / gamma(a + 1) is a factor of all but the last, and its exponent is as large as 745. The exponent is
computed in two parts, a float64 and a rest, so that exp() loses none of its digits (T. J. Dekker, "A floating-point
technique for extending the available precision", Numerische Mathematik 18 (1971)).
"""

from __future__ import annotations

from math import pi, sqrt
from typing import Any, TypeAlias

from ...temme import COEFFICIENTS
from .error_function import polynomial, scaled_erfc
from .gamma import log_gamma_quotient, stirling_rest

Pair: TypeAlias = tuple[Any, Any]
"""A number as the sum of a float64 and a rest, which is at most half a unit in the last place of the float64."""

_DECIDED = 1e36
"""For a larger `a`, even its neighbours are so many standard deviations away that P(a, x) is 0 or 1."""

_SMALL = 0.7
"""For a larger x the series of Q(a, x) cancels too much, and the continued fraction needs at most 256 terms."""

_TEMME = 100.0
"""The `a` from which the coefficients of Temme's expansion are accurate in float64."""

_TERMS = 400
"""More terms than any sum or fraction here needs."""

# 1 / gamma(1 + z) for z in [0, 1], from the highest power down.
_RECIPROCAL_GAMMA = (
    7.446708085346333e-11, -9.47627207816979e-10, 4.275161635885845e-09, 7.530524192733885e-09, -2.0756282648803002e-07,
    1.134964565134479e-06, -1.2519629731193839e-06, -2.0134002462777924e-05, 0.00012804990289849008,
    -0.00021524154478526935, -0.0011651676252817207, 0.007218943253106616, -0.009621971528780781, -0.04219773455545544,
    0.16653861138228568, -0.042002635034095, -0.6558780715202539, 0.5772156649015329, 1.0,
)  # fmt: skip
# 2 / (2 k + 1) for k = 13 down to 3: the last terms of the series of 2 atanh(s) / s in s**2.
_ATANH = tuple(2.0 / (2 * k + 1) for k in range(13, 2, -1))
_LOG_TWO = (0.6931471805599453, 2.3190468138462996e-17)


def _two_sum(a: Any, b: Any) -> Pair:
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _two_product(a: Any, b: Any) -> Pair:
    (a_high, a_low), (b_high, b_low) = _split(a), _split(b)
    product = a * b
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def _split(a: Any) -> Pair:
    scaled = a * 134217729.0
    high = scaled - (scaled - a)
    return high, a - high


def _add(a: Pair, b: Pair) -> Pair:
    total, rest = _two_sum(a[0], b[0])
    return _two_sum(total, rest + (a[1] + b[1]))


def _multiply(a: Pair, b: Pair) -> Pair:
    product, rest = _two_product(a[0], b[0])
    return _two_sum(product, rest + (a[0] * b[1] + a[1] * b[0]))


def _divide(a: Pair, b: Pair) -> Pair:
    quotient = a[0] / b[0]
    product = _multiply((quotient, 0.0 * quotient), b)
    rest = ((a[0] - product[0]) - product[1]) + a[1]
    return _two_sum(quotient, rest / b[0])


def _exponent(xp: Any, a: Any, x: Any) -> Pair:
    """x - a - a * log(x / a) as a pair.

    log(x / a) is the logarithm of a power of two plus 2 atanh(s), where s = (x - a) / (x + a) and x is scaled by that
    power. Where x is near a, x - a and a * 2 s cancel, so their difference is computed directly, as (x - a) * s.
    """
    (numerator, x_exponent), (denominator, a_exponent) = xp.frexp(x), xp.frexp(a)
    mantissa = numerator / denominator
    shift = x_exponent - a_exponent - (mantissa < sqrt(0.5)) + (mantissa > sqrt(2.0))
    scaled = xp.ldexp(x, -shift)
    apart = _two_sum(scaled, -a)
    s = _divide(apart, _two_sum(scaled, a))
    square = _multiply(s, s)
    zero = 0.0 * s[0]
    series = _add(
        (zero + 2 / 5, zero - 2.220446049250313e-17), _multiply(square, (polynomial(square[0], _ATANH), zero))
    )
    series = _add((zero + 2 / 3, zero + 3.700743415417188e-17), _multiply(square, series))
    cubic = _multiply((a, zero), _multiply(_multiply(s, square), series))
    near = _add(_multiply(apart, s), (-cubic[0], -cubic[1]))
    whole = _multiply((shift.astype(x.dtype), zero), (zero + _LOG_TWO[0], zero + _LOG_TWO[1]))
    product = _add(_multiply((a, zero), _add(whole, (2.0 * s[0], 2.0 * s[1]))), cubic)
    far = _add(_two_sum(x, -a), (-product[0], -product[1]))
    return xp.where(shift == 0, near[0], far[0]), xp.where(shift == 0, near[1], far[1])


def _decay(xp: Any, exponent: Pair) -> Any:
    return xp.where(exponent[0] > 800.0, 0.0, xp.exp(-exponent[0]) * (1.0 - exponent[1]))


def _prefactor(xp: Any, a: Any, x: Any) -> Any:
    """x**a exp(-x) / gamma(a + 1)."""
    small = xp.minimum(a, 1.0)
    of_small = xp.power(x, small) * xp.exp(-x) * polynomial(small, _RECIPROCAL_GAMMA)
    large = xp.maximum(a, 1.0)
    # Stirling's series at a + n; each step from a to a + n adds a term with log1p.
    rest, shifted = 0.0 * large, large
    for _ in range(9):
        below = shifted < 10.0
        rest = rest + xp.where(below, (shifted + 0.5) * xp.log1p(1.0 / shifted) - 1.0, 0.0)
        shifted = xp.where(below, shifted + 1.0, shifted)
    rest = rest + stirling_rest(shifted)
    of_large = _decay(xp, _exponent(xp, large, x)) * xp.exp(-rest) / xp.sqrt(2.0 * pi * large)
    return xp.where(a < 1.0, of_small, of_large)


def _lower_series(xp: Any, a: Any, x: Any) -> Any:
    """P(a, x) divided by the prefactor: 1 + x / (a + 1) + x**2 / ((a + 1) (a + 2)) + ..."""
    terms, divisor = [xp.ones_like(x)], a
    while len(terms) < _TERMS and (terms[-1] > 1e-17).any():
        divisor = divisor + 1.0
        terms.append(terms[-1] * (x / divisor))
    total = terms.pop()
    for term in reversed(terms):  # the smallest first
        total = total + term
    return total


def _upper_fraction(xp: Any, a: Any, x: Any) -> Any:
    """Q(a, x) / (a * prefactor): 1 / (x + 1 - a + (a - 1) / (x + 3 - a + 2 (a - 2) / (x + 5 - a + ...))).

    It is evaluated from the innermost fraction outwards, which rounds best, with twice as many terms each time until
    these change nothing.
    """
    first, last, terms = x + (1.0 - a), 0.0 * x, 8
    while True:
        value = first + 2.0 * terms
        for n in range(terms, 0, -1):
            value = (first + 2.0 * (n - 1)) + n * (a - n) / value
        if terms >= _TERMS or not (xp.abs(value - last) > 4e-16 * value).any():
            return 1.0 / value
        last, terms = value, 2 * terms


def small_upper(xp: Any, a: Any, x: Any) -> Any:
    """Q(a, x) for `a` below 1 and a small x: 1 - x**a / gamma(1 + a) (1 + sum of a (-x)**n / ((a + n) n!))."""
    total, term = 0.0 * x, a
    for n in range(1, 20):
        term = term * (-x / n)
        total = total + term / (a + n)
    power = a * (xp.log(x) - log_gamma_quotient(xp, a))
    return -xp.expm1(power) - xp.exp(power) * total


def _temme_expansion(xp: Any, a: Any, x: Any) -> Pair:
    """P and Q by Temme's expansion, for `a` of at least 100 and x within 0.3 * a of it."""
    exponent = _exponent(xp, a, x)
    square = xp.maximum(exponent[0] + exponent[1], 0.0)
    distance = xp.copysign(xp.sqrt(2.0 * square / a), x - a)
    total = 0.0 * a
    for coefficients in reversed(COEFFICIENTS):
        total = total / a + polynomial(distance, coefficients[::-1])
    decay = _decay(xp, exponent)
    rest = total / xp.sqrt(2.0 * pi * a)
    half = 0.5 * scaled_erfc(xp, xp.sqrt(square))
    tail = decay * xp.where(x < a, half - rest, half + rest)
    return xp.where(x < a, tail, 1.0 - tail), xp.where(x < a, 1.0 - tail, tail)


def gamma_inc_l(xp: Any, a: Any, x: Any) -> Any:
    """P(a, x) of float64 arrays of one axis and the same length."""
    return _incomplete(xp, a, x, 0)


def gamma_inc_u(xp: Any, a: Any, x: Any) -> Any:
    """Q(a, x) of float64 arrays of one axis and the same length."""
    return _incomplete(xp, a, x, 1)


def limits(xp: Any, a: Any, x: Any, *, upper: bool) -> tuple[Any, Any]:
    """Where a and x are positive and not huge, and P or Q elsewhere: there it follows from which of them is larger."""
    decided = 1.0 if upper else 0.0
    result = xp.where(x < a, decided, xp.where(x > a, 1.0 - decided, 0.5))
    result = xp.where((x == 0.0) & (a > 0.0), decided, result)
    plain = (a > 0.0) & (x > 0.0) & (a <= _DECIDED) & (x <= _DECIDED)
    valid = (a >= 0.0) & (x >= 0.0) & ~((a == x) & ((a == 0.0) | (a == xp.inf)))
    return plain, xp.where(valid, result, xp.nan)


def _incomplete(xp: Any, a: Any, x: Any, upper: int) -> Any:
    plain, result = limits(xp, a, x, upper=bool(upper))
    near = plain & (a >= _TEMME) & (xp.abs(x - a) < 0.3 * a)
    small = plain & (a < 1.0) & (x <= _SMALL)
    low = plain & ~near & (x <= xp.maximum(a, _SMALL))
    high = plain & ~near & ~low
    for kind, ways in ((near, _temme_expansion), (low, _low), (high, _high)):
        at = xp.nonzero(kind)
        if at[0].size:
            result[at] = ways(xp, a[at], x[at])[upper]
    if upper:
        at = xp.nonzero(small)
        if at[0].size:
            result[at] = small_upper(xp, a[at], x[at])
    return xp.clip(result, 0.0, 1.0)  # next to 1 a product may be rounded to more


def _low(xp: Any, a: Any, x: Any) -> Pair:
    lower = _prefactor(xp, a, x) * _lower_series(xp, a, x)
    return lower, 1.0 - lower


def _high(xp: Any, a: Any, x: Any) -> Pair:
    upper = _prefactor(xp, a, x) * (a * _upper_fraction(xp, a, x))
    return 1.0 - upper, upper
