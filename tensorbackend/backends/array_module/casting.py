"""Conversions between dtypes as the protocol requires: saturating, and rounded only once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ...dtypes import REAL_OF, DType, bfloat16, bool_, float16, float32, float64, iinfo, int32, int64
from ...interchange import numpy_dtype
from ...protocol import Kernel

NARROW = frozenset({float16, bfloat16})
"""The dtypes that are computed in float32."""

_FLAGGED = frozenset({int32, int64})
"""The integer dtypes to which the processor itself converts floats; a float beyond the limits sets a flag."""


def itself(x: Any) -> Any:
    """The kernel of a callback that changes nothing; it may share memory, as no payload is ever written to."""
    return x


class AttemptKernel(Protocol):
    """The type of `ArrayBase.attempted`, which makes one kernel of a quick one and a careful one."""

    def __call__(self, quick: Kernel, careful: Kernel, /, *, holds: Callable[..., bool] | None = None) -> Kernel: ...


def only_careful(quick: Kernel, careful: Kernel, /, *, holds: Callable[..., bool] | None = None) -> Kernel:
    """The careful one of two kernels, for modules that do not say on which data the quick one is right."""
    return careful


def caster(
    xp: Any, source: DType, target: DType, attempted: AttemptKernel = only_careful, *, to_half: bool = True
) -> Kernel:
    """A kernel that casts arrays from one dtype to another, by the rules of `as_type`.

    `to_half` says whether the module rounds float64 to float16 once, rather than by way of float32.
    """
    dtype = numpy_dtype(target)

    def plain(values: Any) -> Any:
        return values.astype(dtype)

    if source is target:
        return itself
    if target is bool_:
        return lambda values: values != 0
    if source.is_complex and not target.is_complex:
        of_real = caster(xp, REAL_OF[source], target, attempted, to_half=to_half)
        return lambda values: of_real(values.real)
    if source in NARROW and target is not float32:
        return _cast_through(float32, plain if target.is_inexact else caster(xp, float32, target, attempted))
    if source.is_floating and target.is_integer:
        return _saturating_kernel(xp, source, target, plain, attempted)
    if source.is_integer and source.bits > 16 and target in NARROW:
        of_float64 = caster(xp, float64, target, to_half=to_half)
        return lambda values: of_float64(_exact_or_odd(values, source))
    if source is float64 and (target is bfloat16 or (target is float16 and not to_half)):
        return lambda values: _float32_to_odd(xp, values).astype(dtype)
    if target is bfloat16 and source is not float32:
        return _cast_through(float32, plain)
    return plain


def _cast_through(dtype: DType, cast: Kernel) -> Kernel:
    between = numpy_dtype(dtype)
    return lambda values: cast(values.astype(between))


def _saturating_kernel(xp: Any, source: DType, target: DType, plain: Kernel, attempted: AttemptKernel) -> Kernel:
    """A kernel that truncates floats to integers: beyond the limits to the nearest limit, NaN to 0."""
    number, limits, dtype = numpy_dtype(source).type, iinfo(target), numpy_dtype(target)
    # float32 holds `above`, a power of two. Where it cannot hold `below`, that becomes the lower limit: as safe.
    below, above = number(limits.min - 1), number(limits.max + 1)
    before, behind = float(below), float(above)
    zero, lowest = number(0), number(limits.min)
    least, largest = dtype.type(limits.min), dtype.type(limits.max)

    def all_inside(values: Any) -> bool:
        # Both find a NaN first, and take a third of the time of a reduction for few elements.
        return not values.size or (before < values.item(values.argmin()) and values.item(values.argmax()) < behind)

    def saturate(values: Any) -> Any:
        whole = xp.where((values > below) & (values < above), values, zero).astype(dtype)
        whole = xp.where(values >= above, largest, whole)
        return xp.where(values <= lowest, least, whole)

    return attempted(plain, saturate, holds=None if target in _FLAGGED else all_inside)


def _exact_or_odd(values: Any, source: DType) -> Any:
    """Integers as float64, such that a further rounding to a narrower dtype is the only rounding that shows.

    An integer that float64 cannot hold is rounded to odd: the last of the 53 bits is set where bits were lost, so that
    the result is not a tie in the further rounding (Boldo and Melquiond, 2008).
    """
    if source.bits == 64:
        lost = values & 0x7FF
        large = values >= 1 << 53
        if source.kind == "int":
            large = large | (values <= -(1 << 53))
        values = values - (lost * large) | ((lost != 0) & large).astype(values.dtype) << 11
    return values.astype(numpy_dtype(float64))


def _float32_to_odd(xp: Any, values: Any) -> Any:
    """float64 rounded to float32 towards odd, so that a second rounding has the same result as a single one."""
    near = values.astype(numpy_dtype(float32))
    back = near.astype(numpy_dtype(float64))
    inexact = xp.isfinite(values) & (back != values)
    bits = near.view("uint32")
    bits = bits - (inexact & (xp.abs(back) > xp.abs(values)))  # towards zero
    return (bits | inexact).view("float32")
