"""Triangular systems with sparse matrices, and incomplete LU factors for preconditioners.

L and U store only places that the matrix stores.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy

from ..declarations.argument_errors import check_arguments, check_construction
from ..errors import DataError, DTypeError, ShapeError, TemplateDataError, expected
from ..expr.grad.custom import custom_gradient
from ..expr.grad.functions import vjp
from ..expr.substitution import NAME, find_fixed_point, substitute
from ..ops.composite.linalg.sparse import sparse_matvec
from ..ops.creation.filled import ones, zeros
from ..ops.creation.values import asarray
from ..ops.elementwise.basic import astype, where
from ..ops.indexing.taking import take_at
from ..ops.shape import expand_dims, squeeze
from ..protocol import own_method
from ..rules.broadcasting import result_type, to_floating
from ..rules.data_errors import singular_matrix
from ..tensor import Tensor, TensorLike
from ..tensor.missing_names import explain_missing
from .conversion import sum_duplicates, to_csr
from .host import Array, index_tensor, to_host_arrays
from .matrix import CSR, SparseMatrix, bind, shares_places
from .products import product_template
from .reductions import diagonal


def square(matrix: Any) -> SparseMatrix:
    """The matrix, after a check that it is sparse and square."""
    if not isinstance(matrix, SparseMatrix) or matrix.matrix_size[0] != matrix.matrix_size[1]:
        came = matrix.template if isinstance(matrix, SparseMatrix) else matrix
        raise ShapeError(expected("a square sparse matrix", matrix=came))
    return matrix


@bind
@check_arguments
def triangular_solve(
    matrix: SparseMatrix,
    b: TensorLike | Sequence[Any],
    /,
    *,
    lower: bool = True,
    unit_diagonal: bool = False,
    transposed: bool = False,
) -> Tensor:
    """Solve a triangular system: return the x with `matrix @ x == b`.

    Parameters
    ----------
    matrix : SparseMatrix
        Shape (..., n, n), in any format. Entries in the triangle that `lower` excludes are not read.
    b : Tensor
        Shape (n,) or (..., n, k); the batch's axes broadcast.
    lower : bool, default True
        Whether to read the entries below the diagonal rather than those above.
    unit_diagonal : bool, default False
        Whether to assume that the diagonal is ones, and not to read it.
    transposed : bool, default False
        Whether to solve `matrix.T @ x == b` instead; `lower` still refers to the matrix itself.

    Returns
    -------
    Tensor
        A tensor of the shape of b, whose batch axes are broadcast with the matrix's. The gradient flows to b and to
        the stored values.

    Raises
    ------
    ShapeError, NamesError
        For a matrix that is not square, and for a b that does not match.
    DataError
        For a zero on the diagonal, if data can be read; in a trace the result is infinite or NaN there.

    Examples
    --------
    >>> a = tb.sparse.from_dense([[2.0, 0.0], [1.0, 4.0]])
    >>> tb.sparse.triangular_solve(a, [2.0, 9.0]).tolist()
    [1.0, 2.0]
    """
    if transposed:
        return triangular_solve(square(matrix).mT, b, lower=not lower, unit_diagonal=unit_diagonal)
    right_side = b if isinstance(b, Tensor) else asarray(b, backend=square(matrix).values.backend)
    out = product_template(square(matrix).mT.template, right_side.template)
    dtype = to_floating(result_type([out]))
    values = astype(matrix.values.rename(*(None,) * matrix.values.ndim), dtype)
    right = astype(right_side.rename(*(None,) * right_side.ndim) if right_side.ndim else right_side, dtype)
    vector = right.ndim == 1
    bare = type(matrix)(values, matrix.first, matrix.second, matrix.matrix_size)
    solution = _solve(bare, expand_dims(right, axis=-1) if vector else right, lower, unit_diagonal)
    solution = squeeze(solution, axis=-1) if vector else solution
    return solution.rename(*out.names) if any(out.names) else solution


def _solve(matrix: SparseMatrix, b: Tensor, lower: bool, unit_diagonal: bool) -> Tensor:
    """The solution for a matrix (..., n, n) and b (..., n, k), of one dtype and without names."""
    if not unit_diagonal and own_method(matrix.backend, NAME) is None:  # the backend's own method checks it
        read = to_host_arrays(diagonal(matrix))
        if read is not None and (read[0] == 0).any():
            raise singular_matrix()
    parts = matrix.values, matrix.first, matrix.second, b
    return substitute(*parts, format=matrix.format, lower=lower, unit_diagonal=unit_diagonal)


@explain_missing
@check_construction
class ILU(NamedTuple):
    """Incomplete factors of a matrix."""

    lower: CSR
    """L, which does not store the ones on its diagonal."""
    upper: CSR
    """U, with the diagonal."""

    def solve(self, b: TensorLike | Sequence[Any], /) -> Tensor:
        """Apply the preconditioner: return the x with `L @ U @ x == b`, for b of shape (n,) or (..., n, k)."""
        return triangular_solve(
            self.upper, triangular_solve(self.lower, b, lower=True, unit_diagonal=True), lower=False
        )


class _Plan(NamedTuple):
    """The entries that an incomplete factorisation combines: it subtracts `left` times `right` from `target`."""

    left: Array
    right: Array
    target: Array
    pivot: Array
    """For each entry, the entry on the diagonal in its column."""
    below: Array
    """Whether each entry is below the diagonal."""


@bind
@check_arguments
def ilu0(matrix: SparseMatrix, /) -> ILU:
    """Compute incomplete LU factors without fill-in: L with ones on the diagonal and U, whose product has the matrix's
    entries at its places.

    Parameters
    ----------
    matrix : SparseMatrix
        Shape (..., n, n), of a floating or complex dtype, with its whole diagonal stored, in any format. Its places
        must have data, because the number of entries to combine depends on them. Values may be traced.

    Returns
    -------
    ILU
        `lower` and `upper`, and `solve`, which solves with both. The gradient flows to the stored values.

    Raises
    ------
    ShapeError
        For a matrix that is not square.
    DTypeError
        For a matrix that is neither floating nor complex.
    DataError
        For a place of the diagonal that is not stored, for a batch whose matrices differ in structure, and for a pivot
        of 0, if data can be read.
    TemplateDataError
        For places without data.

    References
    ----------
    Saad, Iterative Methods for Sparse Linear Systems, second edition, algorithm 10.4. All entries are computed at once,
    as in Chow and Patel, "Fine-grained parallel incomplete LU factorization" (2015), but until convergence: the result
    is exact.

    Examples
    --------
    >>> factors = tb.sparse.ilu0(tb.sparse.from_dense([[2.0, 1.0], [4.0, 5.0]]))
    >>> factors.lower.to_dense().tolist(), factors.upper.to_dense().tolist()
    ([[0.0, 0.0], [2.0, 0.0]], [[2.0, 1.0], [0.0, 3.0]])
    >>> factors.solve([2.0, 4.0]).tolist()
    [1.0, 0.0]
    """
    if not square(matrix).dtype.is_inexact:
        raise DTypeError(expected("a floating or complex matrix", "cast it with astype()", matrix=matrix.template))
    if not shares_places(matrix):
        raise DataError(expected("a batch whose matrices share their places", matrix=matrix.template))
    read = to_host_arrays(matrix.first, matrix.second)
    if read is None:
        remedy = "pass a matrix whose places are not arguments of the traced function"
        raise TemplateDataError(expected("places with data", remedy, matrix=matrix.template))
    rows = to_csr(sum_duplicates(matrix))
    pointers, indices = to_host_arrays(rows.first, rows.second) or read
    plan = _plan(pointers.astype("int64"), indices.astype("int64"))
    names = rows.values.names
    values = _factorise(rows.values.rename(*(None,) * rows.values.ndim), plan)
    if any(names):
        values = values.rename(*names)
    read_pivots = to_host_arrays(take_at(values, index_tensor(plan.pivot, values), axis=-1, mode="clip"))
    if read_pivots is not None and (read_pivots[0] == 0).any():
        row = int(numpy.argwhere(read_pivots[0] == 0)[0][-1])
        raise DataError(
            expected(
                "pivots other than 0", "add to the diagonal, or order the rows otherwise", column=int(indices[row])
            )
        )
    row_of = numpy.repeat(numpy.arange(len(pointers) - 1), numpy.diff(pointers))
    return ILU(_part(rows, values, plan.below, row_of), _part(rows, values, ~plan.below, row_of))


def _plan(pointers: Array, indices: Array) -> _Plan:
    """The plan: `target` (i, j), if stored, for each `left` (i, k) below and each `right` (k, j) above the diagonal."""
    size, count = len(pointers) - 1, len(indices)
    rows = numpy.repeat(numpy.arange(size), numpy.diff(pointers))
    keys = rows * size + indices
    diagonal = numpy.searchsorted(keys, numpy.arange(size) * (size + 1))
    missing = numpy.flatnonzero(keys.take(numpy.minimum(diagonal, count - 1)) != numpy.arange(size) * (size + 1)) if (
        count) else numpy.arange(size)  # fmt: skip
    if len(missing):
        raise DataError(
            expected("a matrix whose whole diagonal is stored", "store zeros there too", row=int(missing[0]))
        )
    below = indices < rows
    lefts = numpy.flatnonzero(below)
    lengths = pointers[indices[lefts] + 1] - diagonal[indices[lefts]] - 1
    left = numpy.repeat(lefts, lengths)
    before = numpy.repeat(numpy.cumsum(lengths) - lengths, lengths)
    right = diagonal[indices[left]] + 1 + numpy.arange(len(left)) - before
    target_keys = rows[left] * size + indices[right]
    target = numpy.minimum(numpy.searchsorted(keys, target_keys), max(count - 1, 0))
    stored = keys[target] == target_keys
    return _Plan(left[stored], right[stored], target[stored], diagonal[indices], below)


def _factorise(values: Tensor, plan: _Plan) -> Tensor:
    """The entries of L below the diagonal and of U elsewhere."""
    left, right, target, pivot, below = (index_tensor(field, values) for field in plan)
    count = values.shape[-1]
    nothing = zeros(target.shape, dtype=target.dtype, backend=target.backend)
    one = ones(1, dtype=values.dtype, backend=values.backend)

    def sweep(factors: Tensor, values: Tensor) -> Tensor:
        products = take_at(factors, left, axis=-1, mode="clip") * take_at(factors, right, axis=-1, mode="clip")
        rest = values - sparse_matvec(products, target, nothing, one, format="coo", rows=count)
        return where(below, rest / where(below, take_at(factors, pivot, axis=-1, mode="clip"), 1), rest)

    @custom_gradient
    def factorise(values: Tensor) -> Any:
        fixed_point = find_fixed_point(lambda factors: sweep(factors, values), values, count + 1)

        def back(cotangent: Tensor) -> Tensor:
            # The factors are a fixed point of the sweep, and their cotangents are a fixed point of its transpose.
            _, pull = vjp(sweep, fixed_point, values)
            total = find_fixed_point(lambda estimate: cotangent + pull(estimate)[0], cotangent, count + 1)
            return pull(total)[1]

        return fixed_point, back

    return factorise(values) if len(plan.pivot) else values


def _part(rows: CSR, values: Tensor, chosen: Array, row_of: Array) -> CSR:
    """The chosen entries, with new values, as a matrix in compressed rows."""
    kept = numpy.flatnonzero(chosen)
    size = rows.matrix_size[0]
    pointers = numpy.concatenate([[0], numpy.cumsum(numpy.bincount(row_of[kept], minlength=size))])
    indices = take_at(rows.second, index_tensor(kept, values), axis=0, mode="clip")
    first = asarray(pointers.astype(rows.first.dtype.name), backend=values.backend)
    part = take_at(values, index_tensor(kept, values), axis=-1, mode="clip")
    return CSR(part, first, indices, rows.matrix_size, rows.matrix_names)
