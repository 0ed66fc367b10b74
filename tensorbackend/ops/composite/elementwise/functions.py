"""Elementwise functions of the Array API and of Nx that are composed of others, written in public ops.

Operands are promoted as in the primitives, and integers are converted to the default floating dtype where
the result is inexact. A backend with its own implementation of a function overrides it. The last functions change only
the gradient.
"""

from __future__ import annotations

import math

from ....dispatch import composite
from ....dtypes import COMPLEX_OF, DType, as_dtype, finfo, float32, float64, promote_types
from ....errors import ShapeError, expected
from ....rules.accuracy import COMPLEX_PRODUCT, COMPLEX_QUOTIENT, LIBRARY, Bound
from ....rules.broadcasting import broadcast, check_dtype, result_type, to_floating
from ....tensor import Tensor
from ...creation.filled import full
from ...elementwise.basic import abs, astype, bitcast, ceil, conj, floor, imag, isinf, isnan, real, where
from ...elementwise.binary import atan2, logical_and, logical_or, maximum, minimum
from ...elementwise.transcendental import exp, log, log1p, sqrt


def _cast_to_floating(*tensors: Tensor, accept: str = "real") -> tuple[Tensor, ...]:
    """Tensors in their common floating dtype."""
    dtype = to_floating(check_dtype(result_type([x.template for x in tensors]), accept))
    return tuple(x if x.dtype is dtype else astype(x, dtype) for x in tensors)


def _bits_dtype(dtype: DType) -> DType:
    """The signed integer dtype as wide as a floating one."""
    return as_dtype(f"int{dtype.bits}")


@composite.calls("is_finite")
def isfinite(x: Tensor, /) -> Tensor:
    """Test whether x is neither infinite nor NaN; for a complex number, whether this holds for both parts.

    >>> tb.isfinite(tb.asarray([1.0, float("inf"), float("nan")])).tolist()
    [True, False, False]
    """
    return ~logical_or(isinf(x), isnan(x))


@composite
def logical_not(x: Tensor, /) -> Tensor:
    """Logical not: whether x is zero.

    >>> tb.logical_not(tb.asarray([0, 2])).tolist()
    [True, False]
    """
    return ~astype(x, "bool")


@composite
def positive(x: Tensor, /) -> Tensor:
    """Return x itself, which must be numeric.

    >>> (+tb.asarray([-1])).tolist()
    [-1]
    """
    check_dtype(x.dtype, "numeric")
    return x


@composite.within(complex=COMPLEX_PRODUCT)
def square(x: Tensor, /) -> Tensor:
    """x * x. Integers wrap around on overflow.

    >>> tb.square(tb.asarray([-3])).tolist()
    [9]
    """
    return x * x


@composite.within(complex=COMPLEX_QUOTIENT)
def reciprocal(x: Tensor, /) -> Tensor:
    """Reciprocal 1 / x. Integers are converted to the default floating dtype.

    >>> tb.reciprocal(tb.asarray([4.0])).tolist()
    [0.25]
    """
    return 1 / x


@composite
def trunc(x: Tensor, /) -> Tensor:
    """x rounded towards zero, in its dtype.

    >>> tb.trunc(tb.asarray([1.7, -1.7])).tolist()
    [1.0, -1.0]
    """
    return where(x < 0, ceil(x), floor(x))


@composite
def signbit(x: Tensor, /) -> Tensor:
    """Test whether the sign bit of a floating-point number is set, as in -0.0.

    >>> tb.signbit(tb.asarray([-0.0, 0.0])).tolist()
    [True, False]
    """
    check_dtype(x.dtype, "floating")
    return bitcast(x, _bits_dtype(x.dtype)) < 0


@composite
def copysign(x1: Tensor, x2: Tensor, /) -> Tensor:
    """The magnitude of x1 with the sign of x2, including the signs of zeros and NaN.

    >>> tb.copysign(tb.asarray([1.0, -2.0]), -0.0).tolist()
    [-1.0, -2.0]
    """
    x1, x2 = _cast_to_floating(x1, x2)
    return where(signbit(x1) == signbit(x2), x1, -x1)


