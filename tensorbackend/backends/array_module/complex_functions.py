"""Functions of complex arrays with the special values of `complex_formulas`; they overflow only where the result does.

An array module's results for finite numbers of moderate size are kept. Where a part is infinite or NaN, the tables
decide. Where an intermediate step may overflow, the formulas work on the parts, as BinaryBackend's do. complex64 is
computed in complex128 where that is as fast. Every function takes the array module first.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

from .module import certainly, replace_where

Array: TypeAlias = Any
Function: TypeAlias = Callable[[Any, Array], Array]

_EXACT_WHOLE = 8
"""Whole exponents of up to this size are computed by products, even for a base near 1."""

_BESIDE = 1 / 4
"""The distance from 1 below which the logarithm of a base is so small that rounding the base changes it much."""


def call_unless_flagged(xp: Any, function: Callable[..., Array], *operands: Array) -> Array | None:
    """Calls a function; returns `None` if a step of it was invalid, divided by zero, overflowed or underflowed.

    The processor's flags say so, at no cost. A module that is not eager has no flags: the result is always `None`.
    """
    if not xp.eager:
        return None
    try:
        with xp.errstate(all="raise"):
            return function(*operands)
    except FloatingPointError:
        return None


# Functions of one number


def whole(finite: Function, values: Function) -> Function:
    """A function of all numbers: `finite` for finite numbers, `values` for all others."""

    def function(xp: Any, z: Array) -> Array:
        inside = xp.isfinite(z)
        if certainly(xp, inside):
            return finite(xp, z)
        return replace_where(xp, finite(xp, xp.where(inside, z, z.dtype.type(0))), ~inside, values, z)

    return function


def _own(name: str, values: Function, *, odd: bool = False) -> Function:
    """The module's function, but `values` where a part is infinite or NaN, unless it keeps the standard's itself."""
    finite: Function = lambda xp, z: xp.of_complex(name, z, odd=odd)  # noqa: E731 # next to its use
    general = whole(finite, values)
    return lambda xp, z: (finite if name in xp.keeps_specials else general)(xp, z)


def table(name: str) -> Function:
    return lambda xp, z: xp.special(name, xp.widen(z))


def _rotate_function(name: str) -> Function:
    return lambda xp, z: xp.special_rotated(name, xp.widen(z))


def _finite_expm1(xp: Any, z: Array) -> Array:
    """exp(z) - 1 = expm1(a) cos(b) - 2 sin(b/2)**2 + exp(a) sin(b) j: no part loses digits near zero."""
    a, b = z.real, z.imag
    half = xp.sin(0.5 * b)
    # The standard requires 0.0 as the real part for both zeros.
    by_parts = xp.join(xp.positive_zero(xp.expm1(a) * xp.cos(b) - 2 * half * half), xp.exp(a) * xp.sin(b))
    large = a > math.log(float(xp.finfo(a.dtype).max)) - 1
    # For these, exp(a) may overflow although its product with a small sine does not; and 1 is far below the last place.
    return by_parts if certainly(xp, ~large) else xp.where(large, xp.exp(z), by_parts)


def _finite_log1p(xp: Any, z: Array) -> Array:
    """log(1 + z): where abs(1 + z) is near 1, the real part is log1p(2a + a**2 + b**2) / 2, which loses no digits."""
    dtype, z = z.dtype, xp.widen(z)
    a, b = z.real, z.imag
    beyond = a * (2 + a) + b * b
    moved = xp.join(1 + a, b)
    size = xp.asarray(xp.abs(moved))
    far = xp.asarray(xp.log(size))
    if not certainly(xp, xp.isfinite(size)):
        far = xp.where(xp.isfinite(size), far, xp.log(xp.abs(0.5 * moved)) + math.log(2))
    real = xp.where((beyond > -0.5) & (beyond < 1), 0.5 * xp.log1p(beyond), far)
    return xp.join(real, xp.asarray(xp.arctan2(b, moved.real))).astype(dtype, copy=False)


def log_of_magnitude(xp: Any, a: Array, b: Array, beyond: Array, log1p: Callable[[Array], Array]) -> Array:
    """The logarithm of abs(a + bj), also where the magnitude itself overflows.

    Near the unit circle it is computed from `beyond`, which is a**2 + b**2 - 1.
    """
    limit = 1e300 if a.dtype == "float64" else 1e37
    near, large = (beyond > -0.5) & (beyond < 1), xp.maximum(xp.abs(a), xp.abs(b)) > limit
    half = xp.where(large, 0.5, 1.0)
    far = xp.log(xp.hypot(half * a, half * b)) + xp.where(large, math.log(2), 0.0)
    return xp.where(near, 0.5 * log1p(xp.where(near, beyond, 0)), far)


def squared_modulus_minus_one(xp: Any, a: Array, b: Array) -> Array:
    """a**2 + b**2 - 1, without loss of digits near the unit circle."""
    longer, shorter = xp.maximum(xp.abs(a), xp.abs(b)), xp.minimum(xp.abs(a), xp.abs(b))
    return (longer - 1) * (longer + 1) + shorter * shorter


acos = _own("arccos", table("acos"))
acosh = _own("arccosh", table("acosh"))
asin = _own("arcsin", _rotate_function("asinh"), odd=True)
asinh = _own("arcsinh", table("asinh"), odd=True)
atan_values = _rotate_function("atanh")
atan = _own("arctan", atan_values, odd=True)
atanh = _own("arctanh", table("atanh"), odd=True)
cos_values: Function = lambda xp, z: xp.special("cosh", xp.multiply_by_i(xp.widen(z)))  # noqa: E731 # next to the other tables
cos = _own("cos", cos_values)
cosh = _own("cosh", table("cosh"))
exp = _own("exp", table("exp"))
expm1 = whole(_finite_expm1, lambda xp, z: xp.special_expm1(xp.widen(z)))
log = _own("log", table("log"))
log1p = whole(_finite_log1p, table("log1p"))
sin_values = _rotate_function("sinh")
sin = _own("sin", sin_values, odd=True)
sinh = _own("sinh", table("sinh"), odd=True)
sqrt = _own("sqrt", table("sqrt"))
tan = _own("tan", _rotate_function("tanh"), odd=True)
tanh = _own("tanh", table("tanh"), odd=True)


def log_to(base: float) -> Function:
    """The logarithm to a base, part by part."""

    def function(xp: Any, z: Array) -> Array:
        logarithm, size = xp.asarray(log(xp, z)), math.log(base)
        return xp.join(logarithm.real / size, logarithm.imag / size)

    return function


log2, log10 = log_to(2), log_to(10)


def sign(xp: Any, z: Array) -> Array:
    """z / abs(z) by parts; 0 + 0j for zero, and NaN in both parts where either is NaN."""
    size = xp.asarray(xp.abs(z))
    # The magnitude of a subnormal number has too few digits, and that of the largest numbers overflows.
    limits = xp.finfo(size.dtype)
    if not certainly(xp, (size > limits.tiny / limits.eps) & (size <= limits.max)):
        return xp.sign_of(xp.widen(z)).astype(z.dtype, copy=False)
    return xp.join(z.real / size, z.imag / size) if certainly(xp, size != 0) else xp.direction(z, size)


# Functions of two numbers


def square_of(xp: Any, x: Array) -> Array:
    """x * x, computed as by `product_of`."""
    return product_of(xp, x, x)


def product_of(xp: Any, x: Array, y: Array) -> Array:
    """The product by parts; where it is not finite, it is computed again from operands scaled by powers of two.

    So it overflows only where the exact result does. The module's own product may be fused, which has other
    infinities and NaN.
    """
    dtype = xp.result_type(x, y)
    x, y = xp.widen(x), xp.widen(y)
    if dtype == "complex64" and xp.multiplies_by_parts:  # in complex128 no partial product is rounded or overflows
        return (x * y).astype(dtype)
    product = xp.product_by_parts(x, y)
    if product.dtype == dtype and not certainly(xp, xp.isfinite(product)):
        product = xp.exact_product(x, y, product)
    return product.astype(dtype, copy=False)


def divide(xp: Any, x: Array, y: Array) -> Array:
    """The quotient, by the module's own division where no floating-point flag is set, else by `quotient`."""
    quick_quotient = call_unless_flagged(xp, lambda: xp.divide(x, oblique(xp, y)))
    return quotient(xp, x, y) if quick_quotient is None else quick_quotient


