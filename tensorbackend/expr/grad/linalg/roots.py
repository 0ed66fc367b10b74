"""The gradient of the square root of a matrix, which solves an equation of Sylvester."""

from __future__ import annotations

from ....ops.composite.contraction import matmul
from ....ops.composite.elementwise.functions import stop_gradient
from ....ops.composite.linalg.matrices import adjoint
from ....ops.composite.linalg.matrix_functions import STEPS
from ....ops.composite.linalg.norms import matrix_norm
from ....ops.composite.linalg.systems import inv
from ....ops.elementwise.basic import astype, where
from ....ops.elementwise.transcendental import sqrt
from ....ops.linalg import eigh
from ....tensor import Tensor
from ..registry import Cotangents, rule
from .factorisations import as_columns, as_rows, conjugate_rule, lower_half_gradient


@rule("sqrtm")
@conjugate_rule
def _sqrtm(gradient: Tensor, out: Tensor, x: Tensor, *, hermitian: bool) -> Cotangents:
    # dA = dX X + X dX, so the gradient S of A solves adjoint(X) S + S adjoint(X) = gradient.
    if not hermitian:
        return (_solve(adjoint(out), gradient),)
    return (lower_half_gradient(_solve_hermitian(out, gradient)),)


_ORDERS = 2
"""How many derivatives the solution with a Hermitian matrix has: of the root there is one more."""


def _solve_hermitian(matrix: Tensor, right: Tensor) -> Tensor:
    """S with X S + S X = G, by the eigenvalues of X.

    Vectors of equal eigenvalues have no derivative, which the solution has, so they are constants here. The
    derivatives are those of the equation: X S + S X = G - (dX S + S dX), where dX is 0.
    """
    fixed = stop_gradient(matrix)
    values, vectors = eigh(fixed)
    sums = as_columns(values) + as_rows(values)
    # Between eigenvectors of 0 the slope is infinite; it is 0 there, as that of a norm is at 0.
    inverses = astype(where(sums == 0, 0, 1 / where(sums == 0, 1, sums)), vectors.dtype)

    def solve_fixed(right: Tensor) -> Tensor:
        middle = matmul(matmul(adjoint(vectors), right), vectors) * inverses
        return matmul(matmul(vectors, middle), adjoint(vectors))

    change = matrix - fixed
    solution = solve_fixed(right)
    for _ in range(_ORDERS):
        solution = solve_fixed(right - (matmul(change, solution) + matmul(solution, change)))
    return solution


def _solve(matrix: Tensor, right: Tensor) -> Tensor:
    """S with X S + S X = G, by Newton's iteration for the sign of [[X, G], [0, -X]], which is [[1, 2 S], [0, -1]].

    The eigenvalues of X have positive real parts (Higham, Functions of Matrices, section 5.1). Its norms scale a step.
    """
    for _ in range(STEPS):
        inverse = inv(matrix)
        ratio = sqrt(matrix_norm(inverse, keepdims=True)) / sqrt(matrix_norm(matrix, keepdims=True))
        scale = astype(ratio, matrix.dtype)
        right = (scale * right + matmul(matmul(inverse, right), inverse) / scale) / 2
        matrix = (scale * matrix + inverse / scale) / 2
    return right / 2
