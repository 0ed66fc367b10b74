"""Elementwise primitives of two tensors. The names are the Array API standard's, or Nx's where it has none.

Shapes broadcast from the right, and the names of matching axes are merged. Python numbers are weak: they take the
tensor's dtype if their kind fits. Errors: `ShapeError`, `NamesError`, `DTypeError` and, for a Python number outside
the dtype, `OutOfRangeError`.
"""

from __future__ import annotations

from typing import Never

from ...declarations.signature_errors import adapt
from ...dispatch import primitive
from ...docstrings import document
from ...dtypes import bool_
from ...rules.accuracy import COMPLEX_PRODUCT, COMPLEX_QUOTIENT, LIBRARY, Bound
from ...rules.broadcasting import elementwise, to_floating, truth_values
from ...rules.plan import Plan
from ...template import Template
from ...tensor import Tensor, TensorLike, bind


@primitive
def add(x1: Template, x2: Template, /) -> Plan:
    """x1 + x2. Integers wrap around on overflow.

    >>> tb.add(1, 2).item()
    3
    """
    return elementwise(x1, x2)


@primitive.within(LIBRARY)
def atan2(x1: Template, x2: Template, /) -> Plan:
    """Angle in radians of the point (x2, x1), from -pi to pi.

    >>> tb.atan2(0.0, 1.0).item()
    0.0
    """
    return elementwise(x1, x2, accept="real", convert=to_floating)


@primitive
def bitwise_and(x1: Template, x2: Template, /) -> Plan:
    """Bitwise and; logical and for bools.

    >>> tb.bitwise_and(6, 3).item()
    2
    """
    return elementwise(x1, x2, accept="integer or bool")


@primitive
def bitwise_or(x1: Template, x2: Template, /) -> Plan:
    """Bitwise or; logical or for bools.

    >>> tb.bitwise_or(6, 3).item()
    7
    """
    return elementwise(x1, x2, accept="integer or bool")


@primitive
def bitwise_xor(x1: Template, x2: Template, /) -> Plan:
    """Bitwise exclusive or; logical exclusive or for bools.

    >>> tb.bitwise_xor(6, 3).item()
    5
    """
    return elementwise(x1, x2, accept="integer or bool")


@primitive.calls("left_shift")
def bitwise_left_shift(x1: Template, x2: Template, /) -> Plan:
    """Bits of x1 shifted left by x2; 0 if x2 is at least the width.

    >>> tb.bitwise_left_shift(1, 3).item()
    8
    """
    return elementwise(x1, x2, accept="integer")


@primitive.calls("right_shift")
def bitwise_right_shift(x1: Template, x2: Template, /) -> Plan:
    """Bits of x1 shifted right by x2, keeping the sign; 0 or -1 if x2 is at least the width.

    >>> tb.bitwise_right_shift(-8, 1).item()
    -4
    """
    return elementwise(x1, x2, accept="integer")


@primitive.within(complex=COMPLEX_QUOTIENT)
def divide(x1: Template, x2: Template, /) -> Plan:
    """Divide: x1 / x2. Integers are converted to the default floating dtype.

    >>> tb.divide(1, 2).item()
    0.5
    """
    return elementwise(x1, x2, convert=to_floating)


@primitive
def equal(x1: Template, x2: Template, /) -> Plan:
    """Test whether x1 == x2; a NaN equals nothing.

    >>> tb.equal(1, 1).item()
    True
    """
    return elementwise(x1, x2, accept="any", result=bool_)


@primitive
def floor_divide(x1: Template, x2: Template, /) -> Plan:
    """Divide and round down. Integer division by zero returns 0.

    >>> tb.floor_divide(-7, 2).item()
    -4
    """
    return elementwise(x1, x2, accept="real")


@primitive
def greater(x1: Template, x2: Template, /) -> Plan:
    """Test whether x1 > x2.

    >>> tb.greater(2, 1).item()
    True
    """
    return elementwise(x1, x2, accept="real or bool", result=bool_)


@primitive
def greater_equal(x1: Template, x2: Template, /) -> Plan:
    """Test whether x1 >= x2.

    >>> tb.greater_equal(1, 1).item()
    True
    """
    return elementwise(x1, x2, accept="real or bool", result=bool_)


@primitive
def less(x1: Template, x2: Template, /) -> Plan:
    """Test whether x1 < x2.

    >>> tb.less(2, 1).item()
    False
    """
    return elementwise(x1, x2, accept="real or bool", result=bool_)


