"""Complex functions of Python numbers with the Array API's special cases: `cmath` where it is right.

`cmath` raises where a result is infinite, and changes with Python's version where a part of the argument is
infinite or NaN; so it is called for finite numbers only, and the rest comes from the tables of
`complex_formulas`.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Sequence
from functools import reduce
from math import copysign, inf, nan
from operator import mul

from ..complex_formulas import SPECIALS
from .scalars import divide as _real_divide
from .scalars import sum_of_floats, times_power

Function = Callable[[complex], complex]
Columns = Callable[..., list[complex]]

ZERO = complex(0.0, 0.0)


def column_function(fast: Callable[..., complex], whole: Callable[..., complex]) -> Columns:
    """A function of columns: `fast` if all numbers are finite and it does not raise, else `whole`."""

    def function(*columns: Sequence[complex]) -> list[complex]:
        if all(all(map(cmath.isfinite, column)) for column in columns):
            try:
                return list(map(fast, *columns))
            except (OverflowError, ValueError, ZeroDivisionError):
                pass
        return list(map(whole, *columns))

    return function


def special(name: str, z: complex) -> complex:
    """The value of a function where a part of z is infinite or NaN, from its table."""
    a, b = z.real, z.imag
    table = SPECIALS[name]
    row = 4 if a != a else (1 if a == 0 else 2) if math.isfinite(a) else (3 if a > 0 else 0)
    column = 3 if b != b else (0 if b == 0 else 1) if math.isfinite(b) else 2
    real, imaginary = table.real[4 * row + column], table.imaginary[4 * row + column]
    if table.rotates and column == 1 and math.isinf(a):
        real, imaginary = real * math.cos(b), imaginary * math.sin(abs(b))
    if a == a and copysign(1.0, a) < 0:
        real = -real if table.symmetry == "odd" else real
        imaginary = -imaginary if table.symmetry == "even" else imaginary
    return complex(real, imaginary * copysign(1.0, b) if b == b else imaginary)


def _whole(name: str, finite: Function) -> Function:
    """Extends a function of finite numbers to all numbers, by the table of special values for `name`."""

    def whole(z: complex) -> complex:
        return finite(z) if cmath.isfinite(z) else special(name, z)

    return whole


def _rotate_function(function: Function) -> Function:
    """f(z) = -i g(iz): sin from sinh, asin from asinh, tan from tanh, atan from atanh (Array API standard)."""

    def rotate(z: complex) -> complex:
        w = function(complex(-z.imag, z.real))
        return complex(w.imag, -w.real)

    return rotate


# Functions of finite numbers, infinite where the result is too large for float64


_STEP = 700.0


def _times_exp(c: float, s: float, a: float, half: float = 1.0) -> complex:
    """(c + sj) * exp(a) * half for a large a: exp(a) may overflow where a product with a small sine does not.

    Steps are taken off a exactly, so that its rounding is not magnified.
    """
    for _ in range(3):
        if a > _STEP:
            c, s, a = c * math.exp(_STEP), s * math.exp(_STEP), a - _STEP
    last = math.exp(min(a, _STEP))
    # `half` comes before the last factor: earlier a sine may become subnormal, later a product may be infinite.
    return complex(c * half * last, s * half * last)


def _exp(z: complex) -> complex:
    try:
        return cmath.exp(z)
    except OverflowError:
        return _times_exp(math.cos(z.imag), math.sin(z.imag), z.real)


def _cosh(z: complex) -> complex:
    try:
        return cmath.cosh(z)
    except OverflowError:
        sine = copysign(1.0, z.real) * math.sin(z.imag)
        return _times_exp(math.cos(z.imag), sine, abs(z.real), 0.5)


def _sinh(z: complex) -> complex:
    try:
        return cmath.sinh(z)
    except OverflowError:
        cosine = copysign(1.0, z.real) * math.cos(z.imag)
        return _times_exp(cosine, math.sin(z.imag), abs(z.real), 0.5)


def _expm1(z: complex) -> complex:
    """exp(z) - 1 = expm1(a) cos(b) - 2 sin(b/2)**2 + exp(a) sin(b) j: no part loses digits near zero."""
    a, b = z.real, z.imag
    if a > 700:
        return _exp(z)  # 1 is far below the last place
    half = math.sin(0.5 * b)
    # Adding 0.0 turns -0.0 into 0.0, which the standard wants for both zeros.
    return complex(math.expm1(a) * math.cos(b) - 2 * half * half + 0.0, math.exp(a) * math.sin(b))


def _log(z: complex) -> complex:
    return cmath.log(z) if z else complex(-inf, math.atan2(z.imag, z.real))


def _square(x: float) -> tuple[float, float]:
    """x * x as the unevaluated sum of two floats (Dekker, 1971)."""
    split = 134217729.0 * x
    high = split - (split - x)
    low = x - high
    product = x * x
    return product, low * low - (product - high * high - 2 * high * low)


def _log1p(z: complex) -> complex:
    """log(1 + z): the real part is half of log1p(2a + a**2 + b**2), whose terms may cancel and are added exactly."""
    a, b = z.real, z.imag
    if abs(a) < 4 and abs(b) < 4:
        beyond = math.fsum((2 * a, *_square(a), *_square(b)))
        if -0.5 < beyond < 1:
            # A zero keeps the sign of a.
            return complex(0.5 * math.log1p(beyond) if beyond or a else a, math.atan2(b, 1 + a))
    return _log(complex(1 + a, b))


def _atanh(z: complex) -> complex:
    if z.imag == 0 and abs(z.real) == 1:
        return complex(copysign(inf, z.real), z.imag)
    if abs(z.real) == 1 and abs(z.imag) < 1e-100:  # Python's overflows at the square root of the smallest normal number
        size = 0.5 * (math.log(2) - math.log(abs(z.imag)))
        return complex(copysign(size, z.real), copysign(math.pi / 4, z.imag))
    return cmath.atanh(z)


acosh = column_function(cmath.acosh, _whole("acosh", cmath.acosh))
acos = column_function(cmath.acos, _whole("acos", cmath.acos))
asinh = column_function(cmath.asinh, _whole("asinh", cmath.asinh))
asin = column_function(cmath.asin, _rotate_function(_whole("asinh", cmath.asinh)))
atanh = column_function(_atanh, _whole("atanh", _atanh))
atan = column_function(_rotate_function(_atanh), _rotate_function(_whole("atanh", _atanh)))
_whole_cosh = _whole("cosh", _cosh)
cosh = column_function(cmath.cosh, _whole_cosh)
cos = column_function(cmath.cos, lambda z: _whole_cosh(complex(-z.imag, z.real)))
exp = column_function(cmath.exp, _whole("exp", _exp))
log = column_function(cmath.log, _whole("log", _log))
log1p = column_function(_log1p, _whole("log1p", _log1p))
sinh = column_function(cmath.sinh, _whole("sinh", _sinh))
sin = column_function(cmath.sin, _rotate_function(_whole("sinh", _sinh)))
sqrt = column_function(cmath.sqrt, _whole("sqrt", cmath.sqrt))
tanh = column_function(cmath.tanh, _whole("tanh", cmath.tanh))
tan = column_function(cmath.tan, _rotate_function(_whole("tanh", cmath.tanh)))


def _expm1_whole(z: complex) -> complex:
    if cmath.isfinite(z):
        return _expm1(z)
    w = special("exp", z)
    return complex(w.real - 1.0, w.imag)


expm1 = column_function(_expm1, _expm1_whole)


def _log_to(base: float) -> Columns:
    return lambda column: [complex(z.real / math.log(base), z.imag / math.log(base)) for z in log(column)]


log2, log10 = _log_to(2), _log_to(10)


def absolute(z: complex) -> float:
    """The magnitude; infinite if either part is, even next to NaN."""
    return math.hypot(z.real, z.imag)


def _scale(z: complex) -> int:
    """The exponent of two that brings the larger part into [0.5, 1); 0 for zero, infinity and NaN."""
    size = max(abs(z.real), abs(z.imag))
    return math.frexp(size)[1] if math.isfinite(size) else 0


def sign(z: complex) -> complex:
    """z / abs(z) by parts; 0 + 0j for zero, and NaN in both parts if one is NaN."""
    if cmath.isnan(z):
        return complex(nan, nan)
    if not z:
        return ZERO
    if cmath.isfinite(z):
        z = times_power(z, -_scale(z))  # of subnormal numbers the magnitude would be too coarse
    size = absolute(z)
    return complex(z.real / size, z.imag / size)


def round_parts(nearest: Callable[[float], float]) -> Function:
    """A function that rounds both parts."""
    return lambda z: complex(nearest(z.real), nearest(z.imag))


# Two numbers


def multiply_two(x: complex, y: complex) -> complex:
    """The product by parts, as Python computes it before 3.14, and NumPy without fused operations."""
    a, b, c, d = x.real, x.imag, y.real, y.imag
    return complex(a * c - b * d, a * d + b * c)


def multiply(left: Sequence[complex], right: Sequence[complex]) -> list[complex]:
    """Products by parts; where all are finite, Python's own are the same."""
    products = list(map(mul, left, right))
    return products if all(map(cmath.isfinite, products)) else list(map(_whole_product, left, right))


