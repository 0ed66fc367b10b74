"""Tensors as sets of their elements, in ascending order.

Each NaN is a different element, -0.0 equals 0.0 (the first of them is kept), and complex numbers are ordered by their
real, then their imaginary parts. The number of elements depends on data: see `searching`.

Along an axis, the entries of the axis are the elements of the set. Entries are ordered by the first of their elements,
in row-major order, that differ. Of equal entries, the first is kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

from ..annotations import Axis
from ..declarations.argument_errors import check_arguments
from ..dtypes import Scalar, scalar_kind
from ..protocol.sorting import Unique
from ..rules.axes import normalize_axis
from ..tensor import Tensor, TensorLike
from ..tensor.missing_names import explain_missing
from .composite.cumulative import cumulative_sum
from .composite.indexing.positions import check_size, nonzero, read_count
from .composite.shape.arranging import moveaxis, stack, unstack
from .creation.filled import asarray, full, ones, zeros
from .elementwise.basic import astype, imag, real, where
from .indexing.scatter import indexed_put
from .indexing.slices import slice_
from .indexing.taking import take_along_axis_at, take_at
from .reduction import sum
from .shape import broadcast_to, concatenate, laid_flat, reshape
from .sorting import argsort, sort


@explain_missing
class UniqueAllResult(NamedTuple):
    """The result of `unique_all`."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


@explain_missing
class UniqueCountsResult(NamedTuple):
    """The result of `unique_counts`."""

    values: Tensor
    counts: Tensor


@explain_missing
class UniqueInverseResult(NamedTuple):
    """The result of `unique_inverse`."""

    values: Tensor
    inverse_indices: Tensor


class _Runs(NamedTuple):
    """Elements in order, and which of them differ from the element before."""

    elements: Tensor
    begins: Tensor
    """Whether an element is the first of its run of equal elements."""


def _order(x: Tensor) -> Tensor:
    """The positions, in the flattened tensor, of its elements in ascending order."""
    flat = laid_flat(x)
    return _lexicographic(flat) if x.dtype.is_complex else argsort(flat)


def _runs(x: Tensor, order: Tensor | None = None) -> _Runs:
    """The runs of a tensor's elements; without an `order`, real elements are sorted without finding it."""
    flat = laid_flat(x)
    if order is None and not x.dtype.is_complex:
        elements = sort(flat)
    else:
        elements = take_at(flat, _order(x) if order is None else order, axis=0, mode="clip")
    count = elements.size
    if not count:
        return _Runs(elements, zeros(0, dtype="bool", backend=elements.backend))
    before, after = (_part(elements, start, count - 1) for start in (0, 1))
    first = ones(1, dtype="bool", backend=elements.backend)
    return _Runs(elements, concatenate([first, before != after]))


def first_of_runs(x: Tensor) -> tuple[Tensor, Tensor]:
    """The elements in ascending order, and which of them differ from the one before."""
    runs = _runs(x)
    return runs.elements, runs.begins


def _lexicographic(x: Tensor) -> Tensor:
    """The order of complex numbers by their real parts, and by their imaginary parts where those are equal."""
    order = argsort(imag(x))
    return take_at(order, argsort(take_at(real(x), order, axis=0, mode="clip")), axis=0, mode="clip")


def _part(x: Tensor, start: int, length: int) -> Tensor:
    return slice_(x, starts=(start,), lengths=(length,), strides=(1,))


def _begins_at(runs: _Runs, size: int | None, function: str, fill: int) -> Tensor:
    """The positions where runs begin: of all runs, or with a `size` that many, filled up with `fill`."""
    count = read_count(sum(runs.begins), function) if size is None else check_size(size)
    return nonzero(runs.begins, size=count, fill_value=fill)[0]


def _values(runs: _Runs, begins: Tensor, fill_value: Scalar) -> Tensor:
    """The elements that begin runs; `fill_value` where a begin is the number of elements, which marks a missing run."""
    dtype, total = runs.elements.dtype, runs.elements.size
    value = bool(fill_value) if dtype.kind == "bool" and scalar_kind(fill_value) else fill_value
    filling = full(begins.shape, value, dtype=dtype, backend=begins.backend)
    return where(begins < total, take_at(runs.elements, begins, axis=0, mode="clip"), filling) if total else filling


def _counts(runs: _Runs, begins: Tensor) -> Tensor:
    """The lengths of runs: from where one begins to where the next does, or to the end of all elements."""
    total = runs.elements.size
    if not begins.size:
        return begins
    # The last run ends where the next one begins, which may be left out of `begins`: so find one more start.
    starts = nonzero(runs.begins, size=begins.size + 1, fill_value=total)[0]
    return _part(starts, 1, begins.size) - _part(starts, 0, begins.size)


