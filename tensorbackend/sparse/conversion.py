"""Conversions from one format to another, and to a dense matrix."""

from __future__ import annotations

from math import prod
from typing import cast

from ..declarations.argument_errors import check_arguments
from ..dispatch.operands import nameless
from ..dtypes import DTypeLike, as_dtype
from ..errors import DTypeError, expected
from ..expr.vmap import vmap
from ..ops.composite.cumulative import cumulative_sum
from ..ops.composite.linalg.sparse import sparse_matvec
from ..ops.creation.filled import full, ones, zeros
from ..ops.elementwise.basic import astype as cast_to
from ..ops.indexing.scatter import indexed_put
from ..ops.indexing.taking import take_along_axis_at, take_at
from ..ops.shape import broadcast_to, concatenate, expand_dims, reshape
from ..ops.sorting import argsort
from ..tensor import Tensor
from .host import fits, zero_beyond_count
from .matrix import COO, CSC, CSR, M, SparseMatrix, batch_of, bind, entries, shares_places


@bind
@check_arguments
def to_coo(matrix: SparseMatrix, /) -> COO:
    """Convert to `COO`; the values keep their order.

    Returns
    -------
    COO
        The matrix itself if it is `COO` already.

    Examples
    --------
    >>> a = tb.sparse.csr([1.0, 2.0, 3.0], [0, 2, 2], [0, 2, 3], shape=(2, 3))
    >>> tb.sparse.to_coo(a).rows.tolist()
    [0, 0, 1]
    """
    if isinstance(matrix, COO):
        return matrix
    return COO(matrix.values, *entries(matrix), matrix.matrix_size, matrix.matrix_names)


@bind
@check_arguments
def to_csr(matrix: SparseMatrix, /) -> CSR:
    """Convert to `CSR`: values sorted by row, then by column.

    Returns
    -------
    CSR
        The matrix itself if it is `CSR` already, whatever the order within its rows.

    Examples
    --------
    >>> tb.sparse.coo([1.0, 2.0, 3.0], [1, 0, 1], [1, 2, 0], shape=(2, 3)).to_csr().values.tolist()
    [2.0, 3.0, 1.0]
    """
    if isinstance(matrix, CSR):
        return matrix
    values, rows, columns = sort_entries(matrix)
    return CSR(values, _pointers(rows, matrix.matrix_size[0]), columns, matrix.matrix_size, matrix.matrix_names)


@bind
@check_arguments
def to_csc(matrix: SparseMatrix, /) -> CSC:
    """Convert to `CSC`: values sorted by column, then by row.

    Returns
    -------
    CSC
        As for `to_csr`: the matrix itself if it is `CSC` already.

    Examples
    --------
    >>> tb.sparse.coo([1.0, 2.0, 3.0], [1, 0, 1], [1, 2, 0], shape=(2, 3)).to_csc().values.tolist()
    [3.0, 1.0, 2.0]
    """
    return matrix if isinstance(matrix, CSC) else cast(CSC, to_csr(matrix.T).T)


def to_format(matrix: SparseMatrix, format: str) -> SparseMatrix:
    """The matrix, converted to a format."""
    return {"coo": to_coo, "csr": to_csr, "csc": to_csc}[format](matrix)


def sort_entries(matrix: SparseMatrix) -> tuple[Tensor, Tensor, Tensor]:
    """Values, rows and columns, sorted by row, then by column. Several values at one place keep their order."""
    rows, columns = entries(matrix)
    order = _order(rows, columns, matrix.matrix_size)
    if order.ndim == 1:
        values = take_at(matrix.values, order, axis=-1, mode="clip")
    else:
        names = matrix.values.names
        wide = broadcast_to(nameless(matrix.values), (*batch_of(matrix), matrix.nnz))
        values = take_along_axis_at(wide, broadcast_to(order, wide.shape), axis=-1, mode="clip")
        if any(names):
            values = values.rename(*matrix.names[:-2], None)
    return values, _take_places(rows, order), _take_places(columns, order)


def _take_places(places: Tensor, order: Tensor) -> Tensor:
    if order.ndim == 1:
        return take_at(places, order, axis=0, mode="clip")
    return take_along_axis_at(broadcast_to(places, order.shape), order, axis=-1, mode="clip")


def _order(rows: Tensor, columns: Tensor, size: tuple[int, int]) -> Tensor:
    """The indices that sort values by row, then by column.

    The sort is stable, so that sums of values at one place do not depend on the format.
    """
    if prod(size) < 2**63:
        return argsort(cast_to(rows, "int64") * size[1] + cast_to(columns, "int64"), axis=-1)
    by_columns = argsort(columns, axis=-1)
    by_rows = argsort(_take_places(rows, by_columns), axis=-1)
    return _take_places(by_columns, by_rows)


def sum_segments(values: Tensor, segments: Tensor, size: int) -> Tensor:
    """The sum of the values (..., n) in each segment; segments have shape (n,) or the batch's axes in front."""
    nothing = zeros(segments.shape, dtype=segments.dtype, backend=segments.backend)
    one = ones(1, dtype=values.dtype, backend=values.backend)
    return sparse_matvec(values, segments, nothing, one, format="coo", rows=size)


def _pointers(rows: Tensor, count: int) -> Tensor:
    """The start of each row among values that are sorted by row, then their number."""
    stored = ones(rows.shape[-1:], dtype=rows.dtype, backend=rows.backend)
    counts = sum_segments(stored, rows, count)
    return cumulative_sum(counts, axis=-1, dtype=rows.dtype, include_initial=True)


