"""Casts of elements from one dtype to another, by the kinds of both."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from functools import lru_cache

from ...caching.memos import remembers_calls
from ...dtypes import REAL_OF, DType, bool_, float64, iinfo
from ...dtypes.packing import writer
from ...template import Template
from . import bits, scalars
from .storage import Column, kernel

_EXACT = 1 << 53
"""The integer up to which float64 holds every integer."""


@lru_cache(maxsize=2048)
def conversion(out: Template, x: Template) -> Callable[[bytes], bytes]:
    """The kernel of `as_type`: a function that casts a payload from the dtype of `x` to the dtype of `out`."""
    source, target = x.dtype, out.dtype
    if source.is_complex and target is not bool_:
        part = REAL_OF[source]
        if not target.is_complex:
            of_real = conversion(out, x.replace(dtype=part))
            return lambda data: of_real(bits.parts(data, part)[0])
        shape, names = (2, *x.shape), (None,) * (x.ndim + 1)
        parts = (Template(shape, dtype, names) for dtype in (REAL_OF[target], part))
        return conversion(*parts)
    if target.is_complex:
        part = REAL_OF[target]
        to_part = conversion(out.replace(dtype=part), x)
        return lambda data: bits.add_imaginary_zeros(to_part(data), part)
    if source.is_integer and target.is_integer and target.bits <= source.bits:
        return lambda data: bits.cut(data, source.itemsize, target.itemsize)
    if (source.is_inexact or source.kind == "float") and target.kind in ("int", "uint"):
        return kernel(_identity, out, x, storing=_saturating_store)
    if target.is_narrow:
        return kernel(_identity, out, x)
    narrows = source.is_integer and target.is_floating and source.bits > float64.mantissa_bits > target.mantissa_bits
    return kernel(_sticky if narrows else _identity, out, x)


remembers_calls("kernels of BinaryBackend", kernel, conversion)


def _identity(values: Column) -> Column:
    return values


def _saturating_store(dtype: DType, count: int) -> Callable[..., bytes]:
    """Stores floats as integers: a number beyond a limit as that limit, NaN as 0."""
    write, limits = writer(dtype, count), iinfo(dtype)
    low, high = limits.min, limits.max

    def clipped(*values: float) -> bytes:
        return write(
            *[
                math.trunc(value) if low < value < high else high if value >= high else low if value <= low else 0
                for value in values
            ]
        )

    def store(*values: float) -> bytes:
        try:
            return write(*map(math.trunc, values))
        except (ValueError, OverflowError, struct.error):
            return clipped(*values)

    return clipped if dtype.is_narrow else store  # integers of narrow dtypes wrap, and raise nothing


def _sticky(values: Column) -> Column:
    """Round integers to odd where float64 cannot hold them, so that rounding again to a narrower float is right."""
    if min(values, default=0) >= -_EXACT and max(values, default=0) <= _EXACT:
        return values
    return list(map(scalars.round_to_odd, values))
