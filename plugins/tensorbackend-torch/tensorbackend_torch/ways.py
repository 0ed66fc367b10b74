"""How operands are converted for PyTorch's functions, which do not support every dtype as tensorbackend does.

PyTorch supports uint16, uint32 and uint64 only in part: it stores, copies and converts them, but neither adds nor
compares them. Only some of its functions compute float16 and bfloat16 in float32. The decorator `kernels.kernel` on a
callback names the conversion, or way, of such operands and applies it. The table in WAYS.md is generated from it.
"""

from __future__ import annotations

from functools import cache
from typing import Literal, TypeAlias

from tensorbackend.dtypes import ALL_DTYPES, NARROW_DTYPES, DType, bfloat16, float16, float32, uint16, uint32, uint64

from .library import torch

Array: TypeAlias = "torch.Tensor"
"""A PyTorch tensor; `Tensor` is that of tensorbackend."""

UNSIGNED = {uint16: "int16", uint32: "int32", uint64: "int64"}
"""The dtypes that PyTorch supports only in part, with its signed dtype of the same width."""

NARROW = frozenset({float16, bfloat16})
"""The floating dtypes that are computed in float32."""

Unsigned: TypeAlias = Literal["none", "own", "bits", "order"]
UNSIGNED_WAYS: dict[Unsigned, str] = {
    "none": "such operands never arrive",
    "own": "the callback's own way: by their bits, or widened to int64, uint64 by its two halves",
    "bits": "viewed as the signed dtype of the same width: the bits of the result are the same",
    "order": "viewed as the signed dtype of the same width with the highest bit turned over: the order is the same",
}
Narrow: TypeAlias = Literal["own", "float32", "float64"]
NARROW_WAYS: dict[Narrow, str] = {
    "own": "as they are",
    "float32": "in float32, rounded once",
    "float64": "in float64, rounded once; float32 too",
}


@cache
def torch_dtype(dtype: DType) -> torch.dtype:
    """PyTorch's dtype of the same name; uint8 for narrow dtypes, whose payloads hold codes."""
    counterpart: torch.dtype = getattr(torch, "uint8" if dtype.is_narrow else dtype.name)
    return counterpart


@cache
def signed_dtype(dtype: DType) -> torch.dtype:
    """Returns the dtype that computes with a dtype's bits: the signed one for uint16, uint32 and uint64."""
    signed: torch.dtype = getattr(torch, UNSIGNED.get(dtype, dtype.name))
    return signed


@cache
def dtypes() -> dict[torch.dtype, DType]:
    """Maps PyTorch's dtypes to those of tensorbackend."""
    return {torch_dtype(dtype): dtype for dtype in ALL_DTYPES}


@cache
def narrow_dtypes() -> dict[torch.dtype, DType]:
    """Maps PyTorch's dtypes to narrow ones: those with an element in each byte, which can be viewed as codes."""
    named = {getattr(torch, dtype.name, None): dtype for dtype in NARROW_DTYPES if dtype.bits == 8}
    return {dtype: ours for dtype, ours in named.items() if dtype is not None}


def dtype_of(dtype: torch.dtype) -> DType:
    """Our dtype for one of PyTorch's."""
    return dtypes()[dtype]


def bits_of(values: Array) -> Array:
    """A view of uint16, uint32 or uint64 as the signed dtype; anything else itself."""
    signed = UNSIGNED.get(dtype_of(values.dtype))
    return values if signed is None else values.view(getattr(torch, signed))


def turned_over(values: Array) -> Array:
    """Flips the highest bit of signed integers: makes integers in the order of the unsigned ones, and back."""
    return values ^ torch.iinfo(values.dtype).min


def wide(values: Array, dtype: DType) -> Array:
    """Converts values to float32 if `dtype` is float16 or bfloat16."""
    return values.to(torch_dtype(float32)) if dtype in NARROW else values


def in_order(values: Array) -> Array:
    """Returns values in the order of the elements: for uint16, uint32 and uint64, signed integers of their width."""
    return turned_over(bits_of(values)) if dtype_of(values.dtype) in UNSIGNED else values


_ONE_BY_ONE = 1 << 7
"""Up to this number of terms, it is accurate enough to add them one by one in their own width."""


def add_rows(target: Array, positions: Array, rows: Array) -> Array:
    """Adds rows to a tensor in place; many in float64 and complex128, which the result then has; complex numbers by
    parts.

    A GPU adds a complex number times 1 + 0j, which turns an infinite number into NaN.
    """
    if len(positions) > _ONE_BY_ONE and (target.is_floating_point() or target.is_complex()):
        wider = torch.complex128 if target.is_complex() else torch.float64
        target, rows = target.to(wider), rows.to(wider)
    if target.is_complex():
        torch.view_as_real(target).index_add_(0, positions, torch.view_as_real(rows.resolve_conj()))
        return target
    return target.index_add_(0, positions, rows)
