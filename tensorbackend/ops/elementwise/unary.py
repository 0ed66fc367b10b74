"""Elementwise primitives of one tensor. The names are the Array API standard's, or Nx's where it has none.

Shapes broadcast from the right and names are merged as they meet. Python numbers are weak: they take the
tensor's dtype where their kind fits. Errors: `ShapeError`, `NamesError`, `DTypeError` and, for a Python
number outside the dtype, `OutOfRangeError`.
"""

from __future__ import annotations

from ...accuracy import COMPLEX_QUOTIENT, LIBRARY, Bound
from ...dispatch import primitive
from ...dtypes import bool_
from ...rules.broadcasting import elementwise, to_floating, to_real
from ...rules.plan import Plan
from ...template import Template


@primitive.within(complex=Bound(4, "the magnitude of a complex number is rounded more than once by some libraries"))
def abs(x: Template, /) -> Plan:
    """Absolute value; of a complex number its magnitude, in the dtype of its halves.

    >>> import tensorbackend as tb
    >>> tb.abs(tb.asarray([-1.5, 2.0])).tolist()
    [1.5, 2.0]
    """
    return elementwise(x, result=to_real)


@primitive.within(LIBRARY)
def acos(x: Template, /) -> Plan:
    """Arc cosine in radians, principal value; NaN outside [-1, 1].

    >>> import tensorbackend as tb
    >>> tb.acos(tb.asarray([1.0])).tolist()
    [0.0]
    """
    return elementwise(x, convert=to_floating)


@primitive.within(LIBRARY)
def acosh(x: Template, /) -> Plan:
    """Inverse hyperbolic cosine; NaN below 1.

    >>> import tensorbackend as tb
    >>> tb.acosh(tb.asarray([1.0])).tolist()
    [0.0]
    """
    return elementwise(x, convert=to_floating)


@primitive.within(LIBRARY)
def asin(x: Template, /) -> Plan:
    """Arc sine in radians, principal value; NaN outside [-1, 1].

    >>> import tensorbackend as tb
    >>> tb.asin(tb.asarray([0.0])).tolist()
    [0.0]
    """
    return elementwise(x, convert=to_floating)


@primitive.within(LIBRARY)
def asinh(x: Template, /) -> Plan:
    """Inverse hyperbolic sine.

    >>> import tensorbackend as tb
    >>> tb.asinh(tb.asarray([0.0])).tolist()
    [0.0]
    """
    return elementwise(x, convert=to_floating)


@primitive.within(LIBRARY)
def atan(x: Template, /) -> Plan:
    """Arc tangent in radians, principal value.

    >>> import tensorbackend as tb
    >>> tb.atan(tb.asarray([0.0])).tolist()
    [0.0]
    """
    return elementwise(x, convert=to_floating)


@primitive.within(LIBRARY)
def atanh(x: Template, /) -> Plan:
    """Inverse hyperbolic tangent; infinite at -1 and 1.

    >>> import tensorbackend as tb
    >>> tb.atanh(tb.asarray([0.0])).tolist()
    [0.0]
    """
    return elementwise(x, convert=to_floating)


@primitive.calls("bitwise_not")
def bitwise_invert(x: Template, /) -> Plan:
    """All bits flipped; of bool the negation.

    >>> import tensorbackend as tb
    >>> tb.bitwise_invert(tb.asarray([0, 5])).tolist()
    [-1, -6]
    """
    return elementwise(x, accept="integer or bool")


@primitive.within(LIBRARY)
def _cbrt(x: Template, /) -> Plan:
    return elementwise(x, accept="real", convert=to_floating)


real_cbrt = _cbrt
"""`cbrt` of real numbers."""


@primitive
def ceil(x: Template, /) -> Plan:
    """Least integral value not below x, in x's dtype.

    >>> import tensorbackend as tb
    >>> tb.ceil(tb.asarray([1.2, -1.2])).tolist()
    [2.0, -1.0]
    """
    return elementwise(x, accept="real")


@primitive.calls("conjugate")
def conj(x: Template, /) -> Plan:
    """Complex conjugate; of real numbers themselves.

    >>> import tensorbackend as tb
    >>> tb.conj(tb.asarray([1 + 2j])).tolist()
    [(1-2j)]
    """
    return elementwise(x)


