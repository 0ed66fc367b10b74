"""Systems with a factor that is known."""

from __future__ import annotations

from ..declarations.argument_errors import check_arguments
from ..rules.accuracy import ELIMINATION, declare_bound
from ..tensor import Tensor, TensorLike
from .composite.linalg.matrices import adjoint
from .creation.values import operand_tensors
from .linalg import triangular_solve


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
    >>> import tensorbackend as tb
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
