"""Flips, slices, shifts, padding, joins and splits along axes with lengths."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from operator import index as as_index
from typing import Any

from ..annotations import Axis
from ..declarations.argument_errors import check_arguments
from ..dtypes import int64
from ..errors import ArgumentError, DTypeError, NamesError, ShapeError, expected
from ..ops.creation.filled import iota, zeros
from ..ops.elementwise.basic import astype, where
from ..ops.elementwise.binary import logical_and, maximum, minimum
from ..ops.indexing.taking import take_at
from ..ops.padding import pad as _pad
from ..ops.shape import broadcast_to, concatenate, expand_dims, permute_dims, reshape
from ..rules.plan import integer
from ..template import Names
from ..tensor import Tensor, TensorLike
from .construction import fit_lengths
from .lengths import as_tensor, check_equal, laid_out, map_lengths
from .value import Ragged, ragged_axis


def positions(size: int, axis: str, like: Tensor) -> Tensor:
    """A tensor of the positions 0, 1, 2, ... along an axis."""
    return iota(size, dtype=int64, names=(axis,), like=like)


def column(x: Tensor, axis: str) -> Tensor:
    """x, a tensor over the axes of the examples, with `axis` as a last axis of size 1."""
    return expand_dims(x, axis=-1, name=axis)


def gather_along(x: Tensor, indices: Tensor, axis: str) -> Tensor:
    """Take entries of x along an axis; the last axis of `indices` is that axis, and its other axes are axes of x.

    [batch: 2][time: 5][feature] at [batch: 2][time: 3] is [batch: 2][time: 3][feature]. An index beyond an end of
    the axis takes the entry at that end.
    """
    lead = [x.names.index(name) for name in indices.names]
    rest = [position for position in range(x.ndim) if position not in lead]
    order = (*lead, *rest)
    rows = x if order == tuple(range(x.ndim)) else permute_dims(x, order)
    size, count = rows.shape[len(lead) - 1], math.prod(indices.shape[:-1])
    lengths = (*indices.shape, *rows.shape[len(lead) :])
    names: Names = rows.names
    if not count * size:
        entries = zeros(lengths, dtype=x.dtype, names=names, like=x)
    else:
        flat = reshape(rows, (count * size, *rows.shape[len(lead) :]), names=(None, *names[len(lead) :]))
        places = minimum(maximum(indices, 0), size - 1)
        if count > 1:
            starts = iota(count, dtype=int64, like=indices) * size
            places = places + reshape(starts, (*indices.shape[:-1], 1), names=(*indices.names[:-1], None))
        entries = take_at(flat, places, axis=0, mode="clip")
    back = tuple(order.index(position) for position in range(x.ndim))
    return entries if back == tuple(range(x.ndim)) else permute_dims(entries, back)


def gather_ragged(x: Ragged, indices: Tensor, axis: str, new_lengths: Tensor) -> Ragged:
    """Take the values, and the lengths over an axis, at `indices` along it; the axis then has `new_lengths`."""
    lengths = map_lengths(x.lengths, axis, lambda part: gather_along(part, indices, axis))
    return Ragged(gather_along(x.values, indices, axis), {**lengths, axis: new_lengths})


@check_arguments
def flip(x: Ragged, /, *, axis: Axis) -> Ragged:
    """Reverse each example within its length.

    Returns
    -------
    Ragged
        Like x.

    Examples
    --------
    >>> tb.ragged.flip(tb.ragged.from_list([[1, 2, 3], [4, 5]]), axis="time").filled(0).tolist()
    [[3, 2, 1], [5, 4, 0]]
    """
    name = ragged_axis(x, axis, "apply(lambda values: tb.flip(values, axis=...), x)")
    lengths = x.lengths[name]
    last = column(lengths, name) - 1
    return gather_ragged(x, last - positions(x.size_of(name), name, lengths), name, lengths)


def _offset(x: Ragged, value: Any, axis: str, what: str) -> Any:
    """The int for all examples, or the integer tensor over axes of the lengths, laid out to broadcast with these."""
    if isinstance(value, int):
        return value
    lengths = x.lengths[axis]
    offset = as_tensor(value, lengths)
    if not offset.dtype.is_integer:
        remedy = "cast it with astype(..., 'int64')"
        raise DTypeError(expected(f"an int or an integer tensor as {what}", remedy, **{what: offset.template}))
    if not set(offset.names) <= set(lengths.names) or None in offset.names:
        allowed_axes = f"axes of the lengths of {axis!r}, {lengths.template!r}"
        raise NamesError(expected(f"{what} over {allowed_axes}", "rename() its axes", **{what: offset.template}))
    return laid_out(astype(offset, int64), lengths.template)


@check_arguments
def slice_along_axis(
    x: Ragged, start: TensorLike, length: TensorLike, /, *, axis: Axis, size: int | None = None
) -> Ragged:
    """Take a slice of each example: `length` entries from `start` on, fewer if the example ends earlier.

    Parameters
    ----------
    start : int or integer Tensor
        The position of the first entry, one for all examples or one for each; a negative one counts from the end of
        each example, and one outside is clipped to the nearest end.
    length : int or integer Tensor
        The number of entries, one for all examples or one for each.
    size : int, optional
        The size of the axis in the result. By default `length` if that is an int, else the size in x.

    Returns
    -------
    Ragged
        Like x, with the lengths of the slices.

    Raises
    ------
    ArgumentError
        For a negative int as `length`.
    DTypeError, NamesError
        For a `start` or `length` that is neither an int nor an integer tensor over the axes that the lengths are over.
    DataError
        For a `size` below the length of a slice, where lengths can be read. In a trace, the lengths are clipped to the
        size.

    Examples
    --------
    >>> x = tb.ragged.from_list([[1, 2, 3], [4, 5]])
    >>> [row.tolist() for row in tb.ragged.to_list(tb.ragged.slice_along_axis(x, 1, 2, axis="time"))]
    [[2, 3], [5]]
    >>> starts = tb.asarray([0, -1], names=("batch",))
    >>> [row.tolist() for row in tb.ragged.to_list(tb.ragged.slice_along_axis(x, starts, 1, axis="time"))]
    [[1], [5]]
    """
    name = ragged_axis(x, axis, "apply(lambda values: tb.slice_along_axis(values, ...), x)")
    axis_lengths = x.lengths[name]
    first, count = _offset(x, start, name, "start"), _offset(x, length, name, "length")
    if isinstance(count, int):
        integer(0, length=count)
    bound = size if size is not None else count if isinstance(count, int) else x.size_of(name)
    bound = integer(0, size=bound)
    first = as_tensor(first, axis_lengths)
    first = maximum(minimum(where(first < 0, axis_lengths + first, first), axis_lengths), 0)
    new = maximum(minimum(axis_lengths - first, count), 0)
    new = fit_lengths(minimum(new, bound) if isinstance(count, int) and count <= bound else new, bound, name)
    return gather_ragged(x, column(first, name) + positions(bound, name, axis_lengths), name, new)


@check_arguments
def shift(x: Ragged, amount: TensorLike, /, *, axis: Axis, fill: TensorLike = 0) -> Ragged:
    """Move the entries of each example towards its end, or by a negative amount towards its beginning.

    Parameters
    ----------
    amount : int or integer Tensor
        The number of positions to move by, one for all examples or one for each.
    fill : number, default 0
        The value of vacated positions. Entries that move beyond an end are lost.

    Returns
    -------
    Ragged
        Like x, with the same lengths.

    Examples
    --------
    >>> tb.ragged.shift(tb.ragged.from_list([[1, 2, 3], [4, 5]]), 1, axis="time", fill=-1).filled(0).tolist()
    [[-1, 1, 2], [-1, 4, 0]]
    """
    name = ragged_axis(x, axis, "tb.roll() within apply()")
    axis_lengths = x.lengths[name]
    by = _offset(x, amount, name, "amount")
    places = positions(x.size_of(name), name, axis_lengths)
    source = places - (by if isinstance(by, int) else column(by, name))
    if source.ndim == 1:
        source = broadcast_to(source, (*axis_lengths.shape, source.shape[0]), names=(*axis_lengths.names, name))
    there = logical_and(source >= 0, source < column(axis_lengths, name))
    lengths = {
        other: where(laid_out(there, other_lengths.template), gather_along(other_lengths, source, name), 0)
        for other, other_lengths in x.lengths.items()
        if name in other_lengths.names
    }
    values = gather_along(x.values, source, name)
    values = where(laid_out(there, values.template), values, fill)
    return Ragged(values, {**x.lengths, **lengths})


@check_arguments
def pad(x: Ragged, padding: Sequence[int], /, *, axis: Axis, value: TensorLike = 0) -> Ragged:
    """Pad each example with a value before its beginning and after its end.

    Parameters
    ----------
    padding : (int, int)
        The numbers of entries to add before and after, at least 0.
    axis : int or str
        An axis with lengths, which grow by the sum of both numbers.
    value : number, default 0
        The value of the new entries. On an inner axis with lengths, new entries have the length 0.

    Returns
    -------
    Ragged
        x with a longer axis.

    Examples
    --------
    >>> [row.tolist() for row in tb.ragged.to_list(tb.ragged.pad(tb.ragged.from_list([[1, 2], [3]]), (1, 1), axis=1))]
    [[0, 1, 2, 0], [0, 3, 0]]
    """
    name = ragged_axis(x, axis, "tb.pad() within apply()")
    if len(padding) != 2:
        raise ArgumentError(expected("two numbers, before and after, as padding", padding=tuple(padding)))
    before, after = (integer(0, padding=width) for width in padding)
    widths: dict[Axis, tuple[int, int]] = {name: (before, after)}
    axis_lengths = x.lengths[name]

    def padded(part: Tensor, value: TensorLike = 0) -> Tensor:
        return _pad(Ragged(part, {name: axis_lengths}).filled(value), widths, value=value)

    wide = map_lengths(x.lengths, name, padded)
    return Ragged(padded(x.values, value), {**wide, name: axis_lengths + (before + after)})


@check_arguments
def concat(tensors: Sequence[Ragged], /, *, axis: Axis) -> Ragged:
    """Concatenate the examples of several tensors along an axis with lengths.

    Parameters
    ----------
    tensors : list of Ragged
        One or more, whose other axes have the same sizes and lengths.
    axis : int or str
        An axis with lengths in each.

    Returns
    -------
    Ragged
        Its lengths are the sums of the lengths of the tensors. There is no padding between their examples.

    Raises
    ------
    ArgumentError
        If there are no tensors.
    ShapeError, NamesError
        If the other axes differ in size, lengths or names.

    Examples
    --------
    >>> x, y = tb.ragged.from_list([[1, 2], [3]]), tb.ragged.from_list([[7], [8, 9]])
    >>> [row.tolist() for row in tb.ragged.to_list(tb.ragged.concat([x, y], axis="time"))]
    [[1, 2, 7], [3, 8, 9]]
    """
    if not tensors:
        raise ArgumentError(expected("at least one tensor", tensors=tensors))
    remedy = "apply(lambda *values: tb.concat(values, axis=...), *tensors)"
    first, *others = tensors
    name = ragged_axis(first, axis, remedy)
    all_lengths, room = [first.lengths[name]], [first.size_of(name)]
    for tensor in others:
        if ragged_axis(tensor, name, remedy) and tensor.lengths.keys() != first.lengths.keys():
            raise ShapeError(
                expected("lengths of the same axes", left=sorted(first.lengths), right=sorted(tensor.lengths))
            )
        if set(tensor.lengths[name].names) != set(all_lengths[0].names):
            expectation = f"lengths of {name!r} over the same axes"
            raise NamesError(expected(expectation, left=all_lengths[0].template, right=tensor.lengths[name].template))
        for other, lengths in first.lengths.items():
            if other != name and name not in lengths.names:
                check_equal(other, lengths, tensor.lengths[other])
        all_lengths.append(laid_out(tensor.lengths[name], all_lengths[0].template))
        room.append(tensor.size_of(name))
    parts = {
        other: concatenate([tensor.lengths[other] for tensor in tensors], axis=lengths.names.index(name))
        if name in lengths.names
        else lengths
        for other, lengths in first.lengths.items()
    }
    total = all_lengths[0]
    # Where an example of one tensor ends, skip its padding, so that the example of the next tensor follows directly.
    indices = broadcast_to(positions(sum(room), name, total), (*total.shape, sum(room)), names=(*total.names, name))
    ends, targets = total, indices
    for gap, following in zip(itertools.accumulate(room), [*all_lengths[1:], None], strict=True):
        if following is None:
            break
        beyond = targets >= column(ends, name)
        indices = where(beyond, targets + (gap - column(ends, name)), indices)
        ends = ends + following
    values = concatenate([tensor.values for tensor in tensors], axis=first.names.index(name))
    return gather_ragged(Ragged(values, {**parts, name: ends}), indices, name, ends)


@check_arguments
def split(x: Ragged, sections: Sequence[int], /, *, axis: Axis) -> tuple[Ragged, ...]:
    """Split an axis with lengths at some positions, the same in each example.

    Parameters
    ----------
    sections : list of int
        Ascending positions from 0 to the size of the axis.

    Returns
    -------
    tuple of Ragged
        The parts, one more than positions. An example that ends before a part begins has the length 0 there.

    Raises
    ------
    ShapeError
        For positions that are not ascending, or out of range.

    Examples
    --------
    >>> first, rest = tb.ragged.split(tb.ragged.from_list([[1, 2, 3], [4]]), [2], axis="time")
    >>> first, rest.lengths["time"].tolist()
    (ragged s64[batch: 2][time: 2] numpy, time=[2, 1], [1, 0])
    """
    name = ragged_axis(x, axis, "tb.split(x.values, ...)")
    bounds = [0, *map(as_index, sections), x.size_of(name)]
    if sorted(bounds) != bounds:
        raise ShapeError(expected(f"ascending positions from 0 to {bounds[-1]}", sections=tuple(sections)))
    return tuple(_part(x, name, low, high) for low, high in itertools.pairwise(bounds))


def _part(x: Ragged, axis: str, low: int, high: int) -> Ragged:
    """The entries of an axis from position `low` to before `high`."""
    widths: dict[Axis, tuple[int, int]] = {axis: (-low, high - x.size_of(axis))}
    lengths = map_lengths(x.lengths, axis, lambda part: _pad(part, widths, value=0))
    new_lengths = minimum(maximum(x.lengths[axis] - low, 0), high - low)
    return Ragged(_pad(x.values, widths, value=0), {**lengths, axis: new_lengths})
