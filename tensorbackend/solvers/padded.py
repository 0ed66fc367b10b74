"""Sparse matrices as the first entries of all rows, the second ones and so on, for many products with one matrix.

Each step of a product gathers elements of the vector and multiplies them by one entry of each row. So there are few
steps and no scatter-add, which is slow on most backends. The remainder of a few long rows, such as a border row that
makes a matrix regular, is summed separately. The places of the entries are found on the host, once for each structure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final, NamedTuple
from weakref import ref

import numpy

from ..caching.option_keys import holds_entries, remember
from ..expr.trees import flatten, unflatten
from ..ops.creation.values import asarray
from ..ops.elementwise.basic import where
from ..ops.indexing.taking import take_at
from ..ops.padding import pad
from ..select import get_backend
from ..sparse import SparseMatrix
from ..sparse.host import to_host_arrays
from ..tensor import Tensor
from .linear import Linear, Sparse, Tensors, transpose_by_vjp

MOST_STEPS: Final = 16
"""The most steps of a product, each with one entry of every row; the rest of longer rows is summed separately."""

FILLED: Final = 2
"""The most entries of the blocks, including padding, as a multiple of the entries that the matrix stores."""


class Block(NamedTuple):
    """The places of entries of rows; all tensors have the same shape."""

    entries: Tensor
    """The number of the stored entry."""
    columns: Tensor
    held: Tensor | None
    """Whether an entry is stored, and not padding; `None` if all are stored."""

    def of(self, values: Tensor) -> Tensor:
        """The values of a matrix at the entries, and 0 for padding."""
        taken_values = take_at(values, self.entries, axis=-1, mode="clip")
        return taken_values if self.held is None else where(self.held, taken_values, 0)


class Structure(NamedTuple):
    """The places of the entries of a matrix.

    For the rows [a b], [c], [d e f g h] and two entries of each row, the first block has (a, c, d) and (b, -, e), and
    the second one (f, g, h).
    """

    first: Block
    """The first entries of every row, of shape (entries of a row, rows)."""
    rest: Block | None
    """The further entries of long rows, of shape (long rows, entries), `None` where no row is long."""
    slots: Tensor | None
    """For each row: 0 if it is short, else 1 + its place among the long rows."""


@dataclass(frozen=True)
class PaddedMatrix:
    """A sparse matrix, or a batch with one structure; its parts are the blocks' values and columns, and the slots."""

    axes: ClassVar[int] = 2

    size: int
    """The number of columns."""

    def __call__(self, parts: Tensors, x: Tensor, /) -> Tensor:
        """The matrix times each vector."""
        values, columns, *long = parts
        first, *others = (
            values[..., place, :] * take_at(x, columns[place], axis=-1, mode="clip") for place in range(len(columns))
        )
        for term in others:
            first = first + term
        if not long:
            return first
        values, columns, slots = long
        sums = (values * take_at(x, columns, axis=-1, mode="clip")).sum(axis=-1)
        return first + take_at(pad(sums, {-1: (1, 0)}), slots, axis=-1, mode="clip")

    def apply_transpose(self, parts: Tensors, y: Tensor, /) -> Tensor:
        """The transposed matrix times each vector."""
        return transpose_by_vjp(self, parts, y, self.size)


def quickest_form(function: Linear) -> Linear:
    """The linear function in the form that is quickest for many calls."""
    if not isinstance(function.form, Sparse):
        return function
    matrix: SparseMatrix = unflatten(function.form.tree, function.parts)
    if matrix.backend.beneath.multiplies_rows:
        return function
    structure = _structure(matrix)
    if structure is None:  # COO at least spares each product finding the rows
        leaves, tree = flatten(matrix.to_coo())
        return Linear(Sparse(tree), tuple(leaves))
    parts = [structure.first.of(matrix.values), structure.first.columns]
    if structure.rest is not None and structure.slots is not None:
        parts += [structure.rest.of(matrix.values), structure.rest.columns, structure.slots]
    return Linear(PaddedMatrix(matrix.matrix_size[1]), tuple(parts))


