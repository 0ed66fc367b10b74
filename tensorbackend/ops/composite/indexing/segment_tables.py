"""Entries as rows of a table, each with its segment, and reductions of the rows of each segment.

Segments of the entries along an axis, and places to which updates are written, are reduced by the same functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ....dtypes import bool_, value_range
from ....rules.broadcasting import check_dtype
from ....tensor import Tensor
from ...creation.filled import full, iota, ones, zeros
from ...elementwise.basic import astype, where
from ...elementwise.binary import logical_and, maximum
from ...indexing.scatter import indexed_add, indexed_put
from ...indexing.slices import slice_
from ...indexing.taking import take_along_axis_at, take_at
from ...shape import broadcast_to, concatenate, expand_dims, flip
from ...sorting import argsort
from ..elementwise.functions import logical_not, signbit
from ..reduction import cast_to_float32
from ..shape.arranging import stack


class Table(NamedTuple):
    """Entries as rows, and the segment of each: a number below `size`, or `size` for an entry that is ignored."""

    rows: Tensor
    segments: Tensor
    size: int
    shaped: Callable[[Tensor], Tensor]
    """Turns a tensor with a row for each segment into the result."""

    def of(self, rows: Tensor) -> Table:
        """The same table with other rows."""
        return self._replace(rows=rows)


def segment_total(table: Table) -> Tensor:
    """The sum of the rows of each segment."""
    start = zeros((table.size, table.rows.shape[1]), dtype=table.rows.dtype)
    return indexed_add(start, expand_dims(table.segments, axis=1), table.rows, mode="fill")


def segment_count(table: Table) -> Tensor:
    """The number of rows of each segment, as a column."""
    return segment_total(table.of(ones((table.rows.shape[0], 1), dtype="int64")))


def segment_product(table: Table) -> Tensor:
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
        alike = expand_dims(before[0] == after[0], axis=1)
        products = where(alike, after[1] * before[1], after[1])
        rows = concatenate([_rows_of(rows, 0, distance), products], axis=0)
        distance *= 2
    return indexed_put(start, expand_dims(segments, axis=1), rows, mode="fill")


def _rows_of(x: Tensor, begin: int, count: int) -> Tensor:
    """Some of the entries along the first axis."""
    rest = x.shape[1:]
    return slice_(x, starts=(begin, *(0 for _ in rest)), lengths=(count, *rest), strides=(1,) * x.ndim)


def maximum_by_order(table: Table) -> Tensor:
    """The result of `segment_maximum` for backends without a faster way; 0.0 for zeros of both signs."""
    dtype = table.rows.dtype
    lowest = full((table.size, table.rows.shape[1]), value_range(dtype)[0], dtype=dtype)
    if not table.rows.shape[0]:
        return lowest
    at = _first_largest(table)
    largest = where(at < 0, lowest, take_along_axis_at(table.rows, maximum(at, 0), axis=0, mode="clip"))
    if not dtype.is_floating:
        return largest
    positive = logical_and(table.rows == 0, logical_not(signbit(table.rows)))
    any_positive = segment_total(table.of(astype(positive, "int64"))) > 0
    return largest + where(any_positive, full((), 0.0, dtype=dtype), full((), -0.0, dtype=dtype))  # x + -0.0 is x


def _first_largest(table: Table) -> Tensor:
    """The position of the first maximum of each segment and column; -1 in a segment without rows.

    Positions are written in ascending order of their elements, so that the one of the maximum remains. The
    elements are sorted from the end, so that of equal elements the first is written last.
    """
    rows, columns = table.rows.shape
    order = rows - 1 - argsort(flip(table.rows, axis=0), axis=0)
    places = take_at(table.segments, order, axis=0, mode="clip")
    vectors = stack([places, broadcast_to(iota(columns), (rows, columns))], axis=2)
    return indexed_put(full((table.size, columns), -1, dtype="int64"), vectors, order, mode="fill")


def mirror(x: Tensor) -> Tensor:
    """x mapped so that the order of its elements is reversed; applied twice, this returns x."""
    if x.dtype is bool_:
        return logical_not(x)
    return ~x if x.dtype.is_integer else -x


def widen(x: Tensor) -> Tensor:
    """x in at least float32 if it is inexact, so that no product is rounded twice or overflows on the way."""
    check_dtype(x.dtype, "numeric")
    return cast_to_float32(x) if x.dtype.is_inexact else x
