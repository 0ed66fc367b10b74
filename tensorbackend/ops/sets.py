"""Tensors as sets of their elements, in ascending order.

Each NaN is an element of its own, -0.0 equals 0.0 (the one that comes first stands for both), and complex numbers are
ordered by their real, then their imaginary parts. The number of elements depends on data: see `searching`.
"""

from __future__ import annotations

from typing import NamedTuple

from ..dtypes import Scalar, scalar_kind
from ..tensor import Tensor, TensorLike
from .composite.cumulative import cumulative_sum
from .composite.indexing.positions import checked_size, measured
from .creation.filled import asarray, full, ones, zeros
from .elementwise.binary import less, not_equal, subtract
from .elementwise.conversion import astype
from .elementwise.ternary import where
from .elementwise.unary import imag, real
from .indexing.scatter import indexed_put
from .indexing.slices import slice_
from .indexing.taking import take_at
from .reduction import sum
from .searching import nonzero
from .shape import concatenate, laid_flat, reshape
from .sorting import argsort, sort


class UniqueAll(NamedTuple):
    """What `unique_all` gives."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    """What `unique_counts` gives."""

    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    """What `unique_inverse` gives."""

    values: Tensor
    inverse_indices: Tensor


class _Runs(NamedTuple):
    """Elements in order, and where each differs from the one before."""

    elements: Tensor
    begins: Tensor
    """Whether an element is the first of its run of equal ones."""


def _order(x: Tensor) -> Tensor:
    """The positions of a tensor's elements in order, in the tensor laid flat."""
    flat = laid_flat(x)
    return _lexicographic(flat) if x.dtype.is_complex else argsort(flat)


def _runs(x: Tensor, order: Tensor | None = None) -> _Runs:
    """The runs of a tensor's elements, which are sorted alone unless their order is given."""
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
    return _Runs(elements, concatenate([first, not_equal(before, after)]))


def _lexicographic(x: Tensor) -> Tensor:
    """The order of complex numbers by their real parts, by their imaginary ones where those are equal."""
    order = argsort(imag(x))
    return take_at(order, argsort(take_at(real(x), order, axis=0, mode="clip")), axis=0, mode="clip")


def _part(x: Tensor, start: int, length: int) -> Tensor:
    return slice_(x, starts=(start,), lengths=(length,), strides=(1,))


def _begins_at(runs: _Runs, size: int | None, function: str, fill: int) -> Tensor:
    """Where runs begin, as many as there are or as were asked for."""
    count = measured(sum(runs.begins), function) if size is None else checked_size(size)
    return nonzero(runs.begins, size=count, fill_value=fill)[0]


def _values(runs: _Runs, begins: Tensor, fill_value: Scalar) -> Tensor:
    """The elements that begin runs, and `fill_value` where there is none, which is marked by the number of elements."""
    dtype, total = runs.elements.dtype, runs.elements.size
    value = bool(fill_value) if dtype.kind == "bool" and scalar_kind(fill_value) else fill_value
    filling = full(begins.shape, value, dtype=dtype, backend=begins.backend)
    return (
        where(less(begins, total), take_at(runs.elements, begins, axis=0, mode="clip"), filling) if total else filling
    )


def _counts(runs: _Runs, begins: Tensor) -> Tensor:
    """The lengths of runs: from where one begins to where the next does, or to the end of all elements."""
    total = runs.elements.size
    if not begins.size:
        return begins
    # One that was left out for its place may begin before the end, so it is looked for.
    found = nonzero(runs.begins, size=begins.size + 1, fill_value=total)[0]
    return subtract(_part(found, 1, begins.size), _part(found, 0, begins.size))


def _inverse(runs: _Runs, order: Tensor, x: Tensor) -> Tensor:
    """For each element of x the number of its run."""
    number = subtract(cumulative_sum(astype(runs.begins, "int64"), axis=0), 1)
    start = zeros(x.size, dtype="int64", backend=x.backend)
    placed = indexed_put(start, reshape(order, (x.size, 1)), number)
    return reshape(placed, x.shape, names=x.names)


