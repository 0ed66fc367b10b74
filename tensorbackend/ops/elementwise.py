"""Elementwise primitives. The names are the Array API standard's, or Nx's where it has none.

Shapes broadcast from the right and names are merged as they meet. Python numbers are weak: they take the
tensor's dtype where their kind fits. Errors: `ShapeError`, `NamesError`, `DTypeError` and, for a Python
number outside the dtype, `OutOfRangeError`.
"""

from __future__ import annotations

from ..dispatch import primitive
from ..dtypes import DType, bool_
from ..rules.broadcasting import elementwise, to_floating, to_real
from ..rules.plan import Plan
from ..template import Template


def to_bool(dtype: DType) -> DType:
    """Logical functions take any dtype as truth values."""
    return bool_


# Functions of one tensor


@primitive
def abs(x: Template, /) -> Plan:
    """Absolute value; of a complex number its magnitude, in the dtype of its halves.

    >>> import tensorbackend as tb
    >>> tb.abs(tb.asarray([-1.5, 2.0])).tolist()
    [1.5, 2.0]
    """
    return elementwise(x, result=to_real)


@primitive
def acos(x: Template, /) -> Plan:
    """Arc cosine in radians, principal value; NaN outside [-1, 1].

    >>> import tensorbackend as tb
    >>> tb.acos(tb.asarray([1.0])).tolist()
    [0.0]
    """
    return elementwise(x, convert=to_floating)


@primitive
def acosh(x: Template, /) -> Plan:
    """Inverse hyperbolic cosine; NaN below 1.

    >>> import tensorbackend as tb
    >>> tb.acosh(tb.asarray([1.0])).tolist()
    [0.0]
    """
    return elementwise(x, convert=to_floating)


@primitive
def asin(x: Template, /) -> Plan:
    """Arc sine in radians, principal value; NaN outside [-1, 1].

    >>> import tensorbackend as tb
    >>> tb.asin(tb.asarray([0.0])).tolist()
    [0.0]
    """
    return elementwise(x, convert=to_floating)


@primitive
def asinh(x: Template, /) -> Plan:
    """Inverse hyperbolic sine.

    >>> import tensorbackend as tb
    >>> tb.asinh(tb.asarray([0.0])).tolist()
    [0.0]
    """
    return elementwise(x, convert=to_floating)


@primitive
def atan(x: Template, /) -> Plan:
    """Arc tangent in radians, principal value.

    >>> import tensorbackend as tb
    >>> tb.atan(tb.asarray([0.0])).tolist()
    [0.0]
    """
    return elementwise(x, convert=to_floating)


@primitive
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


@primitive
def cbrt(x: Template, /) -> Plan:
    """Real cube root, of negative numbers too.

    >>> import tensorbackend as tb
    >>> tb.cbrt(tb.asarray([-8.0])).tolist()
    [-2.0]
    """
    return elementwise(x, accept="real", convert=to_floating)


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


@primitive
def cos(x: Template, /) -> Plan:
    """Cosine of radians.

    >>> import tensorbackend as tb
    >>> tb.cos(tb.asarray([0.0])).tolist()
    [1.0]
    """
    return elementwise(x, convert=to_floating)


@primitive
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


@primitive
def erf(x: Template, /) -> Plan:
    """Error function, 2 / sqrt(pi) times the integral of exp(-t**2) from 0 to x.

    >>> import tensorbackend as tb
    >>> tb.erf(tb.asarray([0.0])).tolist()
    [0.0]
    """
    return elementwise(x, accept="real", convert=to_floating)


@primitive
def erf_inv(x: Template, /) -> Plan:
    """Inverse of the error function; infinite at -1 and 1, NaN beyond.

    >>> import tensorbackend as tb
    >>> tb.erf_inv(tb.asarray([0.0])).tolist()
    [0.0]
    """
    return elementwise(x, accept="real", convert=to_floating)


@primitive
def erfc(x: Template, /) -> Plan:
    """1 - erf(x), accurate where that is tiny.

    >>> import tensorbackend as tb
    >>> tb.erfc(tb.asarray([0.0])).tolist()
    [1.0]
    """
    return elementwise(x, accept="real", convert=to_floating)


@primitive
def exp(x: Template, /) -> Plan:
    """e to the power x.

    >>> import tensorbackend as tb
    >>> tb.exp(tb.asarray([0.0])).tolist()
    [1.0]
    """
    return elementwise(x, convert=to_floating)


@primitive
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


@primitive
def log(x: Template, /) -> Plan:
    """Natural logarithm; -inf of zero, NaN of negative numbers.

    >>> import tensorbackend as tb
    >>> tb.log(tb.asarray([1.0, 0.0])).tolist()
    [0.0, -inf]
    """
    return elementwise(x, convert=to_floating)


@primitive
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


