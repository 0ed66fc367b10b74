"""Reductions of the entries that share a segment, or that are written to one place.

A segment is a number from 0 to `size` - 1 that each entry along an axis has: the node of an edge, the cell of a
particle, the sentence of a word. The segment reductions combine the entries of a segment; `indexed_max` and similar
ops combine them with the element of x at their place. An index outside raises `IndexRangeError` with
`mode="error"` and is moved to the nearest end with `"clip"`; with `"fill"` its entry is ignored.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import index
from typing import NamedTuple

from ....annotations import Axis
from ....declarations.argument_errors import check_arguments
from ....dispatch import composite
from ....dtypes import DType, bool_, int64, value_range
from ....errors import ArgumentError, ShapeError, expected
from ....protocol.indexing import Mode
from ....rules.accuracy import COMPLEX_STEPS, LOG_OF_SUM, PRODUCT, SUM
from ....rules.axes import normalize_axis
from ....rules.broadcasting import check_dtype, result_type, to_floating
from ....rules.indexing import check_indices, gather_shape
from ....template import intern_template, merge_names
from ....tensor import Tensor, TensorLike
from ...creation.filled import full, iota, ones, zeros
from ...elementwise.binary import (
    add,
    divide,
    equal,
    greater,
    less,
    logical_and,
    logical_or,
    maximum,
    multiply,
    not_equal,
    subtract,
)
from ...elementwise.conversion import astype
from ...elementwise.ternary import where
from ...elementwise.transcendental import exp, log
from ...elementwise.unary import bitwise_invert, negative
from ...indexing.batches import Batch
from ...indexing.scatter import indexed_add, indexed_put, write_updates
from ...indexing.slices import slice_
from ...indexing.taking import take_along_axis_at, take_at
from ...shape import broadcast_to, concatenate, expand_dims, flip, reshape
from ...sorting import argsort
from ..elementwise.functions import isfinite, logaddexp, logical_not, signbit
from ..elementwise.gradients import stop_gradient
from ..reduction import cast_to_float32
from ..shape.arranging import moveaxis, stack, unstack
from .positions import flat_positions, normalise_indices


class _Table(NamedTuple):
    """Entries as rows, and the segment of each: a number below `size`, or `size` for an entry that is ignored."""

    rows: Tensor
    segments: Tensor
    size: int
    shaped: Callable[[Tensor], Tensor]
    """Turns a tensor with a row for each segment into the result."""

    def of(self, rows: Tensor) -> _Table:
        """The same table with other rows."""
        return self._replace(rows=rows)


def _table(x: Tensor, segments: Tensor, size: int, axis: Axis, mode: Mode, name: str | None) -> _Table:
    """The entries of x along an axis as rows.

    For x of shape (2, n, 3) along axis 1 these are n rows of 6 elements, and the result has the shape (2, size, 3).
    """
    along = normalize_axis(x.template, axis)
    count = x.shape[along]
    check_indices(segments.template, mode)
    if segments.shape != (count,):
        expectation = f"one segment for each of the {count} entries of axis {along} of {x.template!r}"
        raise ShapeError(expected(expectation, segments=segments.template))
    if index(size) < 0:
        raise ArgumentError(expected("at least 0 segments", size=size))
    merge_names(intern_template((count,), x.dtype, (x.names[along],)), segments.template)
    moved = moveaxis(x, along, 0)
    rest, names = moved.shape[1:], moved.names[1:]

    def restore_shape(rows: Tensor) -> Tensor:
        return moveaxis(reshape(rows, (size, *rest), names=(name, *names)), 0, along)

    rows = reshape(moved, (count, math.prod(rest)), names=(None, None))
    return _Table(rows, normalise_indices(segments.rename(None), size, mode), size, restore_shape)


# Reductions of tables


def _total(table: _Table) -> Tensor:
    """The sum of the rows of each segment."""
    start = zeros((table.size, table.rows.shape[1]), dtype=table.rows.dtype)
    return indexed_add(start, expand_dims(table.segments, axis=1), table.rows, mode="fill")


def _count(table: _Table) -> Tensor:
    """The number of rows of each segment, as a column."""
    return _total(table.of(ones((table.rows.shape[0], 1), dtype="int64")))


def _product(table: _Table) -> Tensor:
    """The product of the rows of each segment; 1 for a segment without rows.

    The rows are sorted by their segments. One step after the other multiplies each row by that 1, 2, 4, ... places
    before it if both are in one segment. Then the last row of a segment is the product of all. No row is divided by, so
    that zeros and their gradients are exact.
    """
    count, columns = table.rows.shape
    start = full((table.size, columns), 1, dtype=table.rows.dtype)
    order = argsort(table.segments)
    segments, rows = (take_at(x, order, axis=0, mode="clip") for x in (table.segments, table.rows))
    distance = 1
    while distance < count:
        before, after = (
            (_rows_of(segments, begin, count - distance), _rows_of(rows, begin, count - distance))
            for begin in (0, distance)
        )
        alike = expand_dims(equal(before[0], after[0]), axis=1)
        products = where(alike, multiply(after[1], before[1]), after[1])
        rows = concatenate([_rows_of(rows, 0, distance), products], axis=0)
        distance *= 2
    return indexed_put(start, expand_dims(segments, axis=1), rows, mode="fill")


def _rows_of(x: Tensor, begin: int, count: int) -> Tensor:
    """Some of the entries along the first axis."""
    rest = x.shape[1:]
    return slice_(x, starts=(begin, *(0 for _ in rest)), lengths=(count, *rest), strides=(1,) * x.ndim)


def _first_largest(table: _Table) -> Tensor:
    """The position of the first maximum of each segment and column; -1 in a segment without rows.

    Positions are written in ascending order of their elements, so that the one of the maximum remains. The
    elements are sorted from the end, so that of equal elements the first is written last.
    """
    rows, columns = table.rows.shape
    order = subtract(rows - 1, argsort(flip(table.rows, axis=0), axis=0))
    places = take_at(table.segments, order, axis=0, mode="clip")
    vectors = stack([places, broadcast_to(iota(columns), (rows, columns))], axis=2)
    return indexed_put(full((table.size, columns), -1, dtype="int64"), vectors, order, mode="fill")


def _segment_maximum(table: _Table) -> Tensor:
    """The maximum of each segment and column; the smallest number of the dtype in a segment without rows."""
    dtype = table.rows.dtype
    if dtype is bool_:
        return astype(_segment_maximum(table.of(astype(table.rows, "uint8"))), bool_)
    lowest = full((table.size, table.rows.shape[1]), value_range(dtype)[0], dtype=dtype)
    return indexed_max(lowest, expand_dims(table.segments, axis=1), table.rows, mode="fill")


def _first_of_largest(table: _Table) -> Tensor:
    """The result of `_first_largest`, by two maxima in place of a sort: of the elements, then of their positions.

    Positions are counted from the last row, so that the first position is the largest number.
    """
    rows, columns = table.rows.shape
    if not table.size:
        nowhere = full((0, columns), -1, dtype="int64")
        return indexed_put(nowhere, expand_dims(table.segments, axis=1), -1, mode="fill")
    # One more row, with which entries outside all segments are compared.
    lowest = full((1, columns), value_range(table.rows.dtype)[0], dtype=table.rows.dtype)
    largest = take_at(concatenate([_segment_maximum(table), lowest], axis=0), table.segments, axis=0, mode="clip")
    among = logical_or(equal(table.rows, largest), not_equal(table.rows, table.rows))  # a NaN is largest
    from_end = subtract(rows - 1, iota((rows, columns), axis=0, dtype="int64"))
    nowhere = full((table.size, columns), -1, dtype="int64")
    largest_distance = indexed_max(
        nowhere, expand_dims(table.segments, axis=1), where(among, from_end, -1), mode="fill"
    )
    return where(less(largest_distance, 0), -1, subtract(rows - 1, largest_distance))


def _maximum_by_order(table: _Table) -> Tensor:
    """The result of `_segment_maximum` for backends without a faster way; 0.0 for zeros of both signs."""
    dtype = table.rows.dtype
    lowest = full((table.size, table.rows.shape[1]), value_range(dtype)[0], dtype=dtype)
    if not table.rows.shape[0]:
        return lowest
    at = _first_largest(table)
    largest = where(less(at, 0), lowest, take_along_axis_at(table.rows, maximum(at, 0), axis=0, mode="clip"))
    if not dtype.is_floating:
        return largest
    positive = logical_and(equal(table.rows, 0), logical_not(signbit(table.rows)))
    any_positive = greater(_total(table.of(astype(positive, "int64"))), 0)
    return add(largest, where(any_positive, full((), 0.0, dtype=dtype), full((), -0.0, dtype=dtype)))  # x + -0.0 is x


def _mirror(x: Tensor) -> Tensor:
    """x mapped so that the order of its elements is reversed; applied twice, this returns x."""
    if x.dtype is bool_:
        return logical_not(x)
    return bitwise_invert(x) if x.dtype.is_integer else negative(x)


def _log_of_sum(table: _Table) -> Tensor:
    """The logarithm of the sum of exponentials of each segment and column; -inf for a segment without rows."""
    inside = expand_dims(less(table.segments, table.size), axis=1)
    rows = where(inside, table.rows, -math.inf)  # so that no entry outside all segments overflows
    if not rows.size or not table.size:
        return subtract(_total(table.of(rows)), math.inf)  # -inf; the logarithm of 0 has no derivative
    largest = stop_gradient(_segment_maximum(table))
    shift = where(isfinite(largest), largest, 0)
    terms = exp(subtract(rows, take_at(shift, table.segments, axis=0, mode="clip")))
    total = _total(table.of(terms))
    nothing = equal(total, 0)
    return where(nothing, -math.inf, add(log(where(nothing, 1, total)), shift))


# Reductions of the entries alone


@composite.within(SUM)
def segment_sum(
    x: Tensor, segments: Tensor, /, *, size: int, axis: Axis = 0, mode: Mode = "error", name: str | None = None
) -> Tensor:
    """Sum of the entries of each segment; 0 for an empty segment.

    Parameters
    ----------
    x : Tensor
        Entries along an axis; bools count as 0 and 1, in int64.
    segments : Tensor
        Shape (n,) where the axis has n entries, of an integer dtype: the segment of each entry, in any order.
    size : int
        The number of segments.
    axis : int or str, default 0
        The axis of the entries.
    mode : {"error", "clip", "fill"}, default "error"
        How to treat an entry whose segment is not from 0 to `size` - 1: "error" raises `IndexRangeError`, "clip"
        assigns it to the nearest segment, "fill" ignores it.
    name : str, optional
        The name of the axis of segments, by default none.

    Returns
    -------
    Tensor
        A tensor with the shape of x, but `size` entries along the axis.

    Raises
    ------
    ShapeError
        For segments of another shape.
    NamesError
        For segments along an axis of another name.
    DTypeError
        For segments that are not integers.
    IndexRangeError
        For a segment outside, with `mode="error"`.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> tb.segment_sum(tb.asarray([1.0, 2.0, 4.0]), tb.asarray([2, 0, 2]), size=4, name="node")
    f32[node: 4] numpy [2.0, 0.0, 5.0, 0.0]
    """
    x = _numeric(x)
    table = _table(x, segments, size, axis, mode, name)
    return table.shaped(_total(table))


def _numeric(x: Tensor) -> Tensor:
    """x, or the int64 numbers 0 and 1 of a bool x, as `sum` adds them."""
    return astype(x, int64) if x.dtype is bool_ else x


@composite.within(PRODUCT, complex=COMPLEX_STEPS)
def segment_prod(
    x: Tensor, segments: Tensor, /, *, size: int, axis: Axis = 0, mode: Mode = "error", name: str | None = None
) -> Tensor:
    """Product of the entries of each segment; 1 for an empty segment.

    Parameters and errors are those of `segment_sum`.

    >>> import tensorbackend as tb
    >>> tb.segment_prod(tb.asarray([3.0, 2.0, 4.0]), tb.asarray([2, 0, 2]), size=4).tolist()
    [2.0, 1.0, 12.0, 1.0]
    """
    x = _numeric(x)
    table = _table(_widen(x), segments, size, axis, mode, name)
    return astype(table.shaped(_product(table)), x.dtype)


def _widen(x: Tensor) -> Tensor:
    """x in at least float32 if it is inexact, so that no product is rounded twice or overflows on the way."""
    check_dtype(x.dtype, "numeric")
    return cast_to_float32(x) if x.dtype.is_inexact else x


@composite
def segment_max(
    x: Tensor, segments: Tensor, /, *, size: int, axis: Axis = 0, mode: Mode = "error", name: str | None = None
) -> Tensor:
    """Maximum of the entries of each segment; NaN if any entry is NaN.

    A segment without entries holds -inf, or the smallest integer of the dtype. Parameters and errors are those of
    `segment_sum`; x is real or bool.

    >>> import tensorbackend as tb
    >>> tb.segment_max(tb.asarray([1.0, 2.0, 4.0]), tb.asarray([2, 0, 2]), size=3).tolist()
    [2.0, -inf, 4.0]
    """
    check_dtype(x.dtype, "real or bool")
    table = _table(x, segments, size, axis, mode, name)
    return table.shaped(_segment_maximum(table))


@composite
def segment_min(
    x: Tensor, segments: Tensor, /, *, size: int, axis: Axis = 0, mode: Mode = "error", name: str | None = None
) -> Tensor:
    """Minimum of the entries of each segment; NaN if any entry is NaN.

    A segment without entries holds inf, or the largest integer of the dtype. Parameters and errors are those of
    `segment_sum`; x is real or bool.

    >>> import tensorbackend as tb
    >>> tb.segment_min(tb.asarray([1.0, 2.0, 4.0]), tb.asarray([2, 0, 2]), size=3).tolist()
    [2.0, inf, 1.0]
    """
    check_dtype(x.dtype, "real or bool")
    table = _table(x, segments, size, axis, mode, name)
    return table.shaped(_mirror(_segment_maximum(table.of(_mirror(table.rows)))))


@composite
def segment_argmax(
    x: Tensor, segments: Tensor, /, *, size: int, axis: Axis = 0, mode: Mode = "error", name: str | None = None
) -> Tensor:
    """Position of the maximum of each segment: the first of equal entries, -1 for an empty segment.

    Parameters and errors are those of `segment_sum`; x is real or bool, and NaN counts as the largest.

    >>> import tensorbackend as tb
    >>> tb.segment_argmax(tb.asarray([1.0, 2.0, 4.0]), tb.asarray([2, 0, 2]), size=3).tolist()
    [1, -1, 2]
    """
    check_dtype(x.dtype, "real or bool")
    table = _table(x, segments, size, axis, mode, name)
    return table.shaped(_first_of_largest(table))


@composite.within(SUM)
def segment_mean(
    x: Tensor, segments: Tensor, /, *, size: int, axis: Axis = 0, mode: Mode = "error", name: str | None = None
) -> Tensor:
    """Mean of the entries of each segment; NaN for an empty segment.

    Parameters and errors are those of `segment_sum`. Integers are converted to the default floating dtype.

    >>> import tensorbackend as tb
    >>> tb.segment_mean(tb.asarray([1.0, 2.0, 4.0]), tb.asarray([2, 0, 2]), size=3).tolist()
    [2.0, nan, 2.5]
    """
    table = _table(cast_to_float32(x), segments, size, axis, mode, name)
    return astype(table.shaped(divide(_total(table), _count(table))), to_floating(x.dtype))


@composite.within(LOG_OF_SUM)
def segment_logsumexp(
    x: Tensor, segments: Tensor, /, *, size: int, axis: Axis = 0, mode: Mode = "error", name: str | None = None
) -> Tensor:
    """Logarithm of the sum of exp(x) over the entries of each segment, without overflow; -inf for an empty segment.

    Parameters and errors are those of `segment_sum`; x is real or bool.

    >>> import tensorbackend as tb
    >>> tb.segment_logsumexp(tb.asarray([1000.0, 2.0, 1000.0]), tb.asarray([2, 0, 2]), size=3).tolist()
    [2.0, -inf, 1000.6931762695312]
    """
    check_dtype(x.dtype, "real or bool")
    table = _table(cast_to_float32(x), segments, size, axis, mode, name)
    return astype(table.shaped(_log_of_sum(table)), to_floating(x.dtype))


# Updates at index vectors, together with the elements of a tensor


def _tables_of_update(x: Tensor, indices: Tensor, updates: Tensor, mode: Mode, dtype: DType) -> tuple[Tensor, _Table]:
    """x as rows, one for each place of an index vector, and a table of updates with the places as segments.

    For x of shape (5, 6, 7) and indices of shape (2, 3, 2) these are 30 rows of 7, and 6 updates.
    """
    check_indices(indices.template, mode)
    shape, names = gather_shape(x.template, indices.template)
    merge_names(intern_template(shape, dtype, names), updates.template)
    updates = broadcast_to(updates, shape, names=names)
    depth = indices.shape[-1]
    places, row = x.shape[:depth], math.prod(x.shape[depth:])
    size, count = math.prod(places), math.prod(indices.shape[:-1])
    columns = unstack(reshape(indices, (count, depth), names=(None, None)), axis=1)
    numbers = broadcast_to(flat_positions(columns, places, mode), (count,))
    rows = reshape(astype(updates, dtype), (count, row), names=(None, None))
    base = reshape(astype(x, dtype), (size, row), names=(None, None))
    return base, _Table(rows, numbers, size, lambda rows: reshape(rows, x.shape, names=x.names))


@composite.calls("indexed_max")
def _indexed_max(x: Tensor, indices: Tensor, updates: Tensor, /, *, mode: Mode) -> Tensor:
    """See `indexed_max`."""
    dtype = check_dtype(result_type([x.template, updates.template]), "real")
    base, table = _tables_of_update(x, indices, updates, mode, dtype)
    return table.shaped(maximum(base, _maximum_by_order(table)))


@check_arguments
def indexed_max(
    x: TensorLike, indices: TensorLike, updates: TensorLike, /, *, mode: Mode = "error", batch: Batch = None
) -> Tensor:
    """Replace entries of x at index vectors by the maximum of the entry and its updates. NaN propagates.

    Parameters
    ----------
    x : Tensor
        A tensor of a real dtype.
    indices : Tensor
        Integers: index vectors along the last axis, which run over the leading axes of x. They are never negative.
    updates : Tensor
        The updates, of the shape that `gather` returns for the same indices, or of one that broadcasts to it.
    mode : {"error", "clip", "fill"}, default "error"
        How to treat an index outside its axis: "error" raises `IndexRangeError`, "clip" moves it to the nearest end,
        "fill" ignores the update.
    batch : axis or sequence of axes, optional
        Axes that x and the indices have in common, as in `gather`: each entry along them is updated separately.

    Returns
    -------
    Tensor
        A tensor with the shape and names of x, in the dtype to which x and the updates are promoted.

    Raises
    ------
    ShapeError
        For index vectors with more components than x has axes, and updates that do not broadcast.
    NamesError
        For updates with axes of other names.
    DTypeError
        For dtypes without an order, and indices that are not integers.
    IndexRangeError
        For an index outside, with `mode="error"`.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> tb.indexed_max(tb.zeros(3), tb.asarray([[2], [0], [2]]), tb.asarray([1.0, -2.0, 3.0])).tolist()
    [0.0, 0.0, 3.0]
    """
    return write_updates(_indexed_max, x, indices, updates, mode, batch)


@composite.calls("indexed_min")
def _indexed_min(x: Tensor, indices: Tensor, updates: Tensor, /, *, mode: Mode) -> Tensor:
    """See `indexed_min`."""
    dtype = check_dtype(result_type([x.template, updates.template]), "real")
    base, others = (_mirror(astype(tensor, dtype)) for tensor in (x, updates))
    return _mirror(_indexed_max(base, indices, others, mode=mode))


@check_arguments
def indexed_min(
    x: TensorLike, indices: TensorLike, updates: TensorLike, /, *, mode: Mode = "error", batch: Batch = None
) -> Tensor:
    """Replace entries of x at index vectors by the minimum of the entry and its updates. See `indexed_max`.

    >>> import tensorbackend as tb
    >>> tb.indexed_min(tb.zeros(3), tb.asarray([[2], [0], [2]]), tb.asarray([1.0, -2.0, 3.0])).tolist()
    [-2.0, 0.0, 0.0]
    """
    return write_updates(_indexed_min, x, indices, updates, mode, batch)


@composite.calls("indexed_prod").within(PRODUCT, complex=COMPLEX_STEPS)
def _indexed_prod(x: Tensor, indices: Tensor, updates: Tensor, /, *, mode: Mode) -> Tensor:
    """See `indexed_prod`."""
    dtype = check_dtype(result_type([x.template, updates.template]), "numeric")
    wide = _widen(astype(x, dtype)).dtype
    base, table = _tables_of_update(x, indices, updates, mode, wide)
    changed = greater(_count(table), 0)  # an infinite complex number times 1 is not itself
    return astype(table.shaped(where(changed, multiply(base, _product(table)), base)), dtype)


@check_arguments
def indexed_prod(
    x: TensorLike, indices: TensorLike, updates: TensorLike, /, *, mode: Mode = "error", batch: Batch = None
) -> Tensor:
    """Multiply entries of x at index vectors by their updates. See `indexed_max`; x is of a numeric dtype.

    >>> import tensorbackend as tb
    >>> tb.indexed_prod(tb.asarray([5.0, 1.0, 2.0]), tb.asarray([[2], [0], [2]]), tb.asarray([3.0, 2.0, 4.0])).tolist()
    [10.0, 1.0, 24.0]
    """
    return write_updates(_indexed_prod, x, indices, updates, mode, batch)


@composite.calls("indexed_mean").within(SUM)
def _indexed_mean(x: Tensor, indices: Tensor, updates: Tensor, /, *, mode: Mode) -> Tensor:
    """See `indexed_mean`."""
    like = astype(x, check_dtype(result_type([x.template, updates.template]), "numeric"))
    base, table = _tables_of_update(x, indices, updates, mode, cast_to_float32(like).dtype)
    return astype(table.shaped(divide(add(base, _total(table)), add(1, _count(table)))), to_floating(like.dtype))


@check_arguments
def indexed_mean(
    x: TensorLike, indices: TensorLike, updates: TensorLike, /, *, mode: Mode = "error", batch: Batch = None
) -> Tensor:
    """Replace entries of x at index vectors by the mean of the entry and its updates. See `indexed_max`.

    >>> import tensorbackend as tb
    >>> tb.indexed_mean(tb.zeros(3), tb.asarray([[2], [0], [2]]), tb.asarray([1.0, -2.0, 3.0])).tolist()
    [-1.0, 0.0, 1.3333333730697632]
    """
    return write_updates(_indexed_mean, x, indices, updates, mode, batch)


@composite.calls("indexed_logsumexp").within(LOG_OF_SUM)
def _indexed_logsumexp(x: Tensor, indices: Tensor, updates: Tensor, /, *, mode: Mode) -> Tensor:
    """See `indexed_logsumexp`."""
    like = astype(x, check_dtype(result_type([x.template, updates.template]), "real"))
    base, table = _tables_of_update(x, indices, updates, mode, cast_to_float32(like).dtype)
    return astype(table.shaped(logaddexp(base, _log_of_sum(table))), to_floating(like.dtype))


@check_arguments
def indexed_logsumexp(
    x: TensorLike, indices: TensorLike, updates: TensorLike, /, *, mode: Mode = "error", batch: Batch = None
) -> Tensor:
    """Combine entries of x with updates at index vectors by `logsumexp`. See `indexed_max`.

    >>> import tensorbackend as tb
    >>> tb.indexed_logsumexp(tb.zeros(2), tb.asarray([[1], [1]]), tb.asarray([0.0, 0.0])).tolist()
    [0.0, 1.0986123085021973]
    """
    return write_updates(_indexed_logsumexp, x, indices, updates, mode, batch)