def unique_all(x: TensorLike, /, *, size: int | None = None, fill_value: Scalar = 0) -> UniqueAll:
    """The different elements in ascending order, where each comes first, which of them each element is, their counts.

    `indices` are positions in x laid flat; `inverse_indices` have x's shape and names, so that `values` at them are x.
    With `size` there are so many values: the missing ones are `fill_value`, with an index and a count of 0. Raises
    `TemplateDataError` on templates without a size.

    >>> import tensorbackend as tb
    >>> values, indices, inverse, counts = tb.unique_all(tb.asarray([3, 1, 3]))
    >>> values.tolist(), indices.tolist(), inverse.tolist(), counts.tolist()
    ([1, 3], [1, 0], [1, 0, 1], [1, 2])
    """
    x = x if isinstance(x, Tensor) else asarray(x)
    quick = x.backend.unique(x, places=True, counts=True) if size is None else None
    if quick is not None:
        return UniqueAll(*quick)  # type: ignore[arg-type] # nothing that was asked for is left out
    order = _order(x)
    runs = _runs(x, order)
    begins = _begins_at(runs, size, "unique_all()", x.size)
    first = begins if not x.size else take_at(order, begins, axis=0, mode="fill")
    return UniqueAll(_values(runs, begins, fill_value), first, _inverse(runs, order, x), _counts(runs, begins))


def unique_counts(x: TensorLike, /, *, size: int | None = None, fill_value: Scalar = 0) -> UniqueCounts:
    """The different elements in ascending order, and how often each is there; as `unique_all`.

    >>> import tensorbackend as tb
    >>> values, counts = tb.unique_counts(tb.asarray([3, 1, 3]), size=3, fill_value=-1)
    >>> values.tolist(), counts.tolist()
    ([1, 3, -1], [1, 2, 0])
    """
    x = x if isinstance(x, Tensor) else asarray(x)
    quick = x.backend.unique(x, places=False, counts=True) if size is None else None
    if quick is not None and quick.counts is not None:
        return UniqueCounts(quick.values, quick.counts)
    runs = _runs(x)
    begins = _begins_at(runs, size, "unique_counts()", x.size)
    return UniqueCounts(_values(runs, begins, fill_value), _counts(runs, begins))


def unique_inverse(x: TensorLike, /, *, size: int | None = None, fill_value: Scalar = 0) -> UniqueInverse:
    """The different elements in ascending order, and which of them each element of x is; as `unique_all`.

    >>> import tensorbackend as tb
    >>> values, inverse = tb.unique_inverse(tb.asarray([[3, 1], [1, 3]]))
    >>> values.tolist(), inverse.tolist()
    ([1, 3], [[1, 0], [0, 1]])
    """
    x = x if isinstance(x, Tensor) else asarray(x)
    quick = x.backend.unique(x, places=True, counts=False) if size is None else None
    if quick is not None and quick.inverse_indices is not None:
        return UniqueInverse(quick.values, quick.inverse_indices)
    order = _order(x)
    runs = _runs(x, order)
    begins = _begins_at(runs, size, "unique_inverse()", x.size)
    return UniqueInverse(_values(runs, begins, fill_value), _inverse(runs, order, x))


def unique_values(x: TensorLike, /, *, size: int | None = None, fill_value: Scalar = 0) -> Tensor:
    """The different elements in ascending order; as `unique_all`.

    >>> import tensorbackend as tb
    >>> tb.unique_values(tb.asarray([3.0, 1.0, float("nan"), 3.0])).tolist()
    [1.0, 3.0, nan]
    """
    x = x if isinstance(x, Tensor) else asarray(x)
    quick = x.backend.unique(x, places=False, counts=False) if size is None else None
    if quick is not None:
        return quick.values
    runs = _runs(x)
    return _values(runs, _begins_at(runs, size, "unique_values()", x.size), fill_value)
