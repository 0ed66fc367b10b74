"""Limits computed from bit widths, and the check of Python numbers against them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ..errors import DTypeError, OutOfRangeError, expected
from ..errors.tracebacks import name_in_errors
from .narrow import code_values, encoder, greatest
from .promotion import as_dtype, holds_kind, scalar_kind
from .types import DType, DTypeLike, Scalar, complex64, complex128, float4_e2m1fn, float8_e8m0fnu, float32, float64


class finfo_object(NamedTuple):
    """The result of `finfo`: the limits are Python floats; those of a complex dtype are those of its parts."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


class iinfo_object(NamedTuple):
    """The result of `iinfo`; the fields are Python ints."""

    bits: int
    max: int
    min: int
    dtype: DType


def _max_exponent(dtype: DType) -> int:
    """Exponent of the largest finite value: 127 for an exponent field of 8 bits."""
    return int(2 ** (dtype.exponent_bits - 1)) - 1


def _dtype_of(value: Any) -> DType:
    """The dtype that a value is or has; a class, such as `numpy.float32`, means the dtype itself."""
    return as_dtype(value if isinstance(value, DType | type) else getattr(value, "dtype", value))


@name_in_errors
def finfo(dtype: DTypeLike) -> finfo_object:
    """Return the limits of a floating or complex dtype, computed from the widths of its fields (IEEE 754).

    Raises `DTypeError` for other kinds.

    Parameters
    ----------
    dtype : DType, str or Tensor
        A dtype, or anything that has one.

    Returns
    -------
    finfo_object
        `bits`, `eps`, `max`, `min`, `smallest_normal` and `dtype`; for a complex dtype those of its parts.

    Examples
    --------
    >>> finfo("bf16").max, finfo("f32").eps
    (3.3895313892515355e+38, 1.1920928955078125e-07)
    """
    dtype = _dtype_of(dtype)
    if dtype.kind not in ("float", "complex"):
        raise DTypeError(expected("a floating or complex dtype", "use iinfo for integers", dtype=dtype))
    if dtype.is_narrow:
        top, unsigned = greatest(dtype), dtype is float8_e8m0fnu
        least = 2.0**-127 if unsigned else 2.0 ** (2 - (1 << (dtype.exponent_bits - 1)))
        return finfo_object(dtype.bits, 2.0**-dtype.mantissa_bits, top, least if unsigned else -top, least, dtype)
    part = {complex64: float32, complex128: float64}.get(dtype, dtype)
    eps = 2.0**-part.mantissa_bits
    top = (2.0 - eps) * 2.0 ** _max_exponent(part)
    return finfo_object(part.bits, eps, top, -top, 2.0 ** (1 - _max_exponent(part)), part)


@name_in_errors
def iinfo(dtype: DTypeLike) -> iinfo_object:
    """Return the limits of an integer dtype, computed from its width.

    Raises `DTypeError` for other kinds.

    Parameters
    ----------
    dtype : DType, str or Tensor
        As for `finfo`.

    Returns
    -------
    iinfo_object
        `bits`, `max`, `min` and `dtype`.

    Examples
    --------
    >>> iinfo("int16").min, iinfo("uint64").max
    (-32768, 18446744073709551615)
    """
    dtype = _dtype_of(dtype)
    if dtype.kind not in ("int", "uint"):
        raise DTypeError(expected("an integer dtype", "use finfo for floating dtypes", dtype=dtype))
    if dtype.kind == "int":
        return iinfo_object(dtype.bits, 2 ** (dtype.bits - 1) - 1, -(2 ** (dtype.bits - 1)), dtype)
    return iinfo_object(dtype.bits, 2**dtype.bits - 1, 0, dtype)


def check_scalar(value: Scalar, dtype: DType) -> None:
    """Raises `OutOfRangeError` for a Python number outside a dtype, `DTypeError` for a kind that the dtype cannot hold.

    An integer must be within the limits; a finite float must not round to infinity. Inexact
    rounding is not an error.
    """
    kind = scalar_kind(value)
    if kind is None or not holds_kind(dtype, kind):
        remedy = (
            "take its real part, or choose a complex dtype" if kind == "complex" else "choose a dtype that holds it"
        )
        raise DTypeError(expected(f"a number that {dtype} holds", remedy, value=value))
    if dtype.kind in ("int", "uint"):
        limits = iinfo(dtype)
        if not limits.min <= value <= limits.max:  # type: ignore[operator] # an int or bool, by its kind
            expectation = f"an integer from {limits.min} to {limits.max} for {dtype}"
            raise OutOfRangeError(expected(expectation, "choose a wider dtype", value=value))
    elif dtype.is_narrow:
        _check_narrow(value, dtype)
    elif dtype.is_inexact:
        limit = finfo(dtype).max
        # Half a unit in the last place above the largest value is where rounding reaches infinity.
        half_unit = 2.0 ** (_max_exponent(dtype) - dtype.mantissa_bits - 1)
        try:
            fits = all(math.isinf(part) or not abs(part) - limit >= half_unit
                       for part in map(float, (value.real, value.imag)))  # fmt: skip
        except OverflowError:  # an integer beyond float64
            fits = False
        if not fits:
            expectation = f"a number from {-limit} to {limit} for {dtype}"
            raise OutOfRangeError(expected(expectation, "choose a wider dtype", value=value))


def _check_narrow(value: Any, dtype: DType) -> None:
    """Raises `OutOfRangeError` for a number to which no number of a narrow floating dtype is near."""
    infinity = math.inf in code_values(dtype)
    held = code_values(dtype)[encoder(dtype)(value)]
    if value != value:
        fits = held != held
    elif infinity and isinstance(value, float) and math.isinf(value):
        fits = True
    else:
        # Only float4_e2m1fn saturates: from 7 on, half-way to what would be the next number.
        fits = math.isfinite(held) and (dtype is not float4_e2m1fn or abs(value) <= 7)
    if not fits:
        limits = finfo(dtype)
        expectation = f"a number from {limits.min} to {limits.max} for {dtype}"
        raise OutOfRangeError(expected(expectation, "choose a wider dtype", value=value))


def value_range(dtype: DType) -> tuple[float, float]:
    """The least and the largest value of a real dtype or bool: the maximum and the minimum of no elements.

    >>> from tensorbackend.dtypes import float32, uint8
    >>> value_range(uint8), value_range(float32)
    ((0, 255), (-inf, inf))
    """
    if dtype.is_floating:
        return -math.inf, math.inf
    return (iinfo(dtype).min, iinfo(dtype).max) if dtype.is_integer else (False, True)


def check_scalars(values: Sequence[Scalar], dtype: DType) -> None:
    """Raises what `check_scalar` raises for the first of these Python numbers that is outside the dtype.

    The dtype holds the kinds of all numbers. The minimum and the maximum are checked first, because that takes a
    hundredth of the time.
    """
    one_by_one = dtype.is_complex or dtype.is_narrow
    if dtype.kind != "bool" and values and (one_by_one or not _lie_within(values, *_limits(dtype))):
        for value in values:
            check_scalar(value, dtype)


def _lie_within(values: Sequence[Any], least: float, largest: float) -> bool:
    # A NaN that comes first is the result of both `min` and `max`; one that comes later is the result of neither.
    return bool(least <= min(values) and max(values) <= largest)


@lru_cache
def _limits(dtype: DType) -> tuple[float, float]:
    limits = iinfo(dtype) if dtype.is_integer else finfo(dtype)
    return limits.min, limits.max
