"""Convolutions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import tensorbackend as tb
from tensorbackend import Tensor

from .activations import fused
from .registry import MICROSOFT, Ints, operator
from .windows import ConvAttributes, WindowAttributes


@operator("Conv")
def conv(x: Tensor, kernel: Tensor, bias: Tensor | None = None, *, attributes: ConvAttributes) -> Tensor:
    """Sums of products of a kernel (out, channels, *spatial) with windows of x (batch, channels, *spatial)."""
    found = attributes.windows(x.shape[2:], kernel.shape[2:])
    result = tb.conv(
        x,
        kernel,
        strides=found.strides,
        padding=found.padding,
        kernel_dilation=found.dilations,
        feature_groups=attributes.group,
    )
    return result if bias is None else result + by_channel(bias, result.ndim)


@operator("FusedConv", domain=MICROSOFT)
def fused_conv(
    x: Tensor,
    kernel: Tensor,
    bias: Tensor | None = None,
    added: Tensor | None = None,
    *,
    activation: str = "",
    activation_params: tuple[float, ...] = (),
    attributes: ConvAttributes,
) -> Tensor:
    """A convolution, a tensor that is added, and an activation, which onnxruntime has joined."""
    result = conv(x, kernel, bias, attributes=attributes)
    return fused(result if added is None else result + added, activation, activation_params)


def by_channel(x: Tensor, ndim: int) -> Tensor:
    """A tensor of one axis along the axis of channels of a tensor (batch, channels, *spatial)."""
    return tb.reshape(x, (-1, *(1,) * (ndim - 2)))


@operator("ConvTranspose")
def conv_transpose(
    x: Tensor,
    kernel: Tensor,
    bias: Tensor | None = None,
    *,
    attributes: ConvAttributes,
    output_padding: tuple[int, ...] | None = None,
    output_shape: tuple[int, ...] | None = None,
) -> Tensor:
    """The transpose of a convolution, by a kernel (channels, out, *spatial)."""
    spatial, auto_pad = x.shape[2:], attributes.auto_pad
    found = replace(attributes, auto_pad="NOTSET").windows(spatial, kernel.shape[2:])
    added = output_padding or (0,) * len(spatial)
    padding = found.padding
    if output_shape is not None or auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        same = tuple(size * stride for size, stride in zip(spatial, found.strides, strict=True))
        targets = output_shape[-len(spatial) :] if output_shape is not None else same
        rows = zip(found.strides, spatial, added, found.spans, targets, strict=True)
        surplus = [stride * (size - 1) + more + span - target for stride, size, more, span, target in rows]
        halves = [(n // 2, n - n // 2) for n in surplus]
        padding = tuple(halves if auto_pad == "SAME_UPPER" else [(high, low) for low, high in halves])
    elif auto_pad == "VALID":
        padding = ((0, 0),) * len(spatial)
    return tb.nn.conv_transpose(
        x,
        kernel,
        bias,
        axis=1,
        strides=found.strides,
        padding=[(low, high - more) for (low, high), more in zip(padding, added, strict=True)],
        dilation=found.dilations,
        groups=attributes.group,
    )


@operator("Col2Im")
def col2im(x: Tensor, image_shape: Ints, block_shape: Ints, *, attributes: WindowAttributes) -> Tensor:
    """Images, each element of which is the sum of the elements of blocks there."""
    found = attributes.windows(image_shape, block_shape)
    rank, count = len(image_shape), math.prod(block_shape)
    blocks = tb.reshape(x, (x.shape[0], x.shape[1] // count, *block_shape, *found.counts(image_shape)))
    patches = tb.permute_dims(blocks, (0, 1, *range(2 + rank, 2 + 2 * rank), *range(2, 2 + rank)))

    def along(values: Sequence[Any]) -> dict[int, Any]:
        return {2 + axis: value for axis, value in enumerate(values)}

    return tb.fold(
        patches,
        along(image_shape),
        along(block_shape),
        strides=along(found.strides),
        padding=along(found.padding),
        dilations=along(found.dilations),
    )