@bind
@check_arguments
def sum_duplicates(matrix: M, /, *, size: int | None = None) -> M:
    """Add values at the same place, so that each place is stored once, sorted by row (`CSC`: by column).

    Parameters
    ----------
    size : int, optional
        The number of stored values. If given, no data is read, so that `jit` knows the shapes; the rest is zeros stored
        at the last place. By default the number of different places; in a batch, their maximum.

    Returns
    -------
    SparseMatrix
        In the same format.

    Raises
    ------
    DataError
        For more places than `size`. In a trace, all stored values are then NaN, or the smallest integer.
    TemplateDataError
        For places without data, if no `size` is given.

    Examples
    --------
    >>> a = tb.sparse.coo([1.0, 2.0, 4.0], [1, 0, 1], [0, 0, 0], shape=(2, 1))
    >>> tb.sparse.sum_duplicates(a).values.tolist()
    [2.0, 5.0]
    """
    if isinstance(matrix, CSC):
        return cast(M, sum_duplicates(matrix.T, size=size).T)
    if not matrix.nnz:
        return _store_zeros(matrix, size or 0)
    values, rows, columns = sort_entries(matrix)
    begins = add_up(begin(rows, columns))
    if size is None:
        size = max([0, *reshape(begins[..., -1], (-1,)).tolist()])
    elif begins.size:
        fits(begins.max(), size)
    batch = batch_of(matrix)
    total = matrix.matrix_size

    def sum_groups(values: Tensor, rows: Tensor, columns: Tensor, groups: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        if not size:
            return zero_beyond_count(values[..., :0], groups[-1], 0), rows[:0], columns[:0]
        group = groups - 1
        sums = sum_segments(values, group, size)
        new_places = [
            indexed_put(
                full((size,), max(last - 1, 0), dtype=coordinate.dtype, backend=coordinate.backend),
                expand_dims(group, axis=-1),
                coordinate,
                mode="fill",
            )
            for coordinate, last in zip((rows, columns), total, strict=True)
        ]
        return zero_beyond_count(sums, groups[-1], size), new_places[0], new_places[1]

    if shares_places(matrix):
        # One call serves the whole batch: its axes are in front of the values, and the structure is shared.
        sums, new_rows, new_columns = sum_groups(values, rows, columns, begins)
    else:
        flat = [
            reshape(broadcast_to(nameless(x), (*batch, x.shape[-1])), (-1, x.shape[-1]))
            for x in (values, rows, columns, begins)
        ]
        batched = vmap(sum_groups)(*flat)
        sums, new_rows, new_columns = (reshape(x, (*batch, size)) for x in batched)
    if any(matrix.names[:-2]):
        sums = sums.rename(*matrix.names[len(matrix.shape) - 1 - sums.ndim : -2], None)
    kept = COO(sums, new_rows, new_columns, matrix.matrix_size, matrix.matrix_names)
    if isinstance(matrix, COO):
        return cast(M, kept)
    return cast(M, CSR(sums, _pointers(new_rows, total[0]), new_columns, total, matrix.matrix_names))


def _store_zeros(matrix: M, size: int) -> M:
    """The matrix, which stores no values, with `size` zeros stored at the last place."""
    if not size or 0 in matrix.matrix_size:
        return matrix
    like, values = matrix.first, matrix.values
    places = [full((size,), last - 1, dtype=like.dtype, backend=like.backend) for last in matrix.matrix_size]
    stored = zeros((*values.shape[:-1], size), dtype=values.dtype, names=values.names, backend=values.backend)
    return cast(M, to_format(COO(stored, places[0], places[1], matrix.matrix_size, matrix.matrix_names), matrix.format))


def begin(rows: Tensor, columns: Tensor) -> Tensor:
    """Whether each value of an ordered matrix is the first at its place."""
    changes = (rows[..., 1:] != rows[..., :-1]) | (columns[..., 1:] != columns[..., :-1])
    first = full((*changes.shape[:-1], 1), True, backend=rows.backend)
    return concatenate([first, changes], axis=-1)


def add_up(flags: Tensor) -> Tensor:
    """For each flag, the number of true flags up to and including it."""
    return cumulative_sum(cast_to(flags, "int64"), axis=-1)


@bind
@check_arguments
def to_dense(matrix: SparseMatrix, /) -> Tensor:
    """Convert to a dense tensor; values at the same place are added.

    Returns
    -------
    Tensor
        A tensor with the matrix's shape, dtype and names.

    Examples
    --------
    >>> tb.sparse.to_dense(tb.sparse.coo([1.0, 2.0], [0, 0], [1, 1], shape=(1, 2))).tolist()
    [[0.0, 3.0]]
    """
    rows, columns = entries(matrix)
    count = prod(matrix.matrix_size)
    flat = cast_to(rows, "int64") * matrix.matrix_size[1] + cast_to(columns, "int64")
    sums = sum_segments(nameless(matrix.values), flat, count)
    return reshape(sums, matrix.shape, names=matrix.names)


@bind
@check_arguments
def astype(matrix: M, dtype: DTypeLike, /) -> M:
    """Cast the values of a matrix to another dtype.

    Parameters
    ----------
    dtype : dtype
        A numeric dtype. Values are cast as by `tb.astype`.

    Returns
    -------
    SparseMatrix
        The matrix with values of that dtype, at the same places.

    Raises
    ------
    DTypeError
        For bool.

    Examples
    --------
    >>> tb.sparse.astype(tb.sparse.eye(2), "f64")
    csr f64[2][2] numpy, 2 stored
    """
    if as_dtype(dtype).kind == "bool":
        raise DTypeError(expected("a numeric dtype of a sparse matrix", dtype=dtype))
    return matrix.like(cast_to(matrix.values, dtype))
