"""The factorial, Hurwitz's zeta function and the derivatives of digamma, written in public ops."""

from __future__ import annotations

import math
from functools import cache

from ....dispatch import composite
from ....dtypes import DType, float64
from ....rules.accuracy import Bound
from ....rules.broadcasting import check_dtype, result_type
from ....tensor import Tensor
from ...creation.filled import full, tensor
from ...elementwise.basic import abs, astype, isnan, round, where
from ...elementwise.binary import logical_and, logical_or, maximum, minimum
from ...elementwise.transcendental import exp, log, log1p, sin
from ...indexing.taking import take_at
from ...special import digamma, lgamma
from . import compute_wide

_SCALED_FROM, _SCALE = 151, 2.0**900
"""The number from which the factorials of `_floats` are divided by a power of two, so that float64 holds them all."""

_LAST = 190
"""A number whose factorial, and the reciprocal of it, are far beyond the range of float64."""

# B(2k) / (2k (2k - 1)), from k = 8 down to 1 (DLMF 5.11.1).
_STIRLING = (-3617 / 122400, 1 / 156, -691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12)


@cache
def _integers(dtype: DType) -> tuple[int, ...]:
    """0!, 1!, ... as they wrap around in an integer dtype, up to the first 0; all later ones are 0 too."""
    modulus, values = 1 << dtype.bits, [1]
    while values[-1]:
        values.append(values[-1] * len(values) % modulus)
    signed = dtype.kind == "int"
    return tuple(value - modulus if signed and 2 * value >= modulus else value for value in values)


@cache
def _floats() -> tuple[float, ...]:
    """0!, 1!, ... rounded once; from `_SCALED_FROM` on they are divided by `_SCALE`."""
    scale = int(_SCALE)
    return tuple(math.factorial(n) / (scale if n >= _SCALED_FROM else 1) for n in range(_LAST + 1))


@composite.within(Bound(16, "composed of functions with a few ulps each, and a product of ten factors"))
def factorial(x: Tensor, /) -> Tensor:
    """x! in x's dtype. Integers wrap around, and the result of negative ones is 0; for floats it is gamma(x + 1).

    int64 holds factorials up to 20!, float64 up to 170!. For floats that are whole numbers, the result is exact except
    for rounding; for negative whole numbers it is NaN. Raises `DTypeError` for complex numbers and bool.

    >>> tb.factorial(tb.asarray([0, 5, 20, -1])).tolist()
    [1, 120, 2432902008176640000, 0]
    >>> tb.factorial(tb.asarray([3.0, 171.0, -1.0], dtype="f64")).tolist()
    [6.0, inf, nan]
    """
    check_dtype(x.dtype, "real")
    if x.dtype.is_integer:
        values = _integers(x.dtype)
        last = len(values) - 1
        return take_at(tensor(values, dtype=x.dtype), where(x < 0, last, minimum(x, last)), axis=0, mode="clip")
    return astype(_gamma_of_next(astype(x, float64)), x.dtype)


def _gamma_of_next(x: Tensor) -> Tensor:
    """gamma(x + 1) in float64: the nearest integer's factorial times a ratio computed by Stirling's series."""
    size = minimum(where(isnan(x), 0, abs(x)), 1e300)
    turn = round(size)
    offset = size - turn
    whole = offset == 0
    # The series holds from 10 on. Below, gamma(x + 1) is gamma(x + 11) divided by the ten factors between them.
    lifted = logical_and(size < 10, offset != 0)
    nearest = where(lifted, turn + 10, minimum(turn, _LAST))
    exact = take_at(tensor(_floats(), dtype=float64), astype(nearest, "int64"), axis=0, mode="clip")
    value = exact * _ratio(nearest, offset)
    factors = where(lifted, size, 0) + 1
    product = factors
    for step in range(1, 10):
        product = product * (factors + step)
    value = where(lifted, value / product, value)
    scaled = nearest > _SCALED_FROM - 0.5
    above = value * where(scaled, full((), _SCALE, dtype=float64), 1.0)
    # gamma(1 - y) = pi y / (sin(pi y) gamma(1 + y)) (DLMF 5.5.3)
    sine = sin(offset * math.pi)
    sine = where(turn % 2 == 1, -sine, sine)
    below = size * math.pi / sine / value * where(scaled, full((), 1 / _SCALE, dtype=float64), 1.0)
    result = where(x < 0, where(whole, math.nan, below), above)
    return where(isnan(x), math.nan, result)


