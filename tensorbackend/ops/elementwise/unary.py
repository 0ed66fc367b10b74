"""Elementwise primitives of one tensor. The names are the Array API standard's, or Nx's where it has none.

Shape and names are kept. A Python number has the default dtype of its kind. Errors: `DTypeError` and, for a
Python number outside the dtype, `OutOfRangeError`.
"""

from __future__ import annotations

from ...dispatch import primitive
from ...dtypes import bool_
from ...rules.accuracy import COMPLEX_QUOTIENT, Bound
from ...rules.broadcasting import elementwise, to_real
from ...rules.plan import Plan
from ...template import Template


@primitive.within(complex=Bound(4, "the magnitude of a complex number is rounded more than once by some libraries"))
def abs(x: Template, /) -> Plan:
    """Absolute value. The magnitude of a complex number has the dtype of its parts.

    >>> import tensorbackend as tb
    >>> tb.abs(tb.asarray([-1.5, 2.0])).tolist()
    [1.5, 2.0]
    """
    return elementwise(x, result=to_real)


@primitive.calls("bitwise_not")
def bitwise_invert(x: Template, /) -> Plan:
    """All bits flipped; logical not for bools.

    >>> import tensorbackend as tb
    >>> tb.bitwise_invert(tb.asarray([0, 5])).tolist()
    [-1, -6]
    """
    return elementwise(x, accept="integer or bool")


@primitive
def ceil(x: Template, /) -> Plan:
    """Smallest integer not below x, in x's dtype.

    >>> import tensorbackend as tb
    >>> tb.ceil(tb.asarray([1.2, -1.2])).tolist()
    [2.0, -1.0]
    """
    return elementwise(x, accept="real")


@primitive.calls("conjugate")
def conj(x: Template, /) -> Plan:
    """Complex conjugate; real numbers are returned unchanged.

    >>> import tensorbackend as tb
    >>> tb.conj(tb.asarray([1 + 2j])).tolist()
    [(1-2j)]
    """
    return elementwise(x)


@primitive
def count_leading_zeros(x: Template, /) -> Plan:
    """Number of zero bits above the highest one bit of an integer.

    >>> import tensorbackend as tb
    >>> tb.count_leading_zeros(tb.asarray([1, 0])).tolist()
    [63, 64]
    """
    return elementwise(x, accept="integer")


@primitive
def floor(x: Template, /) -> Plan:
    """Largest integer not above x, in x's dtype.

    >>> import tensorbackend as tb
    >>> tb.floor(tb.asarray([1.8, -1.2])).tolist()
    [1.0, -2.0]
    """
    return elementwise(x, accept="real")


@primitive
def imag(x: Template, /) -> Plan:
    """Imaginary part, in the dtype of the parts.

    >>> import tensorbackend as tb
    >>> tb.imag(tb.asarray([1 + 2j])).tolist()
    [2.0]
    """
    return elementwise(x, accept="complex", result=to_real)


@primitive.calls("is_infinity")
def isinf(x: Template, /) -> Plan:
    """Test whether x is infinite; for a complex number, whether either part is.

    >>> import tensorbackend as tb
    >>> tb.isinf(tb.asarray([1.0, float("inf")])).tolist()
    [False, True]
    """
    return elementwise(x, accept="numeric", result=bool_)


@primitive.calls("is_nan")
def isnan(x: Template, /) -> Plan:
    """Test whether x is NaN; for a complex number, whether either part is.

    >>> import tensorbackend as tb
    >>> tb.isnan(tb.asarray([1.0, float("nan")])).tolist()
    [False, True]
    """
    return elementwise(x, accept="numeric", result=bool_)


@primitive.calls("negate")
def negative(x: Template, /) -> Plan:
    """-x. Unsigned integers wrap around.

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
    """Real part, in the dtype of the parts; real numbers are returned unchanged.

    >>> import tensorbackend as tb
    >>> tb.real(tb.asarray([1 + 2j])).tolist()
    [1.0]
    """
    return elementwise(x, result=to_real)


@primitive
def round(x: Template, /) -> Plan:
    """Nearest integer, halves to even, in x's dtype.

    >>> import tensorbackend as tb
    >>> tb.round(tb.asarray([0.5, 1.5, 2.5])).tolist()
    [0.0, 2.0, 2.0]
    """
    return elementwise(x)


@primitive.within(complex=COMPLEX_QUOTIENT)
def sign(x: Template, /) -> Plan:
    """-1, 0 or 1 by sign, NaN for NaN; x / abs(x) for a complex number.

    >>> import tensorbackend as tb
    >>> tb.sign(tb.asarray([-3, 0, 5])).tolist()
    [-1, 0, 1]
    """
    return elementwise(x)
