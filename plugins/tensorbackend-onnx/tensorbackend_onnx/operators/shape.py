"""Operators that move elements, and those that return shapes."""

from __future__ import annotations

import math
from itertools import accumulate
from typing import Any

import tensorbackend as tb
from tensorbackend import Tensor
from tensorbackend.errors import ShapeError, expected

from .registry import Given, Int, Ints, Node, operator, rows


def host(numbers: Any, dtype: Any = tb.int64) -> Tensor:
    """A tensor where shapes are computed, which is known while a function is traced."""
    return tb.tensor(numbers, dtype=dtype, backend="binary")


def by_channel(x: Tensor, ndim: int) -> Tensor:
    """A tensor of one axis along the axis of channels of a tensor (batch, channels, *spatial)."""
    return tb.reshape(x, (-1, *(1,) * (ndim - 2)))


rows(
    {
        "Concat": lambda *xs, axis=1: tb.concat(xs, axis=axis),
        "Shape": lambda x, *, start=0, end=None: host(list(x.shape[start:end])),
        "Size": lambda x: host(x.size),
        "Transpose": lambda x, *, perm=None: tb.permute_dims(x, perm or tuple(reversed(range(x.ndim)))),
    }
)


@operator("Squeeze", attributes_before=13)
def squeeze(x: Tensor, axes: Ints | None = None) -> Tensor:
    """Axes of size 1 are dropped, all of them unless some are given."""
    return tb.squeeze(x, axis=axes)


@operator("Unsqueeze", attributes_before=13)
def unsqueeze(x: Tensor, axes: Ints) -> Tensor:
    """Axes of size 1 are added, at positions in the result."""
    return tb.expand_dims(x, axes) if axes else x


@operator("Expand")
def expand(x: Tensor, shape: Ints) -> Tensor:
    """Broadcast to a shape, with which the tensor's own broadcasts."""
    return tb.broadcast_to(x, tb.broadcast_shapes(x.shape, shape))


@operator("Tile")
def tile(x: Tensor, repeats: Ints, axis: Int | None = None) -> Tensor:
    """Copies along each axis; before opset 6 along one."""
    return tb.tile(x, repeats if axis is None else tuple(repeats[0] if a == axis else 1 for a in range(x.ndim)))


@operator("Trilu")
def trilu(x: Tensor, k: Int | None = None, *, upper: int = 1) -> Tensor:
    """The upper or the lower triangle of matrices."""
    return tb.triu(x, k=k or 0) if upper else tb.tril(x, k=k or 0)


@operator("Reshape", attributes_before=5)
def reshape(x: Tensor, shape: Ints, *, allowzero: int = 0) -> Tensor:
    """The elements in another shape, in which 0 means the present size of the axis unless zeros are allowed."""
    if not allowzero:
        if any(new == 0 for new in shape[x.ndim :]):
            raise ShapeError(expected("an axis of x for each 0 of the shape", shape=shape, x=x))
        shape = tuple(x.shape[axis] if new == 0 else new for axis, new in enumerate(shape))
    return tb.reshape(x, shape)


@operator("Flatten")
def flatten(x: Tensor, *, axis: int = 1) -> Tensor:
    """A matrix: the axes before one, and those from it on."""
    axis = axis + x.ndim if axis < 0 else axis
    return tb.reshape(x, (math.prod(x.shape[:axis]), math.prod(x.shape[axis:])))


