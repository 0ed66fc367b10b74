"""Reductions of the entries that share a segment.

A segment is a number from 0 to `size` - 1 that each entry along an axis has: the node of an edge, the cell of a
particle, the sentence of a word. A segment outside raises `IndexRangeError` with `mode="error"` and is moved to the
nearest end with `"clip"`; with `"fill"` its entry is ignored.
"""

from __future__ import annotations

import math
from operator import index

from ....annotations import Axis
from ....dispatch import composite
from ....dtypes import bool_, int64, value_range
from ....errors import ArgumentError, ShapeError, expected
from ....protocol.indexing import Mode
from ....rules.accuracy import COMPLEX_STEPS, LOG_OF_SUM, PRODUCT, SUM
from ....rules.axes import normalize_axis
from ....rules.broadcasting import check_dtype, to_floating
from ....rules.indexing import check_indices
from ....template import intern_template, merge_names
from ....tensor import Tensor
from ...creation.filled import full, iota
from ...elementwise.basic import astype, isnan, where
from ...elementwise.binary import logical_or
from ...indexing.scatter import indexed_put
from ...indexing.taking import take_at
from ...shape import concatenate, expand_dims, reshape
from ..reduction import cast_to_float32
from ..shape.arranging import moveaxis
from .positions import normalise_indices
from .updates import (
    Table,
    indexed_max,
    mirror,
    segment_count,
    segment_log_of_sum,
    segment_maximum,
    segment_product,
    segment_total,
    widen,
)