def _whole_product(x: complex, y: complex) -> complex:
    """The product by parts, of operands scaled by powers of two where a product of their parts overflows."""
    unscaled = multiply_two(x, y)
    if cmath.isfinite(unscaled):
        return unscaled
    if not (cmath.isfinite(x) and cmath.isfinite(y)):  # only the sign of a finite part counts
        return multiply_two(_mantissas(x), _mantissas(y))
    above, below = _scale(x), _scale(y)
    scaled = times_power(multiply_two(times_power(x, -above), times_power(y, -below)), above + below)
    # A part that is finite is right, and may be too small for the scale of the other.
    parts = ((unscaled.real, scaled.real), (unscaled.imag, scaled.imag))
    return complex(*(part if math.isfinite(part) else instead for part, instead in parts))


def _mantissas(z: complex) -> complex:
    return complex(math.frexp(z.real)[0], math.frexp(z.imag)[0])


def divide(x: complex, y: complex) -> complex:
    """x / y by parts where y is real or imaginary (Array API standard's table), else by Smith's formula (1962).

    Operands are scaled by powers of two first, so that nothing but the result overflows or underflows.
    """
    a, b, c, d = x.real, x.imag, y.real, y.imag
    if d == 0:
        return complex(_real_divide(a, c), _real_divide(b, c))
    if c == 0:
        return complex(b / d, -a / d)
    above, below = _scale(x), _scale(y)
    a, b = times_power(a, -above), times_power(b, -above)
    c, d = times_power(c, -below), times_power(d, -below)
    infinite = cmath.isinf(x)
    if abs(c) >= abs(d):
        ratio = _ratio(d, c, infinite)
        size = c + d * ratio
        quotient = complex((a + b * ratio) / size, (b - a * ratio) / size)
    else:
        ratio = _ratio(c, d, infinite)
        size = c * ratio + d
        quotient = complex((a * ratio + b) / size, (b * ratio - a) / size)
    unscaled: complex = times_power(quotient, above - below)
    return unscaled