@primitive
def rsqrt(x: Template, /) -> Plan:
    """1 / sqrt(x).

    >>> import tensorbackend as tb
    >>> tb.rsqrt(tb.asarray([4.0])).tolist()
    [0.5]
    """
    return elementwise(x, accept="real", convert=to_floating)


@primitive
def sigmoid(x: Template, /) -> Plan:
    """Logistic function 1 / (1 + exp(-x)).

    >>> import tensorbackend as tb
    >>> tb.sigmoid(tb.asarray([0.0])).tolist()
    [0.5]
    """
    return elementwise(x, accept="real", convert=to_floating)


@primitive
def sign(x: Template, /) -> Plan:
    """-1, 0 or 1 by sign, NaN for NaN; of a complex number x / abs(x).

    >>> import tensorbackend as tb
    >>> tb.sign(tb.asarray([-3, 0, 5])).tolist()
    [-1, 0, 1]
    """
    return elementwise(x)


@primitive
def sin(x: Template, /) -> Plan:
    """Sine of radians.

    >>> import tensorbackend as tb
    >>> tb.sin(tb.asarray([0.0])).tolist()
    [0.0]
    """
    return elementwise(x, convert=to_floating)


@primitive
def sinh(x: Template, /) -> Plan:
    """Hyperbolic sine.

    >>> import tensorbackend as tb
    >>> tb.sinh(tb.asarray([0.0])).tolist()
    [0.0]
    """
    return elementwise(x, convert=to_floating)


@primitive
def sqrt(x: Template, /) -> Plan:
    """Square root; NaN of negative numbers.

    >>> import tensorbackend as tb
    >>> tb.sqrt(tb.asarray([4.0])).tolist()
    [2.0]
    """
    return elementwise(x, convert=to_floating)


@primitive
def tan(x: Template, /) -> Plan:
    """Tangent of radians.

    >>> import tensorbackend as tb
    >>> tb.tan(tb.asarray([0.0])).tolist()
    [0.0]
    """
    return elementwise(x, convert=to_floating)


@primitive
def tanh(x: Template, /) -> Plan:
    """Hyperbolic tangent.

    >>> import tensorbackend as tb
    >>> tb.tanh(tb.asarray([0.0])).tolist()
    [0.0]
    """
    return elementwise(x, convert=to_floating)


# Functions of two tensors


@primitive
def add(x1: Template, x2: Template, /) -> Plan:
    """x1 + x2; integers wrap.

    >>> import tensorbackend as tb
    >>> tb.add(1, 2).item()
    3
    """
    return elementwise(x1, x2)


@primitive
def atan2(x1: Template, x2: Template, /) -> Plan:
    """Angle in radians of the point (x2, x1), from -pi to pi.

    >>> import tensorbackend as tb
    >>> tb.atan2(0.0, 1.0).item()
    0.0
    """
    return elementwise(x1, x2, accept="real", convert=to_floating)


@primitive
def bitwise_and(x1: Template, x2: Template, /) -> Plan:
    """Bitwise and; of bools the logical one.

    >>> import tensorbackend as tb
    >>> tb.bitwise_and(6, 3).item()
    2
    """
    return elementwise(x1, x2, accept="integer or bool")


@primitive
def bitwise_or(x1: Template, x2: Template, /) -> Plan:
    """Bitwise or; of bools the logical one.

    >>> import tensorbackend as tb
    >>> tb.bitwise_or(6, 3).item()
    7
    """
    return elementwise(x1, x2, accept="integer or bool")


@primitive
def bitwise_xor(x1: Template, x2: Template, /) -> Plan:
    """Bitwise exclusive or; of bools the logical one.

    >>> import tensorbackend as tb
    >>> tb.bitwise_xor(6, 3).item()
    5
    """
    return elementwise(x1, x2, accept="integer or bool")


@primitive.calls("left_shift")
def bitwise_left_shift(x1: Template, x2: Template, /) -> Plan:
    """x1's bits moved up by x2; 0 from the width on.

    >>> import tensorbackend as tb
    >>> tb.bitwise_left_shift(1, 3).item()
    8
    """
    return elementwise(x1, x2, accept="integer")


@primitive.calls("right_shift")
def bitwise_right_shift(x1: Template, x2: Template, /) -> Plan:
    """x1's bits moved down by x2, the sign kept; 0 or -1 from the width on.

    >>> import tensorbackend as tb
    >>> tb.bitwise_right_shift(-8, 1).item()
    -4
    """
    return elementwise(x1, x2, accept="integer")


@primitive
def divide(x1: Template, x2: Template, /) -> Plan:
    """x1 / x2; of integers in the default floating dtype.

    >>> import tensorbackend as tb
    >>> tb.divide(1, 2).item()
    0.5
    """
    return elementwise(x1, x2, convert=to_floating)


