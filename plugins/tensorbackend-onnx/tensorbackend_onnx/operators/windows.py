"""Convolutions and pools: what is made of the elements in each window."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import tensorbackend as tb
from tensorbackend import Tensor
from tensorbackend.errors import ArgumentError, ShapeError, expected
from tensorbackend.protocol.window import Windows

from .activations import fused
from .registry import MICROSOFT, Given, Ints, Maybe, Node, operator, rows
from .shape import by_channel


def windows_of(
    given: Given, spatial: Sequence[int], sizes: Sequence[int], *, ceil_mode: int | None = 0, auto_pad: str = ""
) -> Windows:
    """The windows of these sizes along spatial axes."""
    rank, chosen = len(spatial), auto_pad or given.auto_pad
    steps, gaps = given.strides or (1,) * rank, given.dilations or (1,) * rank
    numbers = given.pads or (0,) * (2 * rank)
    if not len(sizes) == len(steps) == len(gaps) == rank or len(numbers) != 2 * rank:
        raise ShapeError(expected(f"windows of {rank} axes", kernel=tuple(sizes), strides=steps, pads=numbers))
    if min((*steps, *gaps, *sizes), default=1) < 1:
        raise ArgumentError(
            expected("windows, strides and dilations of at least 1", kernel=tuple(sizes), strides=steps)
        )
    found = Windows(tuple(sizes), steps, tuple(zip(numbers[:rank], numbers[rank:], strict=True)), gaps)
    axes = list(zip(spatial, found.spans, steps, strict=True))
    if chosen in ("SAME_UPPER", "SAME_LOWER"):
        missing = [max((-(-size // stride) - 1) * stride + span - size, 0) for size, span, stride in axes]
        return found._replace(padding=halves(missing, chosen))
    if chosen == "VALID":
        return found._replace(padding=((0, 0),) * rank)
    return found._replace(padding=tuple(map(_completed, axes, found.padding))) if ceil_mode else found


def halves(numbers: Sequence[int], word: str) -> tuple[tuple[int, int], ...]:
    """Numbers in two parts, the larger one at the end for the word SAME_UPPER."""
    return tuple((n // 2, n - n // 2) if word == "SAME_UPPER" else (n - n // 2, n // 2) for n in numbers)


def _completed(axis: tuple[int, int, int], padding: tuple[int, int]) -> tuple[int, int]:
    """The padding with which the last window is whole; its end is negative where x has more than the windows need."""
    (size, span, stride), (low, high) = axis, padding
    count = -(-(low + size + high - span) // stride) + 1
    if (count - 1) * stride >= size + low:  # a window that would begin in the padding at the end
        count -= 1
    return low, (count - 1) * stride + span - size - low


def along(rank: int, **options: Sequence[Any]) -> dict[str, dict[int, Any]]:
    """Options of the spatial axes of a tensor (batch, channels, *spatial)."""
    return {name: {2 + axis: values[axis] for axis in range(rank)} for name, values in options.items()}


def sliding(found: Windows) -> dict[str, Any]:
    """The options of `tb.window_max` and the like, for a tensor (batch, channels, *spatial)."""
    sizes, strides, padding, dilations = found
    return along(len(sizes), window=sizes, strides=strides, padding=padding, dilations=dilations)


@operator("Conv")
def conv(x: Tensor, kernel: Tensor, bias: Maybe = None, *, given: Given) -> Tensor:
    """Sums of products of a kernel (out, channels, *spatial) with windows of x (batch, channels, *spatial)."""
    _, strides, padding, dilations = windows_of(given, x.shape[2:], kernel.shape[2:])
    result = tb.conv(x, kernel, strides=strides, padding=padding, kernel_dilation=dilations, feature_groups=given.group)
    return result if bias is None else result + by_channel(bias, result.ndim)


WINDOWS: dict[str, Any] = {"auto_pad": "NOTSET", **dict.fromkeys(("dilations", "kernel_shape", "pads", "strides"))}


@operator("FusedConv", domain=MICROSOFT, activation="", activation_params=(), group=1, **WINDOWS)
def fused_conv(x: Tensor, kernel: Tensor, bias: Maybe = None, added: Maybe = None, *, given: Given) -> Tensor:
    """A convolution, a tensor that is added, and an activation, which onnxruntime has joined."""
    result = conv(x, kernel, bias, given=given)
    return fused(result if added is None else result + added, given.activation, given.activation_params)


@operator("ConvTranspose")
def conv_transpose(x: Tensor, kernel: Tensor, bias: Maybe = None, *, given: Given) -> Tensor:
    """The transpose of a convolution, by a kernel (channels, out, *spatial)."""
    spatial, word = x.shape[2:], given.auto_pad
    found = windows_of(given, spatial, kernel.shape[2:], auto_pad="VALID" if word == "VALID" else "NOTSET")
    added, padding = given.output_padding or (0,) * len(spatial), found.padding
    if given.output_shape is not None or word.startswith("SAME"):
        same = tuple(size * stride for size, stride in zip(spatial, found.strides, strict=True))
        targets = given.output_shape[-len(spatial) :] if given.output_shape is not None else same
        axes = zip(found.strides, spatial, added, found.spans, targets, strict=True)
        surplus = [stride * (size - 1) + more + span - target for stride, size, more, span, target in axes]
        padding = halves(surplus, word)
    return tb.nn.conv_transpose(
        x,
        kernel,
        bias,
        axis=1,
        strides=found.strides,
        padding=[(low, high - more) for (low, high), more in zip(padding, added, strict=True)],
        dilation=found.dilations,
        groups=given.group,
    )


@operator("DeformConv", since=19)
def deform_conv(
    x: Tensor, kernel: Tensor, offset: Tensor, bias: Maybe = None, mask: Maybe = None, *, given: Given
) -> Tensor:
    """A convolution, each element of whose windows is read at a place of its own."""
    _, strides, padding, dilation = windows_of(given, x.shape[2:], kernel.shape[2:])
    groups: dict[str, int] = {"groups": given.group, "offset_groups": given.offset_group}
    return tb.nn.deform_conv(
        x, kernel, offset, bias, mask, strides=strides, padding=padding, dilation=dilation, **groups
    )


@operator("Col2Im")
def col2im(x: Tensor, image_shape: Ints, block_shape: Ints, *, given: Given) -> Tensor:
    """Images, each element of which is the sum of the elements of blocks there."""
    found = windows_of(given, image_shape, block_shape)
    rank = len(image_shape)
    blocks = tb.reshape(x, (x.shape[0], -1, *block_shape, *found.places(image_shape)))
    patches = tb.permute_dims(blocks, (0, 1, *range(2 + rank, 2 + 2 * rank), *range(2, 2 + rank)))
    return tb.fold(patches, along(rank, sizes=image_shape)["sizes"], **sliding(found))


def pooled(x: Tensor, given: Given) -> Windows:
    """The windows of a pool of x (batch, channels, *spatial)."""
    return windows_of(given, x.shape[2:], given.kernel_shape, ceil_mode=given.ceil_mode)


@operator("MaxPool")
def max_pool(x: Tensor, *, given: Given, node: Node) -> Any:
    """The largest element of each window, and where it is in the whole tensor."""
    options = sliding(pooled(x, given))
    largest = tb.window_max(x, **options)
    if not node.wants(1):
        return largest
    positions = tb.window_argmax(x, **options)
    if given.storage_order:  # the images are stored by columns
        image = math.prod(x.shape[2:])
        places = tb.unravel_index(tb.remainder(positions, image), x.shape[2:])
        columns = tb.ravel_multi_index(places[::-1], x.shape[:1:-1])
        positions = positions - tb.remainder(positions, image) + columns
    return largest, positions


@operator("AveragePool")
def average_pool(x: Tensor, *, given: Given) -> Tensor:
    """The mean of each window, over the elements of x or, with `count_include_pad`, those of the padding as well."""
    found = pooled(x, given)
    options, counted = sliding(found), tb.ones((1, 1, *x.shape[2:]), dtype=x.dtype, like=x)
    total = tb.window_sum(x, **options)
    if given.count_include_pad:  # without what makes the last windows whole
        own = windows_of(given, x.shape[2:], given.kernel_shape).padding
        counted = tb.pad(counted, [(0, 0), (0, 0), *own], value=1)
        rest = tuple((0, high - inside) for (_, high), (_, inside) in zip(found.padding, own, strict=True))
        options = sliding(found._replace(padding=rest))
    return total / tb.window_sum(counted, **options)


@operator("LpPool")
def lp_pool(x: Tensor, *, p: int = 2, given: Given) -> Tensor:
    """The p-norm of each window."""
    return tb.pow(tb.window_sum(tb.pow(tb.abs(x), p), **sliding(pooled(x, given))), 1 / p)


def spatial(x: Tensor) -> tuple[int, ...]:
    """The axes of images (batch, channels, *spatial)."""
    return tuple(range(2, x.ndim))


rows(
    {
        "GlobalAveragePool": lambda x: tb.mean(x, axis=spatial(x), keepdims=True),
        "GlobalLpPool": lambda x, *, p=2: tb.pow(tb.sum(tb.pow(tb.abs(x), p), axis=spatial(x), keepdims=True), 1 / p),
        "GlobalMaxPool": lambda x: tb.max(x, axis=spatial(x), keepdims=True),
    }
)


@operator("MaxUnpool")
def max_unpool(x: Tensor, indices: Tensor, output_shape: Ints | None = None, *, given: Given) -> Tensor:
    """Elements at the places where `max_pool` found them, among zeros.

    The places are those in the smallest tensor that the pool may have had, whatever the shape of the output.
    """
    found = pooled(x, given)
    axes = zip(x.shape[2:], found.strides, found.sizes, found.padding, strict=True)
    least = (*x.shape[:2], *((count - 1) * stride + size - sum(pad) for count, stride, size, pad in axes))
    image = tb.nn.max_unpool(x, indices, least)
    if output_shape is None:
        return image
    return tb.pad(image, [(0, target - size) for target, size in zip(output_shape, least, strict=True)])
