"""Conversions between dtypes as the protocol wants them: saturating, and rounded once."""

from __future__ import annotations

from typing import Any

from ...dtypes import REAL_OF, DType, bfloat16, bool_, float16, float32, float64, iinfo
from ...interchange import numpy_dtype
from .shortcuts import certainly


def cast_values(xp: Any, values: Any, source: DType, target: DType) -> Any:
    """An array of one dtype in another, by the rules of `as_type`."""
    if source is target:
        return values
    if target is bool_:
        return values != 0
    if source.is_complex and not target.is_complex:
        values, source = values.real, REAL_OF[source]
    if source in (float16, bfloat16):
        values, source = values.astype(numpy_dtype(float32)), float32
    if source.is_floating and target.is_integer:
        return _saturate(xp, values, target)
    if source.is_integer and source.bits > 16 and target in (float16, bfloat16):
        values, source = _exact_or_odd(values, source), float64
    if source is float64 and target is bfloat16:
        values = _float32_to_odd(xp, values)
    elif target is bfloat16:
        values = values.astype(numpy_dtype(float32))
    return values.astype(numpy_dtype(target))


def _saturate(xp: Any, values: Any, target: DType) -> Any:
    """Floats truncated to integers, those beyond the limits moved to them, NaN to 0."""
    dtype, limits = numpy_dtype(target), iinfo(target)
    # Powers of two and one less, so that float32 holds them; or float32 rounds inwards, which is as safe.
    inside = (values > float(limits.min - 1)) & (values < float(limits.max + 1))
    if certainly(xp, inside):
        return values.astype(dtype)
    whole = xp.where(inside, values, values.dtype.type(0)).astype(dtype)
    whole = xp.where(values >= float(limits.max + 1), dtype.type(limits.max), whole)
    return xp.where(values <= float(limits.min), dtype.type(limits.min), whole)


def _exact_or_odd(values: Any, source: DType) -> Any:
    """Integers as float64, such that rounding on to a narrower dtype is the only rounding that shows.

    What float64 cannot hold is rounded to odd: the last of its 53 bits is set where bits were lost, so
    that it can make no tie (Boldo and Melquiond, 2008).
    """
    if source.bits == 64:
        lost = values & 0x7FF
        large = values >= 1 << 53
        if source.kind == "int":
            large = large | (values <= -(1 << 53))
        values = values - (lost * large) | ((lost != 0) & large).astype(values.dtype) << 11
    return values.astype(numpy_dtype(float64))


def _float32_to_odd(xp: Any, values: Any) -> Any:
    """float64 rounded to float32 towards odd, so that a second rounding gives what one would have."""
    near = values.astype(numpy_dtype(float32))
    back = near.astype(numpy_dtype(float64))
    inexact = xp.isfinite(values) & (back != values)
    bits = near.view("uint32")
    bits = bits - (inexact & (xp.abs(back) > xp.abs(values)))  # towards zero
    return (bits | inexact).view("float32")