@composite.within(LIBRARY)
def hypot(x1: Tensor, x2: Tensor, /) -> Tensor:
    """sqrt(x1**2 + x2**2) without overflow; infinite if either operand is, even if the other is NaN.

    >>> tb.hypot(tb.asarray([3.0]), tb.asarray([4.0])).tolist()
    [5.0]
    """
    x1, x2 = (abs(x) for x in _cast_to_floating(x1, x2))
    long, short = maximum(x1, x2), minimum(x1, x2)
    ratio = short / where(long == 0, 1, long)
    length = long * sqrt(ratio * ratio + 1)
    return where(logical_or(isinf(x1), isinf(x2)), math.inf, length)


@composite.within(LIBRARY)
def log2(x: Tensor, /) -> Tensor:
    """Logarithm to base 2; -inf of zero, NaN of negative numbers.

    >>> tb.log2(tb.asarray([8.0])).tolist()
    [3.0]
    """
    (x,) = _cast_to_floating(x, accept="numeric")
    return log(x) / math.log(2)


@composite.within(LIBRARY)
def log10(x: Tensor, /) -> Tensor:
    """Logarithm to base 10; -inf of zero, NaN of negative numbers.

    >>> tb.log10(tb.asarray([0.0, 10.0])).tolist()
    [-inf, 1.0]
    """
    (x,) = _cast_to_floating(x, accept="numeric")
    return log(x) / math.log(10)


@composite.within(Bound(4, "near zero the two terms cancel", "operand"))
def logaddexp(x1: Tensor, x2: Tensor, /) -> Tensor:
    """log(exp(x1) + exp(x2)) without overflow.

    >>> tb.logaddexp(tb.asarray([1000.0]), 0.0).tolist()
    [1000.0]
    """
    x1, x2 = _cast_to_floating(x1, x2)
    # Equal infinities have no difference; with 0 in its place the result is log(2 * exp(x)), which is right for them
    # too.
    apart = where(x1 == x2, 0, -abs(x1 - x2))
    return maximum(x1, x2) + log1p(exp(apart))


@composite
def nextafter(x1: Tensor, x2: Tensor, /) -> Tensor:
    """The next floating-point number after x1 towards x2, or x2 if they are equal (IEEE 754).

    >>> tb.nextafter(tb.asarray([1.0], dtype="f16"), 2.0).tolist()
    [1.0009765625]
    """
    x1, x2 = _cast_to_floating(x1, x2)
    bits = _bits_dtype(x1.dtype)
    # Neighbouring numbers have neighbouring bits as integers: adding 1 moves away from zero.
    outwards = (x2 > x1) == (x1 > 0)
    moved = bitcast(bitcast(x1, bits) + astype(where(outwards, 1, -1), bits), x1.dtype)
    smallest = finfo(x1.dtype).smallest_normal * 2.0**-x1.dtype.mantissa_bits
    neighbour = where(x1 == 0, copysign(full((), smallest, dtype=x1.dtype), x2), moved)
    neighbour = where(x1 == x2, x2, neighbour)
    return where(logical_or(isnan(x1), isnan(x2)), math.nan, neighbour)


@composite.within(LIBRARY)
def phase(x: Tensor, /) -> Tensor:
    """Angle of a complex number in radians, from -pi to pi; 0 or pi for a real number.

    >>> tb.phase(tb.asarray([1j, 1.0])).tolist() == [tb.atan2(1.0, 0.0).item(), 0.0]
    True
    """
    (x,) = _cast_to_floating(x, accept="numeric")
    return atan2(imag(x), real(x)) if x.dtype.is_complex else atan2(full((), 0.0, dtype=x.dtype), x)


@composite
def fmod(x1: Tensor, x2: Tensor, /) -> Tensor:
    """The remainder of the division rounded towards zero, with the sign of x1: C's fmod, Nx's remainder.

    Division by zero returns 0 for integers, NaN for floats.

    >>> tb.fmod(tb.asarray([-7, 7]), 3).tolist()
    [-1, 1]
    """
    dtype = check_dtype(result_type([x1.template, x2.template]), "real")
    x1, x2 = astype(x1, dtype), astype(x2, dtype)
    if dtype.is_floating:
        return copysign(abs(x1) % abs(x2), x1)
    rest = x1 % x2
    across = (rest != 0) & ((x1 < 0) != (x2 < 0))
    return where(across, rest - x2, rest)


