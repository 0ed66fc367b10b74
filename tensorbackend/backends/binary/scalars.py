"""Real functions of Python numbers with the results of IEEE 754 where Python raises."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

INF, NAN = math.inf, math.nan


def guard(function: Callable[[float], float], invalid: Callable[[float], float]) -> Callable[[float], float]:
    """A function of `math` that returns `invalid(x)` where it would raise."""

    def safe(x: float) -> float:
        try:
            return function(x)
        except (ValueError, OverflowError, ZeroDivisionError):
            return invalid(x)

    return safe


def nan(x: float) -> float:
    """NaN, whatever the argument."""
    return NAN


def log(x: float, of_positive: Callable[[float], float] = math.log) -> float:
    """Natural logarithm, or another of a positive number: -inf of zero."""
    return of_positive(x) if x > 0 or x != x else (-INF if x == 0 else NAN)


log2, log10 = partial(log, of_positive=math.log2), partial(log, of_positive=math.log10)


def log1p(x: float) -> float:
    """log(1 + x): -inf of -1."""
    return math.log1p(x) if x > -1 or x != x else (-INF if x == -1 else NAN)


def atanh(x: float) -> float:
    """Inverse hyperbolic tangent: infinite at -1 and 1."""
    return math.copysign(INF, x) if abs(x) == 1 else (NAN if abs(x) > 1 else math.atanh(x))


def rsqrt(x: float) -> float:
    """1 / sqrt(x): infinite at zero, with the sign of the zero."""
    return 1 / math.sqrt(x) if x > 0 else (math.copysign(INF, x) if x == 0 else NAN)


def erf_inv(y: float) -> float:
    """Inverse error function: Winitzki's approximation (2008), then Newton's method on erf or erfc."""
    if y != y or abs(y) >= 1:
        return math.copysign(INF, y) if abs(y) == 1 else NAN
    if y == 0:
        return y
    tail = math.log1p(-y * y)
    half = 2 / (math.pi * 0.147) + tail / 2
    x = math.copysign(math.sqrt(math.sqrt(half * half - tail / 0.147) - half), y)
    for _ in range(4):
        # erfc keeps the digits that 1 - erf would cancel near the ends.
        beyond = (1 - abs(y)) - math.erfc(abs(x))
        wrong = math.erf(x) - y if abs(y) < 0.5 else (beyond if y > 0 else -beyond)
        step = wrong * math.sqrt(math.pi) / 2 * math.exp(x * x)
        x -= step / (1 + x * step)  # Halley's correction
    return x


def integral(function: Callable[[float], int]) -> Callable[[float], float]:
    """A function such as `math.floor`, made to keep the sign of zero, infinities and NaN."""

    def round_number(x: float) -> float:
        return math.copysign(float(function(x)), x) if math.isfinite(x) else x

    return round_number


def sign(x: float) -> float:
    """-1, 0 or 1 by sign, 0.0 for both zeros; NaN stays NaN."""
    return (0.0 if x == 0 else x) if x == 0 or x != x else math.copysign(1.0, x)


def divide(a: float, b: float) -> float:
    """a / b with IEEE 754's infinities and NaN."""
    if b != 0:
        return a / b
    return NAN if a == 0 or a != a else math.copysign(INF, a) * math.copysign(1.0, b)


def floor_divide(a: float, b: float) -> float:
    """Largest integral value not above a / b (Array API standard's special cases)."""
    if b == 0 or not (math.isfinite(a) and math.isfinite(b)):
        return divide(a, b)  # for infinities the quotient itself: -0.0 for -1 / inf
    return math.copysign(a // b, a / b) if a // b == 0 else a // b


def remainder(a: float, b: float) -> float:
    """a - floor(a / b) * b with the sign of b; NaN where it is undefined."""
    return a % b if b != 0 and not math.isinf(a) else NAN


def maximum(a: float, b: float) -> float:
    """The greater number; NaN wins, and 0.0 is above -0.0."""
    if a != a or b != b:
        return NAN
    if a == b == 0:
        return a if math.copysign(1.0, a) > 0 else b
    return a if a > b else b


def minimum(a: float, b: float) -> float:
    """The lesser number; NaN wins, and -0.0 is below 0.0."""
    return -maximum(-a, -b)


def power(a: float, b: float) -> float:
    """a to the power b as C's pow returns it: NaN for a negative number to a power that is not whole."""
    try:
        return math.pow(a, b)
    except OverflowError:
        return -INF if a < 0 and b % 2 == 1 else INF
    except ValueError:
        if a == 0:  # to a negative power
            return math.copysign(INF, a) if b % 2 == 1 else INF
        return NAN


def integer_power(a: int, b: int, bits: int) -> int:
    """a to the power b modulo 2**bits; a negative power is 1 / a**-b rounded to zero."""
    if b >= 0:
        return pow(a, b, 1 << bits)
    return (1 if b % 2 == 0 else a) if abs(a) == 1 else 0


def trunc_divide(a: int, b: int) -> int:
    """a / b rounded towards zero; 0 if b is zero."""
    if b == 0:
        return 0
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def sum_of_floats(values: Sequence[float]) -> float:
    """The sum rounded once; `fsum` refuses infinities of both signs and sums beyond float64."""
    try:
        return math.fsum(values)
    except (OverflowError, ValueError):
        return sum(values)


def logaddexp(a: float, b: float) -> float:
    """log(exp(a) + exp(b)) without overflow."""
    if a == b:  # infinities of one sign too
        return a + math.log(2)
    larger, smaller = (a, b) if a > b else (b, a)
    return larger + math.log1p(math.exp(smaller - larger)) if a == a and b == b else NAN


def round_to_odd(value: int) -> float:
    """An integer as a float that rounds to narrower dtypes as the integer itself would.

    The bits that float64 drops set a sticky last bit (Boldo and Melquiond, 2008): 2**60 + 1 becomes 2**60 + 2**8.
    """
    excess = abs(value).bit_length() - 53
    if excess <= 0:
        return float(value)
    kept, dropped = divmod(abs(value), 1 << excess)
    return math.copysign(float((kept | (dropped != 0)) << excess), value)


def times_power(number: Any, exponent: int) -> Any:
    """A number times 2**exponent, infinite where that overflows."""
    if isinstance(number, complex):
        return complex(times_power(number.real, exponent), times_power(number.imag, exponent))
    try:
        return math.ldexp(number, exponent)
    except OverflowError:
        return math.copysign(INF, number)
