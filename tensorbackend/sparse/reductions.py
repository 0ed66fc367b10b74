"""Reductions of sparse matrices to dense tensors, and their diagonals."""

from __future__ import annotations

from builtins import min as lesser
from typing import Any

from ..annotations import Axis
from ..declarations.argument_errors import check_arguments
from ..errors import ArgumentError, expected
from ..expr.vmap import vmap
from ..ops import reduction
from ..ops.composite.indexing.segments import segment_max, segment_min, segment_sum
from ..ops.creation.filled import zeros
from ..ops.elementwise.basic import astype as cast_to
from ..ops.elementwise.basic import where
from ..ops.elementwise.binary import maximum, minimum
from ..ops.indexing.taking import take_at
from ..ops.shape import broadcast_to, reshape
from ..rules.axes import normalize_axis
from ..select import get_backend
from ..tensor import Tensor
from .conversion import add_up, begin, sort_entries, sum_segments
from .matrix import SparseMatrix, batch_of, bind, entries, shares_places


def _axes(matrix: SparseMatrix, axis: Any) -> tuple[int, ...]:
    """The positions of the axes to reduce; `None` means all axes."""
    if axis is None:
        return tuple(range(matrix.ndim))
    several = axis if isinstance(axis, (list, tuple)) else (axis,)
    return tuple(sorted(normalize_axis(matrix.template, single_axis) for single_axis in several))


def _reduce_template(op: Any, matrix: SparseMatrix, axis: Any) -> Tensor:
    """The template of the dense matrix reduced on the template backend, which raises the errors."""
    shapes_only = get_backend("template")
    reduced: Tensor = op(Tensor(matrix.template, shapes_only, None), axis=axis)
    return reduced


@bind
@check_arguments
def sum(matrix: SparseMatrix, /, *, axis: Any = None) -> Tensor:
    """Sum over rows, columns, or both.

    Parameters
    ----------
    axis : int, str or tuple of these, optional
        The axes to sum over: -2 for the sum of each column, -1 for that of each row. All by default.

    Returns
    -------
    Tensor
        A dense tensor without the reduced axes. Small integers are summed in 64 bits, as by `tb.sum`.

    Raises
    ------
    AxisError
        For axes that the matrix does not have.

    Examples
    --------
    >>> a = tb.sparse.from_dense([[0.0, 2.0], [1.0, 3.0]])
    >>> a.sum().item(), tb.sparse.sum(a, axis=-1).tolist(), tb.sparse.sum(a, axis=-2).tolist()
    (6.0, [2.0, 4.0], [1.0, 5.0])
    """
    axes = _axes(matrix, axis)
    out = _reduce_template(reduction.sum, matrix, axes)
    row, column = matrix.ndim - 2, matrix.ndim - 1
    rows, columns = entries(matrix)
    bare = cast_to(matrix.values.rename(*(None,) * matrix.values.ndim), out.dtype)
    if row in axes and column in axes:
        wide = broadcast_to(bare, (*batch_of(matrix), matrix.nnz))
        sums, gone = reduction.sum(wide, axis=-1), 2
    elif row in axes or column in axes:
        of_rows = column in axes
        sums = sum_segments(bare, rows if of_rows else columns, matrix.matrix_size[0 if of_rows else 1])
        sums, gone = broadcast_to(sums, (*batch_of(matrix), sums.shape[-1])), 1
    else:
        raise ArgumentError(expected("an axis of rows or columns among those to sum over", axis=axis))
    batch = tuple(position for position in axes if position < row)
    sums = reduction.sum(sums, axis=batch) if batch else sums
    assert sums.ndim == matrix.ndim - gone - len(batch)
    return sums.rename(*out.names) if any(out.names) else sums


@bind
@check_arguments
def max(matrix: SparseMatrix, /, *, axis: Axis | None = None) -> Tensor:
    """Maximum over rows, columns, or both, including zeros that are not stored.

    Parameters
    ----------
    matrix : SparseMatrix
        A matrix of a real dtype, in any format.
    axis : int or str, optional
        -2 for the maximum of each column, -1 for that of each row. By default that of each matrix.

    Returns
    -------
    Tensor
        A dense tensor without the axis.

    Raises
    ------
    AxisError
        For an axis that the matrix does not have.
    ArgumentError
        For an axis of a batch.
    DTypeError
        For complex numbers.
    ShapeError
        For an empty axis.

    Examples
    --------
    >>> a = tb.sparse.from_dense([[0.0, -2.0], [1.0, 3.0]])
    >>> tb.sparse.max(a, axis=-1).tolist(), tb.sparse.min(a, axis=-2).tolist()
    ([0.0, 3.0], [0.0, -2.0])
    """
    return _extreme(matrix, axis, reduction.max, segment_max, maximum)