def _ratio(whole: Tensor, offset: Tensor) -> Tensor:
    """gamma(whole + offset + 1) / gamma(whole + 1) for `whole` from 10 on; 1 where the offset is 0.

    It is exp of the difference of two Stirling series, whose logarithms are combined so that all terms are small.
    """
    whole = maximum(whole, 1)
    moved = maximum(whole + offset, 1)
    power = (whole + 0.5) * log1p(offset / whole)
    power = power + offset * (log(moved) - 1)
    return exp(power + (stirling_rest(moved) - stirling_rest(whole)))


def stirling_rest(x: Tensor) -> Tensor:
    """log(gamma(x)) - (x - 1/2) log(x) + x - log(2 pi) / 2 (DLMF 5.11.1)."""
    reciprocal = 1 / x
    square = reciprocal * reciprocal
    total = square * _STIRLING[0]
    for coefficient in _STIRLING[1:-1]:
        total = (total + coefficient) * square
    return (total + _STIRLING[-1]) * reciprocal


_DIRECT = 14
"""How many terms are added before the series for the rest."""

# B(2j) / (2j)!, for j from 1 (DLMF 24.2).
_BERNOULLI = tuple(
    fraction / math.factorial(2 * (place + 1))
    for place, fraction in enumerate(
        (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330)
    )
)


def _hurwitz(x: Tensor, q: Tensor) -> Tensor:
    """The Euler-Maclaurin formula (DLMF 25.11.5)."""
    inside = logical_and(x > 1, q > 0)
    s, start = where(inside, x, 2.0), where(inside, q, 1.0)
    total = start ** (s * -1.0)
    for step in range(1, _DIRECT):
        total = total + (start + float(step)) ** (s * -1.0)
    end = start + float(_DIRECT)
    last = end ** (s * -1.0)
    rest = end ** (1.0 - s) / (s - 1.0)  # `last` times `end`, where `last` is 0
    total = total + (last * 0.5 + rest)
    limited = minimum(s, 1e6)  # beyond it `last` is 0, and a product with the square of s is to be 0 too
    factor = last * limited / end
    for place, coefficient in enumerate(_BERNOULLI):
        total = total + factor * coefficient
        following = (limited + (2.0 * place + 1)) * (limited + (2.0 * place + 2))
        factor = factor * following / end / end
    pole = logical_or(x == 1, logical_and(x > 1, q == 0))
    return where(logical_and(pole, q >= 0), math.inf, where(inside, total, math.nan))


@composite.within(Bound(32, "a sum of some tens of powers"))
def zeta(x: Tensor, q: Tensor, /) -> Tensor:
    """Hurwitz's zeta function: the sum of (k + q)**-x for k from 0, as in SciPy and JAX; for q = 1 that of Riemann.

    It is infinite for x = 1, NaN for x below 1, infinite for q = 0 and NaN for q below 0.

    Parameters
    ----------
    x : Tensor
        The exponents, above 1.
    q : Tensor
        What is added to each k, above 0.

    Examples
    --------
    >>> tb.zeta(tb.asarray([2.0, 4.0, 1.0]), 1.0).tolist()
    [1.644934058189392, 1.0823231935501099, inf]
    """
    kind = result_type([x.template, q.template])
    return compute_wide(_hurwitz, astype(x, kind), astype(q, kind))


@composite.within(Bound(64, "a factorial times a sum of powers"))
def polygamma(n: Tensor, x: Tensor, /) -> Tensor:
    """The derivative of order n of digamma(x), for whole n from 0 and x above 0.

    It is infinite at 0, and NaN for x below 0 and for other n; for n = 0 it is `digamma`.

    Parameters
    ----------
    n : Tensor
        The orders.
    x : Tensor
        Numbers above 0.

    Examples
    --------
    >>> tb.polygamma(tb.asarray([0, 1, 2]), 1.0).tolist()
    [-0.5772156715393066, 1.644934058189392, -2.40411376953125]
    """
    kind = result_type([n.template, x.template])
    return compute_wide(_polygamma, astype(n, kind), astype(x, kind))


def _polygamma(n: Tensor, x: Tensor) -> Tensor:
    whole = logical_and(n >= 0, n % 1.0 == 0)
    order = where(logical_and(whole, n > 0), n, 1.0)
    size = exp(lgamma(order + 1.0)) * _hurwitz(order + 1.0, x)
    value = where(order % 2.0 == 0, -size, size)
    zeroth = digamma(where(n == 0, x, 1.0))
    return where(whole, where(n == 0, where(x < 0, math.nan, zeroth), value), math.nan)