@primitive
def less_equal(x1: Template, x2: Template, /) -> Plan:
    """Test whether x1 <= x2.

    >>> tb.less_equal(1, 1).item()
    True
    """
    return elementwise(x1, x2, accept="real or bool", result=bool_)


def _truth(x: TensorLike) -> TensorLike:
    """A Python number as a bool, because the dtype bool holds no other number; any other operand unchanged."""
    return bool(x) if type(x) in (int, float, complex) else x


@primitive
def _logical_and(x1: Template, x2: Template, /) -> Plan:
    return truth_values(x1, x2)


@bind
@document
def logical_and(x1: TensorLike, x2: TensorLike, /, *surplus: Never, **unknown: Never) -> Tensor:
    """Logical and: whether both operands are true (not zero).

    >>> tb.logical_and(True, False).item()
    False
    """
    if surplus or unknown:
        adapt(logical_and, (x1, x2, *surplus), unknown)
    return _logical_and(_truth(x1), _truth(x2))


@primitive
def _logical_or(x1: Template, x2: Template, /) -> Plan:
    return truth_values(x1, x2)


@bind
@document
def logical_or(x1: TensorLike, x2: TensorLike, /, *surplus: Never, **unknown: Never) -> Tensor:
    """Logical or: whether at least one operand is true (not zero).

    >>> tb.logical_or(True, False).item()
    True
    """
    if surplus or unknown:
        adapt(logical_or, (x1, x2, *surplus), unknown)
    return _logical_or(_truth(x1), _truth(x2))


@primitive
def _logical_xor(x1: Template, x2: Template, /) -> Plan:
    return truth_values(x1, x2)


@bind
@document
def logical_xor(x1: TensorLike, x2: TensorLike, /, *surplus: Never, **unknown: Never) -> Tensor:
    """Logical exclusive or: whether exactly one operand is true (not zero).

    >>> tb.logical_xor(True, True).item()
    False
    """
    if surplus or unknown:
        adapt(logical_xor, (x1, x2, *surplus), unknown)
    return _logical_xor(_truth(x1), _truth(x2))


@primitive.calls("max")
def maximum(x1: Template, x2: Template, /) -> Plan:
    """Element-wise maximum. NaN if either operand is NaN; 0.0 counts as larger than -0.0.

    >>> tb.maximum(1, 2).item()
    2
    """
    return elementwise(x1, x2, accept="real")


@primitive.calls("min")
def minimum(x1: Template, x2: Template, /) -> Plan:
    """Element-wise minimum. NaN if either operand is NaN; -0.0 counts as smaller than 0.0.

    >>> tb.minimum(1, 2).item()
    1
    """
    return elementwise(x1, x2, accept="real")


@primitive.within(complex=COMPLEX_PRODUCT)
def multiply(x1: Template, x2: Template, /) -> Plan:
    """x1 * x2. Integers wrap around on overflow.

    >>> tb.multiply(2, 3).item()
    6
    """
    return elementwise(x1, x2)


@primitive
def not_equal(x1: Template, x2: Template, /) -> Plan:
    """Test whether x1 != x2; a NaN differs from everything.

    >>> tb.not_equal(1, 1).item()
    False
    """
    return elementwise(x1, x2, accept="any", result=bool_)


@primitive.within(LIBRARY, complex=Bound(8, "angles and logarithms are multiplied by the exponent", "exponent"))
def pow(x1: Template, x2: Template, /) -> Plan:
    """x1 to the power x2. Integers wrap around; a negative power of an integer is rounded towards zero (0, 1 or -1).

    >>> tb.pow(2, 3).item()
    8
    """
    return elementwise(x1, x2)


@primitive.calls("quotient")
def trunc_divide(x1: Template, x2: Template, /) -> Plan:
    """The quotient of integers rounded towards zero; division by zero returns 0.

    >>> tb.trunc_divide(-7, 2).item()
    -3
    """
    return elementwise(x1, x2, accept="integer")


@primitive
def remainder(x1: Template, x2: Template, /) -> Plan:
    """x1 - floor_divide(x1, x2) * x2, with the sign of x2. Integer division by zero returns 0.

    >>> tb.remainder(-7, 2).item()
    1
    """
    return elementwise(x1, x2, accept="real")


@primitive
def subtract(x1: Template, x2: Template, /) -> Plan:
    """x1 - x2. Integers wrap around on overflow.

    >>> tb.subtract(3, 1).item()
    2
    """
    return elementwise(x1, x2)
