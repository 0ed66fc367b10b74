"""Sparse matrices by the first entries of all rows, the second ones, and so on, for many products with one matrix.

Such a product takes from the vector and multiplies, a few times, and adds nothing at places that data say: that is what
most backends do quickest. Where the entries stand is found on the host, once for a structure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from weakref import ref

import numpy

from ..expr.trees import flatten, unflatten
from ..memo import remember
from ..ops.creation.values import asarray
from ..ops.elementwise.ternary import where
from ..ops.indexing.taking import take_at
from ..select import get_backend
from ..sparse import SparseMatrix
from ..sparse.host import on_host
from ..tensor import Tensor
from .linear import Linear, Sparse, Tensors, by_vjp

MOST: Final = 16
"""Entries of the longest row: each is a step of the product."""

FILLED: Final = 2
"""So many times the stored entries there may be with those that fill rows up."""


class Structure(NamedTuple):
    """Where the entries of rows stand, each of shape (most in a row, rows)."""

    entries: Tensor
    """The number of the stored entry."""
    columns: Tensor
    held: Tensor | None
    """Whether it is one, and does not fill up; `None` where all are."""


@dataclass(frozen=True)
class Padded:
    """A sparse matrix, or a batch of one structure: entries of shape (..., most in a row, rows) and their columns."""

    size: int
    """The number of columns."""

    def __call__(self, parts: Tensors, x: Tensor, /) -> Tensor:
        """The matrix times each vector."""
        values, columns = parts
        first, *rest = (
            values[..., place, :] * take_at(x, columns[place], axis=-1, mode="clip") for place in range(len(columns))
        )
        for each in rest:
            first = first + each
        return first

    def transposed(self, parts: Tensors, y: Tensor, /) -> Tensor:
        """The transposed matrix times each vector."""
        return by_vjp(self, parts, y, self.size)


def repeated(function: Linear) -> Linear:
    """A linear function in the form that is quickest where it is called again and again."""
    if not isinstance(function.form, Sparse):
        return function
    matrix: SparseMatrix = unflatten(function.form.tree, function.parts)
    if matrix.backend.beneath.multiplies_rows:
        return function
    found = _structure(matrix)
    if found is None:  # rows are at least not to be counted each time
        leaves, tree = flatten(matrix.to_coo())
        return Linear(Sparse(tree), tuple(leaves))
    values = take_at(matrix.values, found.entries, axis=-1, mode="clip")
    if found.held is not None:
        values = where(found.held, values, 0)
    return Linear(Padded(matrix.size[1]), (values, found.columns))


_structures: dict[Any, tuple[ref[Tensor], ref[Tensor], Structure | None]] = {}


def _structure(matrix: SparseMatrix) -> Structure | None:
    """The structure of a matrix, `None` where it cannot be read, or has a row too long."""
    first, second = matrix.first, matrix.second
    key = id(first), id(second), matrix.format, matrix.size
    known = _structures.get(key)
    if known is not None and known[0]() is first and known[1]() is second:
        return known[2]
    if first.ndim > 1 or second.ndim > 1 or not matrix.nnz:
        return None
    read = on_host(first, second)
    if read is None:
        return None
    found = _laid(matrix, *read)

    def forget(gone: object) -> None:
        _structures.pop(key, None)

    remember(_structures, key, (ref(first, forget), ref(second, forget), found))
    return found


def _laid(matrix: SparseMatrix, first: Any, second: Any) -> Structure | None:
    rows, columns = _places(matrix, first, second)
    lengths = numpy.bincount(rows, minlength=matrix.size[0])
    most, count = int(lengths.max()), len(rows)
    if most > MOST or most * matrix.size[0] > FILLED * count:
        return None
    order = numpy.argsort(rows, kind="stable")
    step = numpy.arange(most)[:, None]
    ends = numpy.cumsum(lengths)
    # What fills a row up stands at a column of the row, so that an infinity comes to no other row.
    entries = order[numpy.clip(numpy.minimum(ends - lengths + step, ends - 1), 0, count - 1)]
    held, narrow = step < lengths, "int32" if max(count, *matrix.size) < 2**31 else "int64"
    backend = get_backend(matrix.first.backend.beneath)  # type: ignore[arg-type] # every Core is a Backend
    return Structure(
        asarray(entries.astype(narrow), backend=backend),
        asarray(columns[entries].astype(narrow), backend=backend),
        None if held.all() else asarray(held, backend=backend),
    )


def _places(matrix: SparseMatrix, first: Any, second: Any) -> tuple[Any, Any]:
    """The row and the column of each entry, those outside moved inside, as products take them."""
    if matrix.format != "coo":
        ends = numpy.clip(first[1:], 0, len(second))
        first = numpy.cumsum(numpy.bincount(ends, minlength=len(second) + 1))[: len(second)]
    pair = (second, first) if matrix.format == "csc" else (first, second)
    return tuple(numpy.clip(each, 0, size - 1) for each, size in zip(pair, matrix.size, strict=True))
