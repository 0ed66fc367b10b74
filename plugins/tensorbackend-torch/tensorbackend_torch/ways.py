"""How a callback reaches PyTorch's functions, which do not take every dtype as tensorbackend means it.

PyTorch has uint16, uint32 and uint64 by halves: it holds, copies and converts them, but neither adds nor compares
them. float16 and bfloat16 it computes in float32 in some functions only. The decorator `kernels.kernel` says on each
callback which way such operands go; it takes them that way, and the table in WAYS.md is read off it.
"""

from __future__ import annotations

from functools import cache
from typing import Literal, TypeAlias

from tensorbackend.dtypes import ALL_DTYPES, DType, bfloat16, float16, float32, uint16, uint32, uint64

from .library import torch

Array: TypeAlias = "torch.Tensor"
"""PyTorch's tensor; a `Tensor` is tensorbackend's."""

UNSIGNED = {uint16: "int16", uint32: "int32", uint64: "int64"}
"""The dtypes that PyTorch has by halves, with its signed dtype of the same width."""

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
    """PyTorch's dtype of the same name."""
    counterpart: torch.dtype = getattr(torch, dtype.name)
    return counterpart


@cache
def signed_dtype(dtype: DType) -> torch.dtype:
    """PyTorch's dtype that computes with a dtype's bits: of the wider unsigned ones the signed one."""
    signed: torch.dtype = getattr(torch, UNSIGNED.get(dtype, dtype.name))
    return signed


@cache
def dtypes() -> dict[torch.dtype, DType]:
    """PyTorch's dtypes that we have, with ours."""
    return {torch_dtype(dtype): dtype for dtype in ALL_DTYPES}


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
    """In float32 where a dtype is narrower."""
    return values.to(torch_dtype(float32)) if dtype in NARROW else values


def in_order(values: Array) -> Array:
    """What compares as the elements do: of uint16, uint32 and uint64 signed integers of their width."""
    return turned_over(bits_of(values)) if dtype_of(values.dtype) in UNSIGNED else values


def add_rows(target: Array, positions: Array, rows: Array) -> Array:
    """A tensor to which rows are added in place; complex numbers by parts.

    A GPU adds a complex number times 1 + 0j, which makes NaN of an infinite one.
    """
    if target.is_complex():
        torch.view_as_real(target).index_add_(0, positions, torch.view_as_real(rows.resolve_conj()))
        return target
    return target.index_add_(0, positions, rows)