def _inverse(runs: _Runs, order: Tensor, x: Tensor) -> Tensor:
    """For each element of x, the number of its run."""
    number = cumulative_sum(astype(runs.begins, "int64"), axis=0) - 1
    start = zeros(x.size, dtype="int64", backend=x.backend)
    placed = indexed_put(start, reshape(order, (x.size, 1)), number)
    return reshape(placed, x.shape, names=x.names)


# Entries along an axis


class _Entries(NamedTuple):
    """A tensor and the ranks of its entries along an axis; equal entries have equal ranks."""

    x: Tensor
    along: int
    ranks: Tensor
    """For each entry the number of different entries that come before it in order, with the name of the axis."""


def _entries(x: Tensor, axis: Axis) -> _Entries:
    """The entries along an axis and their ranks.

    The entries are the rows of a table. First each column is ranked, then each pair of columns by its ranks, and so on:
    5 columns become 3 pairs, then 2, then 1. Each of these steps sorts a whole table.
    """
    along = normalize_axis(x.template, axis)
    count, width = x.shape[along], math.prod(x.shape) // max(x.shape[along], 1)
    table = reshape(moveaxis(x, along, 0), (count, width if count else 0), names=(None, None))
    if x.dtype.is_complex:
        table = reshape(stack([real(table), imag(table)], axis=2), (count, 2 * table.shape[1]), names=(None, None))
    ranks = _dense_ranks(table)
    while ranks.shape[1] > 1:
        pairs = (ranks.shape[1] + 1) // 2
        even = concatenate(
            [ranks, zeros((count, 2 * pairs - ranks.shape[1]), dtype="int64", backend=x.backend)], axis=1
        )
        first, second = unstack(reshape(even, (count, pairs, 2)), axis=2)
        ranks = _dense_ranks(first * count + second)
    only = sum(ranks, axis=1)  # 0 if there are no columns
    return _Entries(x, along, reshape(only, (count,), names=(x.names[along],)))


def _dense_ranks(table: Tensor) -> Tensor:
    """For each element, the number of different smaller elements in its column."""
    count, width = table.shape
    if not table.size:
        return zeros((count, width), dtype="int64", backend=table.backend)
    order = argsort(table, axis=0)
    ordered = take_along_axis_at(table, order, axis=0, mode="clip")
    above, below = (slice_(ordered, starts=(start, 0), lengths=(count - 1, width), strides=(1, 1)) for start in (0, 1))
    steps = concatenate(
        [zeros((1, width), dtype="int64", backend=table.backend), astype(above != below, "int64")], axis=0
    )
    return take_along_axis_at(cumulative_sum(steps, axis=0), argsort(order, axis=0), axis=0, mode="clip")


def _select_unique(entries: _Entries, unique: _Firsts, fill_value: Scalar) -> Tensor:
    """The unique entries, and `fill_value` for missing ones, whose count is 0."""
    x, along = entries.x, entries.along
    dtype = x.dtype
    value = bool(fill_value) if dtype.kind == "bool" and scalar_kind(fill_value) else fill_value
    shape = [1] * x.ndim
    shape[along] = unique.counts.size
    sizes = [unique.counts.size if axis == along else size for axis, size in enumerate(x.shape)]
    filling = full((), value, dtype=dtype, backend=x.backend)
    if not x.shape[along]:
        return broadcast_to(filling, tuple(sizes), names=x.names)
    chosen = take_at(x, unique.indices, axis=along, mode="clip")
    kept = reshape(unique.counts == 0, tuple(shape), names=(None,) * x.ndim)
    return where(kept, filling, chosen)


# Public


class _Values(NamedTuple):
    values: Tensor


class _Firsts(NamedTuple):
    indices: Tensor
    counts: Tensor


Kind = TypeVar("Kind", UniqueAllResult, UniqueCountsResult, UniqueInverseResult, _Values, _Firsts)


_WANTED: dict[Any, tuple[bool, bool, Callable[[Unique], Any]]] = {
    UniqueAllResult: (True, True, attrgetter(*UniqueAllResult._fields)),
    UniqueCountsResult: (False, True, attrgetter(*UniqueCountsResult._fields)),
    UniqueInverseResult: (True, False, attrgetter(*UniqueInverseResult._fields)),
    _Firsts: (True, True, attrgetter(*_Firsts._fields)),
    _Values: (False, False, lambda unique: (unique.values,)),
}
"""Whether a kind of result has positions and counts, and what reads its fields."""


def _unique(
    kind: type[Kind], x: TensorLike, axis: Axis | None, size: int | None, fill_value: Scalar, function: str
) -> Kind:
    """The fields of a kind of result, of the elements of x or of the entries along an axis."""
    x = x if isinstance(x, Tensor) else asarray(x)
    places, counts, read = _WANTED[kind]
    if axis is not None:
        entries = _entries(x, axis)
        firsts = _unique(_Firsts, entries.ranks.rename(None), None, size, 0, function)
        values = _select_unique(entries, firsts, fill_value)
        return kind(*read(Unique(values, firsts.indices, entries.ranks, firsts.counts)))
    quick = x.backend.unique(x, places=places, counts=counts) if size is None and not x.dtype.is_narrow else None
    if quick is not None:
        return kind(*read(quick))
    return _find_by_order(kind, x, size, fill_value, function, places)


