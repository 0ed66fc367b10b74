"""Layers of networks that onnxruntime's tools have quantised, in the domain com.microsoft."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import tensorbackend as tb
from tensorbackend import Tensor
from tensorbackend.errors import ArgumentError, expected

from ..errors import ModelError
from .activations import leaky_relu, softmax, softmax_of_rows
from .pooling import average_pool
from .quantisation import dequantize, dynamic_quantize_matmul, matmul_integer, matmul_integer_to_float, quantize
from .recurrent import LSTM_ACTIVATIONS, RecurrentAttributes, run_lstm
from .registry import MICROSOFT, operator, refuse
from .transformers import self_attention
from .windows import PoolAttributes


@operator("DynamicQuantizeLSTM", domain=MICROSOFT)
def dynamic_quantize_lstm(
    x: Tensor,
    weights: Tensor,
    recurrence: Tensor,
    bias: Tensor | None = None,
    lengths: Tensor | None = None,
    state: Tensor | None = None,
    memory: Tensor | None = None,
    peepholes: Tensor | None = None,
    weight_scale: Tensor | None = None,
    weight_zero: Tensor | None = None,
    recurrence_scale: Tensor | None = None,
    recurrence_zero: Tensor | None = None,
    *,
    attributes: RecurrentAttributes,
    input_forget: int = 0,
) -> tuple[Tensor, ...]:
    """Long short-term memory of quantised weights; the input, and the output of each step, are quantised here."""

    def product(matrices: Tensor, scale: Tensor | None, zero: Tensor | None) -> Callable[[int, Tensor], Tensor]:
        if scale is None:
            raise ModelError(expected("a scale of the weights", scale=scale))
        return lambda place, z: dynamic_quantize_matmul(
            z, matrices[place], scale[place], None if zero is None else zero[place]
        )

    return run_lstm(
        attributes.layer(LSTM_ACTIVATIONS),
        x,
        product(weights, weight_scale, weight_zero),
        product(recurrence, recurrence_scale, recurrence_zero),
        (recurrence.shape[1], bool(input_forget)),
        (bias, lengths, state, memory, peepholes),
    )


@operator("QAttention", domain=MICROSOFT)
def quantised_attention(
    x: Tensor,
    weights: Tensor,
    bias: Tensor,
    x_scale: Tensor,
    weight_scale: Tensor,
    mask: Tensor | None = None,
    x_zero: Tensor | None = None,
    weight_zero: Tensor | None = None,
    past: Tensor | None = None,
    *,
    num_heads: int,
    do_rotary: int = 0,
    mask_filter_value: float = -10000.0,
    past_present_share_buffer: int = 0,
    scale: float = 0.0,
    unidirectional: int = 0,
) -> Any:
    """Self-attention with a quantised projection; also the next cache."""
    refuse(do_rotary=do_rotary, past_present_share_buffer=past_present_share_buffer)
    projected = matmul_integer_to_float(x, weights, x_scale, weight_scale, x_zero, weight_zero, bias)
    return self_attention(projected, (num_heads, None), mask, past, None, bool(unidirectional), scale)


@operator("QGemm", domain=MICROSOFT)
def quantised_gemm(
    x: Tensor,
    x_scale: Tensor,
    x_zero: Tensor,
    y: Tensor,
    y_scale: Tensor,
    y_zero: Tensor,
    z: Tensor | None = None,
    scale: Tensor | None = None,
    zero: Tensor | None = None,
    *,
    alpha: float = 1.0,
    transA: int = 0,
    transB: int = 0,
) -> Tensor:
    """alpha (x y + z) of quantised matrices: quantised if there is a scale of the result, else floats."""
    product = matmul_integer(x.T if transA else x, y.T if transB else y, x_zero, y_zero)
    total = (product if z is None else product + z).astype(x_scale.dtype) * (alpha * x_scale * y_scale)
    return total if scale is None else quantize(total, scale, zero)


@operator("QLinearAdd", domain=MICROSOFT)
def quantised_add(
    x: Tensor, x_scale: Tensor, x_zero: Tensor | None, y: Tensor, y_scale: Tensor, y_zero: Tensor | None,
    scale: Tensor, zero: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """A sum of quantised numbers, quantised."""
    return quantize(dequantize(x, x_scale, x_zero) + dequantize(y, y_scale, y_zero), scale, zero)


@operator("QLinearMul", domain=MICROSOFT)
def quantised_multiply(
    x: Tensor, x_scale: Tensor, x_zero: Tensor | None, y: Tensor, y_scale: Tensor, y_zero: Tensor | None,
    scale: Tensor, zero: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """A product of quantised numbers, quantised."""
    return quantize(dequantize(x, x_scale, x_zero) * dequantize(y, y_scale, y_zero), scale, zero)


@operator("QLinearSigmoid", domain=MICROSOFT)
def quantised_sigmoid(
    x: Tensor, x_scale: Tensor, x_zero: Tensor | None, scale: Tensor, zero: Tensor | None = None
) -> Tensor:
    """The sigmoid of quantised numbers, quantised."""
    return quantize(tb.sigmoid(dequantize(x, x_scale, x_zero)), scale, zero)


@operator("QLinearLeakyRelu", domain=MICROSOFT)
def quantised_leaky_relu(
    x: Tensor, x_scale: Tensor, x_zero: Tensor | None, scale: Tensor, zero: Tensor | None = None, *, alpha: float = 0.01
) -> Tensor:
    """The leaky relu of quantised numbers, quantised."""
    return quantize(leaky_relu(dequantize(x, x_scale, x_zero), alpha=alpha), scale, zero)


@operator("QLinearSoftmax", domain=MICROSOFT)
def quantised_softmax(
    x: Tensor, x_scale: Tensor, x_zero: Tensor | None, scale: Tensor, zero: Tensor, *, axis: int = -1, opset: int
) -> Tensor:
    """Softmax of quantised numbers, quantised; `opset` is that of the operator that it was made from."""
    function = softmax if opset >= 13 else softmax_of_rows
    return quantize(function(dequantize(x, x_scale, x_zero), axis=axis), scale, zero)


@operator("QLinearConcat", domain=MICROSOFT)
def quantised_concat(scale: Tensor, zero: Tensor, *triples: Tensor, axis: int) -> Tensor:
    """Quantised tensors one after another, with one scale; each comes with its own scale and zero point."""
    if len(triples) % 3:
        raise ModelError(expected("a scale and a zero point for each tensor", inputs=len(triples)))
    parts = (dequantize(*triples[place : place + 3]) for place in range(0, len(triples), 3))
    return quantize(tb.concat(list(parts), axis=axis), scale, zero)


@operator("QLinearGlobalAveragePool", domain=MICROSOFT)
def quantised_global_average_pool(
    x: Tensor, x_scale: Tensor, x_zero: Tensor, scale: Tensor, zero: Tensor, *, channels_last: int = 0
) -> Tensor:
    """The means over the spatial axes of quantised numbers, quantised."""
    axes = tuple(range(1, x.ndim - 1) if channels_last else range(2, x.ndim))
    return quantize(tb.mean(dequantize(x, x_scale, x_zero), axis=axes, keepdims=True), scale, zero)


@operator("QLinearAveragePool", domain=MICROSOFT)
def quantised_average_pool(
    x: Tensor,
    x_scale: Tensor,
    x_zero: Tensor | None,
    scale: Tensor,
    zero: Tensor | None = None,
    *,
    kernel_shape: tuple[int, ...],
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    channels_last: int = 0,
    count_include_pad: int = 0,
    pads: tuple[int, ...] | None = None,
    strides: tuple[int, ...] | None = None,
) -> Tensor:
    """The mean of each window of quantised numbers, quantised."""
    floats = dequantize(x, x_scale, x_zero)
    pooled = average_pool(
        tb.moveaxis(floats, -1, 1) if channels_last else floats,
        attributes=PoolAttributes(
            kernel_shape=kernel_shape, auto_pad=auto_pad, ceil_mode=ceil_mode, pads=pads, strides=strides
        ),
        count_include_pad=count_include_pad,
    )
    return quantize(tb.moveaxis(pooled, 1, -1) if channels_last else pooled, scale, zero)


@operator("MatMulNBits", domain=MICROSOFT)
def matmul_of_bits(
    x: Tensor,
    codes: Tensor,
    scales: Tensor,
    zeros: Tensor | None = None,
    groups: Tensor | None = None,
    bias: Tensor | None = None,
    *,
    K: int,
    N: int,
    bits: int = 4,
    block_size: int,
    accuracy_level: int = 0,
    weight_prepacked: int = 0,
) -> Tensor:
    """x times the transpose of a matrix (N, K) of integers of a few bits, whose blocks of K have scales."""
    refuse(weight_prepacked=weight_prepacked)
    if bits not in (2, 4, 8):
        raise ArgumentError(expected("integers of 2, 4 or 8 bits", bits=bits))
    blocks = -(-K // block_size)
    scale = tb.reshape(scales, (N, blocks))
    rows = tb.reshape(codes, (N, -1))
    points = None if zeros is None else tb.reshape(zeros, (N, -1))
    packed = points is not None and tb.isdtype(points.dtype, "integral")
    if points is not None and packed:
        points = unpacked(points, bits)[:, :blocks]
    if groups is None and (points is None or packed):
        padded = tb.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, blocks * block_size - K)])
        product = _product(bits, block_size)(padded, rows, scale, points)
    else:
        groups = tb.arange(K, like=scale, dtype=tb.int64) // block_size if groups is None else groups
        whole = _shifted(rows, points, bits, scale, lambda zero: tb.take(zero, groups, axis=1), K)
        product = x @ (whole * tb.take(scale, groups, axis=1)).T.astype(x.dtype)
    return product if bias is None else product + bias


def _shifted(
    rows: Tensor, points: Tensor | None, bits: int, scale: Tensor, spread: Callable[[Tensor], Tensor], count: int
) -> Tensor:
    """The integers of a matrix less the zero point of each, as floats; `spread` has one for each column."""
    whole = unpacked(rows, bits).astype(scale.dtype)[:, :count]
    return whole - (2 ** (bits - 1) if points is None else spread(points.astype(scale.dtype)))


_KINDS = {2: (tb.int2, tb.uint2), 4: (tb.int4, tb.uint4), 8: (tb.int8, tb.uint8)}
"""The dtypes of signed and of unsigned integers by their bits."""


@cache
def _product(bits: int, block: int) -> Callable[..., Tensor]:
    """The product of a tensor with the transpose of packed rows, a part of which is unpacked at a time."""
    middle = 2 ** (bits - 1)

    def quantised(codes: Tensor, scale: Tensor, points: Tensor | None) -> tb.Quantized:
        if points is None:  # an integer around the middle has the signed code with the upper bit turned
            codes = tb.bitwise_xor(codes, sum(middle << place for place in range(0, 8, bits)))
        kind = _KINDS[bits][points is not None]
        values = codes.T if bits < 8 or points is not None else tb.bitcast(codes.T, tb.int8)
        count = scale.shape[1] * block
        template = tb.Template((count, scale.shape[0]), scale.dtype)
        zeros = None if points is None else points.T
        return tb.Quantized(values, scale.T, zeros, None, kind, template, 0, block)

    @tb.custom_gradient
    def product(x: Tensor, codes: Tensor, scale: Tensor, points: Tensor | None) -> Any:
        matrix = quantised(codes, scale, points)

        def pullback(cotangent: Tensor) -> tuple[Tensor | None, ...]:
            _, by_x = tb.vjp(lambda x: tb.quantized_dot(x, matrix), x)
            whole = _shifted(codes, points, bits, scale, lambda zero: tb.repeat(zero, block, axis=1), x.shape[-1])
            both = tb.reshape(cotangent, (-1, scale.shape[0])).T @ tb.reshape(x, (-1, x.shape[-1]))
            slopes = tb.sum(tb.reshape(both.astype(scale.dtype) * whole, (*scale.shape, block)), axis=-1)
            return by_x(cotangent)[0], None, slopes, None

        return tb.quantized_dot(x, matrix), pullback

    return product


def unpacked(x: Tensor, bits: int) -> Tensor:
    """Integers of a few bits, of which each byte of the last axis has several, the first in its lowest bits."""
    if bits == 8:
        return x
    parts = [(x // 2**place) % 2**bits for place in range(0, 8, bits)]
    return tb.reshape(tb.stack(parts, axis=-1), (*x.shape[:-1], x.shape[-1] * (8 // bits)))
