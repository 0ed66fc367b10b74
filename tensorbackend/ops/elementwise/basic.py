"""Elementwise primitives of one tensor and of three, and casts.

The names are the Array API standard's, or Nx's where it has none. Shapes broadcast from the right; the names of
matching axes are merged. A Python number has the default dtype of its kind. Errors: `DTypeError` and, for a Python
number outside the dtype, `OutOfRangeError`.
"""

from __future__ import annotations

from ...declarations.argument_errors import check_arguments
from ...dispatch import primitive
from ...dtypes import DTypeLike, as_dtype, bool_
from ...errors import ArgumentError, DTypeError, expected
from ...rules.accuracy import COMPLEX_QUOTIENT, Bound
from ...rules.broadcasting import broadcast, check_cast, elementwise, result_type, to_real
from ...rules.plan import Plan
from ...template import Template, intern_template
from ...tensor import Tensor, TensorLike, bind
from .binary import maximum, minimum


@primitive.within(complex=Bound(4, "the magnitude of a complex number is rounded more than once by some libraries"))
def abs(x: Template, /) -> Plan:
    """Absolute value. The magnitude of a complex number has the dtype of its parts.

    >>> tb.abs(tb.asarray([-1.5, 2.0])).tolist()
    [1.5, 2.0]
    """
    return elementwise(x, result=to_real)


@primitive.calls("bitwise_not")
def bitwise_invert(x: Template, /) -> Plan:
    """All bits flipped; logical not for bools.

    >>> tb.bitwise_invert(tb.asarray([0, 5])).tolist()
    [-1, -6]
    """
    return elementwise(x, accept="integer or bool")


@primitive
def ceil(x: Template, /) -> Plan:
    """Smallest integer not below x, in x's dtype.

    >>> tb.ceil(tb.asarray([1.2, -1.2])).tolist()
    [2.0, -1.0]
    """
    return elementwise(x, accept="real")


@primitive.calls("conjugate")
def conj(x: Template, /) -> Plan:
    """Complex conjugate; real numbers are returned unchanged.

    >>> tb.conj(tb.asarray([1 + 2j])).tolist()
    [(1-2j)]
    """
    return elementwise(x)


@primitive
def count_leading_zeros(x: Template, /) -> Plan:
    """Number of zero bits above the highest one bit of an integer.

    >>> tb.count_leading_zeros(tb.asarray([1, 0])).tolist()
    [63, 64]
    """
    return elementwise(x, accept="integer")


@primitive
def floor(x: Template, /) -> Plan:
    """Largest integer not above x, in x's dtype.

    >>> tb.floor(tb.asarray([1.8, -1.2])).tolist()
    [1.0, -2.0]
    """
    return elementwise(x, accept="real")


@primitive
def imag(x: Template, /) -> Plan:
    """Imaginary part, in the dtype of the parts.

    >>> tb.imag(tb.asarray([1 + 2j])).tolist()
    [2.0]
    """
    return elementwise(x, accept="complex", result=to_real)


@primitive.calls("is_infinity")
def isinf(x: Template, /) -> Plan:
    """Test whether x is infinite; for a complex number, whether either part is.

    >>> tb.isinf(tb.asarray([1.0, float("inf")])).tolist()
    [False, True]
    """
    return elementwise(x, accept="numeric", result=bool_)


@primitive.calls("is_nan")
def isnan(x: Template, /) -> Plan:
    """Test whether x is NaN; for a complex number, whether either part is.

    >>> tb.isnan(tb.asarray([1.0, float("nan")])).tolist()
    [False, True]
    """
    return elementwise(x, accept="numeric", result=bool_)


@primitive.calls("negate")
def negative(x: Template, /) -> Plan:
    """-x. Unsigned integers wrap around.

    >>> tb.negative(tb.asarray([1, -2])).tolist()
    [-1, 2]
    """
    return elementwise(x)


