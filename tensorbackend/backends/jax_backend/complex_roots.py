"""Functions of complex numbers for which XLA's own go wrong beside a branch point or on a branch cut."""

from __future__ import annotations

from typing import Any

from ..array_module.complex_functions import Array, atan_values, join, table, turned, turned_back, whole


def _parts(xp: Any, z: Array) -> tuple[Array, ...]:
    """Both parts, in float64 where there is one."""
    return tuple(part.astype(xp.result_type(part.dtype, "float64")) for part in (z.real, z.imag))


def _finite_sqrt(xp: Any, z: Array) -> Array:
    """By real roots, so that -0.0 says on which side of the cut a negative number lies."""
    a, b = _parts(xp, z)
    large = xp.maximum(xp.abs(a), xp.abs(b)) > 1e300
    a, b = xp.where(large, 0.25 * a, a), xp.where(large, 0.25 * b, b)
    size = xp.sqrt(0.5 * (xp.abs(a) + xp.hypot(a, b)))
    other = xp.where(size == 0, 0.0, 0.5 * xp.abs(b) / xp.where(size == 0, 1.0, size))
    real, imaginary = xp.where(a >= 0, size, other), xp.copysign(xp.where(a >= 0, other, size), b)
    factor = xp.where(large, 2.0, 1.0)
    return join(xp, factor * real, factor * imaginary).astype(z.dtype)


def _finite_atanh(xp: Any, z: Array) -> Array:
    """XLA's own in the first quadrant; where the square of the distance from 1 underflows by logarithms."""
    a, b = _parts(xp, z)
    left, below = xp.signbit(a), xp.signbit(b)
    a, b = xp.where(left, -a, a), xp.where(below, -b, b)
    found = xp.arctanh(join(xp, a, b))
    apart = xp.hypot(1 - a, b)
    near = (apart > 0) & (apart < 1e-100)
    real = xp.where(near, 0.5 * (xp.log(xp.hypot(1 + a, b)) - xp.log(xp.where(near, apart, 1.0))), found.real)
    imaginary = found.imag
    return join(xp, xp.where(left, -real, real), xp.where(below, -imaginary, imaginary)).astype(z.dtype)


sqrt = whole(_finite_sqrt, table("sqrt"))
atanh = whole(_finite_atanh, table("atanh"))
atan = whole(lambda xp, z: turned_back(xp, _finite_atanh(xp, turned(xp, z))), atan_values)
