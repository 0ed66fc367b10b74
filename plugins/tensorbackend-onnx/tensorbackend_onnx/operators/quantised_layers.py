"""Layers of networks that onnxruntime's tools have quantised, in the domain com.microsoft."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any

import tensorbackend as tb
from tensorbackend import Tensor
from tensorbackend.errors import ArgumentError, expected

from ..errors import ModelError
from .activations import ACTIVATIONS, ALONG_AXES, of_rows
from .quantisation import dequantize, dynamic_quantize_matmul, matmul_integer, matmul_integer_to_float, quantize
from .recurrent import LSTM, lstm, run_lstm
from .registry import MICROSOFT, Given, Maybe, Operator, declared, enter, operator, refuse
from .transformers import SELF, self_attended
from .windows import WINDOWS, average_pool


def dynamic_quantize_lstm(
    x: Tensor, weights: Tensor, recurrence: Tensor, *others: Maybe, given: Given
) -> tuple[Tensor, ...]:
    """Long short-term memory of quantised weights; the input, and the output of each step, are quantised here.

    The inputs of `lstm` are followed by the scale and the zero point of the weights, and those of the recurrence.
    """

    def product(matrices: Tensor, scale: Maybe = None, zero: Maybe = None) -> Callable[[int, Tensor], Tensor]:
        if scale is None:
            raise ModelError(expected("a scale of the weights", scale=scale))
        return lambda place, z: dynamic_quantize_matmul(
            z, matrices[place], scale[place], None if zero is None else zero[place]
        )

    products = product(weights, *others[5:7]), product(recurrence, *others[7:])
    return run_lstm(x, recurrence.shape[1], products, given, *others[:5])


_floats = declared(lstm, **LSTM)
enter(
    ("DynamicQuantizeLSTM",),
    MICROSOFT,
    _floats._replace(function=dynamic_quantize_lstm, readings=(*_floats.readings, *(None,) * 4)),
)


@operator("QAttention", domain=MICROSOFT, **SELF)
def quantised_attention(
    x: Tensor,
    weights: Tensor,
    bias: Tensor,
    x_scale: Tensor,
    weight_scale: Tensor,
    mask: Maybe = None,
    x_zero: Maybe = None,
    weight_zero: Maybe = None,
    past: Maybe = None,
    *,
    given: Given,
) -> Any:
    """Self-attention with a quantised projection; also the next cache."""
    projected = matmul_integer_to_float(x, weights, x_scale, weight_scale, x_zero, weight_zero, bias)
    return self_attended(projected, mask, past, None, given)


@operator("QGemm", domain=MICROSOFT, alpha=1.0, transA=0, transB=0)
def quantised_gemm(
    x: Tensor,
    x_scale: Tensor,
    x_zero: Tensor,
    y: Tensor,
    y_scale: Tensor,
    y_zero: Tensor,
    z: Maybe = None,
    scale: Maybe = None,
    zero: Maybe = None,
    *,
    given: Given,
) -> Tensor:
    """alpha (x y + z) of quantised matrices: quantised if there is a scale of the result, else floats."""
    product = matmul_integer(x.T if given.transA else x, y.T if given.transB else y, x_zero, y_zero)
    total = (product if z is None else product + z).astype(x_scale.dtype) * (given.alpha * x_scale * y_scale)
    return total if scale is None else quantize(total, scale, zero)


def _pool(x: Tensor, *, given: Given) -> Tensor:
    """The mean of each window, of images whose channels may be last."""
    pooled = average_pool(tb.moveaxis(x, -1, 1) if given.channels_last else x, given=given)
    return tb.moveaxis(pooled, 1, -1) if given.channels_last else pooled


def _global_pool(x: Tensor, *, channels_last: int = 0) -> Tensor:
    """The mean over the spatial axes."""
    return tb.mean(x, axis=tuple(range(1, x.ndim - 1) if channels_last else range(2, x.ndim)), keepdims=True)


def _softmax(x: Tensor, *, axis: int = -1, opset: int) -> Tensor:
    """Softmax; `opset` is that of the operator that it was made from."""
    return (ALONG_AXES["Softmax"] if opset >= 13 else of_rows(ALONG_AXES["Softmax"]))(x, axis=axis)


QUANTISED: dict[str, Callable[..., Tensor]] = {
    "QLinearAdd": tb.add,
    "QLinearGlobalAveragePool": _global_pool,
    "QLinearLeakyRelu": ACTIVATIONS["LeakyRelu"],
    "QLinearMul": tb.multiply,
    "QLinearSigmoid": tb.sigmoid,
    "QLinearSoftmax": _softmax,
}
"""Functions of floats that are computed of quantised numbers, and whose result is quantised."""


def _quantised(function: Callable[..., Tensor], **defaults: Any) -> Operator:
    """The operator whose inputs each have a scale and a zero point, after which come those of the result."""
    floats = declared(function, **defaults)
    ends = 3 * len(floats.readings)

    @wraps(function)
    def compute(*inputs: Any, **attributes: Any) -> Tensor:
        numbers = [dequantize(*inputs[place : place + 3]) for place in range(0, ends, 3)]
        return quantize(function(*numbers, **attributes), *inputs[ends:])

    return floats._replace(function=compute, readings=(None,) * (ends + 2), least=ends + 1)


for _name, _function in QUANTISED.items():
    enter((_name,), MICROSOFT, _quantised(_function))
enter(
    ("QLinearAveragePool",), MICROSOFT, _quantised(_pool, ceil_mode=0, channels_last=0, count_include_pad=0, **WINDOWS)
)


@operator("QLinearConcat", domain=MICROSOFT)
def quantised_concat(scale: Tensor, zero: Tensor, *triples: Tensor, axis: int) -> Tensor:
    """Quantised tensors one after another, with one scale; each comes with its own scale and zero point."""
    if len(triples) % 3:
        raise ModelError(expected("a scale and a zero point for each tensor", inputs=len(triples)))
    parts = (dequantize(*triples[place : place + 3]) for place in range(0, len(triples), 3))
    return quantize(tb.concat(list(parts), axis=axis), scale, zero)


@operator("MatMulNBits", domain=MICROSOFT, weight_prepacked=0, accuracy_level=0)
def matmul_of_bits(
    x: Tensor,
    codes: Tensor,
    scales: Tensor,
    zeros: Maybe = None,
    groups: Maybe = None,
    bias: Maybe = None,
    *,
    K: int,
    N: int,
    bits: int = 4,
    block_size: int,
    given: Given,
) -> Tensor:
    """x times the transpose of a matrix (N, K) of integers of a few bits, whose blocks of K have scales."""
    refuse(weight_prepacked=given.weight_prepacked)
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
    rows: Tensor, points: Maybe, bits: int, scale: Tensor, spread: Callable[[Tensor], Tensor], count: int
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

    def quantised(codes: Tensor, scale: Tensor, points: Maybe) -> tb.Quantized:
        if points is None:  # an integer around the middle has the signed code with the upper bit turned
            codes = tb.bitwise_xor(codes, sum(middle << place for place in range(0, 8, bits)))
        kind = _KINDS[bits][points is not None]
        values = codes.T if bits < 8 or points is not None else tb.bitcast(codes.T, tb.int8)
        count = scale.shape[1] * block
        template = tb.Template((count, scale.shape[0]), scale.dtype)
        zeros = None if points is None else points.T
        return tb.Quantized(values, scale.T, zeros, None, kind, template, 0, block)

    @tb.custom_gradient
    def product(x: Tensor, codes: Tensor, scale: Tensor, points: Maybe) -> Any:
        matrix = quantised(codes, scale, points)

        def pullback(cotangent: Tensor) -> tuple[Maybe, ...]:
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
