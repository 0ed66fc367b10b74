"""The gradient of the determinant: the matrix of cofactors, also for singular matrices."""

from __future__ import annotations

from ....ops.composite.contraction import matmul
from ....ops.composite.elementwise.functions import stop_gradient
from ....ops.composite.linalg.matrices import adjoint, cross, diagonal
from ....ops.composite.linalg.systems import det, inv
from ....ops.composite.reduction import cast_to_float32
from ....ops.composite.shape.arranging import stack
from ....ops.creation.filled import eye, ones_like, zeros_like
from ....ops.elementwise.basic import astype, where
from ....ops.linalg import svd
from ....ops.reduction import any
from ....ops.shape import expand_dims, matrix_transpose
from ....tensor import Tensor
from ...choice import cond
from ..reduction import products_of_others
from ..registry import Cotangents, rule
from .factorisations import as_columns, as_diagonal, as_rows, conjugate, identity


@rule("determinant")
def _determinant(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    wide = cast_to_float32(x)
    determinant = out if x.dtype is wide.dtype else det(wide)  # the rounded one may be 0 or infinite
    return (expand_dims(cotangent, axis=(-2, -1)) * _cofactors(wide, determinant),)


def _cofactors(x: Tensor, determinant: Tensor) -> Tensor:
    """The transposed adjugate."""
    size = x.shape[-1]
    if size < 2:
        return ones_like(x)
    row = [x[..., position, :] for position in range(size)] if size < 4 else []
    if size == 2:
        (a, b), (c, d) = ((of_row[..., 0], of_row[..., 1]) for of_row in row)
        return stack([stack([d, -c], axis=-1), stack([-b, a], axis=-1)], axis=-2)
    if size == 3:
        return stack([cross(row[position - 2], row[position - 1], axis=-1) for position in range(3)], axis=-2)
    singular = expand_dims(determinant == 0, axis=(-2, -1))
    inverse = inv(where(singular, identity(x, size), x))
    regular = expand_dims(astype(determinant, x.dtype), axis=(-2, -1)) * matrix_transpose(inverse)
    return where(singular, cond(any(singular), _singular_cofactors, zeros_like, x), regular)


def _singular_cofactors(x: Tensor) -> Tensor:
    """The cofactors by singular values: those of a diagonal matrix are products, without a division.

    For x = u s vh they are conj(u) p conj(vh) times the determinants of u and vh, where p has for each singular value
    the product of the others. Singular vectors have no derivative if two values are equal, so the factors are
    constants; the derivative of p, which has the products of all values except two, is that of a term that is zero.
    """
    fixed = stop_gradient(x)
    u, values, vh = svd(fixed)
    others = products_of_others(where(eye(x.shape[-1], dtype="bool", backend=x.backend), 1, as_rows(values)))
    others = astype(others, x.dtype)
    diagonals = as_diagonal(diagonal(others), others)
    pairs = others - diagonals
    inner = matmul(matmul(adjoint(u), x - fixed), adjoint(vh))
    moved = as_diagonal(matmul(pairs, as_columns(diagonal(inner)))[..., 0], x) - inner * pairs
    turned = expand_dims(det(u) * det(vh), axis=(-2, -1))
    return turned * matmul(matmul(conjugate(u), diagonals + matrix_transpose(moved)), conjugate(vh))
