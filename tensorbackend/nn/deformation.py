"""Convolution whose windows read at places of their own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from operator import index

from ..declarations.argument_errors import check_arguments
from ..errors import ArgumentError, ShapeError, expected
from ..ops.composite.contraction import matmul
from ..ops.composite.indexing.grids import grid_sample
from ..ops.composite.shape.arranging import moveaxis, stack
from ..ops.creation.filled import asarray, iota
from ..ops.creation.values import operand_tensor, operand_tensors
from ..ops.elementwise.basic import astype
from ..ops.shape import expand_dims, reshape
from ..rules.accuracy import SUM, declare_bound
from ..rules.broadcasting import check_dtype, to_floating
from ..rules.convolution import Correlation, convolution
from ..rules.window import Paddings, PerAxis, Windows
from ..template import Template
from ..tensor import Tensor, TensorLike


@check_arguments
@declare_bound(SUM)
def deform_conv(
    x: TensorLike,
    kernel: TensorLike,
    offsets: TensorLike,
    bias: TensorLike | None = None,
    mask: TensorLike | None = None,
    /,
    *,
    strides: PerAxis = 1,
    padding: Paddings = "valid",
    dilation: PerAxis = 1,
    groups: int = 1,
    offset_groups: int = 1,
) -> Tensor:
    """Deformable convolution: each element of a window is read at a place that `offsets` moves.

    Between entries of x the values are interpolated linearly, and outside x they are 0.

    Parameters
    ----------
    x : Tensor
        (batch, channels, *spatial), of a real floating dtype.
    kernel : Tensor
        (out, channels / groups, *spatial). The kernel is not flipped.
    offsets : Tensor
        (batch, offset_groups * elements * rank, *places): for each group of channels, each element of a window in
        row-major order and each spatial axis, how far to move, at each place of the result. A convolution usually
        computes them from x.
    bias : Tensor, optional
        (out,): added to each feature of the result.
    mask : Tensor, optional
        (batch, offset_groups * elements, *places): factors of the elements of windows.
    strides, dilation : int, sequence of int, or mapping of spatial axes by name, default 1
        How far apart windows begin, and how far apart the elements of one window are before they are moved.
    padding : {"valid", "same"}, (low, high) for each spatial axis, or a mapping, default "valid"
        Zeros around x.
    groups, offset_groups : int, default 1
        The number of groups of channels that are convolved, and that are moved, by themselves.

    Returns
    -------
    Tensor
        (batch, out, *places), with the names of x and, for the features, of the kernel's first axis.

    Raises
    ------
    ShapeError
        For shapes that do not fit.
    ArgumentError
        For groups that do not divide the channels.
    DTypeError
        For complex numbers and bools.

    Examples
    --------
    >>> x = tb.reshape(tb.arange(9.0), (1, 1, 3, 3))
    >>> offsets = tb.zeros((1, 2, 3, 3))
    >>> offsets[:, 1] = 0.5  # half an entry to the right
    >>> tb.nn.deform_conv(x, tb.ones((1, 1, 1, 1)), offsets)[0, 0, 0].tolist()
    [0.5, 1.5, 1.0]

    References
    ----------
    J. Dai et al., Deformable Convolutional Networks, 2017; X. Zhu et al., Deformable ConvNets v2, 2018 (the mask).
    """
    x, kernel, offsets = operand_tensors(x, kernel, offsets)
    plan = convolution(x.template, kernel.template, strides, padding, 1, dilation, groups, 1)
    result, correlation = plan.out, plan.options["correlation"]
    assert isinstance(result, Template)
    assert isinstance(correlation, Correlation)
    windows = correlation.windows
    check_dtype(offsets.dtype, "real")
    dtype = to_floating(check_dtype(result.dtype, "real"))
    (batch, channels, *spatial), (_, out, *places) = x.shape, result.shape
    rank, elements = len(spatial), windows.elements
    if index(offset_groups) < 1 or channels % offset_groups:
        expectation = f"offset_groups of at least 1 that divide the {channels} channels of x"
        raise ArgumentError(expected(expectation, offset_groups=offset_groups))
    _check_shape("offsets", offsets, (batch, offset_groups * elements * rank, *places))
    rows = batch * offset_groups
    images = reshape(_bare(x), (rows, channels // offset_groups, *spatial))
    moved = moveaxis(reshape(_bare(offsets), (rows, elements, rank, *places)), 2, -1)
    points = _points(windows, places, x) + moved
    values = grid_sample(moveaxis(images, 1, -1), points, axes=tuple(range(1, 1 + rank)))
    patches = astype(moveaxis(values, -1, 1), dtype)  # (rows, channels, elements, *places)
    if mask is not None:
        factors = operand_tensor(mask, x)
        _check_shape("mask", factors, (batch, offset_groups * elements, *places))
        patches = patches * expand_dims(reshape(_bare(factors), (rows, elements, *places)), axis=1)
    columns = reshape(patches, (batch, groups, channels // groups * elements, math.prod(places)))
    matrix = reshape(_bare(kernel), (groups, out // groups, channels // groups * elements))
    sums = reshape(matmul(astype(matrix, dtype), columns), (batch, out, *places), names=result.names)
    if bias is None:
        return sums
    vector = operand_tensor(bias, x)
    _check_shape("bias", vector, (out,))
    return sums + reshape(_bare(vector), (out, *(1,) * rank))


def _check_shape(name: str, x: Tensor, shape: tuple[int, ...]) -> None:
    """Raises the error for an operand of another shape."""
    if x.shape != shape:
        raise ShapeError(expected(f"{name} of shape {shape}", **{name: x.template}))


def _bare(x: Tensor) -> Tensor:
    """x without names."""
    return x.rename(*(None,) * x.ndim)


def _points(windows: Windows, places: Sequence[int], like: Tensor) -> Tensor:
    """Where windows read before they are moved: (elements, *places, rank)."""
    rank, shape = len(places), tuple(places)
    inside = [
        [step * dilation for step, dilation in zip(steps, windows.dilations, strict=True)]
        for steps in product(*map(range, windows.sizes))
    ]
    starts = [
        iota(shape, axis=axis, like=like) * windows.strides[axis] - windows.padding[axis][0] for axis in range(rank)
    ]
    offsets = reshape(asarray(inside, dtype="int64", like=like), (windows.elements, *(1,) * rank, rank))
    return stack(starts, axis=-1) + offsets
