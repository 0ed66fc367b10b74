"""Gradients of factorisations.

The sources use gradients G with df = Re tr(adjoint(G) dX), which are the conjugates of cotangents: `conjugate_rule`
conjugates on the way in and out. In the sources the phases of vectors are arbitrary, but the ops fix them. That adds
the terms of `add_phase_gradient`, so that the rules are the derivatives of what the ops compute.

Vectors whose eigenvalues or singular values are equal have no derivative; the terms that would be divided by zero
there are omitted.
"""

from __future__ import annotations

import math
from functools import wraps
from typing import Any

from ....dtypes import finfo, float32, promote_types
from ....ops.composite.contraction import matmul
from ....ops.composite.linalg.matrices import adjoint, diagonal
from ....ops.composite.linalg.systems import solve
from ....ops.composite.shape.triangles import tril, triu
from ....ops.creation.filled import eye, iota, zeros
from ....ops.elementwise.basic import abs, astype, conj, imag, real, where
from ....ops.linalg import triangular_solve
from ....ops.reduction import argmax, max, sum
from ....ops.shape import concatenate, expand_dims
from ....tensor import Tensor
from ..registry import Cotangents, NoGradient, Rule, rule


def conjugate(x: Tensor) -> Tensor:
    """The complex conjugate; a real tensor itself."""
    return conj(x) if x.dtype.is_complex else x


def conjugate_rule(function: Rule) -> Rule:
    """Convert a function of gradients, which are conjugates of cotangents, to a rule."""

    @wraps(function)
    def rule_of_gradients(cotangent: Any, *tensors: Any, **options: Any) -> Cotangents:
        several = isinstance(cotangent, tuple)
        gradient = tuple(None if part is None else conjugate(part) for part in cotangent) if several else (
            conjugate(cotangent))  # fmt: skip
        return tuple(
            conjugate(of_input) if isinstance(of_input, Tensor) else of_input
            for of_input in function(gradient, *tensors, **options)
        )

    return rule_of_gradients


# Parts of matrices


def as_rows(values: Tensor) -> Tensor:
    """Numbers (..., k) as matrices of one row (..., 1, k): an elementwise product with them scales columns."""
    return expand_dims(values, axis=-2)


def as_columns(values: Tensor) -> Tensor:
    """Numbers (..., k) as matrices of one column (..., k, 1): an elementwise product with them scales rows."""
    return expand_dims(values, axis=-1)


def identity(x: Tensor, size: int) -> Tensor:
    """The identity matrix in the dtype of x and on its backend."""
    return eye(size, dtype=x.dtype, backend=x.backend)


def as_diagonal(values: Tensor, like: Tensor) -> Tensor:
    """Diagonal matrices of numbers (..., k), in the dtype of `like`."""
    return as_columns(astype(values, like.dtype)) * identity(like, values.shape[-1])


def real_diagonal(x: Tensor) -> Tensor:
    """A matrix without the imaginary parts of its diagonal."""
    return x - as_diagonal(imag(diagonal(x)), x) * 1j if x.dtype.is_complex else x


def columns(x: Tensor, start: int, stop: int) -> Tensor:
    """The columns of a matrix from `start` up to `stop`."""
    return x[..., start:stop]


def rows(x: Tensor, start: int, stop: int) -> Tensor:
    """The rows of a matrix from `start` up to `stop`."""
    return x[..., start:stop, :]


def left_adjoint(triangle: Tensor, right: Tensor) -> Tensor:
    """x with adjoint(triangle) @ x = right, for a lower triangle."""
    return triangular_solve(conjugate(triangle), right, lower=True, transform="transpose")


def right_adjoint(triangle: Tensor, left: Tensor) -> Tensor:
    """x with x @ adjoint(triangle) = left, for an upper triangle."""
    return triangular_solve(conjugate(triangle), left, left_side=False, lower=False, transform="transpose")


def lower_half_gradient(gradient: Tensor) -> Tensor:
    """The gradient of the lower half, the only part that the op reads, from the gradient of the Hermitian matrix."""
    symmetric = 0.5 * (gradient + adjoint(gradient))
    return real_diagonal(tril(symmetric) + tril(symmetric, k=-1))


# Phases


def first_largest(vectors: Tensor) -> Tensor:
    """1 at the component of each column that the op made real and positive (see `protocol.linalg`), 0 elsewhere."""
    sizes = abs(vectors)
    tolerance = math.sqrt(finfo(promote_types(vectors.dtype, float32)).eps)
    large = sizes >= (1 - tolerance) * max(sizes, axis=-2, keepdims=True)
    place = argmax(astype(large, "uint8"), axis=-2, keepdims=True)
    return astype(iota(vectors.shape, axis=vectors.ndim - 2, backend=vectors.backend) == place, vectors.dtype)


