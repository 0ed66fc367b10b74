"""Convolution, transposed convolution and pooling over axes by name or position, with any other axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from ..annotations import Axes, Axis
from ..declarations.argument_errors import check_arguments
from ..dtypes import int64
from ..errors import ArgumentError, DTypeError, ShapeError, expected
from ..ops.composite.window import window_mean
from ..ops.convolution import conv as primitive_conv
from ..ops.creation.filled import zeros
from ..ops.creation.values import operand_tensors
from ..ops.elementwise.basic import astype, where
from ..ops.indexing.scatter import indexed_put
from ..ops.indexing.slices import slice_
from ..ops.shape import expand_dims, flip, laid_flat, permute_dims, reshape
from ..ops.window import window_max
from ..rules.accuracy import SUM, declare_bound
from ..rules.axes import normalize_axes, normalize_axis
from ..rules.window import Paddings, PerAxis, axes_of, numbers
from ..template import check_meeting
from ..tensor import Tensor, TensorLike
from .normalisation import reshape_parameter


class _Layout(NamedTuple):
    """The positions of x's axes by role: batch axes, features, and spatial axes, along which windows slide."""

    batch: tuple[int, ...]
    feature: int
    spatial: tuple[int, ...]


def _layout(x: Tensor, kernel: Tensor, axis: Axis, spatial: Axes) -> _Layout:
    """The roles of x's axes.

    By default the spatial axes are those with the kernel's names, otherwise the last ones except for the features.
    """
    feature = normalize_axis(x.template, axis)
    count = kernel.ndim - 2
    if count < 0:
        expectation = "a kernel as (out, channels, *spatial)"
        raise ShapeError(expected(expectation, kernel=kernel.template))
    others = [other for other in range(x.ndim) if other != feature]
    if spatial is None:
        named = [name for name in kernel.names[2:] if name is not None and name in x.names]
        by_name = len(named) == count and x.names[feature] not in named
        along = normalize_axes(x.template, named) if by_name else tuple(others[len(others) - count :] if count else ())
    else:
        along = normalize_axes(x.template, spatial)
    if len(along) != count or feature in along:
        expectation = f"{count} spatial axes of x, like the kernel, besides the features"
        raise ShapeError(expected(expectation, x=x.template, kernel=kernel.template, spatial=spatial))
    return _Layout(tuple(other for other in others if other not in along), feature, along)


def _flat(x: Tensor, layout: _Layout) -> Tensor:
    """x as (batch, channels, *spatial)."""
    moved = permute_dims(x, (*layout.batch, layout.feature, *layout.spatial))
    count = len(layout.batch)
    rows = math.prod(moved.shape[:count])
    return reshape(moved, (rows, *moved.shape[count:]), names=(None, *moved.names[count:]))


def _unflat(flat: Tensor, x: Tensor, layout: _Layout, bias: TensorLike | None) -> Tensor:
    """A result (batch, out, *spatial) with its axes in x's order, plus a bias for each feature."""
    lead = tuple(x.shape[axis] for axis in layout.batch)
    names = (*(x.names[axis] for axis in layout.batch), *flat.names[1:])
    apart = reshape(flat, (*lead, *flat.shape[1:]), names=names)
    order = (*layout.batch, layout.feature, *layout.spatial)
    back = permute_dims(apart, tuple(order.index(axis) for axis in range(x.ndim)))
    if bias is None:
        return back
    return back + reshape_parameter(operand_tensors(back, bias)[1], back, (layout.feature,), "a bias")


@check_arguments
@declare_bound(SUM)
def conv(
    x: TensorLike,
    kernel: TensorLike,
    bias: TensorLike | None = None,
    /,
    *,
    axis: Axis = -1,
    spatial: Axes = None,
    strides: PerAxis = 1,
    padding: Paddings = "valid",
    dilation: PerAxis = 1,
    groups: int = 1,
) -> Tensor:
    """Convolution over any number of axes, at any position.

    Parameters
    ----------
    x : Tensor
        A tensor with an axis of features and the axes that windows slide along. All others are batch axes.
    kernel : Tensor
        (out, features / groups, *spatial). The kernel is not flipped.
    bias : Tensor, optional
        Added to each feature of the result.
    axis : int or str, default -1
        The axis of x's features.
    spatial : axis, or several, optional
        The axes along which windows slide, in the kernel's order. By default the axes with the names of the kernel's
        spatial axes or, unless x has all of these names, the last axes except for the features.
    strides, dilation : int, sequence of int, or mapping of spatial axes by name, default 1
        The distances between the starts of windows, and between the elements of a window.
    padding : {"valid", "same"}, (low, high) for each spatial axis, or a mapping, default "valid"
        Zeros around x, as in `tb.conv`.
    groups : int, default 1
        The number of groups of x's features. Each group is convolved with its part of the kernels.

    Returns
    -------
    Tensor
        A tensor with x's axes, in x's order. The features have the name of the kernel's first axis.

    Raises
    ------
    ShapeError
        For shapes that do not match.
    NamesError
        If an axis of x and the matching axis of the kernel have different names.

    Examples
    --------
    >>> x = tb.ones((2, 7, 3), names=("batch", "time", "feature"))
    >>> kernel = tb.ones((5, 3, 3), names=("unit", "feature", "time"))
    >>> tb.nn.conv(x, kernel, padding="same", strides=2).template
    f32[batch: 2][time: 4][unit: 5]
    """
    x, kernel = operand_tensors(x, kernel)
    layout = _layout(x, kernel, axis, spatial)
    convolved = primitive_conv(
        _flat(x, layout), kernel, strides=strides, padding=padding, kernel_dilation=dilation, feature_groups=groups
    )
    return _unflat(convolved, x, layout, bias)