@primitive.within(LIBRARY)
def cos(x: Template, /) -> Plan:
    """Cosine of radians.

    >>> import tensorbackend as tb
    >>> tb.cos(tb.asarray([0.0])).tolist()
    [1.0]
    """
    return elementwise(x, convert=to_floating)


@primitive.within(LIBRARY)
def cosh(x: Template, /) -> Plan:
    """Hyperbolic cosine.

    >>> import tensorbackend as tb
    >>> tb.cosh(tb.asarray([0.0])).tolist()
    [1.0]
    """
    return elementwise(x, convert=to_floating)


@primitive
def count_leading_zeros(x: Template, /) -> Plan:
    """Number of zero bits above the highest one bit of an integer.

    >>> import tensorbackend as tb
    >>> tb.count_leading_zeros(tb.asarray([1, 0])).tolist()
    [63, 64]
    """
    return elementwise(x, accept="integer")


@primitive.within(LIBRARY)
def erf(x: Template, /) -> Plan:
    """Error function, 2 / sqrt(pi) times the integral of exp(-t**2) from 0 to x.

    >>> import tensorbackend as tb
    >>> tb.erf(tb.asarray([0.0])).tolist()
    [0.0]
    """
    return elementwise(x, accept="real", convert=to_floating)


@primitive.within(LIBRARY)
def erf_inv(x: Template, /) -> Plan:
    """Inverse of the error function; infinite at -1 and 1, NaN beyond.

    >>> import tensorbackend as tb
    >>> tb.erf_inv(tb.asarray([0.0])).tolist()
    [0.0]
    """
    return elementwise(x, accept="real", convert=to_floating)


@primitive.within(LIBRARY)
def erfc(x: Template, /) -> Plan:
    """1 - erf(x), accurate where that is tiny.

    >>> import tensorbackend as tb
    >>> tb.erfc(tb.asarray([0.0])).tolist()
    [1.0]
    """
    return elementwise(x, accept="real", convert=to_floating)


@primitive.within(LIBRARY)
def exp(x: Template, /) -> Plan:
    """e to the power x.

    >>> import tensorbackend as tb
    >>> tb.exp(tb.asarray([0.0])).tolist()
    [1.0]
    """
    return elementwise(x, convert=to_floating)


@primitive.within(LIBRARY, complex=Bound(6, "sums of products of the parts, which cancel in one part"))
def expm1(x: Template, /) -> Plan:
    """exp(x) - 1, accurate near zero.

    >>> import tensorbackend as tb
    >>> tb.expm1(tb.asarray([0.0])).tolist()
    [0.0]
    """
    return elementwise(x, convert=to_floating)


@primitive
def floor(x: Template, /) -> Plan:
    """Greatest integral value not above x, in x's dtype.

    >>> import tensorbackend as tb
    >>> tb.floor(tb.asarray([1.8, -1.2])).tolist()
    [1.0, -2.0]
    """
    return elementwise(x, accept="real")


@primitive
def imag(x: Template, /) -> Plan:
    """Imaginary part, in the dtype of the halves.

    >>> import tensorbackend as tb
    >>> tb.imag(tb.asarray([1 + 2j])).tolist()
    [2.0]
    """
    return elementwise(x, accept="complex", result=to_real)


@primitive.calls("is_infinity")
def isinf(x: Template, /) -> Plan:
    """Whether x is an infinity; of a complex number, whether a part is.

    >>> import tensorbackend as tb
    >>> tb.isinf(tb.asarray([1.0, float("inf")])).tolist()
    [False, True]
    """
    return elementwise(x, accept="numeric", result=bool_)


@primitive.calls("is_nan")
def isnan(x: Template, /) -> Plan:
    """Whether x is NaN; of a complex number, whether a part is.

    >>> import tensorbackend as tb
    >>> tb.isnan(tb.asarray([1.0, float("nan")])).tolist()
    [False, True]
    """
    return elementwise(x, accept="numeric", result=bool_)


@primitive.within(LIBRARY)
def log(x: Template, /) -> Plan:
    """Natural logarithm; -inf of zero, NaN of negative numbers.

    >>> import tensorbackend as tb
    >>> tb.log(tb.asarray([1.0, 0.0])).tolist()
    [0.0, -inf]
    """
    return elementwise(x, convert=to_floating)