def reciprocal(xp: Any, x: Array) -> Array:
    """1 / x, computed as by `quotient`."""
    return quotient(xp, xp.ones((), x.dtype), x)


def oblique(xp: Any, y: Array) -> Array:
    """Returns a divisor that is finite and nowhere real or imaginary; raises `FloatingPointError` for any other."""
    for part in (y.real, y.imag) if y.size else ():
        size = xp.square(part)  # contiguous, and so faster to reduce
        if not (size.min() > 0 and size.max() < math.inf):
            raise FloatingPointError
    return y


def quotient(xp: Any, x: Array, y: Array) -> Array:
    """The quotient; by parts where the divisor is real or imaginary, as in the Array API standard's table."""
    dtype = xp.result_type(x, y)
    x, y = xp.widen(x), xp.widen(y)
    if certainly(xp, y.imag == 0):
        ratio = xp.join(xp.divide(x.real, y.real), xp.divide(x.imag, y.real))
    else:
        ratio = xp.quotient(x, y)
    return ratio.astype(dtype, copy=False)


def power(xp: Any, x: Array, y: Array) -> Array:
    """x to the power y: a small whole exponent by products, else the polar form, else exp(y * log(x)).

    The first two keep more digits where they give a finite result. The power of exponent 0 is 1.
    """
    if y.size == 1 and x.ndim >= y.ndim:
        exponent = complex(y.reshape(()))
        if exponent.real.is_integer() and abs(exponent.real) <= _EXACT_WHOLE and not exponent.imag:
            whole_power = call_unless_flagged(xp, lambda: _same_whole_power(xp, x, int(exponent.real)))
            if whole_power is not None:
                return whole_power
    return _power(xp, x, y)