@primitive
def equal(x1: Template, x2: Template, /) -> Plan:
    """Whether x1 == x2; a NaN equals nothing.

    >>> import tensorbackend as tb
    >>> tb.equal(1, 1).item()
    True
    """
    return elementwise(x1, x2, accept="any", result=bool_)


@primitive
def floor_divide(x1: Template, x2: Template, /) -> Plan:
    """Greatest integral value not above x1 / x2; integers by zero give 0.

    >>> import tensorbackend as tb
    >>> tb.floor_divide(-7, 2).item()
    -4
    """
    return elementwise(x1, x2, accept="real")


@primitive
def greater(x1: Template, x2: Template, /) -> Plan:
    """Whether x1 > x2.

    >>> import tensorbackend as tb
    >>> tb.greater(2, 1).item()
    True
    """
    return elementwise(x1, x2, accept="real or bool", result=bool_)


@primitive
def greater_equal(x1: Template, x2: Template, /) -> Plan:
    """Whether x1 >= x2.

    >>> import tensorbackend as tb
    >>> tb.greater_equal(1, 1).item()
    True
    """
    return elementwise(x1, x2, accept="real or bool", result=bool_)


@primitive
def less(x1: Template, x2: Template, /) -> Plan:
    """Whether x1 < x2.

    >>> import tensorbackend as tb
    >>> tb.less(2, 1).item()
    False
    """
    return elementwise(x1, x2, accept="real or bool", result=bool_)


@primitive
def less_equal(x1: Template, x2: Template, /) -> Plan:
    """Whether x1 <= x2.

    >>> import tensorbackend as tb
    >>> tb.less_equal(1, 1).item()
    True
    """
    return elementwise(x1, x2, accept="real or bool", result=bool_)


@primitive
def logical_and(x1: Template, x2: Template, /) -> Plan:
    """Whether both are true (not zero).

    >>> import tensorbackend as tb
    >>> tb.logical_and(True, False).item()
    False
    """
    return elementwise(x1, x2, accept="any", convert=to_bool)


@primitive
def logical_or(x1: Template, x2: Template, /) -> Plan:
    """Whether one is true (not zero).

    >>> import tensorbackend as tb
    >>> tb.logical_or(True, False).item()
    True
    """
    return elementwise(x1, x2, accept="any", convert=to_bool)


@primitive
def logical_xor(x1: Template, x2: Template, /) -> Plan:
    """Whether just one is true (not zero).

    >>> import tensorbackend as tb
    >>> tb.logical_xor(True, True).item()
    False
    """
    return elementwise(x1, x2, accept="any", convert=to_bool)


@primitive.calls("max")
def maximum(x1: Template, x2: Template, /) -> Plan:
    """The greater one; NaN if either is, and 0.0 is above -0.0.

    >>> import tensorbackend as tb
    >>> tb.maximum(1, 2).item()
    2
    """
    return elementwise(x1, x2, accept="real")


@primitive.calls("min")
def minimum(x1: Template, x2: Template, /) -> Plan:
    """The lesser one; NaN if either is, and -0.0 is below 0.0.

    >>> import tensorbackend as tb
    >>> tb.minimum(1, 2).item()
    1
    """
    return elementwise(x1, x2, accept="real")


@primitive
def multiply(x1: Template, x2: Template, /) -> Plan:
    """x1 * x2; integers wrap.

    >>> import tensorbackend as tb
    >>> tb.multiply(2, 3).item()
    6
    """
    return elementwise(x1, x2)


@primitive
def not_equal(x1: Template, x2: Template, /) -> Plan:
    """Whether x1 != x2; a NaN differs from everything.

    >>> import tensorbackend as tb
    >>> tb.not_equal(1, 1).item()
    False
    """
    return elementwise(x1, x2, accept="any", result=bool_)


@primitive
def pow(x1: Template, x2: Template, /) -> Plan:
    """x1 to the power x2; integers wrap, and a negative power of one divides exactly.

    >>> import tensorbackend as tb
    >>> tb.pow(2, 3).item()
    8
    """
    return elementwise(x1, x2)


@primitive.calls("quotient")
def trunc_divide(x1: Template, x2: Template, /) -> Plan:
    """x1 / x2 of integers rounded towards zero; by zero 0.

    >>> import tensorbackend as tb
    >>> tb.trunc_divide(-7, 2).item()
    -3
    """
    return elementwise(x1, x2, accept="integer")


@primitive
def remainder(x1: Template, x2: Template, /) -> Plan:
    """x1 - floor_divide(x1, x2) * x2, with the sign of x2; integers by zero give 0.

    >>> import tensorbackend as tb
    >>> tb.remainder(-7, 2).item()
    1
    """
    return elementwise(x1, x2, accept="real")


@primitive
def subtract(x1: Template, x2: Template, /) -> Plan:
    """x1 - x2; integers wrap.

    >>> import tensorbackend as tb
    >>> tb.subtract(3, 1).item()
    2
    """
    return elementwise(x1, x2)
