"""Windows and convolution along axes with lengths."""

from __future__ import annotations

from typing import Any

from ..annotations import Axis
from ..declarations.argument_errors import check_arguments
from ..errors import ArgumentError, AxisError, expected
from ..ops.convolution import conv as _conv
from ..ops.creation.filled import iota
from ..ops.elementwise.basic import where
from ..ops.elementwise.binary import logical_and, maximum, multiply
from ..ops.indexing.taking import take_at
from ..ops.padding import pad
from ..ops.shape import broadcast_to
from ..rules.convolution import convolution
from ..rules.plan import choice, integer
from ..rules.window import Paddings, PerAxis
from ..tensor import Tensor, TensorLike
from .lengths import laid_out
from .moving import column, gather_along, positions
from .value import Ragged, ragged_axis, refuse_dependents

_WHOLE = "join the inner axis first with merge_axes()"


def _places(lengths: Tensor, padding: int, span: int, stride: int) -> Tensor:
    """The number of windows of `span` entries, `stride` apart, within each length plus the padding.

    2 windows of 3 entries, 2 apart, fit into 5 entries.
    """
    room = lengths + (padding - span)
    return where(room < 0, 0, maximum(room, 0) // stride + 1)


def _ceil_divide(lengths: Tensor, stride: int) -> Tensor:
    """ceil(length / stride) for each length."""
    return (lengths + (stride - 1)) // stride


@check_arguments
def windows(
    x: Ragged,
    size: int,
    /,
    *,
    axis: Axis,
    stride: int = 1,
    padding: str = "valid",
    value: TensorLike = 0,
    name: str = "window",
) -> Ragged:
    """Slide windows along an axis, which counts them in the result; a new axis after it has the entries of a window.

    Parameters
    ----------
    x : Ragged
        A tensor with lengths.
    size : int
        The number of entries of a window.
    axis : int or str
        An axis with lengths, which counts the windows in the result.
    stride : int, default 1
        The distance between the starts of windows.
    padding : "valid" or "same", default "valid"
        With "valid", windows are within each example: a length n >= size has (n - size) // stride + 1 windows, a
        shorter one none. With "same", a length n has ceil(n / stride) windows; they may extend beyond the example, and
        half of the entries outside come before its beginning.
    value : number, default 0
        The value of entries of a window outside the example.
    name : str, default "window"
        The name of the new axis.

    Returns
    -------
    Ragged
        x with one more axis, of size `size`.

    Raises
    ------
    AxisError
        For an axis without lengths, or one that other lengths are over.
    ArgumentError
        For a size or stride below 1.

    Examples
    --------
    >>> x = tb.ragged.windows(tb.ragged.from_list([[1, 2, 3, 4], [5, 6]]), 2, axis="time", stride=2)
    >>> [example.tolist() for example in tb.ragged.to_list(x)]
    [[[1, 2], [3, 4]], [[5, 6]]]
    """
    axis_name = ragged_axis(x, axis, "tb.take(values, positions, axis=...) within apply()")
    refuse_dependents(x, axis_name, _WHOLE)
    width, pace = integer(1, size=size), integer(1, stride=stride)
    lengths, before = x.lengths[axis_name], x.size_of(axis_name)
    values = x.filled(value)
    if choice(("valid", "same"), padding=padding) == "same":
        count = -(-before // pace)
        new = _ceil_divide(lengths, pace)
        values = _same(values, lengths, axis_name, width, pace, count, value)
    else:
        count = (before - width) // pace + 1 if before >= width else 0
        new = _places(lengths, 0, width, pace)
    starts = iota(count, dtype="int64", names=(axis_name,), like=lengths) * pace
    places = column(starts, name) + iota(width, dtype="int64", names=(name,), like=lengths)
    position = values.names.index(axis_name)
    if not count:
        shape = (*values.shape[:position], 0, width, *values.shape[position + 1 :])
        names = (*values.names[: position + 1], name, *values.names[position + 1 :])
        empty = pad(values, {axis_name: (0, -values.shape[position])})
        return Ragged(
            broadcast_to(empty, shape, names=names, axes=[*range(position + 1), *range(position + 2, len(shape))]),
            {**x.lengths, axis_name: new},
        )
    return Ragged(take_at(values, places, axis=position, mode="clip"), {**x.lengths, axis_name: new})


def _same(values: Tensor, lengths: Tensor, axis: str, span: int, stride: int, count: int, value: Any) -> Tensor:
    """Values moved so that the first window of each example begins at 0, with room for `count` windows.

    Half of the padding is before the beginning; with a stride above 1 it depends on the length.
    """
    room = max((count - 1) * stride + span, 0)
    needed = (_ceil_divide(lengths, stride) - 1) * stride + span - lengths
    low = maximum(needed, 0) // 2
    source = positions(room, axis, lengths) - column(low, axis)
    there = logical_and(source >= 0, source < column(lengths, axis))
    shifted = gather_along(values, source, axis)
    return where(laid_out(there, shifted.template), shifted, value)


@check_arguments
def conv(
    x: Ragged,
    kernel: Tensor,
    /,
    *,
    strides: PerAxis = 1,
    padding: Paddings = "valid",
    input_dilation: PerAxis = 1,
    kernel_dilation: PerAxis = 1,
    feature_groups: int = 1,
) -> Ragged:
    """Convolve each example separately as `tb.conv` does, with zeros beyond its end.

    Parameters
    ----------
    x : Ragged
        (batch, channels, *spatial), with lengths of spatial axes over the batch.
    kernel : Tensor
        (out, channels, *spatial).
    strides, padding, input_dilation, kernel_dilation, feature_groups
        As in `tb.conv`. A length n becomes (n + padding - span) // stride + 1, or 0 if no window fits. With `"same"`
        it becomes ceil(n / stride), whatever the size of the axis.

    Returns
    -------
    Ragged
        (batch, out, *spatial).

    Raises
    ------
    AxisError
        For lengths of the axis of the batch or of the channels, and for lengths over the channels.
    ArgumentError
        For the padding "same" with both strides and input dilation along an axis with lengths.

    References
    ----------
    Dumoulin and Visin, "A guide to convolution arithmetic for deep learning", 2016.

    Examples
    --------
    >>> values = tb.asarray([[[1.0, 2.0, 4.0]], [[1.0, 3.0, 0.0]]], names=("batch", "channel", "time"))
    >>> x = tb.ragged.with_lengths(values, time=[3, 2])
    >>> tb.ragged.conv(x, tb.asarray([[[-1.0, 1.0]]]))
    ragged f32[batch: 2][1][time: 2] numpy, time=[2, 1]
    """
    options: dict[str, Any] = {
        "strides": strides,
        "padding": padding,
        "input_dilation": input_dilation,
        "kernel_dilation": kernel_dilation,
        "feature_groups": feature_groups,
    }
    plan = convolution(
        x.template, kernel.template, strides, padding, input_dilation, kernel_dilation, feature_groups, 1
    )
    correlation: Any = plan.options["correlation"]
    windows, apart, _, _ = correlation
    pairs = list(windows.padding)
    lengths = dict(x.lengths)
    values = x.filled(0)
    for name, axis_lengths in x.lengths.items():
        position = x.names.index(name)
        if position < 2 or x.names[1] in axis_lengths.names:
            remedy = "permute_dims() it to (batch, channels, *spatial) within apply()"
            raise AxisError(expected("lengths of spatial axes over the batch", remedy, axis=name, x=x))
        refuse_dependents(x, name, _WHOLE)
        place = position - 2
        stride, dilation = windows.strides[place], apart[place]
        span = windows.spans[place]
        wide = axis_lengths if dilation == 1 else where(axis_lengths < 1, 0, multiply(axis_lengths - 1, dilation) + 1)
        if padding != "same":
            lengths[name] = _places(wide, sum(pairs[place]), span, stride)
            continue
        lengths[name] = _ceil_divide(wide, stride)
        if stride > 1:
            if dilation > 1:
                remedy = "give (low, high) for the axis"
                raise ArgumentError(expected('no padding "same" with strides and input dilation', remedy, axis=name))
            values = _same(values, axis_lengths, name, span, stride, -(-x.shape[position] // stride), 0)
            pairs[place] = (0, 0)
    options["padding"] = tuple(pairs)
    return Ragged(_conv(values, kernel, **options), lengths)
