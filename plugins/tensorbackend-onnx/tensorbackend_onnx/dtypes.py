"""ONNX's element types and the dtypes of tensors."""

from __future__ import annotations

import tensorbackend as tb
from onnx import TensorProto
from tensorbackend.dtypes import bool_

from .errors import ModelError

DTYPES: dict[int, tb.DType] = {
    TensorProto.BOOL: bool_,
    TensorProto.INT8: tb.int8,
    TensorProto.INT16: tb.int16,
    TensorProto.INT32: tb.int32,
    TensorProto.INT64: tb.int64,
    TensorProto.UINT8: tb.uint8,
    TensorProto.UINT16: tb.uint16,
    TensorProto.UINT32: tb.uint32,
    TensorProto.UINT64: tb.uint64,
    TensorProto.FLOAT16: tb.float16,
    TensorProto.BFLOAT16: tb.bfloat16,
    TensorProto.FLOAT: tb.float32,
    TensorProto.DOUBLE: tb.float64,
    TensorProto.COMPLEX64: tb.complex64,
    TensorProto.COMPLEX128: tb.complex128,
    TensorProto.FLOAT8E4M3FN: tb.float8_e4m3fn,
    TensorProto.FLOAT8E5M2: tb.float8_e5m2,
    TensorProto.FLOAT8E8M0: tb.float8_e8m0fnu,
    TensorProto.FLOAT4E2M1: tb.float4_e2m1fn,
    TensorProto.INT4: tb.int4,
    TensorProto.UINT4: tb.uint4,
    TensorProto.INT2: tb.int2,
    TensorProto.UINT2: tb.uint2,
}
"""The dtype of each element type. Float8 without infinities and without -0.0 ("fnuz") and strings have none."""

ELEMENT_TYPES: dict[tb.DType, int] = {dtype: number for number, dtype in DTYPES.items()}
"""The element type of each dtype."""


def part_dtype(dtype: tb.DType) -> tb.DType:
    """The dtype of the parts of complex numbers; any other dtype is its own."""
    return {tb.complex64: tb.float32, tb.complex128: tb.float64}.get(dtype, dtype)


def dtype_of(element_type: int) -> tb.DType:
    """The dtype of an element type; `ModelError` for one that tensors do not have, or that does not exist."""
    dtype = DTYPES.get(element_type)
    if dtype is None:
        known = TensorProto.DataType.values()
        name = TensorProto.DataType.Name(element_type).lower() if element_type in known else element_type
        raise ModelError(f"expected an element type that tensors have, got type={name}")
    return dtype
