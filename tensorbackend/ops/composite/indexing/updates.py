"""Updates at index vectors that are combined with the elements of x: by maximum, minimum, product or mean; and sums
along one axis, with separate indices for each position on the other axes, where `take_along_axis` reads.

An index outside raises `IndexRangeError` with `mode="error"` and is moved to the nearest end with `"clip"`; with
`"fill"` its update is ignored. Segments of the entries along an axis, and places to which updates are written, are
reduced by the same functions, those of a table: entries as rows, each with its segment.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from ....annotations import Axis
from ....declarations.argument_errors import check_arguments
from ....dispatch import composite
from ....dtypes import DType, bool_, value_range
from ....errors import ShapeError, expected
from ....protocol.indexing import Mode
from ....rules.accuracy import COMPLEX_STEPS, LOG_OF_SUM, PRODUCT, SUM
from ....rules.axes import normalize_axis
from ....rules.broadcasting import check_dtype, result_type, to_floating
from ....rules.indexing import check_indices, gather_shape, plan_take_along
from ....template import Template, intern_template, merge_names
from ....tensor import Tensor, TensorLike
from ...creation.filled import full, iota, ones, zeros
from ...creation.values import operand_tensors
from ...elementwise.basic import astype, where
from ...elementwise.binary import logical_and, maximum
from ...elementwise.transcendental import exp, log
from ...indexing.scatter import Batch, indexed_add, indexed_put, write_updates
from ...indexing.slices import slice_
from ...indexing.taking import take_along_axis_at, take_at
from ...shape import broadcast_to, concatenate, expand_dims, flip, reshape
from ...sorting import argsort
from ..elementwise.functions import isfinite, logaddexp, logical_not, signbit, stop_gradient
from ..reduction import cast_to_float32
from ..shape.arranging import stack, unstack
from .positions import flat_positions, to_int64


def _tables_of_update(x: Tensor, indices: Tensor, updates: Tensor, mode: Mode, dtype: DType) -> tuple[Tensor, Table]:
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
    return base, Table(rows, numbers, size, lambda rows: reshape(rows, x.shape, names=x.names))


@composite.calls("indexed_max")
def _indexed_max(x: Tensor, indices: Tensor, updates: Tensor, /, *, mode: Mode) -> Tensor:
    """See `indexed_max`."""
    dtype = check_dtype(result_type([x.template, updates.template]), "real")
    base, table = _tables_of_update(x, indices, updates, mode, dtype)
    return table.shaped(maximum(base, maximum_by_order(table)))


@check_arguments
def indexed_max(
    x: TensorLike, indices: TensorLike, updates: TensorLike, /, *, mode: Mode = "error", batch: Batch = None
) -> Tensor:
    """Replace entries of x at index vectors by the maximum of the entry and its updates. NaN propagates.

    Parameters
    ----------
    x : Tensor
        A tensor of a real dtype.
    batch : axis or sequence of axes, optional
        Axes that x and the indices have in common, as in `gather`: each entry along them is updated separately.

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
    >>> tb.indexed_max(tb.zeros(3), tb.asarray([[2], [0], [2]]), tb.asarray([1.0, -2.0, 3.0])).tolist()
    [0.0, 0.0, 3.0]
    """
    return write_updates(_indexed_max, x, indices, updates, mode, batch)


def segment_maximum(table: Table) -> Tensor:
    """The maximum of each segment and column; the smallest number of the dtype in a segment without rows."""
    dtype = table.rows.dtype
    if dtype is bool_:
        return astype(segment_maximum(table.of(astype(table.rows, "uint8"))), bool_)
    lowest = full((table.size, table.rows.shape[1]), value_range(dtype)[0], dtype=dtype)
    return indexed_max(lowest, expand_dims(table.segments, axis=1), table.rows, mode="fill")


@composite.calls("indexed_min")
def _indexed_min(x: Tensor, indices: Tensor, updates: Tensor, /, *, mode: Mode) -> Tensor:
    """See `indexed_min`."""
    dtype = check_dtype(result_type([x.template, updates.template]), "real")
    base, others = (mirror(astype(tensor, dtype)) for tensor in (x, updates))
    return mirror(_indexed_max(base, indices, others, mode=mode))


@check_arguments
def indexed_min(
    x: TensorLike, indices: TensorLike, updates: TensorLike, /, *, mode: Mode = "error", batch: Batch = None
) -> Tensor:
    """Replace entries of x at index vectors by the minimum of the entry and its updates. See `indexed_max`.

    >>> tb.indexed_min(tb.zeros(3), tb.asarray([[2], [0], [2]]), tb.asarray([1.0, -2.0, 3.0])).tolist()
    [-2.0, 0.0, 0.0]
    """
    return write_updates(_indexed_min, x, indices, updates, mode, batch)


@composite.calls("indexed_prod").within(PRODUCT, complex=COMPLEX_STEPS)
def _indexed_prod(x: Tensor, indices: Tensor, updates: Tensor, /, *, mode: Mode) -> Tensor:
    """See `indexed_prod`."""
    dtype = check_dtype(result_type([x.template, updates.template]), "numeric")
    wide = widen(astype(x, dtype)).dtype
    base, table = _tables_of_update(x, indices, updates, mode, wide)
    changed = segment_count(table) > 0  # an infinite complex number times 1 is not itself
    return astype(table.shaped(where(changed, base * segment_product(table), base)), dtype)


@check_arguments
def indexed_prod(
    x: TensorLike, indices: TensorLike, updates: TensorLike, /, *, mode: Mode = "error", batch: Batch = None
) -> Tensor:
    """Multiply entries of x at index vectors by their updates. See `indexed_max`; x is of a numeric dtype.

    >>> tb.indexed_prod(tb.asarray([5.0, 1.0, 2.0]), tb.asarray([[2], [0], [2]]), tb.asarray([3.0, 2.0, 4.0])).tolist()
    [10.0, 1.0, 24.0]
    """
    return write_updates(_indexed_prod, x, indices, updates, mode, batch)


@composite.calls("indexed_mean").within(SUM)
def _indexed_mean(x: Tensor, indices: Tensor, updates: Tensor, /, *, mode: Mode) -> Tensor:
    """See `indexed_mean`."""
    like = astype(x, check_dtype(result_type([x.template, updates.template]), "numeric"))
    base, table = _tables_of_update(x, indices, updates, mode, cast_to_float32(like).dtype)
    return astype(table.shaped((base + segment_total(table)) / (1 + segment_count(table))), to_floating(like.dtype))


@check_arguments
def indexed_mean(
    x: TensorLike, indices: TensorLike, updates: TensorLike, /, *, mode: Mode = "error", batch: Batch = None
) -> Tensor:
    """Replace entries of x at index vectors by the mean of the entry and its updates. See `indexed_max`.

    >>> tb.indexed_mean(tb.zeros(3), tb.asarray([[2], [0], [2]]), tb.asarray([1.0, -2.0, 3.0])).tolist()
    [-1.0, 0.0, 1.3333333730697632]
    """
    return write_updates(_indexed_mean, x, indices, updates, mode, batch)


@composite.calls("indexed_logsumexp").within(LOG_OF_SUM)
def _indexed_logsumexp(x: Tensor, indices: Tensor, updates: Tensor, /, *, mode: Mode) -> Tensor:
    """See `indexed_logsumexp`."""
    like = astype(x, check_dtype(result_type([x.template, updates.template]), "real"))
    base, table = _tables_of_update(x, indices, updates, mode, cast_to_float32(like).dtype)
    return astype(table.shaped(logaddexp(base, segment_log_of_sum(table))), to_floating(like.dtype))


@check_arguments
def indexed_logsumexp(
    x: TensorLike, indices: TensorLike, updates: TensorLike, /, *, mode: Mode = "error", batch: Batch = None
) -> Tensor:
    """Combine entries of x with updates at index vectors by `logsumexp`. See `indexed_max`.

    >>> tb.indexed_logsumexp(tb.zeros(2), tb.asarray([[1], [1]]), tb.asarray([0.0, 0.0])).tolist()
    [0.0, 1.0986123085021973]
    """
    return write_updates(_indexed_logsumexp, x, indices, updates, mode, batch)


def segment_log_of_sum(table: Table) -> Tensor:
    """The logarithm of the sum of exponentials of each segment and column; -inf for a segment without rows."""
    inside = expand_dims(table.segments < table.size, axis=1)
    rows = where(inside, table.rows, -math.inf)  # so that no entry outside all segments overflows
    if not rows.size or not table.size:
        return segment_total(table.of(rows)) - math.inf  # -inf; the logarithm of 0 has no derivative
    largest = stop_gradient(segment_maximum(table))
    shift = where(isfinite(largest), largest, 0)
    terms = exp(rows - take_at(shift, table.segments, axis=0, mode="clip"))
    total = segment_total(table.of(terms))
    nothing = total == 0
    return where(nothing, -math.inf, log(where(nothing, 1, total)) + shift)


def _updates(out: Template, x: Template, indices: Template, updates: Template, /, **options: object) -> int:
    """The cost: one addition for each update."""
    return updates.size


@composite.calls("add_along_axis").within(SUM).costing(_updates).reaching("written")
def _add_along_axis(x: Tensor, indices: Tensor, updates: Tensor, /, *, axis: Axis = -1, mode: Mode = "error") -> Tensor:
    """See `add_along_axis`; the operands have one dtype."""
    along = normalize_axis(x.template, axis)
    vectors = [
        to_int64(indices) if position == along else iota(indices.shape, axis=position, dtype="int64")
        for position in range(x.ndim)
    ]
    return indexed_add(x, stack(vectors, axis=-1), updates, mode=mode)


add_along_axis_at = _add_along_axis
"""`add_along_axis` for operands that are already checked and cast to one dtype."""


@check_arguments
def add_along_axis(
    x: TensorLike, indices: TensorLike, updates: TensorLike, /, *, axis: Axis = -1, mode: Mode = "error"
) -> Tensor:
    """Add updates to x along one axis, with separate indices for each position on the other axes.

    It writes where `take_along_axis` reads. If an index occurs twice, both updates are added. Floats are added in
    order, in float32 or wider.

    Parameters
    ----------
    x
        A numeric tensor of any shape with axes.
    indices
        Integers, with the sizes of x except along the axis. They are never negative.
    updates
        Numbers with the shape of the indices.
    mode
        How to treat an index outside the axis: "error" raises, "clip" moves it to the nearest end, "fill" adds nothing.

    Returns
    -------
    Tensor
        A tensor with the shape and names of x, in the common dtype of x and the updates.

    Raises
    ------
    ShapeError, NamesError
        For indices or updates whose shape or names do not match x.
    DTypeError
        For indices that are not integers, and if x and the updates are bools.
    IndexRangeError
        For an index outside the axis with `mode="error"`.

    Examples
    --------
    >>> tb.add_along_axis(tb.zeros((2, 3)), tb.asarray([[2, 2], [0, 1]]), tb.ones((2, 2)), axis=1).tolist()
    [[0.0, 0.0, 2.0], [1.0, 1.0, 0.0]]
    """
    x, indices, updates = operand_tensors(x, indices, updates)
    dtype = check_dtype(result_type([x.template, updates.template]), "numeric")
    read = plan_take_along(x.template, indices.template, axis, mode).out
    assert isinstance(read, Template)  # `take_along_axis` returns one tensor
    if updates.shape != read.shape:
        raise ShapeError(expected(f"updates of shape {read.shape}", "broadcast_to() that shape", updates=updates))
    merge_names(read, updates.template)
    return _add_along_axis(astype(x, dtype), indices, astype(updates, dtype), axis=axis, mode=mode)


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
