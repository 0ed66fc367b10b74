"""Ops that change the dtype of a tensor."""

from __future__ import annotations

from ...dispatch import primitive
from ...dtypes import DTypeLike, as_dtype
from ...errors import ArgumentError, DTypeError, expected
from ...rules.broadcasting import check_cast
from ...rules.plan import Plan
from ...template import Template


@primitive.calls("as_type")
def astype(x: Template, dtype: DTypeLike, /, *, copy: bool = True, device: str | None = None) -> Plan:
    """Cast to another dtype.

    Floats become integers by truncation and saturation, and NaN becomes 0; integers wrap; floats round to nearest even;
    zero is False and all else True; complex to real is an error: take `real(x)` first. `copy` changes nothing, as no
    payload ever changes. `device` must be omitted: use `x.to_device()`.

    >>> import tensorbackend as tb
    >>> tb.astype(tb.asarray([1.7, -1.7, float("nan"), 1e9]), "int8").tolist()
    [1, -1, 0, 127]
    """
    if device is not None:
        raise ArgumentError(expected("no device", "use x.to_device()", device=device))
    return Plan(x.replace(dtype=check_cast(x.dtype, as_dtype(dtype))), (x.dtype,))


@primitive
def bitcast(x: Template, dtype: DTypeLike, /) -> Plan:
    """Read the same bits as another dtype of the same width; `DTypeError` for another width or bool.

    >>> import tensorbackend as tb
    >>> tb.bitcast(tb.asarray([1.0]), "int32").tolist() == [0x3F800000]
    True
    """
    dtype = as_dtype(dtype)
    if dtype.bits != x.dtype.bits or "bool" in (dtype.kind, x.dtype.kind):
        raise DTypeError(expected(f"a dtype of {x.dtype.bits} bits other than bool", dtype=dtype, tensor=x))
    return Plan(x.replace(dtype=dtype), (x.dtype,))
