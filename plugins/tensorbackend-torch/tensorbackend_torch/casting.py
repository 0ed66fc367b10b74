"""Conversions between dtypes by the rules of the protocol: integers wrap, floats saturate, and are rounded once."""

from __future__ import annotations

from tensorbackend.dtypes import REAL_OF, DType, bool_, float32, float64, iinfo, uint64

from .library import torch
from .ways import NARROW, UNSIGNED, Array, bits_of, signed_dtype, torch_dtype

_DROPPED = 11
"""The number of bits of a 64-bit integer that float64 cannot hold."""


def cast(values: Array, source: DType, target: DType) -> Array:
    """Casts a tensor from one dtype to another, by the rules of `as_type`."""
    if source is target:
        return values
    if target is bool_:
        return bits_of(values) != 0
    if target.is_complex:
        part = values if source.is_complex else cast(values, source, REAL_OF[target])
        return part.to(torch_dtype(target))
    if source.is_complex:
        values, source = torch.real(values), REAL_OF[source]
    if target.is_integer:
        whole = _saturated(values, source, target) if source.is_floating else as_int64(values, source)
        return from_int64(whole, target)
    if source.is_integer and source.bits > 16:
        return _from_integers(as_int64(values, source), source, target)
    if source in UNSIGNED:
        values = as_int64(values, source)
    if source is float64 and target in NARROW:
        values = _float32_to_odd(values)
    return values.to(torch_dtype(target))


def as_int64(values: Array, source: DType) -> Array:
    """Returns integers or bools as int64: the same numbers, or for uint64 the same bits."""
    wide = bits_of(values).to(torch.int64)
    return wide & (1 << source.bits) - 1 if source in UNSIGNED and source.bits < 64 else wide


def from_int64(values: Array, target: DType) -> Array:
    """The lowest bits of int64 as an integer dtype."""
    low = values.to(signed_dtype(target))
    return low.view(torch_dtype(target)) if target in UNSIGNED else low


def _saturated(values: Array, source: DType, target: DType) -> Array:
    """Truncates floats, clips them to the limits of `target`, maps NaN to 0.

    The result has the dtype of `target` if that is signed, else int64, which holds the bits of uint64.
    """
    limits = iinfo(target)
    if source in NARROW:
        values = values.to(torch.float32)
    working = torch.int64 if target in UNSIGNED else signed_dtype(target)
    # `beyond` is a power of two, hence exact. `below` may round up to the lower limit, which the last line sets.
    below, beyond = float(limits.min - 1), float(limits.max + 1)
    if target is not uint64 and _all_between(values, below, beyond):
        return values.to(working)
    if target.bits < 64:
        wide = values.to(torch.float64) if target.bits == 32 else values  # holds the limits exactly
        return torch.nan_to_num(wide, nan=0.0).clamp_(limits.min, limits.max).to(working)
    inside = torch.where((values > below) & (values < beyond), values, 0)
    if target is uint64:
        upper = inside >= 2.0**63
        whole = torch.where(upper, inside - 2.0**63, inside).to(torch.int64) ^ upper.to(torch.int64) << 63
        largest = -1
    else:
        whole, largest = inside.to(torch.int64), limits.max
    whole = torch.where(values >= beyond, largest, whole)
    return torch.where(values <= float(limits.min), limits.min, whole)


def _all_between(values: Array, below: float, beyond: float) -> bool:
    """Whether no element is NaN, `below` or less, `beyond` or more."""
    if not values.numel():
        return True
    ends = torch.aminmax(values)  # NaN if any element is
    return below < float(ends.min) and float(ends.max) < beyond


def _from_integers(values: Array, source: DType, target: DType) -> Array:
    """Converts int64, or the bits of uint64, to floats, rounded once."""
    working = target
    if target in NARROW:
        # Where float64 has too few bits, round to odd: the last bit says whether any bit was lost. So the second
        # rounding never sees a tie where there is none (Boldo and Melquiond, 2008).
        mask = (1 << _DROPPED) - 1
        large = values < 0 if source is uint64 else values < -(1 << 53)
        odd = values & ~mask | ((values & mask) != 0).to(torch.int64) << _DROPPED
        values, working = torch.where((values >= 1 << 53) | large, odd, values), float64
    dtype = torch_dtype(working)
    if source is uint64:
        # Halve large numbers; the last bit keeps the bit that halving loses.
        half = values >> 1 & (1 << 63) - 1 | values & 1
        floats = torch.where(values < 0, half.to(dtype) * 2, values.to(dtype))
    else:
        floats = values.to(dtype)
    return cast(floats, working, target)


def _float32_to_odd(values: Array) -> Array:
    """Rounds float64 to float32 by rounding to odd, so that a second rounding has the same result as one rounding."""
    near = values.to(torch_dtype(float32))
    back = near.to(torch.float64)
    inexact = torch.isfinite(values) & (back != values)
    bits = near.view(torch.int32) - (inexact & (torch.abs(back) > torch.abs(values))).to(torch.int32)
    return (bits | inexact.to(torch.int32)).view(torch.float32)