@check_arguments
@declare_bound(SUM)
def conv_transpose(
    x: TensorLike,
    kernel: TensorLike,
    bias: TensorLike | None = None,
    /,
    *,
    axis: Axis = -1,
    spatial: Axes = None,
    strides: PerAxis = 1,
    padding: str | Sequence[Sequence[int]] = "valid",
    dilation: PerAxis = 1,
    groups: int = 1,
) -> Tensor:
    """Transposed convolution: each element of x adds a scaled kernel to the result.

    Parameters
    ----------
    x, bias, axis, spatial, groups
        As in `conv`.
    kernel : Tensor
        (features, out / groups, *spatial): the kernel of the convolution from the result's features to those of x.
    strides, dilation : int, sequence of int, or mapping of spatial axes by name, default 1
        Those of that convolution: elements of x are `strides` apart in the result.
    padding : {"valid", "same"}, or (low, high) for each spatial axis, default "valid"
        The number of entries to remove at each end; negative numbers add zeros. `"valid"` removes none; `"same"` keeps
        x's size times the stride.

    Returns
    -------
    Tensor
        A tensor with x's axes, in x's order. The features have the name of the kernel's second axis. A spatial axis has
        (size - 1) * stride + (kernel - 1) * dilation + 1 entries, minus the padding.

    Raises
    ------
    ShapeError
        For shapes that do not match, and for groups that do not divide the features.
    ArgumentError
        For a padding that is neither `"valid"`, `"same"` nor (low, high) for each spatial axis.

    Examples
    --------
    >>> x = tb.asarray([[[1.0], [2.0]]], names=("batch", "time", "feature"))
    >>> tb.nn.conv_transpose(x, tb.asarray([[[1.0, 10.0, 100.0]]]), strides=2)[0, :, 0].tolist()
    [1.0, 10.0, 102.0, 20.0, 200.0]
    """
    x, kernel = operand_tensors(x, kernel)
    layout = _layout(x, kernel, axis, spatial)
    flat = _flat(x, layout)
    features = flat.shape[1]
    if groups < 1 or features % groups or kernel.shape[0] != features:
        expectation = f"a kernel of the {features} features of x, and groups that divide them"
        raise ShapeError(expected(expectation, kernel=kernel.template, groups=groups))
    check_meeting((flat.names[1], *flat.names[2:]), (kernel.names[0], *kernel.names[2:]), x.template, kernel.template)
    axes = range(2, flat.ndim)
    paces = numbers(flat.template, axes, "strides", strides)
    between = numbers(flat.template, axes, "dilation", dilation)
    spans = [(size - 1) * apart for size, apart in zip(kernel.shape[2:], between, strict=True)]
    cuts = _cuts(padding, paces, spans)
    pairs = [(span - low, span - high) for span, (low, high) in zip(spans, cuts, strict=True)]
    # (groups, features, out, *spatial) as (groups * out, features, *spatial), flipped along the spatial axes.
    share = (groups, features // groups, *kernel.shape[1:])
    apart = permute_dims(reshape(kernel, share), (0, 2, 1, *range(3, kernel.ndim + 1)))
    sizes = (groups * kernel.shape[1], features // groups, *kernel.shape[2:])
    turned = flip(reshape(apart, sizes), axis=tuple(axes)) if kernel.ndim > 2 else reshape(apart, sizes)
    named = turned.rename(kernel.names[1], *(None,) * (kernel.ndim - 1))
    convolved = primitive_conv(
        flat, named, padding=pairs, input_dilation=paces, kernel_dilation=between, feature_groups=groups
    )
    return _unflat(convolved, x, layout, bias)


def _cuts(padding: str | Sequence[Sequence[int]], paces: Sequence[int], spans: Sequence[int]) -> list[tuple[int, int]]:
    """The number of entries of the full transposed convolution to remove at each end of each spatial axis."""
    if padding == "valid":
        return [(0, 0)] * len(spans)
    if padding == "same":  # (size - 1) * pace + span + 1 entries become size * pace
        over = [span + 1 - pace for pace, span in zip(paces, spans, strict=True)]
        return [(max(excess // 2, 0), excess - max(excess // 2, 0)) for excess in over]
    pairs = [(int(pair[0]), int(pair[1])) for pair in padding if not isinstance(pair, str) and len(pair) == 2]
    if isinstance(padding, str) or len(pairs) != len(spans):
        expectation = f"'valid', 'same', or (low, high) for each of {len(spans)} axes"
        raise ArgumentError(expected(expectation, padding=padding))
    return pairs


@check_arguments
def max_pool(
    x: TensorLike,
    window: PerAxis,
    /,
    *,
    strides: PerAxis | None = None,
    padding: Paddings = "valid",
    dilation: PerAxis = 1,
) -> Tensor:
    """Max pooling: the maximum of each window. By default windows do not overlap.

    Parameters
    ----------
    x : Tensor
        A tensor of a real dtype.
    window : mapping of axes to sizes, or a size for each axis
        The window sizes, such as `{"height": 2, "width": 2}`; omitted axes have windows of size 1.
    strides : mapping of axes to sizes, or a size for each axis, optional
        The distances between the starts of windows, by default the window sizes.
    padding : str, sequence or mapping, default "valid"
        As in `window_max`.
    dilation : int, sequence of int or mapping, default 1
        The distances between the elements that one window reads.

    Returns
    -------
    Tensor
        A tensor with fewer entries along the axes of the window.

    Raises
    ------
    AxisError
        For an axis that x does not have.
    ArgumentError
        For a window size below 1.

    Examples
    --------
    >>> x = tb.asarray([[1, 5, 2, 4]], names=("batch", "time"))
    >>> tb.nn.max_pool(x, {"time": 2}).tolist()
    [[5, 4]]
    """
    (x,) = operand_tensors(x)
    paces = window if strides is None else strides
    return window_max(x, window, strides=paces, padding=padding, dilations=dilation)


@check_arguments
def max_unpool(x: TensorLike, positions: TensorLike, sizes: PerAxis, /) -> Tensor:
    """Put elements back where `window_argmax` found them, among zeros: max pooling backwards.

    Parameters
    ----------
    x : Tensor
        The elements, such as those that `max_pool` gives.
    positions : Tensor
        Integers of x's shape: the position of each element in the result, in row-major order. Elements whose position
        is -1 are left out; of elements with the same position the last one stays.
    sizes : int, sequence of int or mapping
        The sizes of the result along all axes or some, such as `{"height": 8, "width": 8}`.

    Returns
    -------
    Tensor
        A tensor with x's names and dtype.

    Raises
    ------
    ShapeError
        For positions of another shape.
    IndexRangeError
        For a position outside the result.
    DTypeError
        For positions that are no integers.

    Examples
    --------
    >>> x = tb.asarray([[1, 5, 2, 4]], names=("batch", "time"))
    >>> pooled = tb.nn.max_pool(x, {"time": 2})
    >>> positions = tb.window_argmax(x, {"time": 2}, strides={"time": 2})
    >>> tb.nn.max_unpool(pooled, positions, {"time": 4}).tolist()
    [[0, 5, 0, 4]]
    """
    x, positions = operand_tensors(x, positions)
    if positions.shape != x.shape:
        raise ShapeError(expected(f"a position for each element of {x.template!r}", positions=positions.template))
    if not positions.dtype.is_integer:
        raise DTypeError(expected("positions that are integers", positions=positions.template))
    changed, along = axes_of(x.template, sizes), numbers(x.template, range(x.ndim), "sizes", sizes, least=0)
    shape = tuple(along[axis] if axis in changed else size for axis, size in enumerate(x.shape))
    count = math.prod(shape)
    # One more place at the end takes the elements that are left out; a position that names it is outside.
    flat = astype(laid_flat(positions.rename(*(None,) * x.ndim)), int64)
    places = expand_dims(where(flat == -1, count, where(flat == count, -1, flat)), axis=1)
    filled = indexed_put(zeros(count + 1, dtype=x.dtype, like=x), places, laid_flat(x.rename(*(None,) * x.ndim)))
    return reshape(slice_(filled, starts=(0,), lengths=(count,), strides=(1,)), shape, names=x.names)


@check_arguments
@declare_bound(SUM)
def mean_pool(
    x: TensorLike,
    window: PerAxis,
    /,
    *,
    strides: PerAxis | None = None,
    padding: Paddings = "valid",
    dilation: PerAxis = 1,
    include_padding: bool = False,
) -> Tensor:
    """Mean pooling: the mean of each window. By default windows do not overlap.

    Parameters
    ----------
    x : Tensor
        A tensor of a numeric dtype.
    window, strides, padding, dilation
        As in `max_pool`.
    include_padding : bool, default False
        Whether the padding is counted as elements that are 0.

    Returns
    -------
    Tensor
        As for `max_pool`.

    Raises
    ------
    AxisError, ArgumentError
        As for `max_pool`.

    Examples
    --------
    >>> tb.nn.mean_pool(tb.asarray([[1.0, 5.0, 2.0]]), (1, 2), padding="same").tolist()
    [[3.0, 2.0]]
    """
    (x,) = operand_tensors(x)
    paces = window if strides is None else strides
    return window_mean(x, window, strides=paces, padding=padding, dilations=dilation, include_padding=include_padding)