@primitive.within(LIBRARY, complex=Bound(6, "sums of products of the parts, which cancel in one part"))
def log1p(x: Template, /) -> Plan:
    """log(1 + x), accurate near zero.

    >>> import tensorbackend as tb
    >>> tb.log1p(tb.asarray([0.0])).tolist()
    [0.0]
    """
    return elementwise(x, convert=to_floating)


@primitive.calls("negate")
def negative(x: Template, /) -> Plan:
    """-x; unsigned integers wrap.

    >>> import tensorbackend as tb
    >>> tb.negative(tb.asarray([1, -2])).tolist()
    [-1, 2]
    """
    return elementwise(x)


@primitive
def population_count(x: Template, /) -> Plan:
    """Number of one bits of an integer.

    >>> import tensorbackend as tb
    >>> tb.population_count(tb.asarray([5, 0])).tolist()
    [2, 0]
    """
    return elementwise(x, accept="integer")


@primitive
def real(x: Template, /) -> Plan:
    """Real part, in the dtype of the halves; of real numbers themselves.

    >>> import tensorbackend as tb
    >>> tb.real(tb.asarray([1 + 2j])).tolist()
    [1.0]
    """
    return elementwise(x, result=to_real)


@primitive
def round(x: Template, /) -> Plan:
    """Nearest integral value, halves to even, in x's dtype.

    >>> import tensorbackend as tb
    >>> tb.round(tb.asarray([0.5, 1.5, 2.5])).tolist()
    [0.0, 2.0, 2.0]
    """
    return elementwise(x)


@primitive.within(LIBRARY)
def _rsqrt(x: Template, /) -> Plan:
    return elementwise(x, accept="real", convert=to_floating)


real_rsqrt = _rsqrt
"""`rsqrt` of real numbers."""


@primitive.within(Bound(8, "composed of functions with a few ulps each"))
def _sigmoid(x: Template, /) -> Plan:
    return elementwise(x, accept="real", convert=to_floating)


real_sigmoid = _sigmoid
"""`sigmoid` of real numbers."""


@primitive.within(complex=COMPLEX_QUOTIENT)
def sign(x: Template, /) -> Plan:
    """-1, 0 or 1 by sign, NaN for NaN; of a complex number x / abs(x).

    >>> import tensorbackend as tb
    >>> tb.sign(tb.asarray([-3, 0, 5])).tolist()
    [-1, 0, 1]
    """
    return elementwise(x)


@primitive.within(LIBRARY)
def sin(x: Template, /) -> Plan:
    """Sine of radians.

    >>> import tensorbackend as tb
    >>> tb.sin(tb.asarray([0.0])).tolist()
    [0.0]
    """
    return elementwise(x, convert=to_floating)


@primitive.within(LIBRARY)
def sinh(x: Template, /) -> Plan:
    """Hyperbolic sine.

    >>> import tensorbackend as tb
    >>> tb.sinh(tb.asarray([0.0])).tolist()
    [0.0]
    """
    return elementwise(x, convert=to_floating)


@primitive.within(complex=Bound(4, "the square root of the magnitude, which is rounded itself"))
def sqrt(x: Template, /) -> Plan:
    """Square root; NaN of negative numbers.

    >>> import tensorbackend as tb
    >>> tb.sqrt(tb.asarray([4.0])).tolist()
    [2.0]
    """
    return elementwise(x, convert=to_floating)


@primitive.within(LIBRARY, complex=Bound(8, "quotients of sinh and cosh by sinh**2 + cos**2: four ulps by some"))
def tan(x: Template, /) -> Plan:
    """Tangent of radians.

    >>> import tensorbackend as tb
    >>> tb.tan(tb.asarray([0.0])).tolist()
    [0.0]
    """
    return elementwise(x, convert=to_floating)


@primitive.within(LIBRARY, complex=Bound(8, "quotients of sinh and cosh by sinh**2 + cos**2: four ulps by some"))
def tanh(x: Template, /) -> Plan:
    """Hyperbolic tangent.

    >>> import tensorbackend as tb
    >>> tb.tanh(tb.asarray([0.0])).tolist()
    [0.0]
    """
    return elementwise(x, convert=to_floating)
