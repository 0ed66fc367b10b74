"""Selection of parts of sparse matrices, and matrices assembled from others."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy

from ..declarations.argument_errors import check_arguments
from ..errors import ArgumentError, IndexRangeError, ShapeError, expected
from ..ops.creation.values import asarray
from ..ops.elementwise.basic import astype, where
from ..ops.indexing.taking import take_at
from ..ops.shape import broadcast_to
from ..ops.shape import concatenate as joined
from ..rules.broadcasting import broadcast, result_type
from ..rules.indexing import parse_basic_key
from ..template import merge_names
from ..tensor import Tensor
from .conversion import to_format
from .host import to_host_arrays
from .matrix import COO, SparseMatrix, bind, entries, shares_places


@bind
@check_arguments
def select(matrix: SparseMatrix, key: Any, /) -> Any:
    """Select rows, columns and matrices of a batch by slices and ints: `matrix[2:5, ::2]`.

    If the places can be read and the whole batch shares them, only the selected entries are stored. Otherwise, for
    example in a trace, the other entries are stored as zeros.

    Parameters
    ----------
    key : int, slice, ... or tuple of these
        As for a tensor: the batch's axes come first.

    Returns
    -------
    SparseMatrix or Tensor
        A matrix in the same format; a dense tensor if an int selects a row or a column.

    Raises
    ------
    IndexRangeError
        For an int out of range, and for more parts than axes.
    ArgumentError
        For other keys.

    Examples
    --------
    >>> a = tb.sparse.from_dense([[0.0, 2.0], [1.0, 3.0]])
    >>> a[1:, :].to_dense().tolist(), a[1].tolist(), a[1, 0].item()
    ([[1.0, 3.0]], [1.0, 3.0], 1.0)
    """
    parts = list(key) if isinstance(key, tuple) else [key]
    if not all(part is ... or isinstance(part, (int, slice)) for part in parts) or parts.count(...) > 1:
        raise ArgumentError(expected("ints and slices as a key of a sparse matrix", key=key))
    place = parts.index(...) if ... in parts else len(parts)
    after = parts[place + 1 :]
    missing = matrix.ndim - place - len(after)
    if missing < 0:
        raise IndexRangeError(expected(f"at most {matrix.ndim} parts of a key", key=key))
    full = [*parts[:place], *[slice(None)] * missing, *after]
    out = parse_basic_key(matrix.template, tuple(full))  # raises for ints out of range
    selected = _select_batch(matrix, full[:-2])
    keys = full[-2:]
    for position, part in enumerate(keys):
        size = matrix.matrix_size[position]
        chosen = range(size)[part] if isinstance(part, slice) else range(size)[index(part) :][:1]
        if isinstance(part, int):
            start = part % size
            chosen = range(start, start + 1)
        if chosen != range(size):
            selected = _cut(selected, position, chosen)
    dropped = [axis for axis, part in enumerate(keys) if isinstance(part, int)]
    del out
    if not dropped:
        return selected
    dense = selected.to_dense()
    return dense[(..., *(0 if isinstance(part, int) else slice(None) for part in keys))]


def _select_batch(matrix: SparseMatrix, keys: list[Any]) -> SparseMatrix:
    """The matrices of a batch that keys for the batch's axes select."""
    if all(part == slice(None) for part in keys):
        return matrix
    batch, names = matrix.shape[:-2], matrix.names[:-2]
    values = broadcast_to(matrix.values.rename(*(None,) * matrix.values.ndim), (*batch, matrix.nnz))
    parts = [
        x if x.ndim == 1 else broadcast_to(x, (*batch, x.shape[-1]))[(*keys, slice(None))]
        for x in (matrix.first, matrix.second)
    ]
    chosen = values.rename(*names, None)[(*keys, slice(None))] if any(names) else values[(*keys, slice(None))]
    return type(matrix)(chosen, parts[0], parts[1], matrix.matrix_size, matrix.matrix_names)


def _cut(matrix: SparseMatrix, position: int, chosen: range) -> SparseMatrix:
    """The rows (`position` 0) or columns (`position` 1) of a matrix whose numbers are in `chosen`."""
    places = list(entries(matrix))
    along = places[position]
    low, high = (chosen.start, chosen.stop) if chosen.step > 0 else (chosen[-1], chosen[0] + 1) if chosen else (0, 0)
    distance = along - chosen.start if chosen else along
    inside = (along >= low) & (along < high) & (distance % abs(chosen.step) == 0)
    places[position] = distance // chosen.step
    size = tuple(len(chosen) if axis == position else matrix.matrix_size[axis] for axis in (0, 1))
    read = to_host_arrays(inside) if shares_places(matrix) else None
    if read is not None:
        kept = asarray(numpy.flatnonzero(read[0]), backend=matrix.values.backend)
        values = take_at(matrix.values, kept, axis=-1, mode="clip")
        rows, columns = (take_at(x, kept, axis=0, mode="clip") for x in places)
    elif 0 in size:
        values, rows, columns = matrix.values[..., :0], places[0][..., :0], places[1][..., :0]
    else:
        values = where(inside, matrix.values.rename(*(None,) * matrix.values.ndim), 0)
        if any(matrix.names[:-2]):
            values = values.rename(*matrix.names[matrix.ndim - 1 - values.ndim : -2], None)
        rows, columns = (where(inside, x, size[axis] - 1 if axis == position else x) for axis, x in enumerate(places))
    return to_format(COO(values, rows, columns, (size[0], size[1]), matrix.matrix_names), matrix.format)


