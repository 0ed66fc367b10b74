"""Triangular systems with sparse matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..declarations.argument_errors import check_arguments
from ..errors import ShapeError, expected
from ..expr.substitution import NAME, substitute
from ..ops.creation.values import asarray
from ..ops.elementwise.conversion import astype
from ..ops.shape import expand_dims, squeeze
from ..protocol import own_method
from ..rules.broadcasting import result_type, to_floating
from ..rules.data_errors import singular_matrix
from ..tensor import Tensor, TensorLike
from .host import to_host_arrays
from .matrix import SparseMatrix, bind
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
    >>> import tensorbackend as tb
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
