"""Bessel functions of orders 0 and 1, of the first kind and modified, in float64 and rounded once.

Near 0 they are sums of powers or of Chebyshev polynomials, whose coefficients are computed when they are first needed;
far away they are Hankel's asymptotic series (DLMF 10.17, 10.40).
"""

from __future__ import annotations

import math
from functools import cache

from ....dispatch import composite
from ....rules.accuracy import Bound
from ....tensor import Tensor
from ...elementwise.basic import abs, isinf, isnan, sign, where
from ...elementwise.binary import logical_or, minimum, multiply
from ...elementwise.transcendental import cos, exp, sin, sqrt
from ..elementwise.functions import square
from . import compute_wide, horner

_NEAR = 25.0
"""From here on the asymptotic series have the accuracy of float64."""

_LEAST, _POWERS = 1.0, 12
"""Below that number, so many powers of J have the accuracy of float64."""

_TERMS = 24
_RELATIVE = Bound(16, "sums of some tens of terms")
_ABSOLUTE = Bound(32, "near its zeros the terms cancel", "one")


@cache
def _powers(order: int) -> tuple[float, ...]:
    """1 / (k! (k + order)!), from the highest power of x**2 / 4 down."""
    return tuple(1 / (math.factorial(k) * math.factorial(k + order)) for k in range(54, -1, -1))


@cache
def _hankel(order: int) -> tuple[float, ...]:
    """The coefficients a_k of the asymptotic series in 1 / x (DLMF 10.17.1)."""
    values = [1.0]
    for k in range(1, _TERMS):
        values.append(values[-1] * (4 * order * order - (2 * k - 1) ** 2) / (8 * k))
    return tuple(values)


@cache
def _orders() -> tuple[float, ...]:
    """J_0, J_1, ... at a quarter of `2 _NEAR`, by Miller's backward recurrence."""
    x, values = _NEAR / 2, [0.0, 1e-300]
    for n in range(80, 0, -1):
        values.append(2 * n / x * values[-1] - values[-2])
    values = values[::-1]
    total = values[0] + 2 * math.fsum(values[2:-1:2])
    return tuple(value / total for value in values[:45])


@cache
def _chebyshev(order: int) -> tuple[float, ...]:
    """The coefficients of T_{2k + order}(x / _NEAR), from Neumann's sums: products of two of `_orders`."""
    j = _orders()
    values = [2 * (-1) ** k * j[k] * j[k + order] for k in range(len(j) - order)]
    return (values[0] / 2, *values[1:]) if order == 0 else tuple(values)


def _clenshaw(order: int, part: Tensor) -> Tensor:
    """The sum of Chebyshev polynomials of even or odd degrees at a number from 0 to 1."""
    twice = (square(part) * 2 - 1) * 2
    coefficients = _chebyshev(order)
    last, before = part * 0, part * 0
    for coefficient in coefficients[:0:-1]:
        last, before = twice * last - before + coefficient, last
    if order:
        return part * (twice * last - before + coefficients[0] - last)
    return twice * 0.5 * last - before + coefficients[0]


def _bessel_j(order: int, x: Tensor) -> Tensor:
    """J of an order, for x from 0."""
    near = x < _NEAR
    inner = _clenshaw(order, where(near, x, 0) / _NEAR)
    # Next to 0 a few powers have all digits, also of small numbers, and J_0 is not above 1.
    least = x < _LEAST
    half = where(least, x, 0) * 0.5
    powers = [(-1) ** k * term for k, term in enumerate(_powers(order)[-1 : -_POWERS - 1 : -1])]
    first = horner(powers[::-1], square(half))
    inner = where(least, first * half if order else first, inner)
    far = where(near, _NEAR, minimum(x, 1e300))
    inverse, terms = 1 / far, _hankel(order)
    signs = [(-1) ** (k // 2) * term for k, term in enumerate(terms)]
    even = horner(signs[-2::-2], square(inverse))
    odd = horner(signs[::-2], square(inverse)) * inverse
    # cos and sin of x - pi / 4, or of x - 3 pi / 4 for order 1.
    both, apart = cos(far) + sin(far), sin(far) - cos(far)
    wave = even * both - odd * apart if order == 0 else even * apart + odd * both
    outer = wave / sqrt(far * math.pi)
    return where(near, inner, where(isinf(x), 0.0, outer))


def _bessel_i(order: int, x: Tensor, scaled: bool) -> Tensor:
    """I of an order for x from 0, divided by exp(x) if `scaled`."""
    near = x < _NEAR
    small = where(near, x, 0)
    inner = horner(_powers(order), square(small) * 0.25)
    inner = inner * (small * 0.5) if order else inner
    far = where(near, _NEAR, x)
    signs = [(-1) ** k * term for k, term in enumerate(_hankel(order))]
    outer = horner(signs[::-1], 1 / far) / (sqrt(far) * math.sqrt(2 * math.pi))
    if scaled:
        return where(near, inner * exp(-small), outer)
    half = exp(far * 0.5)  # exp(x) itself overflows first
    return where(near, inner, where(isinf(x), math.inf, outer * half * half))


def _even(function: object, x: Tensor, *options: object) -> Tensor:
    return function(0, abs(x), *options)  # type: ignore[operator, no-any-return] # one of the two above


def _odd(function: object, x: Tensor, *options: object) -> Tensor:
    value = function(1, abs(x), *options)  # type: ignore[operator] # one of the two above
    return where(logical_or(isnan(x), x == 0), x, multiply(sign(x), value))


@composite.within(_ABSOLUTE)
def j0(x: Tensor, /) -> Tensor:
    """Bessel function of the first kind of order 0.

    >>> tb.j0(tb.asarray([0.0, 1.0, -1.0])).tolist()
    [1.0, 0.7651976943016052, 0.7651976943016052]
    """
    return compute_wide(lambda x: _even(_bessel_j, x), x)


@composite.within(_ABSOLUTE)
def j1(x: Tensor, /) -> Tensor:
    """Bessel function of the first kind of order 1.

    >>> tb.j1(tb.asarray([0.0, 1.0, -1.0])).tolist()
    [0.0, 0.44005057215690613, -0.44005057215690613]
    """
    return compute_wide(lambda x: _odd(_bessel_j, x), x)


@composite.within(_RELATIVE)
def i0(x: Tensor, /) -> Tensor:
    """Modified Bessel function of the first kind of order 0.

    >>> tb.i0(tb.asarray([0.0, 1.0])).tolist()
    [1.0, 1.2660658359527588]
    """
    return compute_wide(lambda x: _even(_bessel_i, x, False), x)


@composite.within(_RELATIVE)
def i0e(x: Tensor, /) -> Tensor:
    """i0(x) exp(-abs(x)), which does not overflow.

    >>> tb.i0e(tb.asarray([0.0, 1000.0])).tolist()
    [1.0, 0.012617240659892559]
    """
    return compute_wide(lambda x: _even(_bessel_i, x, True), x)


@composite.within(_RELATIVE)
def i1(x: Tensor, /) -> Tensor:
    """Modified Bessel function of the first kind of order 1.

    >>> tb.i1(tb.asarray([0.0, 1.0])).tolist()
    [0.0, 0.5651590824127197]
    """
    return compute_wide(lambda x: _odd(_bessel_i, x, False), x)


@composite.within(_RELATIVE)
def i1e(x: Tensor, /) -> Tensor:
    """i1(x) exp(-abs(x)), which does not overflow.

    >>> tb.i1e(tb.asarray([0.0, 1000.0])).tolist()
    [0.0, 0.012610930018126965]
    """
    return compute_wide(lambda x: _odd(_bessel_i, x, True), x)