@bind
@check_arguments
def min(matrix: SparseMatrix, /, *, axis: Axis | None = None) -> Tensor:
    """Minimum over rows, columns, or both, including zeros that are not stored.

    Parameters
    ----------
    matrix, axis
        As for `max`.

    Returns
    -------
    Tensor
        As for `max`.

    Raises
    ------
    AxisError, ArgumentError, DTypeError, ShapeError
        As for `max`.

    Examples
    --------
    >>> tb.sparse.min(tb.sparse.eye(2)).item()
    0.0
    """
    return _extreme(matrix, axis, reduction.min, segment_min, minimum)


def _extreme(matrix: SparseMatrix, axis: Axis | None, dense: Any, of_segments: Any, of_two: Any) -> Tensor:
    """The maximum or minimum, from the reduction for dense tensors, for segments and for two operands."""
    axes = (matrix.ndim - 2, matrix.ndim - 1) if axis is None else (normalize_axis(matrix.template, axis),)
    out = _reduce_template(dense, matrix, axes)
    if axes[0] < matrix.ndim - 2:
        raise ArgumentError(expected("the axis of rows or that of columns", axis=axis))
    turned = matrix.mT if axes == (matrix.ndim - 2,) else matrix
    values, rows, columns = (x.rename(*(None,) * x.ndim) for x in sort_entries(turned))
    height, width = turned.matrix_size

    def reduce_rows(values: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
        """The extreme of each row of one sorted matrix, after values at the same place are added."""
        flags = begin(rows, columns)
        places = add_up(flags) - 1
        sums = segment_sum(values, places, size=rows.shape[0])
        # The first value at each place has the place's row; the others get a row that does not exist, which drops them.
        kept = where(flags, cast_to(rows, "int64"), height)
        stored_extremes = of_segments(take_at(sums, places, axis=0, mode="clip"), kept, size=height, mode="fill")
        stored = segment_sum(cast_to(flags, "int64"), rows, size=height, mode="fill")
        return where(stored < width, of_two(stored_extremes, 0), stored_extremes)

    batch = batch_of(matrix)
    if not matrix.nnz:
        extremes = zeros((*batch, height), dtype=matrix.dtype, backend=matrix.backend)
    elif not batch:
        extremes = reduce_rows(values, rows, columns)
    else:
        wide = reshape(broadcast_to(values, (*batch, matrix.nnz)), (-1, matrix.nnz))
        if shares_places(matrix):
            extremes = vmap(reduce_rows, in_axes=(0, None, None))(wide, rows, columns)
        else:
            apart = [reshape(broadcast_to(x, (*batch, matrix.nnz)), (-1, matrix.nnz)) for x in (rows, columns)]
            extremes = vmap(reduce_rows)(wide, *apart)
        extremes = reshape(extremes, (*batch, height))
    extremes = dense(extremes, axis=-1) if axis is None else extremes
    return extremes.rename(*out.names) if any(out.names) else extremes


@bind
@check_arguments
def diagonal(matrix: SparseMatrix, /) -> Tensor:
    """The diagonal of a matrix, or of each matrix of a batch, as a dense tensor.

    Parameters
    ----------
    matrix : SparseMatrix
        Shape (..., rows, columns), in any format.

    Returns
    -------
    Tensor
        Shape (..., k), where k is the minimum of the numbers of rows and columns. The last axis has the rows' name.

    Examples
    --------
    >>> tb.sparse.diagonal(tb.sparse.from_dense([[4.0, 2.0], [1.0, 3.0]])).tolist()
    [4.0, 3.0]
    """
    rows, columns = entries(matrix)
    bare = matrix.values.rename(*(None,) * matrix.values.ndim)
    size = lesser(matrix.matrix_size)
    # Elements off the diagonal add 0 to the first element.
    on = rows == columns
    elements = sum_segments(where(on, bare, 0), where(on, rows, 0), size) if size else bare[..., :0]
    elements = broadcast_to(elements, (*batch_of(matrix), size))
    names = (*matrix.names[:-2], matrix.names[-2])
    return elements.rename(*names) if any(names) else elements