@primitive
def population_count(x: Template, /) -> Plan:
    """Number of one bits of an integer.

    >>> tb.population_count(tb.asarray([5, 0])).tolist()
    [2, 0]
    """
    return elementwise(x, accept="integer")


@primitive
def real(x: Template, /) -> Plan:
    """Real part, in the dtype of the parts; real numbers are returned unchanged.

    >>> tb.real(tb.asarray([1 + 2j])).tolist()
    [1.0]
    """
    return elementwise(x, result=to_real)


@primitive
def round(x: Template, /) -> Plan:
    """Nearest integer, halves to even, in x's dtype.

    >>> tb.round(tb.asarray([0.5, 1.5, 2.5])).tolist()
    [0.0, 2.0, 2.0]
    """
    return elementwise(x)


@primitive.within(complex=COMPLEX_QUOTIENT)
def sign(x: Template, /) -> Plan:
    """-1, 0 or 1 by sign, NaN for NaN; x / abs(x) for a complex number.

    >>> tb.sign(tb.asarray([-3, 0, 5])).tolist()
    [-1, 0, 1]
    """
    return elementwise(x)


@primitive.calls("select")
def where(condition: Template, x1: Template, x2: Template, /) -> Plan:
    """Select x1 where the bool `condition` is true, otherwise x2; x1 and x2 are promoted.

    Raises `DTypeError` for a condition that is not bool.

    >>> tb.where(tb.asarray([True, False]), 1, tb.asarray([2, 3])).tolist()
    [1, 3]
    """
    if condition.dtype is not bool_:
        remedy = "compare it, such as condition != 0"
        raise DTypeError(expected("a condition of dtype bool", remedy, dtype=condition.dtype))
    dtype = result_type([x1, x2])
    shape, names = broadcast([condition, x1, x2])
    return Plan(intern_template(shape, dtype, names), (bool_, dtype, dtype))


@primitive.calls("clip")
def _clip(x: Template, min: Template, max: Template, /) -> Plan:
    return elementwise(x, min, max, accept="real")


@bind
@check_arguments
def clip(x: TensorLike, /, min: TensorLike | None = None, max: TensorLike | None = None) -> Tensor:
    """Clip to bounds: minimum(maximum(x, min), max), without those that are `None`; NaN if any operand is NaN.

    >>> tb.clip(tb.asarray([-5, 0, 5]), -1, 1).tolist()
    [-1, 0, 1]
    """
    if min is not None and max is not None:
        return _clip(x, min, max)
    if min is not None:
        return maximum(x, min)
    return minimum(x, x if max is None else max)


@primitive.calls("as_type")
def astype(x: Template, dtype: DTypeLike, /, *, copy: bool = True, device: str | None = None) -> Plan:
    """Cast to another dtype.

    Floats become integers by truncation and saturation, and NaN becomes 0; integers wrap; floats round to nearest even;
    zero is False and all else True; complex to real is an error: take `real(x)` first. `copy` changes nothing, as no
    payload ever changes. `device` must be omitted: use `x.to_device()`.

    >>> tb.astype(tb.asarray([1.7, -1.7, float("nan"), 1e9]), "int8").tolist()
    [1, -1, 0, 127]
    """
    if device is not None:
        raise ArgumentError(expected("no device", "use x.to_device()", device=device))
    return Plan(x.replace(dtype=check_cast(x.dtype, as_dtype(dtype))), (x.dtype,))


@primitive
def bitcast(x: Template, dtype: DTypeLike, /) -> Plan:
    """Read the same bits as another dtype of the same width; `DTypeError` for another width or bool.

    >>> tb.bitcast(tb.asarray([1.0]), "int32").tolist() == [0x3F800000]
    True
    """
    dtype = as_dtype(dtype)
    if dtype.bits != x.dtype.bits or "bool" in (dtype.kind, x.dtype.kind):
        raise DTypeError(expected(f"a dtype of {x.dtype.bits} bits other than bool", dtype=dtype, tensor=x))
    return Plan(x.replace(dtype=dtype), (x.dtype,))