def add_phase_gradient(gradient: Tensor, vectors: Tensor, turned: Tensor | None) -> Tensor:
    """The gradient of vectors of any phase, from the gradient of vectors whose largest component is made real.

    A change dv of the vectors makes component p complex. The op rotates them back, by the angle t = -Im(dv[p]) / v[p],
    which adds i t v to dv and changes the function by -`turned` * t.
    """
    if turned is None or not vectors.size:
        return gradient
    chosen = first_largest(vectors)
    value = sum(chosen * vectors, axis=-2, keepdims=True)
    return gradient + astype(as_rows(turned), vectors.dtype) * 1j / value * chosen


def phase_rate(*pairs: tuple[Tensor, Tensor]) -> Tensor | None:
    """Im(adjoint(g) v) for each column, summed over pairs of gradients g and vectors v; `None` for real vectors.

    It is minus the derivative of the function by the phase that the vectors of a column have in common.
    """
    total: Tensor | None = None
    for gradient, vectors in pairs:
        if vectors.dtype.is_complex:
            part = imag(sum(conj(gradient) * vectors, axis=-2))
            total = part if total is None else total + part
    return total


def differences(values: Tensor) -> Tensor:
    """1 / (values[k] - values[j]) in row j and column k, 0 where the values are equal."""
    apart = as_rows(values) - as_columns(values)
    same = apart == 0
    return where(same, 0, 1 / where(same, 1, apart))


# Factorisations


@rule("cholesky")
@conjugate_rule
def _cholesky(gradient: Tensor, lower: Tensor, x: Tensor) -> Cotangents:
    # Murray, "Differentiation of the Cholesky decomposition" (2016), equation 10.
    middle = tril(matmul(adjoint(lower), gradient))
    middle = real_diagonal(middle) - 0.5 * as_diagonal(real(diagonal(middle)), lower)
    of_hermitian = left_adjoint(lower, triangular_solve(lower, middle, left_side=False))
    return (lower_half_gradient(of_hermitian),)


@rule("lu")
@conjugate_rule
def _lu(gradients: tuple[Any, ...], out: tuple[Tensor, Tensor, Tensor], x: Tensor) -> Cotangents:
    """Giles, "An extended collection of matrix derivative results" (2008), section 2, has the formula for square
    factors. If the matrix is not square, the additional rows of L, or the additional columns of U, follow from the
    rest."""
    permutation, lower, upper = out
    size = lower.shape[-1]
    of_lower = zeros(lower.shape, dtype=lower.dtype, backend=lower.backend) if gradients[1] is None else gradients[1]
    of_upper = zeros(upper.shape, dtype=upper.dtype, backend=upper.backend) if gradients[2] is None else gradients[2]
    square, pivots = rows(lower, 0, size), columns(upper, 0, size)
    below = matmul(adjoint(square), rows(of_lower, 0, size))
    above = matmul(columns(of_upper, 0, size), adjoint(pivots))
    if size < upper.shape[-1]:
        beyond = columns(of_upper, size, upper.shape[-1])
        below = below - matmul(beyond, adjoint(columns(upper, size, upper.shape[-1])))
    if size < lower.shape[-2]:
        beneath = rows(of_lower, size, lower.shape[-2])
        above = above - matmul(adjoint(rows(lower, size, lower.shape[-2])), beneath)
    middle = tril(below, k=-1) + triu(above)
    of_product = left_adjoint(square, right_adjoint(pivots, middle))
    if size < upper.shape[-1]:
        of_product = concatenate([of_product, left_adjoint(square, beyond)], axis=-1)
    if size < lower.shape[-2]:
        of_product = concatenate([of_product, right_adjoint(pivots, beneath)], axis=-2)
    return (matmul(permutation, of_product),)


@rule("qr")
@conjugate_rule
def _qr(gradients: tuple[Any, ...], out: tuple[Tensor, Tensor], x: Tensor, *, mode: str) -> Cotangents:
    """Walter and Lehmann, "Algorithmic differentiation of linear algebra functions with application in optimum
    experimental design" (2010), section 3; for more columns than rows, Roberts and Roberts, "QR and LQ decomposition
    matrix backpropagation algorithms for square, wide, and deep matrices" (2020)."""
    q, r = out
    size, count = min(x.shape[-2:]), x.shape[-1]
    of_q, of_r = gradients
    if q.shape[-1] > size:
        if of_q is not None:
            return (NoGradient("the columns of Q beyond those of x are not unique: they only complete the basis"),)
        q, r, of_r = columns(q, 0, size), rows(r, 0, size), rows(of_r, 0, size)
    triangle, parts = columns(r, 0, size), []
    if of_r is not None and count > size:  # the further columns of R are adjoint(Q) times the further columns of x
        by_further = matmul(columns(x, size, count), adjoint(columns(of_r, size, count)))
        of_q = by_further if of_q is None else of_q + by_further
    # The gradient of Q is divided by R, that of R is not: their sum before the division would lose the latter.
    if of_q is not None:
        parts.append(right_adjoint(triangle, of_q - matmul(q, _hermitian(matmul(adjoint(q), of_q)))))
    if of_r is not None:
        of_triangle = _hermitian(matmul(columns(of_r, 0, size), adjoint(triangle)))
        parts.append(right_adjoint(triangle, matmul(q, of_triangle)))
    of_leading = parts[0] if len(parts) == 1 else parts[0] + parts[1]
    if count == size:
        return (of_leading,)
    rest = (*x.shape[:-1], count - size)
    further = zeros(rest, dtype=x.dtype, backend=x.backend) if of_r is None else matmul(q, columns(of_r, size, count))
    return (concatenate([of_leading, further], axis=-1),)