@operator("Split", attributes_before=13)
def split_(x: Tensor, split: Ints | None = None, *, axis: int = 0, num_outputs: int | None = None, node: Node) -> Any:
    """Parts along an axis: of these sizes, or of equal ones but for a smaller last."""
    if split is None:
        count = num_outputs or len(node.outputs)
        whole, each = x.shape[axis], -(-x.shape[axis] // count)
        split = tuple(max(min(each, whole - each * part), 0) for part in range(count))
    if sum(split) != x.shape[axis]:
        raise ShapeError(expected(f"parts whose sizes add up to {x.shape[axis]}", split=split))
    return tb.split(x, [*accumulate(split[:-1])], axis=axis)


@operator("Slice", attributes_before=10)
def slice_(x: Tensor, starts: Ints, ends: Ints, axes: Ints | None = None, steps: Ints | None = None) -> Tensor:
    """A part of each axis; bounds count from the end if negative, and are within the axis otherwise."""
    keys = [slice(None)] * x.ndim
    chosen = axes if axes is not None else tuple(range(len(starts)))
    for axis, start, end, step in zip(chosen, starts, ends, steps or (1,) * len(starts), strict=True):
        keys[axis] = slice(max(start, -x.shape[axis]), end, step)
    return tb.getitem(x, tuple(keys))


@operator("Pad", attributes_before=11)
def pad(
    x: Tensor, pads: Ints | None = None, value: Tensor | float | None = None, axes: Ints | None = None, *, given: Given
) -> Tensor:
    """Elements around those of x; a negative number takes elements away. In opset 1 they are `paddings`."""
    numbers = given.paddings if pads is None else pads
    chosen = axes if axes is not None else tuple(range(x.ndim))
    padding = [(0, 0)] * x.ndim
    for place, axis in enumerate(chosen):
        padding[axis] = (numbers[place], numbers[place + len(chosen)])
    if given.mode != "constant":
        cut = [(min(low, 0), min(high, 0)) for low, high in padding]
        added = [(max(low, 0), max(high, 0)) for low, high in padding]
        return tb.pad(tb.pad(x, cut), added, mode=given.mode)
    return tb.pad(x, padding, value=tb.reshape(value, ()) if isinstance(value, Tensor) else value)


@operator("DepthToSpace")
def depth_to_space(x: Tensor, *, blocksize: int, mode: str = "DCR") -> Tensor:
    """Blocks of pixels out of channels."""
    batch, channels, height, width = x.shape
    block, inside = (blocksize, blocksize), channels // blocksize**2
    first = mode == "DCR"
    blocks = tb.reshape(x, (batch, *block, inside, height, width) if first else (batch, inside, *block, height, width))
    order = (0, 3, 4, 1, 5, 2) if first else (0, 1, 4, 2, 5, 3)
    return tb.reshape(tb.permute_dims(blocks, order), (batch, inside, height * blocksize, width * blocksize))


@operator("SpaceToDepth")
def space_to_depth(x: Tensor, *, blocksize: int, mode: str = "DCR") -> Tensor:
    """Channels out of blocks of pixels."""
    batch, channels, height, width = x.shape
    rows, columns = height // blocksize, width // blocksize
    blocks = tb.reshape(x, (batch, channels, rows, blocksize, columns, blocksize))
    order = (0, 3, 5, 1, 2, 4) if mode == "DCR" else (0, 1, 3, 5, 2, 4)
    return tb.reshape(tb.permute_dims(blocks, order), (batch, channels * blocksize**2, rows, columns))


@operator("CenterCropPad")
def center_crop_pad(x: Tensor, shape: Ints, *, axes: tuple[int, ...] | None = None) -> Tensor:
    """The middle of x in these sizes, with zeros around it where they are larger."""
    chosen = axes if axes is not None else tuple(range(x.ndim))
    padding = [(0, 0)] * x.ndim
    for axis, target in zip(chosen, shape, strict=True):
        surplus = target - x.shape[axis]
        low = surplus // 2 if surplus >= 0 else -(-surplus // 2)
        padding[axis] = (low, surplus - low)
    return tb.pad(x, padding)


@operator("ReverseSequence")
def reverse_sequence(x: Tensor, lengths: Tensor, *, batch_axis: int = 1, time_axis: int = 0) -> Tensor:
    """The first entries of each sequence in reverse order, as many as its length."""
    steps = tb.arange(x.shape[time_axis], like=x)
    places = tb.where(steps < lengths[:, None], lengths[:, None] - 1 - steps, steps)
    indices = places if batch_axis < time_axis else places.T
    shape = [1] * x.ndim
    shape[batch_axis], shape[time_axis] = x.shape[batch_axis], x.shape[time_axis]
    return tb.take_along_axis(x, tb.reshape(indices, shape), axis=time_axis)
