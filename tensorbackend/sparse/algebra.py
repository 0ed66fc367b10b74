"""Sums, differences and elementwise products of sparse matrices."""

from __future__ import annotations

from typing import Any

from ..declarations.argument_errors import check_arguments
from ..errors import NamesError, OperandError, ShapeError, expected
from ..ops.creation.foreign_arrays import is_array
from ..ops.creation.values import asarray
from ..ops.elementwise import binary
from ..ops.elementwise.basic import astype
from ..ops.indexing.taking import take_along_axis_at, take_at
from ..ops.shape import broadcast_to, concatenate, reshape
from ..rules.broadcasting import broadcast, broadcast_two, result_type
from ..template import merge_names
from ..tensor import Tensor
from .conversion import sum_duplicates, to_format
from .host import to_host_arrays
from .matrix import COO, SparseMatrix, bind, entries, shares_places


@bind
@check_arguments
def add(x1: SparseMatrix, x2: SparseMatrix, /) -> SparseMatrix:
    """Sum of two sparse matrices: `x1 + x2`.

    If the places can be read, the sum stores one value for each place. Otherwise, in a trace, it stores the values of
    both operands.

    Returns
    -------
    SparseMatrix
        In the format of x1.

    Raises
    ------
    ShapeError, NamesError
        For matrices of different shapes or names.
    OperandError
        For a dense operand, as the sum would be dense too.

    Examples
    --------
    >>> (tb.sparse.eye(2) + tb.sparse.eye(2)).values.tolist()
    [2.0, 2.0]
    """
    return _add_matrices(x1, x2, lambda x: x)


@bind
@check_arguments
def subtract(x1: SparseMatrix, x2: SparseMatrix, /) -> SparseMatrix:
    """Difference of two sparse matrices: `x1 - x2`.

    If the places can be read, the difference stores one value for each place. Otherwise, in a trace, it stores the
    values of both operands.

    Returns
    -------
    SparseMatrix
        As for `add`.

    Raises
    ------
    ShapeError, NamesError, OperandError
        As for `add`.

    Examples
    --------
    >>> (tb.sparse.eye(2) - tb.sparse.coo([3.0], [0], [1], shape=(2, 2))).to_dense().tolist()
    [[1.0, -3.0], [0.0, 1.0]]
    """
    return _add_matrices(x1, x2, lambda x: -x)


def _add_matrices(x1: Any, x2: Any, turned: Any) -> SparseMatrix:
    for name, operand in (("x1", x1), ("x2", x2)):
        if not isinstance(operand, SparseMatrix):
            raise OperandError(expected("two sparse matrices", "use to_dense() for a dense sum", **{name: operand}))
    if x1.matrix_size != x2.matrix_size:
        raise ShapeError(expected("matrices of one shape", x1=x1.template, x2=x2.template))
    names, others = x1.names, x2.names
    if (
        None not in names and names != others and {*names} == {*others}
    ):  # of one and its transpose; a sum by name would add it to itself
        remedy = f"x2.rename({', '.join(map(repr, names))}) pairs the axes by position"
        raise NamesError(expected("the same name or None for matching axes", remedy, x1=x1.template, x2=x2.template))
    names = merge_names(x1.template, x2.template)
    dtype = result_type([x1.template, x2.template])
    left, right = astype(x1.values, dtype), turned(astype(x2.values, dtype))
    if type(x1) is type(x2) and x1.first is x2.first and x1.second is x2.second:
        same: SparseMatrix = type(x1)(left + right, x1.first, x1.second, x1.matrix_size, (names[-2], names[-1]))
        return same
    parts = [
        _concatenate_last(left, right),
        *(_concatenate_last(a, b) for a, b in zip(entries(x1), entries(x2), strict=True)),
    ]
    merged: SparseMatrix = COO(parts[0], parts[1], parts[2], x1.matrix_size, (names[-2], names[-1]))
    if to_host_arrays(merged.first, merged.second) is not None:
        merged = sum_duplicates(merged)
    return to_format(merged, x1.format)