@composite.within(complex=COMPLEX_QUOTIENT)
def divide_no_nan(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Divide x1 by x2, with 0 where the divisor is 0; there both derivatives are 0 too.

    `where(x2 == 0, 0, x1 / x2)` has that value, but its derivative is NaN where the divisor is 0.

    Parameters
    ----------
    x1, x2 : Tensor
        Tensors of a numeric dtype, which broadcast.

    Returns
    -------
    Tensor
        A tensor with the dtype and names of the result of `divide`.

    Raises
    ------
    DTypeError
        For bool.

    Examples
    --------
    >>> tb.divide_no_nan(tb.asarray([1.0, 1.0]), tb.asarray([2.0, 0.0])).tolist()
    [0.5, 0.0]
    >>> tb.grad(lambda x: tb.sum(tb.divide_no_nan(1.0, x)))(tb.asarray([2.0, 0.0])).tolist()
    [-0.25, 0.0]

    See Also
    --------
    divide : The quotient as IEEE 754 defines it.
    """
    nothing = x2 == 0
    return where(nothing, 0, x1 / where(nothing, 1, x2))


@composite
def complex(real: Tensor, imag: Tensor, /) -> Tensor:
    """Make complex numbers from real and imaginary parts, which broadcast; signed zeros, infinities and NaN are kept.

    Parameters
    ----------
    real, imag : tensors of a real dtype, whose common dtype decides between complex64 and complex128

    Returns
    -------
    Tensor
        real + imag * 1j, with each part unchanged.

    Raises
    ------
    DTypeError
        For parts that are complex or bool.

    Examples
    --------
    >>> tb.complex(tb.asarray([1.0, -0.0]), float("inf")).tolist()
    [(1+infj), (-0+infj)]
    """
    dtype = COMPLEX_OF[to_floating(check_dtype(result_type([real.template, imag.template]), "real"))]
    # The division by -1j works part by part and gives -0.0 + imag j; adding real - 0.0j keeps the sign of each zero.
    return conj(astype(real, dtype)) + astype(imag, dtype) / -1j


@composite
def isclose(x1: Tensor, x2: Tensor, /, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
    """Test whether abs(x1 - x2) <= atol + rtol * abs(x2), element-wise; equal infinities are close.

    Integers and bool are compared in float64, float16 and bfloat16 in float32. NaN is close to nothing, or to NaN if
    `equal_nan`.

    >>> tb.isclose(tb.asarray([1.0, float("inf")]), tb.asarray([1.000001, float("inf")])).tolist()
    [True, True]
    """
    dtype = result_type([x1.template, x2.template])
    dtype = promote_types(dtype, float32) if dtype.is_inexact else float64
    x1, x2 = astype(x1, dtype), astype(x2, dtype)
    near = abs(x1 - x2) <= abs(x2) * rtol + atol
    # Where x2 is infinite, the tolerance is infinite too, and `near` says nothing.
    close = logical_or(x1 == x2, logical_and(isfinite(x2), near))
    return logical_or(close, logical_and(isnan(x1), isnan(x2))) if equal_nan else close


@composite
def stop_gradient(x: Tensor, /) -> Tensor:
    """Return x itself, through which no gradient flows.

    >>> tb.grad(lambda x: x * tb.stop_gradient(x))(3.0).item()
    3.0
    """
    return x


@composite
def scaled_gradient(x: Tensor, /, scale: Tensor) -> Tensor:
    """Return x itself; its gradient is multiplied by a number, which may be negative.

    Parameters
    ----------
    x
        A tensor of any shape and dtype.
    scale
        A number, or a tensor that broadcasts to the shape of x. No gradient flows to it.

    Returns
    -------
    Tensor
        x.

    Raises
    ------
    ShapeError
        For a scale that does not broadcast to the shape of x.

    Examples
    --------
    >>> tb.grad(lambda x: tb.scaled_gradient(x, -0.5) * 2)(3.0).item()
    -1.0
    """
    if broadcast([x.template, scale.template])[0] != x.shape:
        raise ShapeError(expected(f"a scale that broadcasts to {x.template!r}", scale=scale.template))
    return x
