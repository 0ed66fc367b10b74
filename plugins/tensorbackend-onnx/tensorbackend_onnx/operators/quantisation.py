"""Quantised numbers: integers that represent floats by a scale and a zero point."""

from __future__ import annotations

from typing import Any

import tensorbackend as tb
from tensorbackend import Tensor

from ..dtypes import dtype_of
from .elementwise import cast_as
from .registry import MICROSOFT, Given, Maybe, operator
from .shape import by_channel
from .windows import conv


def spread(z: Tensor, x: Tensor, given: Given) -> Tensor:
    """A scale or zero point so that it broadcasts with x: one, one for each place on an axis, or one for each block."""
    axis, count = given.axis, given.block_size
    if z.size == 1 and z.ndim <= 1:
        return tb.reshape(z, ())
    if z.ndim == 1:
        return tb.reshape(z, (-1, *(1,) * (x.ndim - 1 - axis % x.ndim)))
    return tb.slice_along_axis(tb.repeat(z, count, axis=axis), 0, x.shape[axis], axis=axis) if count else z


def saturated(x: Tensor, dtype: tb.DType, saturate: int = 1) -> Tensor:
    """Integral numbers in an integer dtype; those out of its range become its minimum or maximum.

    Those beyond a floating dtype do so only if `saturate` says it.
    """
    if dtype.kind == "float":
        return cast_as(x, dtype, saturate)
    limits = tb.iinfo(dtype)
    return tb.clip(x, limits.min, limits.max).astype(dtype)


QUANTISING: dict[str, Any] = {"axis": 1, "block_size": 0, "output_dtype": 0, "precision": 0, "saturate": 1}
USUAL = Given(**QUANTISING)


@operator("QuantizeLinear")
@operator("QuantizeLinear", domain=MICROSOFT, **QUANTISING)
def quantize(x: Tensor, scale: Tensor, zero_point: Maybe = None, *, given: Given = USUAL) -> Tensor:
    """Floats as integers: divided by the scale, rounded to even, moved by the zero point."""
    dtype = zero_point.dtype if zero_point is not None else dtype_of(given.output_dtype or 2)
    wide = tb.float32 if x.dtype in (tb.float16, tb.bfloat16) else x.dtype
    wide = dtype_of(given.precision) if given.precision else wide
    wide = wide if tb.isdtype(wide, "real floating") else scale.dtype
    whole = x.astype(wide) / spread(scale.astype(wide), x, given)
    whole = whole if dtype.kind == "float" else tb.round(whole)
    if zero_point is not None:
        whole = whole + spread(zero_point, x, given).astype(wide)
    return saturated(whole, dtype, given.saturate)


@operator("DequantizeLinear")
@operator("DequantizeLinear", domain=MICROSOFT, axis=1, block_size=0, output_dtype=0)
def dequantize(x: Tensor, scale: Tensor, zero_point: Maybe = None, *, given: Given = USUAL) -> Tensor:
    """The floats that integers represent."""
    dtype = dtype_of(given.output_dtype) if given.output_dtype else scale.dtype
    exact = tb.float32 if x.dtype.kind == "float" else tb.int32
    whole = x.astype(exact) if x.dtype != exact else x
    if zero_point is not None:
        whole = whole - spread(zero_point, x, given).astype(exact)
    return (whole.astype(scale.dtype) * spread(scale, x, given)).astype(dtype)