def _ratio(lesser: float, larger: float, beside_infinity: bool) -> float:
    """A quotient of magnitude up to 1; next to an infinity, where it might underflow, only its sign."""
    if beside_infinity:
        return math.copysign(1.0, lesser) * math.copysign(1.0, larger)
    return lesser / larger


_whole_exp, _whole_log = _whole("exp", _exp), _whole("log", _log)


def power(x: complex, y: complex) -> complex:
    """x to the power y: exp(y * log(x)), and 1 for an exponent of 0.

    Python's polar form keeps more digits where it has a result, but not for an x near 1: there the logarithm of the
    rounded magnitude of x has few correct digits.
    """
    if y == 0:
        return complex(1.0, 0.0)
    few = not y.imag and abs(y.real) <= 8 and y.real.is_integer()
    near_1 = max(abs(x.real - 1), abs(x.imag)) < 1 / 4
    if x and cmath.isfinite(x) and cmath.isfinite(y) and (few or not near_1):
        try:
            python_power = x**y
        except (OverflowError, ZeroDivisionError):
            pass
        else:
            if python_power and cmath.isfinite(python_power):
                return python_power
    return _whole_exp(multiply_two(y, _whole_log(x)))


def total(values: Sequence[complex]) -> complex:
    """The sum, each part rounded once."""
    return complex(sum_of_floats([z.real for z in values]), sum_of_floats([z.imag for z in values]))


def product(values: Sequence[complex]) -> complex:
    """The product by parts, from the first to the last."""
    return reduce(multiply_two, values) if values else complex(1.0, 0.0)


def dot(left: Sequence[complex], right: Sequence[complex]) -> complex:
    """Sum of products by parts; the sum of the products is rounded once for each part."""
    reals = [z.real * w.real for z, w in zip(left, right, strict=True)]
    reals += [-z.imag * w.imag for z, w in zip(left, right, strict=True)]
    imaginaries = [z.real * w.imag for z, w in zip(left, right, strict=True)]
    imaginaries += [z.imag * w.real for z, w in zip(left, right, strict=True)]
    return complex(sum_of_floats(reals), sum_of_floats(imaginaries))
