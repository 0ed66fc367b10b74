"""Means, patches and extreme places of sliding windows, written in public ops."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Sequence
from typing import Any

from ...dispatch import composite
from ...dtypes import float32, int64, promote_types
from ...errors import ShapeError, expected
from ...rules.accuracy import SUM
from ...rules.broadcasting import check_dtype, to_floating, to_real
from ...rules.window import Paddings, PerAxis, Windows, axes_of, mapped_axes, numbers, plan_windows
from ...template import Template, intern_template
from ...tensor import Tensor
from ..creation.filled import iota, ones, zeros
from ..elementwise.basic import astype, isnan, where
from ..elementwise.binary import logical_and, logical_or
from ..indexing.scatter import indexed_add
from ..indexing.slices import slice_
from ..indexing.taking import take_at
from ..reduction import any, argmax
from ..shape import pad_with, permute_dims, reshape
from ..window import window_max, window_min, window_sum
from .shape.arranging import moveaxis, stack, unstack

MOST_SLICED_ELEMENTS = 16
"""The most elements along an axis of a window for which patches are made of slices, and sums of padded ones."""


@composite.within(SUM)
def window_mean(
    x: Tensor,
    /,
    window: PerAxis,
    *,
    strides: PerAxis = 1,
    padding: Paddings = "valid",
    dilations: PerAxis = 1,
    include_padding: bool = True,
) -> Tensor:
    """Mean of each window. Integers and bool are converted to the default floating dtype.

    Padding is counted as elements that are 0. With `include_padding=False` it is not counted: the mean is over the
    elements of x in the window, and NaN if there are none.

    >>> tb.window_mean(tb.asarray([1, 2, 3, 6]), 2, strides=2).tolist()
    [1.5, 4.5]
    >>> tb.window_mean(tb.asarray([1, 3]), 2, padding=[(1, 1)], include_padding=False).tolist()
    [1.0, 2.0, 3.0]
    """
    dtype = to_floating(x.dtype)
    # In at least float32: neither a sum of float16 nor a count of elements may overflow.
    wide = astype(x, promote_types(dtype, float32))
    total = window_sum(wide, window, strides=strides, padding=padding, dilations=dilations)
    if include_padding:
        count = 1
        for size in numbers(x.template, range(x.ndim), "window", window):
            count *= size
        return astype(total / float(count), dtype)
    present = ones(x.shape, dtype=to_real(wide.dtype), names=x.names)
    counts = window_sum(present, window, strides=strides, padding=padding, dilations=dilations)
    return astype(total / counts, dtype)


@composite.within(SUM)
def window_nanmean(
    x: Tensor, /, window: PerAxis, *, strides: PerAxis = 1, padding: Paddings = "valid", dilations: PerAxis = 1
) -> Tensor:
    """Mean of the elements of each window that are not NaN; NaN if there are none. Padding is not counted.

    >>> x = tb.asarray([1.0, float("nan"), 3.0, 6.0], names=("time",))
    >>> tb.window_nanmean(x, {"time": 2}).tolist()
    [1.0, 3.0, 4.5]
    """
    dtype = to_floating(x.dtype)
    wide = astype(x, promote_types(dtype, float32))
    missing = isnan(wide)
    options: dict[str, Any] = {"strides": strides, "padding": padding, "dilations": dilations}
    total = window_sum(where(missing, 0, wide), window, **options)
    counts = window_sum(astype(~missing, to_real(wide.dtype)), window, **options)
    return astype(total / counts, dtype)


# Patches


@composite
def unfold(
    x: Tensor, /, window: PerAxis, *, strides: PerAxis = 1, padding: Paddings = "valid", dilations: PerAxis = 1
) -> Tensor:
    """The elements of each window, along new axes at the end: patches of an image, frames of a signal.

    Parameters
    ----------
    x : Tensor
        A tensor of any dtype.
    window : int, sequence of int or mapping
        The size of the window along each axis. A mapping, such as `{"height": 3, "width": 3}`, gives it for some axes,
        which alone get a new axis.
    strides, padding, dilations
        As in `window_sum`. Padding is zeros, or False.

    Returns
    -------
    Tensor
        x's axes with an entry for each window, and then, without names, an axis for the elements of a window along
        each of its axes, in the order of x's axes.

    Raises
    ------
    ArgumentError
        For an option that does not fit.
    AxisError
        For an axis that x does not have.
    ShapeError
        For a padding that takes away more than there is.

    Examples
    --------
    >>> x = tb.asarray([[1, 2, 3, 4]], names=("batch", "time"))
    >>> tb.unfold(x, {"time": 3})
    s64[batch: 1][time: 2][3] numpy
    [[[1, 2, 3],
      [2, 3, 4]]]
    >>> tb.unfold(tb.ones((2, 3, 8, 8)), {2: 2, 3: 2}, strides={2: 2, 3: 2}).shape
    (2, 3, 4, 4, 2, 2)

    See Also
    --------
    fold : Adds patches up.
    """
    windows = plan_windows(x.template, window, strides, padding, dilations)
    axes = axes_of(x.template, window)
    return _patches(x.rename(*(None,) * x.ndim), windows, axes).rename(*x.names, *(None,) * len(axes))


def _patches(x: Tensor, windows: Windows, axes: Sequence[int]) -> Tensor:
    """The elements of windows, along a new last axis for each of some axes; windows have size 1 along the others."""
    places, ndim = windows.places(x.shape), x.ndim
    padded = _pad_zeros(x, windows.edges)
    for done, axis in enumerate(reversed(axes)):  # new axes come to the front, where elements stay together
        size, stride, dilation = windows.along[axis]
        count, at = places[axis], axis + done
        if not count or size <= MOST_SLICED_ELEMENTS:
            begins = [step * dilation if count else 0 for step in range(size)]
            padded = stack([_take_strided(padded, at, begin, count, stride) for begin in begins], axis=0)
        else:
            rows = _positions(size, dilation, count, stride)
            padded = moveaxis(take_at(padded, rows, axis=at, mode="clip"), at, 0)
    front = len(axes)
    for axis in set(range(ndim)) - set(axes):
        if windows.strides[axis] != 1 or padded.shape[axis + front] != places[axis]:
            padded = _take_strided(padded, axis + front, 0, places[axis], windows.strides[axis])
    return permute_dims(padded, (*range(front, front + ndim), *range(front)))


def _positions(size: int, dilation: int, count: int, stride: int) -> Tensor:
    """The position along an axis of each element of a window, in each of its places: (size, count)."""
    return reshape(_evenly(size, dilation, 0), (size, 1)) + _evenly(count, stride, 0)


def _pad_zeros(x: Tensor, edges: Sequence[tuple[int, int, int]]) -> Tensor:
    """x with zeros around and between its elements."""
    return pad_with(x, zeros((), dtype=x.dtype), padding=tuple(edges)) if builtins.any(map(builtins.any, edges)) else x


def _take_strided(x: Tensor, axis: int, begin: int, count: int, stride: int) -> Tensor:
    """Some entries along an axis, `stride` apart."""
    starts, lengths, strides = [0] * x.ndim, list(x.shape), [1] * x.ndim
    starts[axis], lengths[axis], strides[axis] = begin, count, stride
    return slice_(x, starts=tuple(starts), lengths=tuple(lengths), strides=tuple(strides))


@composite.within(SUM).calls("fold_patches")
def fold(
    x: Tensor,
    /,
    sizes: PerAxis,
    window: PerAxis,
    *,
    strides: PerAxis = 1,
    padding: Paddings = "valid",
    dilations: PerAxis = 1,
) -> Tensor:
    """Add up patches where they overlap: the transpose of `unfold`, of which this is the gradient.

    Parameters
    ----------
    x : Tensor
        Patches as `unfold` gives them, of a numeric dtype: an axis for each axis of the result, then one for the
        elements of a window along each of its axes.
    sizes : int, sequence of int or mapping
        The sizes of the result along the axes of the window, as `window` gives its own.
    window, strides, padding, dilations
        Those of `unfold`, for the axes of the result.

    Returns
    -------
    Tensor
        A tensor with the axes and names of x without those of the window, in x's dtype.

    Raises
    ------
    ShapeError
        If `unfold` would give other shapes for a tensor of these sizes.
    ArgumentError
        For an option that does not fit.
    AxisError
        For an axis that the result does not have.

    Examples
    --------
    >>> patches = tb.unfold(tb.asarray([1, 2, 3, 4], names=("time",)), {"time": 3})
    >>> tb.fold(patches, {"time": 4}, {"time": 3}).tolist()
    [1, 4, 6, 4]
    >>> counts = tb.fold(tb.ones_like(patches), {"time": 4}, {"time": 3})
    >>> tb.fold(patches, {"time": 4}, {"time": 3}).tolist() == (counts * tb.arange(1, 5)).tolist()
    True
    """
    check_dtype(x.dtype, "numeric")
    out, windows, axes = _fold_template(x.template, sizes, window, strides, padding, dilations)
    padded, places, ndim = windows.padded(out.shape), windows.places(out.shape), out.ndim
    wide = astype(x, promote_types(x.dtype, float32)) if x.dtype.is_inexact else x
    # The axes of the windows come to the front; each turn takes the first of them away.
    total = permute_dims(wide, (*range(ndim, x.ndim), *range(ndim))).rename(*(None,) * x.ndim)
    for left, axis in zip(range(len(axes), 0, -1), axes, strict=True):
        total = _sum_of_patches(total, axis + left, windows.along[axis], places[axis], padded[axis])
    for axis in set(range(ndim)) - set(axes):  # windows of one element, which may have strides
        edges = [(0, 0, 0)] * ndim
        edges[axis] = _spread(places[axis], windows.strides[axis], 0, padded[axis])
        total = _pad_zeros(total, edges)
    return astype(_pad_zeros(total, [(-low, -high, 0) for low, high in windows.padding]), x.dtype).rename(*out.names)


def _fold_template(
    x: Template, sizes: PerAxis, window: PerAxis, strides: PerAxis, padding: Paddings, dilations: PerAxis
) -> tuple[Template, Windows, tuple[int, ...]]:
    """The template of the sum of patches, its windows, and the axes along which they reach."""
    count = mapped_axes(window)
    ndim = x.ndim // 2 if count is None else x.ndim - count
    if ndim < 0 or (count is None and x.ndim % 2):
        raise ShapeError(expected("an axis for each axis of the window at the end", patches=x))
    like = intern_template(x.shape[:ndim], x.dtype, x.names[:ndim])
    axes = axes_of(like, window)
    chosen = axes_of(like, sizes)
    if chosen != axes:
        raise ShapeError(expected("sizes along the axes of the window", sizes=sizes, window=window))
    along = numbers(like, range(ndim), "sizes", sizes, least=0)
    shape = tuple(along[axis] if axis in axes else size for axis, size in enumerate(like.shape))
    out = intern_template(shape, x.dtype, like.names)
    windows = plan_windows(out, window, strides, padding, dilations)
    patches = (*windows.places(shape), *(windows.sizes[axis] for axis in axes))
    if x.shape != patches:
        raise ShapeError(expected(f"patches of shape {patches}, as of {out!r}", patches=x))
    return out, windows, axes


def _sum_of_patches(x: Tensor, at: int, along: tuple[int, int, int], count: int, size: int) -> Tensor:
    """Elements of windows (elements, ..., windows, ...) added up along the second of these axes, which is at `at`."""
    length, stride, dilation = along
    if not count or length <= MOST_SLICED_ELEMENTS:
        total: Tensor | None = None
        for step, piece in enumerate(unstack(x, axis=0)):
            edges = [(0, 0, 0)] * piece.ndim
            edges[at - 1] = _spread(count, stride, step * dilation, size)
            spread = _pad_zeros(piece, edges)
            total = spread if total is None else total + spread
        assert total is not None  # a window has at least one element
        return total
    rows = reshape(_positions(length, dilation, count, stride), (length * count, 1))
    moved = moveaxis(x, at, 1)
    rest = moved.shape[2:]
    start = zeros((size, *rest), dtype=x.dtype)
    added = indexed_add(start, rows, reshape(moved, (length * count, *rest)), mode="clip")
    return moveaxis(added, 0, at - 1)


def _spread(count: int, stride: int, begin: int, size: int) -> tuple[int, int, int]:
    """The padding that puts `count` entries `stride` apart, from `begin` on, into `size` entries."""
    if not count:
        return (0, size, 0)
    return (begin, size - begin - (count - 1) * stride - 1, stride - 1)


# Places of extremes


@composite
def window_argmax(
    x: Tensor, /, window: PerAxis, *, strides: PerAxis = 1, padding: Paddings = "valid", dilations: PerAxis = 1
) -> Tensor:
    """Where the largest element of each window is: its position among all elements of x, in row-major order.

    Of equal elements, or of several NaN, it is the first; in a window of padding alone -1. `unravel_index` turns
    positions into indices along the axes, and `nn.max_unpool` puts elements there.

    >>> x = tb.asarray([[1, 3, 2, 0], [4, 0, 0, 5]])
    >>> tb.window_argmax(x, (1, 2), strides=(1, 2)).tolist()
    [[1, 2], [4, 7]]
    """
    check_dtype(x.dtype, "real")
    return _places_of(x, window_max, plan_windows(x.template, window, strides, padding, dilations))


@composite
def window_argmin(
    x: Tensor, /, window: PerAxis, *, strides: PerAxis = 1, padding: Paddings = "valid", dilations: PerAxis = 1
) -> Tensor:
    """Where the minimum of each window is. See `window_argmax`; a NaN wins over numbers here too.

    >>> tb.window_argmin(tb.asarray([1, 3, 2, 0]), 2, strides=2).tolist()
    [0, 3]
    """
    check_dtype(x.dtype, "real")
    return _places_of(x, window_min, plan_windows(x.template, window, strides, padding, dilations))


def _places_of(x: Tensor, choose: Callable[..., Tensor], windows: Windows) -> Tensor:
    """The positions in x of the first element of each window that is its best one, or NaN; -1 without elements."""
    places, elements = windows.places(x.shape), windows.elements
    if not math.prod(places):
        return zeros(places, dtype=int64, names=x.names)
    best = choose(x, windows.sizes, strides=windows.strides, padding=windows.padding, dilations=windows.dilations)
    axes = [axis for axis in range(x.ndim) if windows.sizes[axis] > 1 or builtins.any(windows.padding[axis])]
    entries = _patches(x.rename(*(None,) * x.ndim), windows, axes)
    chosen = entries == reshape(best, (*places, *(1,) * len(axes)), names=(None,) * entries.ndim)
    if x.dtype.is_floating:
        chosen = logical_or(chosen, entries != entries)
    for at, axis in enumerate(axes):
        if builtins.any(windows.padding[axis]):
            chosen = logical_and(chosen, _inside_mask(x.shape[axis], windows, axis, (axis, x.ndim + at), chosen.shape))
    chosen = reshape(chosen, (*places, elements))
    first = argmax(astype(chosen, "uint8"), axis=-1)
    position, inner = zeros((), dtype=int64), elements
    for axis, (size, stride, dilation) in enumerate(windows.along):
        width, low = math.prod(x.shape[axis + 1 :]), windows.padding[axis][0]
        starts = _evenly(places[axis], stride * width, -low * width)
        position = position + reshape(starts, (-1, *(1,) * (x.ndim - 1 - axis)))
        inner //= size
        if size > 1:
            step = first // inner % size
            position = position + step * (dilation * width)
    if windows.is_padded:
        position = where(any(chosen, axis=-1), position, -1)
    return position.rename(*x.names)


def _inside_mask(size: int, windows: Windows, axis: int, at: tuple[int, int], like: Sequence[int]) -> Tensor:
    """Which elements of windows lie within an axis: a mask that broadcasts to the shape of patches.

    `at` has the axes of patches for the windows along the axis and for the elements of a window.
    """
    (low, high), (length, stride, dilation) = windows.padding[axis], windows.along[axis]
    starts = reshape(_evenly(like[at[0]], stride, -low), (-1, 1))
    place = starts + _evenly(length, dilation, 0)
    begin, end = max(0, -low), min(size, size + high)  # negative padding removes elements
    inside = logical_and(place >= begin, place < end)
    return reshape(inside, tuple(count if position in at else 1 for position, count in enumerate(like)))


def _evenly(count: int, step: int, start: int) -> Tensor:
    """Numbers `step` apart."""
    return iota(count, dtype=int64) * step + start
