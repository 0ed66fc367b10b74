"""Elementwise ops of one tensor that a library computes in many steps."""

from __future__ import annotations

from ...dispatch import primitive
from ...rules.accuracy import LIBRARY, Bound
from ...rules.broadcasting import elementwise, to_floating
from ...rules.plan import Plan
from ...template import Template

_OF_TWO = Bound(6, "each part is a product of two functions with an ulp or two each")
_OF_ROOTS = Bound(6, "roots of products of distances from the branch points")


@primitive.within(LIBRARY, complex=_OF_ROOTS)
def acos(x: Template, /) -> Plan:
    """Arc cosine in radians, principal value; NaN outside [-1, 1].

    >>> tb.acos(tb.asarray([1.0])).tolist()
    [0.0]
    """
    return elementwise(x, convert=to_floating)


@primitive.within(LIBRARY, complex=_OF_ROOTS)
def acosh(x: Template, /) -> Plan:
    """Inverse hyperbolic cosine; NaN below 1.

    >>> tb.acosh(tb.asarray([1.0])).tolist()
    [0.0]
    """
    return elementwise(x, convert=to_floating)


@primitive.within(LIBRARY, complex=_OF_ROOTS)
def asin(x: Template, /) -> Plan:
    """Arc sine in radians, principal value; NaN outside [-1, 1].

    >>> tb.asin(tb.asarray([0.0])).tolist()
    [0.0]
    """
    return elementwise(x, convert=to_floating)


@primitive.within(LIBRARY, complex=_OF_ROOTS)
def asinh(x: Template, /) -> Plan:
    """Inverse hyperbolic sine.

    >>> tb.asinh(tb.asarray([0.0])).tolist()
    [0.0]
    """
    return elementwise(x, convert=to_floating)


@primitive.within(LIBRARY)
def atan(x: Template, /) -> Plan:
    """Arc tangent in radians, principal value.

    >>> tb.atan(tb.asarray([0.0])).tolist()
    [0.0]
    """
    return elementwise(x, convert=to_floating)


@primitive.within(LIBRARY)
def atanh(x: Template, /) -> Plan:
    """Inverse hyperbolic tangent; infinite at -1 and 1.

    >>> tb.atanh(tb.asarray([0.0])).tolist()
    [0.0]
    """
    return elementwise(x, convert=to_floating)


@primitive.within(LIBRARY)
def _cbrt(x: Template, /) -> Plan:
    return elementwise(x, accept="real", convert=to_floating)


real_cbrt = _cbrt
"""`cbrt` of real numbers."""


@primitive.within(LIBRARY, complex=_OF_TWO)
def cos(x: Template, /) -> Plan:
    """Cosine of radians.

    >>> tb.cos(tb.asarray([0.0])).tolist()
    [1.0]
    """
    return elementwise(x, convert=to_floating)


@primitive.within(LIBRARY, complex=_OF_TWO)
def cosh(x: Template, /) -> Plan:
    """Hyperbolic cosine.

    >>> tb.cosh(tb.asarray([0.0])).tolist()
    [1.0]
    """
    return elementwise(x, convert=to_floating)


@primitive.within(LIBRARY)
def erf(x: Template, /) -> Plan:
    """Error function, 2 / sqrt(pi) times the integral of exp(-t**2) from 0 to x.

    >>> tb.erf(tb.asarray([0.0])).tolist()
    [0.0]
    """
    return elementwise(x, accept="real", convert=to_floating)


@primitive.within(Bound(8, "a rational approximation of the quantiles, of a root of a logarithm in the tails"))
def erf_inv(x: Template, /) -> Plan:
    """Inverse of the error function; infinite at -1 and 1, NaN beyond.

    >>> tb.erf_inv(tb.asarray([0.0])).tolist()
    [0.0]
    """
    return elementwise(x, accept="real", convert=to_floating)


@primitive.within(Bound(6, "an exponential of a square, made of two, times a quotient of polynomials"))
def erfc(x: Template, /) -> Plan:
    """1 - erf(x), accurate where the result is tiny.

    >>> tb.erfc(tb.asarray([0.0])).tolist()
    [1.0]
    """
    return elementwise(x, accept="real", convert=to_floating)


@primitive.within(LIBRARY)
def exp(x: Template, /) -> Plan:
    """e to the power x.

    >>> tb.exp(tb.asarray([0.0])).tolist()
    [1.0]
    """
    return elementwise(x, convert=to_floating)


@primitive.within(LIBRARY, complex=Bound(6, "sums of products of the parts, which cancel in one part"))
def expm1(x: Template, /) -> Plan:
    """exp(x) - 1, accurate near zero.

    >>> tb.expm1(tb.asarray([0.0])).tolist()
    [0.0]
    """
    return elementwise(x, convert=to_floating)


@primitive.within(LIBRARY)
def log(x: Template, /) -> Plan:
    """Natural logarithm; -inf of zero, NaN of negative numbers.

    >>> tb.log(tb.asarray([1.0, 0.0])).tolist()
    [0.0, -inf]
    """
    return elementwise(x, convert=to_floating)


@primitive.within(LIBRARY, complex=Bound(6, "sums of products of the parts, which cancel in one part"))
def log1p(x: Template, /) -> Plan:
    """log(1 + x), accurate near zero.

    >>> tb.log1p(tb.asarray([0.0])).tolist()
    [0.0]
    """
    return elementwise(x, convert=to_floating)


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


@primitive.within(LIBRARY, complex=_OF_TWO)
def sin(x: Template, /) -> Plan:
    """Sine of radians.

    >>> tb.sin(tb.asarray([0.0])).tolist()
    [0.0]
    """
    return elementwise(x, convert=to_floating)


@primitive.within(LIBRARY, complex=_OF_TWO)
def sinh(x: Template, /) -> Plan:
    """Hyperbolic sine.

    >>> tb.sinh(tb.asarray([0.0])).tolist()
    [0.0]
    """
    return elementwise(x, convert=to_floating)


@primitive.within(
    complex=Bound(6, "the square root of the magnitude, which is rounded itself, and near 0 in few digits")
)
def sqrt(x: Template, /) -> Plan:
    """Square root; NaN of negative numbers.

    >>> tb.sqrt(tb.asarray([4.0])).tolist()
    [2.0]
    """
    return elementwise(x, convert=to_floating)


@primitive.within(LIBRARY, complex=Bound(8, "quotients of sinh and cosh by sinh**2 + cos**2: four ulps by some"))
def tan(x: Template, /) -> Plan:
    """Tangent of radians.

    >>> tb.tan(tb.asarray([0.0])).tolist()
    [0.0]
    """
    return elementwise(x, convert=to_floating)


@primitive.within(LIBRARY, complex=Bound(8, "quotients of sinh and cosh by sinh**2 + cos**2: four ulps by some"))
def tanh(x: Template, /) -> Plan:
    """Hyperbolic tangent.

    >>> tb.tanh(tb.asarray([0.0])).tolist()
    [0.0]
    """
    return elementwise(x, convert=to_floating)
