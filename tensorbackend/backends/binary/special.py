"""The gamma function's family, element by element in decimals and long integers, rounded once to float64.

DLMF is the Digital Library of Mathematical Functions, chapters 5 and 8. Logarithms and exponentials are the `decimal`
module's; the sums, which may have hundreds of terms, are in fixed point on Python's integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import cache
from typing import Any

from ...protocol import Backend, Payload
from ...template import Template
from ...tensor import Tensor
from ..temme import COEFFICIENTS
from .storage import broadcast_elements, store

INF, NAN = math.inf, math.nan

# Cancellation takes up to 20 digits of a result near a zero, and up to 36 of an exponent where `a` is huge.
_CONTEXT = Context(prec=54, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])
_NEGLIGIBLE = Decimal("1e-60")
_HALF = Decimal("0.5")
_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230782")
_EULER = Decimal("0.57721566490153286060651209008240243104215933593992359880576723488487")
_HALF_LOG_TWO_PI = Decimal("0.91893853320467274178032973640561763986139747363778341281715154048277")

_SHIFTED = 24
"""The argument from which Stirling's series has all digits of `_CONTEXT` with the terms of `_bernoulli`."""

_BITS = 200
_ONE = 1 << _BITS
"""One in fixed point."""

_TEMME = 5000.0
"""The `a` above which Temme's expansion is used where x is near a: sums would need about sqrt(a) terms."""

_DECIDED = 1e36
"""Above this the floats next to `a` are so many standard deviations away from it that P(a, x) is 0 or 1."""


_SMALL = Decimal(10)
"""Up to this x, 1 - P(a, x) keeps enough of the digits of `_CONTEXT`, and the sum for P has few terms."""

_TINY = Decimal("1e-20")
"""Up to this `a`, Q(a, x) is a * E1(x) to all digits of float64, and 1 - P(a, x) loses too many."""


@cache
def _bernoulli() -> list[Fraction]:
    """The Bernoulli numbers B(0), B(1), ... (DLMF 24.5.3)."""
    numbers = [Fraction(1)]
    for n in range(1, 46):
        below = (math.comb(n + 1, k) * number for k, number in enumerate(numbers))
        numbers.append(-sum(below, Fraction(0)) / (n + 1))
    return numbers