def _hermitian(x: Tensor) -> Tensor:
    """The Hermitian matrix that has the upper half of x and the real parts of its diagonal."""
    upper = triu(x)
    return real_diagonal(upper) + adjoint(triu(upper, k=1))


@rule("eigh")
@conjugate_rule
def _eigh(gradients: tuple[Any, ...], out: tuple[Tensor, Tensor], x: Tensor) -> Cotangents:
    # Giles (2008), section 3.1.
    (of_values, of_vectors), (values, vectors) = gradients, out
    middle = as_diagonal(values * 0 if of_values is None else of_values, vectors)
    if of_vectors is not None:
        of_vectors = add_phase_gradient(of_vectors, vectors, phase_rate((of_vectors, vectors)))
        middle = middle + matmul(adjoint(vectors), of_vectors) * astype(differences(values), vectors.dtype)
    return (lower_half_gradient(matmul(matmul(vectors, middle), adjoint(vectors))),)


@rule("eig")
@conjugate_rule
def _eig(gradients: tuple[Any, ...], out: tuple[Tensor, Tensor], x: Tensor) -> Cotangents:
    # Giles (2008), section 3.1. The part of the gradient along each vector is removed first, as all have length 1.
    (of_values, of_vectors), (values, vectors) = gradients, out
    middle = as_diagonal(values * 0 if of_values is None else of_values, vectors)
    if of_vectors is not None:
        along = astype(real(sum(conj(of_vectors) * vectors, axis=-2, keepdims=True)), vectors.dtype)
        of_vectors = add_phase_gradient(of_vectors - along * vectors, vectors, phase_rate((of_vectors, vectors)))
        middle = middle + matmul(adjoint(vectors), of_vectors) * conj(differences(values))
    of_x = solve(adjoint(vectors), matmul(middle, adjoint(vectors)))
    return (of_x,)


@rule("svd")
@conjugate_rule
def _svd(
    gradients: tuple[Any, ...], out: tuple[Tensor, Tensor, Tensor], x: Tensor, *, full_matrices: bool
) -> Cotangents:
    """Giles (2008), section 3.2, Wan and Zhang, "Automatic differentiation for complex valued SVD" (2019), and the
    terms that the phases of U's columns add to both sides."""
    u, values, vh = out
    of_u, of_values, of_vh = gradients
    size = values.shape[-1]
    for side, of_vectors in ((u.shape[-1], of_u), (vh.shape[-2], of_vh)):
        if side > size and of_vectors is not None:
            return (NoGradient("the vectors beyond the singular values are not unique: they only complete the basis"),)
    u, vh = columns(u, 0, size), rows(vh, 0, size)
    v = adjoint(vh)
    if of_u is None and of_vh is None:
        return (matmul(u * as_rows(astype(of_values, u.dtype)), vh),)
    of_u = zeros(u.shape, dtype=u.dtype, backend=u.backend) if of_u is None else of_u
    of_v = zeros(v.shape, dtype=v.dtype, backend=v.backend) if of_vh is None else adjoint(of_vh)
    turned = phase_rate((of_v, v))
    of_u = add_phase_gradient(of_u, u, phase_rate((of_u, u), (of_v, v)))
    total = as_rows(values) + as_columns(values)
    inverses = astype(1 / values, u.dtype)
    left, right = matmul(adjoint(u), of_u), matmul(vh, of_v)
    left, right = left - adjoint(left), right - adjoint(right)
    # The sum is 0 between equal values where the function does not depend on the choice of their vectors; the other
    # term has a limit there. Neither has the squares of the values, which may be out of range.
    middle = 0.5 * (left + right) * astype(differences(values), u.dtype)
    shares = where(total == 0, 0, 0.5 / where(total == 0, 1, total))
    middle = middle + real_diagonal(left - right) * astype(shares, u.dtype)  # phases have a term of their own, below
    if of_values is not None:
        middle = middle + as_diagonal(of_values, u)
    if turned is not None:
        middle = middle + as_diagonal(turned * real(inverses), u) * 1j
    of_x = matmul(matmul(u, middle), vh)
    if x.shape[-2] > size:
        outside = of_u - matmul(u, matmul(adjoint(u), of_u))
        of_x = of_x + matmul(outside * as_rows(inverses), vh)
    if x.shape[-1] > size:
        outside = of_v - matmul(v, matmul(vh, of_v))
        of_x = of_x + matmul(u * as_rows(inverses), adjoint(outside))
    return (of_x,)