def _find_by_order(
    kind: type[Kind], x: Tensor, size: int | None, fill_value: Scalar, function: str, places: bool
) -> Kind:
    """The fields of a kind of result, from sorted elements; no others are computed."""
    order: Any = _order(x) if places else None
    runs = _runs(x, order)
    begins = _begins_at(runs, size, function, x.size)
    makers: dict[str, Callable[[], Any]] = {
        "values": lambda: _values(runs, begins, fill_value),
        "indices": lambda: take_at(order, begins, axis=0, mode="fill") if order.size else begins,
        "inverse_indices": lambda: _inverse(runs, order, x),
        "counts": lambda: _counts(runs, begins),
    }
    return kind(*[makers[field]() for field in kind._fields])


@check_arguments
def unique_all(
    x: TensorLike, /, *, axis: Axis | None = None, size: int | None = None, fill_value: Scalar = 0
) -> UniqueAllResult:
    """Return the unique elements in ascending order, their first positions, the inverse indices and the counts.

    Parameters
    ----------
    axis : int or str, optional
        The axis whose entries are compared, such as the rows of a table; by default the elements of the flattened
        tensor.
    size : int, optional
        The number of values. With it no data is read, so that `jit` and dry runs know the shapes: missing
        values are `fill_value`, with an index and a count of 0, and surplus values are dropped.
    fill_value : scalar, default 0
        The value of elements that are missing.

    Returns
    -------
    UniqueAllResult
        `values`; `indices`, their first positions in the flattened x or along the axis; `inverse_indices`, the index in
        `values` of each element, with x's shape and names, or of each entry along the axis; `counts`, the number of
        occurrences of each value. Along an axis, `values` has x's names.

    Raises
    ------
    TemplateDataError
        For a tensor without data, if no size is given.
    AxisError
        For an axis that x does not have.

    Examples
    --------
    >>> values, indices, inverse, counts = tb.unique_all(tb.asarray([3, 1, 3]))
    >>> values.tolist(), indices.tolist(), inverse.tolist(), counts.tolist()
    ([1, 3], [1, 0], [1, 0, 1], [1, 2])
    >>> edges = tb.asarray([[1, 2], [0, 5], [1, 2]], names=("edge", "end"))
    >>> values, indices, inverse, counts = tb.unique_all(edges, axis="edge")
    >>> values.tolist(), indices.tolist(), inverse.tolist(), counts.tolist()
    ([[0, 5], [1, 2]], [1, 0], [1, 0, 1], [1, 2])
    """
    return _unique(UniqueAllResult, x, axis, size, fill_value, "unique_all()")


@check_arguments
def unique_counts(
    x: TensorLike, /, *, axis: Axis | None = None, size: int | None = None, fill_value: Scalar = 0
) -> UniqueCountsResult:
    """Return the unique elements in ascending order, and their counts. See `unique_all`.

    >>> values, counts = tb.unique_counts(tb.asarray([3, 1, 3]), size=3, fill_value=-1)
    >>> values.tolist(), counts.tolist()
    ([1, 3, -1], [1, 2, 0])
    """
    return _unique(UniqueCountsResult, x, axis, size, fill_value, "unique_counts()")


@check_arguments
def unique_inverse(
    x: TensorLike, /, *, axis: Axis | None = None, size: int | None = None, fill_value: Scalar = 0
) -> UniqueInverseResult:
    """Return the unique elements in ascending order, and for each element of x its index among them. See `unique_all`.

    >>> values, inverse = tb.unique_inverse(tb.asarray([[3, 1], [1, 3]]))
    >>> values.tolist(), inverse.tolist()
    ([1, 3], [[1, 0], [0, 1]])
    """
    return _unique(UniqueInverseResult, x, axis, size, fill_value, "unique_inverse()")


@check_arguments
def unique_values(
    x: TensorLike, /, *, axis: Axis | None = None, size: int | None = None, fill_value: Scalar = 0
) -> Tensor:
    """Return the unique elements in ascending order. See `unique_all`.

    >>> tb.unique_values(tb.asarray([3.0, 1.0, float("nan"), 3.0])).tolist()
    [1.0, 3.0, nan]
    """
    if axis is None and size is None and isinstance(x, Tensor) and not x.dtype.is_narrow:
        quick = x.backend.unique(x, places=False, counts=False)
        if quick is not None:
            return quick.values
    return _unique(_Values, x, axis, size, fill_value, "unique_values()").values