@cache
def _stirling_coefficients(derivative: bool) -> tuple[Decimal, ...]:
    """B(2k) / (2k (2k - 1)) of log(gamma) or B(2k) / 2k of its derivative, from the last k down to 1."""
    numbers, coefficients = _bernoulli(), []
    for k in range(len(numbers) // 2 - 1, 0, -1):
        value = numbers[2 * k] / (2 * k if derivative else 2 * k * (2 * k - 1))
        coefficients.append(Decimal(value.numerator) / Decimal(value.denominator))
    return tuple(coefficients)


def _reciprocal_series(x: Decimal, coefficients: tuple[Decimal, ...]) -> Decimal:
    """c(1) + c(2) / x**2 + c(3) / x**4 + ... by Horner's rule."""
    square, total = 1 / (x * x), Decimal(0)
    for coefficient in coefficients:
        total = total * square + coefficient
    return total


def _stirling(x: Decimal) -> Decimal:
    """log(gamma(x)) - (x - 1/2) log(x) + x - log(2 pi) / 2 of a large x (DLMF 5.11.1)."""
    return _reciprocal_series(x, _stirling_coefficients(False)) / x


def _positive_log_gamma(x: Decimal) -> Decimal:
    """log(gamma(x)) of a positive x; a small x is moved up by gamma(x + 1) = x gamma(x)."""
    product = Decimal(1)
    while x < _SHIFTED:
        product *= x
        x += 1
    result = (x - _HALF) * x.ln() - x + _HALF_LOG_TWO_PI + _stirling(x)
    return result if product == 1 else result - product.ln()


def _sine_and_cosine(x: Decimal) -> tuple[Decimal, Decimal]:
    """sin(pi x) and cos(pi x) of an x from -1/2 to 1/2, by their Taylor series."""
    angle, sums, term, n = _PI * x, [Decimal(1), Decimal(0)], Decimal(1), 0
    while abs(term) > _NEGLIGIBLE:
        n += 1
        term *= angle / n
        sums[n % 2] += -term if n % 4 in (2, 3) else term
    return sums[1], sums[0]


def log_gamma(x: float) -> float:
    """log(abs(gamma(x))), for negative numbers by reflection (DLMF 5.5.3)."""
    if not math.isfinite(x):
        return NAN if x != x else INF
    if x in (1, 2):
        return 0.0
    if x > 0:
        return float(_positive_log_gamma(Decimal(x)))
    if x == math.floor(x):
        return INF
    exact = Decimal(-x)
    sine, _ = _sine_and_cosine(Decimal(x - round(x)))
    return float((_PI / (exact * abs(sine))).ln() - _positive_log_gamma(exact))


def _positive_digamma(x: Decimal) -> Decimal:
    """psi(x), the derivative of log(gamma(x)), of a positive x (DLMF 5.11.2).

    A small x is moved up by psi(x + 1) = psi(x) + 1 / x.
    """
    below = Decimal(0)
    while x < _SHIFTED:
        below += 1 / x
        x += 1
    return x.ln() - 1 / (2 * x) - _reciprocal_series(x, _stirling_coefficients(True)) / (x * x) - below


def digamma(x: float) -> float:
    """The derivative of log(gamma(x)), for negative numbers by reflection (DLMF 5.5.4)."""
    if x != x or x == INF:
        return x
    if x > 0:
        return float(_positive_digamma(Decimal(x)))
    if x == 0:
        return math.copysign(INF, -x)
    if x == -INF or x == math.floor(x):
        return NAN
    sine, cosine = _sine_and_cosine(Decimal(x - round(x)))
    return float(_positive_digamma(1 - Decimal(x)) - _PI * cosine / sine)


def _to_fixed_point(x: Decimal) -> int:
    return int((x * _ONE).to_integral_value())


def _prefactor(a: Decimal, x: Decimal) -> tuple[Decimal, Decimal]:
    """x**a exp(-x) / gamma(a + 1) as two factors: the logarithm of the first, and the second."""
    product, large = Decimal(1), a
    while large < _SHIFTED:
        large += 1
        product *= large
    power = a * (x / a).ln() - (x - a) if large is a else a * x.ln() - x - large * large.ln() + large
    return power - _stirling(large), product / (2 * _PI * large).sqrt()


def _lower_series(a: Decimal, x: Decimal) -> Decimal:
    """1 + x / (a + 1) + x**2 / ((a + 1) (a + 2)) + ... (DLMF 8.11.4): P(a, x) over the prefactor."""
    factor, divisor, total, term = _to_fixed_point(x), _to_fixed_point(a), _ONE, _ONE
    while term:
        divisor += _ONE
        term = term * factor // divisor
        total += term
    return Decimal(total) / _ONE


def _upper_fraction(a: Decimal, x: Decimal) -> Decimal:
    """The even part of Legendre's continued fraction (DLMF 8.9.2): Q(a, x) over `a` times the prefactor.

    Evaluated from the last term up. The number of terms is doubled until that changes nothing that float64 shows.
    """
    first, order, terms, last = _to_fixed_point(x + 1 - a), _to_fixed_point(a), 8, 0
    while True:
        value = first + 2 * terms * _ONE
        for n in range(terms, 0, -1):
            value = first + 2 * (n - 1) * _ONE - ((n * (n * _ONE - order)) << _BITS) // value
        if abs(value - last) <= value >> 90:
            return _ONE / Decimal(value)
        last, terms = value, 2 * terms


def _exponential_integral(x: Decimal) -> Decimal:
    """E1(x) of a small x (DLMF 6.6.2)."""
    total, term, n = Decimal(0), Decimal(1), 0
    while abs(term) > _NEGLIGIBLE:
        n += 1
        term = -term * x / n
        total += term / n
    return -_EULER - x.ln() - total


def _both(a: Decimal, x: Decimal) -> tuple[Decimal, Decimal]:
    """P(a, x) and Q(a, x) of positive operands: one from a sum or a continued fraction, the other from 1 minus it."""
    power, factor = _prefactor(a, x)
    zero, one = Decimal(0), Decimal(1)
    if power < -900:
        return (zero, one) if x < a else (one, zero)
    if a > _TEMME and abs(x - a) < a * Decimal("0.3"):
        return _temme_expansion(a, x)
    scale = power.exp() * factor
    if x <= max(a, _SMALL):
        lower = scale * _lower_series(a, x)
        return lower, one - lower if a > _TINY else a * _exponential_integral(x)
    upper = scale * a * _upper_fraction(a, x)
    return one - upper, upper


def _temme_expansion(a: Decimal, x: Decimal) -> tuple[Decimal, Decimal]:
    """P and Q by Temme's uniform expansion of a large `a` (DLMF 8.12.3 to 8.12.8).

    The complementary error function of its leading term is Q(1/2, square); the rest is so much smaller that
    float64 is enough for it.
    """
    square = x - a - a * (x / a).ln()
    distance = math.copysign(math.sqrt(2 * square / a), x - a)
    total = 0.0
    for coefficients in reversed(COEFFICIENTS):
        term = 0.0
        for coefficient in reversed(coefficients):
            term = term * distance + coefficient
        total = total / float(a) + term
    rest = (-square).exp() / (2 * _PI * a).sqrt() * Decimal(total)
    half = _both(_HALF, square)[1] / 2 if square else _HALF
    if x < a:
        return half - rest, 1 - (half - rest)
    return 1 - (half + rest), half + rest


def _incomplete(a: float, x: float) -> tuple[float, float]:
    """P(a, x) and Q(a, x), including special values."""
    if not (a >= 0 and x >= 0) or a == x == 0 or a == x == INF:
        return NAN, NAN
    if x == 0 or a == INF:
        return 0.0, 1.0
    if a == 0 or x == INF:
        return 1.0, 0.0
    if max(a, x) > _DECIDED:
        return (0.5, 0.5) if a == x else (0.0, 1.0) if x < a else (1.0, 0.0)
    lower, upper = _both(Decimal(a), Decimal(x))
    return float(lower), float(upper)


def gamma_inc_l(a: float, x: float) -> float:
    """The regularised lower incomplete gamma function."""
    return _incomplete(a, x)[0]


def gamma_inc_u(a: float, x: float) -> float:
    """The regularised upper incomplete gamma function."""
    return _incomplete(a, x)[1]


def _callback(function: Callable[..., float]) -> Any:
    """A callback from a function of floats, which runs in the decimal context `_CONTEXT`."""

    def callback(self: Backend, out: Template, /, *inputs: Tensor) -> Payload:
        columns = [broadcast_elements(x, out.shape) for x in inputs]
        with localcontext(_CONTEXT):
            return store(list(map(function, *columns)), out.dtype)

    return callback


class BinarySpecial(Backend):
    """The family `protocol.special`."""

    digamma = _callback(digamma)
    gamma_inc_l = _callback(gamma_inc_l)
    gamma_inc_u = _callback(gamma_inc_u)
    log_gamma = _callback(log_gamma)