def _concatenate_last(left: Tensor, right: Tensor) -> Tensor:
    """Two tensors concatenated along the last axis; the other axes broadcast."""
    parts = [x.template.replace(shape=x.shape[:-1], names=x.names[:-1]) for x in (left, right)]
    batch, names = broadcast(parts)
    dtype = result_type([left.template, right.template])
    wide = [astype(broadcast_to(x.rename(*(None,) * x.ndim), (*batch, x.shape[-1])), dtype) for x in (left, right)]
    joined = concatenate(wide, axis=-1)
    return joined.rename(*names, None) if any(names) else joined


@bind
@check_arguments
def multiply(matrix: SparseMatrix, x: Any, /) -> SparseMatrix:
    """Elementwise product with a number or a dense tensor, at the stored places: `matrix * x`.

    Entries that are not stored stay 0, even where x is infinite or NaN.

    Parameters
    ----------
    x : Tensor or number
        A number or a tensor that broadcasts to the matrix's shape.

    Returns
    -------
    SparseMatrix
        In the same format, with the same places.

    Raises
    ------
    ShapeError
        For an x with more or larger axes than the matrix.
    OperandError
        For a sparse x.

    Examples
    --------
    >>> (3 * tb.sparse.eye(2)).values.tolist(), (tb.sparse.eye(2) * tb.asarray([5.0, 6.0])).values.tolist()
    ([3.0, 3.0], [5.0, 6.0])
    """
    return _scale(matrix, x, binary.multiply)


@bind
@check_arguments
def divide(matrix: SparseMatrix, x: Any, /) -> SparseMatrix:
    """Elementwise quotient by a number or a dense tensor, at the stored places: `matrix / x`.

    Entries that are not stored stay 0, even where x is 0, infinite or NaN.

    Parameters
    ----------
    x
        As for `multiply`.

    Returns
    -------
    SparseMatrix
        In the same format, with the same places, of a floating or complex dtype.

    Raises
    ------
    ShapeError, OperandError
        As for `multiply`.

    Examples
    --------
    >>> (tb.sparse.eye(2) / 2).values.tolist()
    [0.5, 0.5]
    """
    return _scale(matrix, x, binary.divide)


def _scale(matrix: Any, x: Any, op: Any) -> SparseMatrix:
    if isinstance(x, SparseMatrix) or not isinstance(matrix, SparseMatrix):
        remedy = "use A @ B for the product of matrices, or B.to_dense()"
        raise OperandError(expected("a number or a dense tensor with a sparse matrix", remedy, matrix=matrix, x=x))
    if not isinstance(x, Tensor) and not is_array(x) and not isinstance(x, (list, tuple)):
        return matrix.like(op(matrix.values, x))
    factor = x if isinstance(x, Tensor) else asarray(x, backend=matrix.values.backend)
    if not factor.ndim:
        return matrix.like(op(matrix.values, factor))
    template = matrix.template
    names = merge_names(template, factor.template)
    if broadcast_two(template, factor.template) != template.shape:
        raise ShapeError(expected("a dense tensor that broadcasts to the matrix", matrix=template, x=factor.template))
    values = op(matrix.values.rename(*(None,) * matrix.values.ndim), _entries_of(factor, matrix))
    if any(names[:-2]):
        values = values.rename(*names[len(names) - 1 - values.ndim : -2], None)
    return type(matrix)(values, matrix.first, matrix.second, matrix.matrix_size, (names[-2], names[-1]))


def _entries_of(x: Tensor, matrix: SparseMatrix) -> Tensor:
    """The entries of a dense tensor at the matrix's places."""
    rows, columns = entries(matrix)
    bare = x.rename(*(None,) * x.ndim)
    if bare.ndim == 1:
        bare = reshape(bare, (1, *bare.shape))
    height, width = bare.shape[-2:]
    # An axis of size 1 broadcasts: all rows, or columns, read its only entry.
    flat = (rows if height > 1 else rows * 0) * width + (columns if width > 1 else columns * 0)
    laid = reshape(bare, (*bare.shape[:-2], height * width))
    if shares_places(matrix):
        return take_at(laid, flat, axis=-1, mode="clip")
    batch = matrix.shape[:-2]
    return take_along_axis_at(
        broadcast_to(laid, (*batch, height * width)), broadcast_to(flat, (*batch, matrix.nnz)), axis=-1, mode="clip"
    )
