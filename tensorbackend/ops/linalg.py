"""Factorisations of matrices and triangular systems. The last two axes are the matrix, the leading ones batches.

Integers are converted to the default floating dtype, float16 and bfloat16 in at least float32. Signs and phases that a
definition leaves open are fixed, so that every backend returns the same result. Factors of a matrix that holds NaN or
infinity are NaN. Errors: `ShapeError` for a tensor that is not a matrix, or not square where that is required;
`DTypeError` for bool.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from ..declarations.argument_errors import check_arguments
from ..dispatch import primitive
from ..protocol.linalg import Transform
from ..rules.accuracy import ELIMINATION, SPECTRAL, declare_bound
from ..rules.linalg import eigen, lower_factor, lu_factors, qr_factors, singular, triangular_solution
from ..rules.plan import Plan, flag
from ..template import Template
from ..tensor import Tensor, TensorLike
from ..tensor.missing_names import explain_missing
from .composite.linalg.matrices import adjoint
from .creation.filled import asarray, iota, rename
from .creation.values import operand_tensors
from .elementwise.basic import conj, where
from .shape import expand_dims, matrix_transpose, squeeze


@explain_missing
class LUResult(NamedTuple):
    """Result of `lu`: x = P @ L @ U."""

    P: Tensor
    L: Tensor
    U: Tensor


@explain_missing
class QRResult(NamedTuple):
    """Result of `qr`: x = Q @ R."""

    Q: Tensor
    R: Tensor


@explain_missing
class EighResult(NamedTuple):
    """Result of `eigh`: x = eigenvectors @ diag(eigenvalues) @ adjoint(eigenvectors)."""

    eigenvalues: Tensor
    eigenvectors: Tensor


@explain_missing
class EigResult(NamedTuple):
    """Result of `eig`: x @ eigenvectors = eigenvectors @ diag(eigenvalues)."""

    eigenvalues: Tensor
    eigenvectors: Tensor


@explain_missing
class SVDResult(NamedTuple):
    """Result of `svd`: x = U @ diag(S) @ Vh."""

    U: Tensor
    S: Tensor
    Vh: Tensor


@primitive.within(ELIMINATION)
def _cholesky(x: Template, /) -> Plan:
    return lower_factor(x)


@check_arguments
def cholesky(x: TensorLike, /, *, upper: bool = False) -> Tensor:
    """The lower factor L of a Hermitian positive definite matrix x = L @ L.H, or the `upper` factor U of x = U.H @ U.

    Only the lower triangle of x is read. The factors of `x[n][m]` are `L[n][.]` or `U[.][m]`. Raises `DataError` for a
    matrix that is not positive definite.

    >>> tb.linalg.cholesky(tb.asarray([[4.0, 2.0], [2.0, 5.0]])).tolist()
    [[2.0, 0.0], [1.0, 2.0]]
    """
    x, transposed = asarray(x), flag(upper=upper)
    lower = _cholesky(x)
    return rename(conj(matrix_transpose(lower)), *x.names[:-2], None, x.names[-1]) if transposed else lower


@primitive.returning(LUResult).within(ELIMINATION)
def lu(x: Template, /) -> Plan:
    """Factors of x = P @ L @ U (permutation, unit lower, upper) by elimination with partial pivoting.

    The factors of `x[n][m]` are `P[n][.]`, `L[.][.]` and `U[.][m]`. Of several pivots of the same magnitude, the first
    is used.

    >>> p, l, u = tb.linalg.lu(tb.asarray([[1.0, 2.0], [2.0, 2.0]]))
    >>> p.tolist(), l.tolist(), u.tolist()
    ([[0.0, 1.0], [1.0, 0.0]], [[1.0, 0.0], [0.5, 1.0]], [[2.0, 2.0], [0.0, 1.0]])
    """
    return lu_factors(x)


@primitive.returning(QRResult).within(ELIMINATION)
def qr(x: Template, /, *, mode: Literal["reduced", "complete"] = "reduced") -> Plan:
    """Factors of x = Q @ R: orthonormal columns and an upper triangle whose diagonal is real and not negative.

    The factors of `x[n][m]` are `Q[n][.]` and `R[.][m]`. In the mode `"complete"` Q is square, and its further columns
    are any that complete the basis. Raises `ArgumentError` for another mode.

    >>> q, r = tb.linalg.qr(tb.asarray([[0.0, -2.0], [-4.0, -6.0]]))
    >>> (q @ r).tolist(), r.tolist()
    ([[0.0, -2.0], [-4.0, -6.0]], [[4.0, 6.0], [0.0, 2.0]])
    """
    return qr_factors(x, mode)


@primitive.returning(EighResult).within(SPECTRAL)
def eigh(x: Template, /) -> Plan:
    """Real eigenvalues in ascending order and orthonormal eigenvectors (the columns) of a Hermitian matrix.

    Only the lower triangle of x is read. For `x[n][m]` the values are `[.]` and the vectors `[n][.]`. The largest
    component of each vector is real and positive.

    >>> tb.linalg.eigh(tb.asarray([[3.0, 0.0], [0.0, -1.0]])).eigenvalues.tolist()
    [-1.0, 3.0]
    """
    return eigen(x, hermitian=True)


@primitive.returning(EigResult).within(SPECTRAL)
def eig(x: Template, /) -> Plan:
    """Complex eigenvalues and eigenvectors (the columns, of length 1) of any square matrix.

    The values are sorted by real part, and those with the same real part (within rounding) by imaginary part. The
    largest component of each vector is real and positive. For `x[n][m]` the values are `[.]` and the vectors `[n][.]`.

    >>> tb.linalg.eig(tb.asarray([[0.0, 1.0], [-1.0, 0.0]])).eigenvalues.tolist()
    [-1j, 1j]
    """
    return eigen(x, hermitian=False)


@primitive.returning(SVDResult).within(SPECTRAL)
def svd(x: Template, /, *, full_matrices: bool = True) -> Plan:
    """Singular vectors U and Vh and descending singular values S of x = U @ diag(S) @ Vh.

    U and Vh are square; without `full_matrices` they have only the vectors that x needs. For `x[n][m]` they are
    `U[n][.]`, `S[.]` and `Vh[.][m]`. The largest component of each of U's columns is real and positive; vectors of
    singular values of 0 are any that complete the basis.

    >>> tb.linalg.svd(tb.asarray([[0.0, 2.0], [-3.0, 0.0]])).S.tolist()
    [3.0, 2.0]
    """
    return singular(x, full_matrices)


@primitive.within(ELIMINATION)
def _triangular_solve(
    a: Template, b: Template, /, *, left_side: bool = True, lower: bool = True, transform: Transform = "none"
) -> Plan:
    return triangular_solution(a, b, left_side, lower, transform)


@check_arguments
def triangular_solve(
    a: TensorLike,
    b: TensorLike,
    /,
    *,
    left_side: bool = True,
    lower: bool = True,
    transform: Transform = "none",
    unit_diagonal: bool = False,
) -> Tensor:
    """Solve a @ x = b for a triangular matrix, or x @ a = b unless `left_side`, as Nx does.

    Parameters
    ----------
    a : Tensor
        Square matrices. The other triangle is not read. Batch axes broadcast.
    b : Tensor
        A vector if it has one axis, otherwise matrices. With `a[n][m]` and `b[n][k]` the solution is `x[m][k]`.
    left_side : bool, default True
        Whether a is on the left of x.
    lower : bool, default True
        Whether a is lower triangular; otherwise it is upper triangular.
    transform : {"none", "transpose"}, default "none"
        Whether to use the transpose of a in place of a.
    unit_diagonal : bool, default False
        Whether to assume that the diagonal is ones and not to read it, as for the factor L of `lu`.

    Returns
    -------
    Tensor
        The solution, with the axes of b.

    Raises
    ------
    DataError
        For a zero on a diagonal that is read.
    NamesError
        If matching axes have different names.

    Examples
    --------
    >>> a, b = tb.asarray([[2.0, 0.0], [1.0, 1.0]]), tb.asarray([2.0, 3.0])
    >>> tb.linalg.triangular_solve(a, b).tolist(), tb.linalg.triangular_solve(a, b, unit_diagonal=True).tolist()
    ([1.0, 2.0], [2.0, 1.0])
    """
    a = asarray(a)
    if unit_diagonal and a.ndim > 1:
        a = _set_unit_diagonal(a)
    b = asarray(b)
    at = -1 if left_side else -2
    right = expand_dims(b, axis=at) if b.ndim == 1 else b
    solved = _triangular_solve(a, right, left_side=left_side, lower=lower, transform=transform)
    return squeeze(solved, at) if b.ndim == 1 else solved


def _set_unit_diagonal(a: Tensor) -> Tensor:
    """Matrices with ones on their diagonals."""
    rows, columns = (iota(a.shape[-2:], axis=axis, dtype="int64", backend=a.backend) for axis in (0, 1))
    return where(rows == columns, 1, a)


@declare_bound(ELIMINATION)
@check_arguments
def cholesky_solve(factor: TensorLike, b: TensorLike, /, *, upper: bool = False) -> Tensor:
    """Solve A x = b with the Cholesky factor of A, which need not be computed again for each b.

    Parameters
    ----------
    factor : Tensor
        The factor (..., n, n) that `cholesky` returns.
    b : Tensor
        The right-hand sides (..., n, k), or one vector (n), as for `solve`.
    upper : bool, default False
        Whether the factor is the upper one, `cholesky(A, upper=True)`.

    Returns
    -------
    Tensor
        The solutions, of the shape of b.

    Raises
    ------
    ShapeError
        For factors other than square matrices, and sides that do not fit.

    See Also
    --------
    linalg.solve : The solution of systems with any matrix.

    Examples
    --------
    >>> a = tb.asarray([[4.0, 2.0], [2.0, 5.0]])
    >>> x = tb.linalg.cholesky_solve(tb.linalg.cholesky(a), tb.asarray([[8.0], [12.0]]))
    >>> tb.round(x * 100).tolist()
    [[100.0], [200.0]]
    """
    matrix, right = operand_tensors(factor, b)
    vector = right.ndim == 1
    columns = right[:, None] if vector else right
    lower = adjoint(matrix) if upper else matrix
    half = triangular_solve(lower, columns)
    x = triangular_solve(adjoint(lower), half, lower=False)
    return x[:, 0] if vector else x
