"""Conversion between the dtypes of PhiML and tensorbackend, and PhiML's rules for common dtypes."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import tensorbackend as tb
from phiml.backend import _dtype as phiml_dtypes
from tensorbackend.dtypes import bool_

FLOATS = {16: tb.float16, 32: tb.float32, 64: tb.float64}
"""The floating dtype for each of PhiML's precisions."""

COMPLEX = {16: tb.complex64, 32: tb.complex64, 64: tb.complex128}
"""The complex dtype for each of PhiML's precisions; complex64 for 16, as there is no smaller one."""

TO_PHIML: dict[tb.DType, Any] = {
    bool_: phiml_dtypes.BOOL,
    tb.int8: phiml_dtypes.INT8,
    tb.int16: phiml_dtypes.INT16,
    tb.int32: phiml_dtypes.INT32,
    tb.int64: phiml_dtypes.INT64,
    tb.uint8: phiml_dtypes.UINT8,
    tb.uint16: phiml_dtypes.UINT16,
    tb.uint32: phiml_dtypes.UINT32,
    tb.uint64: phiml_dtypes.UINT64,
    tb.bfloat16: phiml_dtypes.BF16,
    tb.float16: phiml_dtypes.FLOAT16,
    tb.float32: phiml_dtypes.FLOAT32,
    tb.float64: phiml_dtypes.FLOAT64,
    tb.complex64: phiml_dtypes.COMPLEX64,
    tb.complex128: phiml_dtypes.COMPLEX128,
}

NUMBERS: dict[type, tb.DType] = {
    bool: bool_,
    int: tb.int32,
    float: tb.float64,
    complex: tb.complex128,
}
"""The dtype that PhiML gives a Python number of each type."""


def _fields(dtype: Any) -> tuple[Any, ...]:
    """A key that identifies one of PhiML's dtypes, whose own hash depends on the kind alone."""
    return dtype.kind, dtype.bits, dtype.unsigned, dtype.exponent_bits


_FROM_PHIML = {_fields(dtype): ours for ours, dtype in TO_PHIML.items()}


def from_phiml(dtype: Any) -> tb.DType:
    """Our dtype for one of PhiML's dtypes, or for a value that PhiML converts to one.

    `float`, for example, means the floating dtype of the current precision. Raises `KeyError`, as PhiML does, for
    a dtype that no tensor can have.
    """
    try:
        return _FROM_PHIML[_fields(dtype)]
    except (AttributeError, KeyError):
        pass
    try:
        return _FROM_PHIML[_fields(phiml_dtypes.DType.as_dtype(dtype))]
    except (AttributeError, KeyError):
        raise KeyError(f"expected a dtype that a tensor holds, got dtype={dtype!r}") from None


_RANK = {"bool": 0, "uint": 1, "int": 1, "float": 2, "complex": 3}


@lru_cache(None)
def combined(
    dtypes: tuple[tb.DType, ...], precision: int | None, bool_to_int: bool = False, int_to_float: bool = False
) -> tb.DType:
    """The common dtype of several operands by PhiML's rules.

    Floating and complex results have the current precision; of integers the widest dtype wins.

    >>> combined((tb.float64, tb.int64), 32), combined((tb.int8, tb.int32), 64), combined((bool_,), 32, True)
    (float32, int32, int32)
    """
    rank = max(_RANK[dtype.kind] for dtype in dtypes)
    if rank == 0 and bool_to_int:
        return tb.int32
    if rank == 0:
        return bool_
    if rank == 1 and not int_to_float:
        return max((dtype for dtype in dtypes if dtype.kind != "bool"), key=lambda dtype: dtype.bits)
    bits = precision or max(
        [dtype.bits // (2 if dtype.is_complex else 1) for dtype in dtypes if dtype.is_inexact] or [32]
    )
    return COMPLEX[bits] if rank == 3 else FLOATS[bits]


@lru_cache(None)
def steady(precision: int | None, bool_to_int: bool = False, int_to_float: bool = False) -> frozenset[tb.DType]:
    """The dtypes that a binary function keeps if both operands have them."""
    return frozenset(
        dtype for dtype in TO_PHIML if combined((dtype, dtype), precision, bool_to_int, int_to_float) is dtype
    )
