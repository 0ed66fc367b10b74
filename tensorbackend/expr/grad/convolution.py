"""Gradients of convolution."""

from __future__ import annotations

from ...ops.composite.convolution import Overlap, correlate, overhang, shifted_products
from ...ops.convolution import conv
from ...ops.creation.filled import zeros
from ...ops.indexing.slices import entries
from ...ops.shape import flip, permute_dims, reshape
from ...rules.convolution import Correlation
from ...rules.window import spread
from ...tensor import Tensor
from .linalg.factorisations import conjugate
from .registry import Cotangents, rule


def _swap_first_axes(x: Tensor, groups: int = 1) -> Tensor:
    """x with its first two axes exchanged, within each of the groups into which the first axis is divided."""
    first, second, *spatial = x.shape
    apart = reshape(x, (groups, first // groups, second, *spatial))
    order = (0, 2, 1, *range(3, apart.ndim))
    return reshape(permute_dims(apart, order), (groups * second, first // groups, *spatial))


@rule("conv")
def _conv(cotangent: Tensor, out: Tensor, x: Tensor, kernel: Tensor, *, correlation: Correlation) -> Cotangents:
    """Both cotangents are convolutions (Dumoulin and Visin, "A guide to convolution arithmetic for deep learning",
    2016, chapter 4). For x, the cotangent, dilated by the strides, is convolved with the flipped kernel. For the
    kernel, x is convolved with the cotangent as a kernel that is dilated by the strides."""
    if not (x.size and kernel.size and cotangent.size):
        return tuple(zeros(operand.shape, dtype=operand.dtype, backend=operand.backend) for operand in (x, kernel))
    windows, input_dilation, feature_groups, batch_groups = correlation
    lengths = tuple(map(spread, x.shape[2:], input_dilation))
    spans, moved = windows.spans, tuple(map(spread, out.shape[2:], windows.strides))
    lows = tuple(low for low, _ in windows.padding)
    groups = correlation.groups
    around = [
        (span - 1 - low, length + low - move)
        for span, low, length, move in zip(spans, lows, lengths, moved, strict=True)
    ]
    of_x = conv(
        cotangent,
        flip(_swap_first_axes(kernel, groups), axis=tuple(range(2, kernel.ndim))),
        strides=input_dilation,
        padding=around,
        input_dilation=windows.strides,
        kernel_dilation=windows.dilations,
        feature_groups=groups,
    )
    if batch_groups > 1:  # the groups are along the channels: they are moved back to the batch axis
        apart = reshape(of_x, (of_x.shape[0], batch_groups, x.shape[1], *of_x.shape[2:]))
        of_x = reshape(permute_dims(apart, (1, 0, *range(2, apart.ndim))), x.shape)
    if any(step > 1 for step in input_dilation):
        # Of a dilated x the windows would be as large as the cotangent. So the cotangent is convolved with x as a
        # kernel, which is dilated without zeros, and the result is flipped.
        of_kernel = conv(
            _swap_first_axes(cotangent),
            _swap_first_axes(x, batch_groups),
            strides=windows.dilations,
            padding=around,
            input_dilation=windows.strides,
            kernel_dilation=input_dilation,
            batch_groups=groups,
        )
        of_kernel = flip(of_kernel, axis=tuple(range(2, kernel.ndim)))
        apart = reshape(of_kernel, (kernel.shape[0] // groups, groups, *kernel.shape[1:]))
        return of_x, reshape(permute_dims(apart, (1, 0, *range(2, apart.ndim))), kernel.shape)
    of_kernel = conv(
        _swap_first_axes(x),
        _swap_first_axes(cotangent),
        strides=windows.dilations,
        padding=[
            (low, move + span - 1 - length - low)
            for span, low, length, move in zip(spans, lows, lengths, moved, strict=True)
        ],
        input_dilation=input_dilation,
        kernel_dilation=windows.strides,
        feature_groups=batch_groups,
        batch_groups=feature_groups,
    )
    return of_x, _swap_first_axes(of_kernel)


@rule("convolve")
def _convolve(cotangent: Tensor, out: Tensor, x1: Tensor, x2: Tensor, *, mode: Overlap) -> Cotangents:
    """Both cotangents are sums of the products that the result has: a padding would be multiplied by NaN."""
    if mode == "full":
        return correlate(cotangent, conjugate(x2), mode="valid"), correlate(cotangent, conjugate(x1), mode="valid")
    in_order = x2.shape[0] <= x1.shape[0]
    longer, shorter = (x1, x2) if in_order else (x2, x1)
    length, count = longer.shape[0], shorter.shape[0]
    low, high = overhang(mode, count)
    of_all = correlate(cotangent, conjugate(shorter), mode="full")
    of_longer = entries(of_all, 0, low, length) if mode == "same" else of_all
    of_shorter = flip(shifted_products(longer, cotangent, low, high))
    return (of_longer, of_shorter) if in_order else (of_shorter, of_longer)