def _same_whole_power(xp: Any, x: Array, exponent: int) -> Array:
    if exponent == 2:
        return xp.square(x)
    return _whole_power(xp, xp.widen(x), exponent).astype(x.dtype, copy=False)


def _power(xp: Any, x: Array, y: Array) -> Array:
    dtype = xp.result_type(x, y)
    x, y = xp.broadcast_arrays(xp.widen(x), xp.widen(y))
    whole = (y.imag == 0) & (xp.abs(y.real) <= 100) & (xp.trunc(y.real) == y.real)
    powers = xp.empty_like(x) if whole.all() else xp.polar_power(x, y, xp.arctan2(x.imag, x.real))
    if whole.any():
        for exponent in xp.unique(y.real[whole]):
            at = whole & (y.real == exponent)
            powers[at] = _whole_power(xp, x[at], int(exponent))
    usable = xp.isfinite(powers) & (powers != 0) & xp.isfinite(x) & xp.isfinite(y) & (x != 0) & ~is_near_one(xp, x, y)
    if not usable.all():
        x, y = x[~usable], y[~usable]
        powers[~usable] = xp.where(y == 0, 1, exp(xp, xp.product_by_parts(y, log(xp, x))))
    return powers.astype(dtype, copy=False)


def is_near_one(xp: Any, x: Array, y: Array) -> Array:
    """Whether the base is so near 1 that the power is best computed from its logarithm: otherwise a rounding of the
    base, or of a product, would count y times."""
    few = (y.imag == 0) & (xp.abs(y.real) <= _EXACT_WHOLE) & (xp.trunc(y.real) == y.real)
    return ~few & (xp.maximum(xp.abs(x.real - 1), xp.abs(x.imag)) < _BESIDE)


def _whole_power(xp: Any, x: Array, exponent: int) -> Array:
    """The power by repeated squaring."""
    left, square_of, product = abs(exponent), x, xp.ones_like(x)
    while left:
        if left & 1:
            product = product * square_of
        left >>= 1
        if left:
            square_of = square_of * square_of
    return divide(xp, xp.ones((), x.dtype), product) if exponent < 0 else product


# Reductions


def cumulative_product(xp: Any, values: Array, axis: int) -> Array:
    """Running products along an axis; in complex128 unless the processor's flags show that no step went wrong."""
    products = call_unless_flagged(xp, lambda: xp.cumprod(values, axis=axis))
    return xp.cumprod(values, axis=axis, dtype="complex128").astype(values.dtype) if products is None else products


def product(xp: Any, values: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
    """The product along axes in complex128; where it is not finite, elements are multiplied from first to last.

    The module's own product may start from 1, and 1 * inf has a NaN part.
    """
    quick_product = xp.asarray(xp.prod(values, axis=axes, dtype="complex128", keepdims=keepdims))
    if xp.isfinite(quick_product).all():
        return quick_product
    kept = tuple(axis for axis in range(values.ndim) if axis not in axes)
    rows = values.transpose(kept + axes).reshape(quick_product.size, -1)
    return xp.cumprod(rows, axis=1, dtype="complex128")[:, -1].reshape(quick_product.shape)
