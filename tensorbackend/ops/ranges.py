"""Evenly spaced numbers."""

from __future__ import annotations

import math
from operator import index
from typing import Any

from ..dispatch import primitive
from ..dtypes import DTypeLike, as_dtype, check_scalar, default_dtype, float64, scalar_kind
from ..errors import ArgumentError, DTypeError, OperandError, expected
from ..protocol import BackendLike
from ..rules.plan import Plan
from ..template import Template


@primitive.calls("spaced")
def arange(
    start: int | float,
    /,
    stop: int | float | None = None,
    step: int | float = 1,
    *,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    backend: BackendLike = None,
    device: str | None = None,
) -> Plan:
    """Numbers from `start` (0 if only one bound is given) up to but not `stop`, `step` apart.

    There are ceil((stop - start) / step) of them, `start + i * step` each, computed in 64 bits and then rounded. The
    dtype is the default one of the widest kind among the three. Raises `ArgumentError` for a step of 0.

    >>> import tensorbackend as tb
    >>> tb.arange(5, 0, -2).tolist(), tb.arange(1.0, name="n").template
    ([5, 3, 1], f32[n: 1])
    """
    if stop is None:
        start, stop = 0, start
    numbers = (start, stop, step)
    for number in numbers:
        if scalar_kind(number) not in ("int", "float", "bool") or number != number or abs(number) == math.inf:
            raise OperandError(expected("finite numbers for start, stop and step", number=number))
    if step == 0:
        raise ArgumentError(expected("a step other than 0", start=start, stop=stop, step=step))
    whole = all(scalar_kind(number) != "float" for number in numbers)
    wanted = default_dtype("int" if whole else "float") if dtype is None else as_dtype(dtype)
    length = max(0, -((start - stop) // step) if whole else math.ceil((stop - start) / step))
    if wanted.kind == "bool":
        raise DTypeError(expected("a numeric dtype", "compare a range of numbers instead", dtype=wanted))
    for number in (start, start + (length - 1) * step) if length else ():
        check_scalar(int(number) if wanted.is_integer else number, wanted)
    # A step is not needed where there is nothing to step over, and then it may be beyond the dtype.
    step = step if length > 1 else 1
    exact = whole and wanted.is_integer
    if not exact:
        check_scalar(start, float64)
        check_scalar(step, float64)
    out, kind = Template((int(length),), wanted, (name,)), int if exact else float
    return Plan(out, (), {"start": kind(start), "step": kind(step), "last": None})


@primitive.calls("spaced")
def linspace(
    start: int | float | complex,
    stop: int | float | complex,
    /,
    num: int,
    *,
    dtype: DTypeLike | None = None,
    endpoint: bool = True,
    name: str | None = None,
    backend: BackendLike = None,
    device: str | None = None,
) -> Plan:
    """`num` evenly spaced numbers from `start` to `stop`, which is left out unless `endpoint`.

    Computed in 64 bits and rounded; the dtype is the default floating or complex one.

    >>> import tensorbackend as tb
    >>> tb.linspace(0, 1, 5).tolist(), tb.linspace(0, 1, 4, endpoint=False).tolist()
    ([0.0, 0.25, 0.5, 0.75, 1.0], [0.0, 0.25, 0.5, 0.75])
    """
    kinds = {scalar_kind(start), scalar_kind(stop)}
    if None in kinds:
        raise OperandError(expected("Python numbers to space between", start=start, stop=stop))
    if index(num) < 0:
        raise ArgumentError(expected("a number of elements from 0 up", num=num))
    wanted = default_dtype("complex" if "complex" in kinds else "float") if dtype is None else as_dtype(dtype)
    for number in (start, stop):
        check_scalar(number, wanted if wanted.is_inexact else float64)
    gaps = num - 1 if endpoint else num
    step = (stop - start) / gaps if gaps > 0 else 0.0
    if not math.isfinite(abs(step)):  # the difference overflows, its parts do not
        step = stop / gaps - start / gaps
    kind: type[Any] = complex if wanted.is_complex else float
    last = kind(stop) if endpoint and num > 1 else None  # rounding must not miss it
    out = Template((num,), wanted, (name,))
    return Plan(out, (), {"start": kind(start), "step": kind(step), "last": last})
