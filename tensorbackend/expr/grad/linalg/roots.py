"""The gradient of the square root of a matrix, which solves an equation of Sylvester."""

from __future__ import annotations

from ....ops.composite.contraction import matmul
from ....ops.composite.linalg.matrices import adjoint
from ....ops.composite.linalg.norms import matrix_norm
from ....ops.composite.linalg.roots import sqrtm
from ....ops.creation.filled import zeros_like
from ....ops.elementwise.conversion import astype
from ....ops.elementwise.ternary import where
from ....ops.linalg import eigh
from ....ops.shape import concatenate
from ....tensor import Tensor
from ..registry import Cotangents, rule
from .factorisations import as_columns, as_rows, columns, conjugate_rule, lower_half_gradient, rows


@rule("sqrtm")
@conjugate_rule
def _sqrtm(gradient: Tensor, out: Tensor, x: Tensor, *, hermitian: bool) -> Cotangents:
    # dA = dX X + X dX, so the gradient S of A solves adjoint(X) S + S adjoint(X) = gradient.
    if hermitian:
        values, vectors = eigh(out)
        middle = matmul(matmul(adjoint(vectors), gradient), vectors)
        sums = as_columns(values) + as_rows(values)
        middle = middle / astype(sums, vectors.dtype)
        return (lower_half_gradient(matmul(matmul(vectors, middle), adjoint(vectors))),)
    # The root of [[A, G], [0, A]] is [[X, S], [0, X]] with X S + S X = G (Higham, Functions of Matrices, theorem 3.6).
    size = x.shape[-1]
    matrix = adjoint(x)
    length = matrix_norm(gradient, keepdims=True)
    length = where(length == 0, 1, length) / matrix_norm(matrix, keepdims=True)  # both parts are alike then
    above = concatenate([matrix, gradient / astype(length, gradient.dtype)], axis=-1)
    below = concatenate([zeros_like(matrix), matrix], axis=-1)
    root = sqrtm(concatenate([above, below], axis=-2))
    return (columns(rows(root, 0, size), size, 2 * size) * astype(length, x.dtype),)