@operator("DynamicQuantizeLinear")
def dynamic_quantize(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Floats as bytes by a scale and a zero point from their minimum and maximum."""
    least, largest = tb.minimum(tb.min(x), 0), tb.maximum(tb.max(x), 0)
    scale = (largest - least) / 255
    safe = tb.where(scale == 0, tb.ones_like(scale), scale)
    zero_point = saturated(tb.round(-least / safe), tb.uint8)
    return quantize(x, safe, zero_point), scale, zero_point


def difference(x: Tensor, zero_point: Maybe, *, rows: bool = False) -> Tensor:
    """The integers from their zero point on, in int32; `rows` says that each row has its own."""
    whole = x.astype(tb.int32)
    if zero_point is None:
        return whole
    zero = zero_point.astype(tb.int32)
    if zero.ndim == 1 and zero.size > 1 and rows:
        zero = zero[:, None]
    return whole - (tb.reshape(zero, ()) if zero.size == 1 else zero)


@operator("MatMulInteger")
def matmul_integer(x: Tensor, y: Tensor, x_zero: Maybe = None, y_zero: Maybe = None) -> Tensor:
    """Products of matrices of integers, in int32."""
    return tb.matmul(difference(x, x_zero, rows=True), difference(y, y_zero))


@operator("MatMulIntegerToFloat", domain=MICROSOFT)
def matmul_integer_to_float(
    x: Tensor,
    y: Tensor,
    x_scale: Tensor,
    y_scale: Tensor,
    x_zero: Maybe = None,
    y_zero: Maybe = None,
    bias: Maybe = None,
) -> Tensor:
    """Products of matrices of quantised numbers, as floats."""
    product = matmul_integer(x, y, x_zero, y_zero).astype(x_scale.dtype) * (x_scale * y_scale)
    return product if bias is None else product + bias


@operator("DynamicQuantizeMatMul", domain=MICROSOFT)
def dynamic_quantize_matmul(x: Tensor, y: Tensor, y_scale: Tensor, y_zero: Maybe = None, bias: Maybe = None) -> Tensor:
    """Products of matrices, of which the first is quantised here."""
    whole, scale, zero = dynamic_quantize(x)
    return matmul_integer_to_float(whole, y, scale, y_scale, zero, y_zero, bias)


@operator("ConvInteger")
def conv_integer(x: Tensor, kernel: Tensor, x_zero: Maybe = None, kernel_zero: Maybe = None, *, given: Given) -> Tensor:
    """A convolution of integers, in int32."""
    zero = kernel_zero
    if zero is not None and zero.size > 1:
        zero = tb.reshape(zero, (-1, *(1,) * (kernel.ndim - 1)))
    return conv(difference(x, x_zero), difference(kernel, zero), given=given)


@operator("QLinearConv")
def qlinear_conv(
    x: Tensor,
    x_scale: Tensor,
    x_zero: Tensor,
    kernel: Tensor,
    kernel_scale: Tensor,
    kernel_zero: Tensor,
    scale: Tensor,
    zero: Tensor,
    bias: Maybe = None,
    *,
    given: Given,
) -> Tensor:
    """A convolution of quantised numbers, quantised."""
    total = conv_integer(x, kernel, x_zero, kernel_zero, given=given)
    if bias is not None:
        total = total + by_channel(bias, total.ndim)
    factor = x_scale * kernel_scale / scale
    return _requantised(total, by_channel(factor, total.ndim) if factor.size > 1 else factor, zero)


@operator("QLinearMatMul")
def qlinear_matmul(
    x: Tensor, x_scale: Tensor, x_zero: Tensor, y: Tensor, y_scale: Tensor, y_zero: Tensor, scale: Tensor, zero: Tensor
) -> Tensor:
    """Products of matrices of quantised numbers, quantised."""
    if x_scale.ndim == 1 and x_scale.size > 1:
        x_scale = x_scale[:, None]
    wide = tb.result_type(x_scale, tb.float32)
    factor = x_scale.astype(wide) * y_scale.astype(wide) / scale.astype(wide)
    return _requantised(matmul_integer(x, y, x_zero, y_zero), factor, zero)


def _requantised(total: Tensor, factor: Tensor, zero: Tensor) -> Tensor:
    factor = tb.reshape(factor, ()) if factor.size == 1 else factor
    whole = tb.round(total.astype(factor.dtype) * factor)
    return saturated(whole + tb.reshape(zero, ()).astype(whole.dtype), zero.dtype)
