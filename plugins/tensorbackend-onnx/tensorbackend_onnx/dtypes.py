"""ONNX's element types and the dtypes of tensors."""

from __future__ import annotations

from contextlib import suppress

import tensorbackend as tb
from onnx import TensorProto, helper
from tensorbackend.dtypes import as_dtype
from tensorbackend.errors import DTypeError

from .errors import ModelError

DTYPES: dict[int, tb.DType] = {}
"""The dtype of each element type. Float8 without infinities and without -0.0 ("fnuz") and strings have none."""

for _number in helper.get_all_tensor_dtypes():
    with suppress(DTypeError):
        DTYPES[_number] = as_dtype(helper.tensor_dtype_to_np_dtype(_number))

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