@check_arguments
def concatenate(matrices: Sequence[SparseMatrix], /, *, axis: int = -2) -> SparseMatrix:
    """Join matrices along rows or columns.

    Parameters
    ----------
    matrices : sequence of SparseMatrix
        Matrices with the same number of columns for axis -2, of rows for axis -1.
    axis : int, default -2
        -2 to stack them vertically, -1 horizontally.

    Returns
    -------
    SparseMatrix
        A matrix in the format of the first one, with the common dtype.

    Raises
    ------
    ShapeError, NamesError
        For matrices whose shapes or names do not match.
    ArgumentError
        For no matrices, or another axis.

    Examples
    --------
    >>> tb.sparse.concatenate([tb.sparse.eye(1), tb.sparse.eye(1)], axis=-1).to_dense().tolist()
    [[1.0, 1.0]]
    """
    if axis not in (-2, -1):
        raise ArgumentError(expected("axis -2 or -1", axis=axis))
    _check_several(matrices)
    across = 1 if axis == -2 else 0
    if len({matrix.matrix_size[across] for matrix in matrices}) > 1:
        what = "columns" if across else "rows"
        raise ShapeError(
            expected(f"the same number of {what} in each matrix", matrices=[matrix.template for matrix in matrices])
        )
    return _assemble(matrices, (across, 1 - across))


@check_arguments
def block_diagonal(matrices: Sequence[SparseMatrix], /) -> SparseMatrix:
    """Matrices along the diagonal of a larger one, zeros elsewhere.

    Parameters
    ----------
    matrices : sequence of SparseMatrix
        One or more matrices of any shapes.

    Returns
    -------
    SparseMatrix
        A matrix in the format of the first one, with the common dtype.

    Examples
    --------
    >>> a = tb.sparse.from_dense([[1.0, 2.0]])
    >>> tb.sparse.block_diagonal([a, a]).to_dense().tolist()
    [[1.0, 2.0, 0.0, 0.0], [0.0, 0.0, 1.0, 2.0]]
    """
    _check_several(matrices)
    return _assemble(matrices, (1, 1))


def _check_several(matrices: Sequence[SparseMatrix]) -> None:
    if not len(matrices) or not all(isinstance(matrix, SparseMatrix) for matrix in matrices):
        raise ArgumentError(expected("sparse matrices, at least one", matrices=matrices))


def _assemble(matrices: Sequence[SparseMatrix], steps: tuple[int, int]) -> SparseMatrix:
    """Join matrices; `steps` says whether each one is below the rows, and right of the columns, of those before."""
    batch, batch_names = broadcast(
        [matrix.template.replace(shape=matrix.shape[:-2], names=matrix.names[:-2]) for matrix in matrices]
    )
    names = matrices[0].template.replace(shape=(1, 1), names=matrices[0].matrix_names)
    for matrix in matrices[1:]:
        merged_names = merge_names(names, matrix.template.replace(shape=(1, 1), names=matrix.matrix_names))
        names = names.replace(names=merged_names)
    dtype = result_type([matrix.template for matrix in matrices])
    places = [entries(matrix) for matrix in matrices]
    apart = not all(map(shares_places, matrices))
    starts = [0, 0]
    columns: list[list[Tensor]] = [[], [], []]
    for matrix, (row, column) in zip(matrices, places, strict=True):
        bare = matrix.values.rename(*(None,) * matrix.values.ndim)
        values_batch = batch if any(other.values.ndim > 1 for other in matrices) else ()
        columns[0].append(astype(broadcast_to(bare, (*values_batch, matrix.nnz)), dtype))
        for kept, x, start in zip(columns[1:], (row, column), starts, strict=True):
            moved = astype(x, "int64") + start
            kept.append(broadcast_to(moved, (*batch, matrix.nnz)) if apart else moved)
        starts = [start + step * size for start, step, size in zip(starts, steps, matrix.matrix_size, strict=True)]
    size = tuple(
        start if step else matrices[0].matrix_size[axis]
        for axis, (start, step) in enumerate(zip(starts, steps, strict=True))
    )
    small = "int32" if all(x.dtype.itemsize <= 4 for pair in places for x in pair) and max(size) < 2**31 else "int64"
    values, rows, cols = (joined(parts, axis=-1) for parts in columns)
    if any(batch_names) and values.ndim > 1:
        values = values.rename(*batch_names, None)
    whole = COO(values, astype(rows, small), astype(cols, small), (size[0], size[1]), (names.names[0], names.names[1]))
    return to_format(whole, matrices[0].format)