def _table(x: Tensor, segments: Tensor, size: int, axis: Axis, mode: Mode, name: str | None) -> Table:
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
    return Table(rows, normalise_indices(segments.rename(None), size, mode), size, restore_shape)


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
    >>> tb.segment_sum(tb.asarray([1.0, 2.0, 4.0]), tb.asarray([2, 0, 2]), size=4, name="node")
    f32[node: 4] numpy [2.0, 0.0, 5.0, 0.0]
    """
    x = _numeric(x)
    table = _table(x, segments, size, axis, mode, name)
    return table.shaped(segment_total(table))


def _numeric(x: Tensor) -> Tensor:
    """x, or the int64 numbers 0 and 1 of a bool x, as `sum` adds them."""
    return astype(x, int64) if x.dtype is bool_ else x


@composite.within(PRODUCT, complex=COMPLEX_STEPS)
def segment_prod(
    x: Tensor, segments: Tensor, /, *, size: int, axis: Axis = 0, mode: Mode = "error", name: str | None = None
) -> Tensor:
    """Product of the entries of each segment; 1 for an empty segment.

    Parameters and errors are those of `segment_sum`.

    >>> tb.segment_prod(tb.asarray([3.0, 2.0, 4.0]), tb.asarray([2, 0, 2]), size=4).tolist()
    [2.0, 1.0, 12.0, 1.0]
    """
    x = _numeric(x)
    table = _table(widen(x), segments, size, axis, mode, name)
    return astype(table.shaped(segment_product(table)), x.dtype)


@composite
def segment_max(
    x: Tensor, segments: Tensor, /, *, size: int, axis: Axis = 0, mode: Mode = "error", name: str | None = None
) -> Tensor:
    """Maximum of the entries of each segment; NaN if any entry is NaN.

    A segment without entries holds -inf, or the smallest integer of the dtype. Parameters and errors are those of
    `segment_sum`; x is real or bool.

    >>> tb.segment_max(tb.asarray([1.0, 2.0, 4.0]), tb.asarray([2, 0, 2]), size=3).tolist()
    [2.0, -inf, 4.0]
    """
    check_dtype(x.dtype, "real or bool")
    table = _table(x, segments, size, axis, mode, name)
    return table.shaped(segment_maximum(table))


@composite
def segment_min(
    x: Tensor, segments: Tensor, /, *, size: int, axis: Axis = 0, mode: Mode = "error", name: str | None = None
) -> Tensor:
    """Minimum of the entries of each segment; NaN if any entry is NaN.

    A segment without entries holds inf, or the largest integer of the dtype. Parameters and errors are those of
    `segment_sum`; x is real or bool.

    >>> tb.segment_min(tb.asarray([1.0, 2.0, 4.0]), tb.asarray([2, 0, 2]), size=3).tolist()
    [2.0, inf, 1.0]
    """
    check_dtype(x.dtype, "real or bool")
    table = _table(x, segments, size, axis, mode, name)
    return table.shaped(mirror(segment_maximum(table.of(mirror(table.rows)))))


@composite
def segment_argmax(
    x: Tensor, segments: Tensor, /, *, size: int, axis: Axis = 0, mode: Mode = "error", name: str | None = None
) -> Tensor:
    """Position of the maximum of each segment: the first of equal entries, -1 for an empty segment.

    Parameters and errors are those of `segment_sum`; x is real or bool, and NaN counts as the largest.

    >>> tb.segment_argmax(tb.asarray([1.0, 2.0, 4.0]), tb.asarray([2, 0, 2]), size=3).tolist()
    [1, -1, 2]
    """
    check_dtype(x.dtype, "real or bool")
    table = _table(x, segments, size, axis, mode, name)
    return table.shaped(_first_of_largest(table))


def _first_of_largest(table: Table) -> Tensor:
    """The result of `_first_largest`, by two maxima in place of a sort: of the elements, then of their positions.

    Positions are counted from the last row, so that the first position is the largest number.
    """
    rows, columns = table.rows.shape
    if not table.size:
        nowhere = full((0, columns), -1, dtype="int64")
        return indexed_put(nowhere, expand_dims(table.segments, axis=1), -1, mode="fill")
    # One more row, with which entries outside all segments are compared.
    lowest = full((1, columns), value_range(table.rows.dtype)[0], dtype=table.rows.dtype)
    largest = take_at(concatenate([segment_maximum(table), lowest], axis=0), table.segments, axis=0, mode="clip")
    among = logical_or(table.rows == largest, table.rows != table.rows)  # a NaN is largest
    from_end = rows - 1 - iota((rows, columns), axis=0, dtype="int64")
    nowhere = full((table.size, columns), -1, dtype="int64")
    largest_distance = indexed_max(
        nowhere, expand_dims(table.segments, axis=1), where(among, from_end, -1), mode="fill"
    )
    return where(largest_distance < 0, -1, rows - 1 - largest_distance)


@composite.within(SUM)
def segment_mean(
    x: Tensor, segments: Tensor, /, *, size: int, axis: Axis = 0, mode: Mode = "error", name: str | None = None
) -> Tensor:
    """Mean of the entries of each segment; NaN for an empty segment.

    Parameters and errors are those of `segment_sum`. Integers are converted to the default floating dtype.

    >>> tb.segment_mean(tb.asarray([1.0, 2.0, 4.0]), tb.asarray([2, 0, 2]), size=3).tolist()
    [2.0, nan, 2.5]
    """
    table = _table(cast_to_float32(x), segments, size, axis, mode, name)
    return astype(table.shaped(segment_total(table) / segment_count(table)), to_floating(x.dtype))


@composite.within(SUM)
def segment_nanmean(
    x: Tensor, segments: Tensor, /, *, size: int, axis: Axis = 0, mode: Mode = "error", name: str | None = None
) -> Tensor:
    """Mean of the elements of each segment that are not NaN; NaN if there are none.

    Parameters and errors are those of `segment_sum`. Integers are converted to the default floating dtype.

    >>> x = tb.asarray([1.0, 2.0, float("nan")])
    >>> tb.segment_nanmean(x, tb.asarray([2, 0, 2]), size=3).tolist()
    [2.0, nan, 1.0]
    """
    table = _table(cast_to_float32(x), segments, size, axis, mode, name)
    missing = isnan(table.rows)
    total = segment_total(table.of(where(missing, 0, table.rows)))
    count = segment_total(table.of(astype(~missing, int64)))
    return astype(table.shaped(total / count), to_floating(x.dtype))


@composite.within(LOG_OF_SUM)
def segment_logsumexp(
    x: Tensor, segments: Tensor, /, *, size: int, axis: Axis = 0, mode: Mode = "error", name: str | None = None
) -> Tensor:
    """Logarithm of the sum of exp(x) over the entries of each segment, without overflow; -inf for an empty segment.

    Parameters and errors are those of `segment_sum`; x is real or bool.

    >>> tb.segment_logsumexp(tb.asarray([1000.0, 2.0, 1000.0]), tb.asarray([2, 0, 2]), size=3).tolist()
    [2.0, -inf, 1000.6931762695312]
    """
    check_dtype(x.dtype, "real or bool")
    table = _table(cast_to_float32(x), segments, size, axis, mode, name)
    return astype(table.shaped(segment_log_of_sum(table)), to_floating(x.dtype))
