"""Elements of one dtype as those of another, by the kinds of both."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

from ...dtypes import REAL_OF, DType, float64, iinfo
from ...elements import pack, unpack
from . import bits, scalars

_EXACT = 1 << 53
"""Up to here float64 has every integer."""


def converted(data: bytes, source: DType, target: DType) -> bytes:
    """The bytes of elements in another dtype, as the protocol's `as_type` says."""
    if source is target:
        return data
    if target.kind == "bool":
        return bits.truth(data, source)
    if source.is_complex:
        part = REAL_OF[source]
        if target.is_complex:
            return pack(unpack(data, part), REAL_OF[target])
        return converted(bits.parts(data, part)[0], part, target)
    if target.is_complex:
        part = REAL_OF[target]
        return bits.with_imaginary_zeros(converted(data, source, part), part)
    if not source.is_inexact and target.is_integer:
        return bits.resized(data, source, target)
    values = unpack(data, source)
    if target.is_integer:
        return _truncated(values, target)
    if source.is_integer and target is not float64 and not _exact(values):
        return pack(list(map(scalars.round_to_odd, values)), target)
    return pack(values, target)


def _exact(values: Sequence[int]) -> bool:
    return min(values, default=0) >= -_EXACT and max(values, default=0) <= _EXACT


def _truncated(values: Sequence[float], target: DType) -> bytes:
    """Floats as integers; what is beyond the limits is the nearer one, NaN is 0."""
    try:
        return pack(list(map(math.trunc, values)), target)
    except (ValueError, OverflowError, struct.error):
        limits = iinfo(target)
        low, high = limits.min, limits.max
    return pack([_saturated(value, low, high) for value in values], target)


def _saturated(value: float, low: int, high: int) -> int:
    if low < value < high:
        return math.trunc(value)
    return high if value >= high else low if value <= low else 0