_structures: dict[Any, tuple[ref[Tensor], ref[Tensor], tuple[Any, Any], Structure | None]] = {}
"""Structures by the identity of the tensors of indices; they are valid while these have the same payloads."""

holds_entries("structures of sparse matrices", _structures)


def _structure(matrix: SparseMatrix) -> Structure | None:
    """The structure of a matrix; `None` if its indices cannot be read, are batched or empty, or need much padding."""
    first, second = matrix.first, matrix.second
    key = id(first), id(second), matrix.format, matrix.matrix_size
    known = _structures.get(key)
    if known is not None and known[0]() is first and known[1]() is second:
        payloads = known[2]  # which an assignment to either of the tensors replaces
        if payloads[0] is first.data and payloads[1] is second.data:
            return known[3]
    if first.ndim > 1 or second.ndim > 1 or not matrix.nnz:
        return None
    read = to_host_arrays(first, second)
    if read is None:
        return None
    structure = _make_structure(matrix, *read)

    def forget(gone: object) -> None:
        _structures.pop(key, None)

    payloads = first.data, second.data
    remember(_structures, key, (ref(first, forget), ref(second, forget), payloads, structure))
    return structure


def _make_structure(matrix: SparseMatrix, first: Any, second: Any) -> Structure | None:
    rows, columns = _places(matrix, first, second)
    count, size = len(rows), matrix.matrix_size[0]
    lengths = numpy.bincount(rows, minlength=size)
    most = _entries_of_each(lengths)
    (long,) = numpy.nonzero(lengths > most)
    if most * size + len(long) * (int(lengths.max()) - most) > FILLED * count:
        return None
    order, ends = numpy.argsort(rows, kind="stable"), numpy.cumsum(lengths)
    backend = get_backend(matrix.first.backend.beneath)  # type: ignore[arg-type] # every Core is a Backend
    narrow = "int32" if max(count, *matrix.matrix_size) < 2**31 else "int64"

    def block(rows: Any, steps: Any) -> Block:
        # Padding repeats the last column of its row, so that an infinity comes to no other row. Only padding of a row
        # without entries takes a column of another row.
        last = ends[rows] - 1
        entries = order[numpy.clip(numpy.minimum(last - lengths[rows] + 1 + steps, last), 0, count - 1)]
        held = steps < lengths[rows]
        return Block(
            asarray(entries.astype(narrow), backend=backend),
            asarray(columns[entries].astype(narrow), backend=backend),
            None if held.all() else asarray(held, backend=backend),
        )

    whole = block(numpy.arange(size)[None], numpy.arange(most)[:, None])
    if not len(long):
        return Structure(whole, None, None)
    slots = numpy.zeros(size, narrow)
    slots[long] = numpy.arange(1, 1 + len(long))
    return Structure(
        whole, block(long[:, None], numpy.arange(most, lengths.max())[None]), asarray(slots, backend=backend)
    )


def _entries_of_each(lengths: Any) -> int:
    """The number of steps for which the blocks hold the fewest entries: 2 for rows of 2, 1, 2 and 9 entries."""
    longest = int(lengths.max())

    def storage_size(most: int) -> int:
        return most * len(lengths) + int((lengths > most).sum()) * (longest - most)

    return min(range(1, min(longest, MOST_STEPS) + 1), key=storage_size)


def _places(matrix: SparseMatrix, first: Any, second: Any) -> tuple[Any, Any]:
    """The row and the column of each entry; indices outside the matrix are moved inside, as in products."""
    if matrix.format != "coo":
        ends = numpy.clip(first[1:], 0, len(second))
        first = numpy.cumsum(numpy.bincount(ends, minlength=len(second) + 1))[: len(second)]
    pair = (second, first) if matrix.format == "csc" else (first, second)
    return tuple(numpy.clip(positions, 0, size - 1) for positions, size in zip(pair, matrix.matrix_size, strict=True))
