"""Gradients of solutions, inverses, determinants and norms, which need no derivative of a factorisation."""

from __future__ import annotations

import math
from typing import Any

from ....ops.composite.contraction import matmul
from ....ops.composite.elementwise.functions import complex
from ....ops.composite.linalg.matrices import adjoint
from ....ops.composite.linalg.norms import vector_norm
from ....ops.composite.linalg.systems import inv, pinv, solve
from ....ops.composite.reduction import cast_to_float32
from ....ops.composite.shape.triangles import tril, triu
from ....ops.elementwise.basic import abs, astype, imag, real, sign, where
from ....ops.elementwise.binary import logical_and, maximum, multiply
from ....ops.linalg import svd, triangular_solve
from ....ops.reduction import sum
from ....ops.shape import broadcast_to, expand_dims, matrix_transpose, reshape, squeeze
from ....tensor import Tensor
from ..registry import Cotangents, rule
from .factorisations import as_rows, conjugate, conjugate_rule, identity


def as_matrix(vector: Tensor, matrix: bool) -> Tensor:
    """A vector as a matrix of one column, or the tensor itself if it is a `matrix` already; also for stacks of them."""
    return vector if matrix else expand_dims(vector, axis=-1)


@rule("triangular_solve")
def _triangular_solve(
    cotangent: Tensor, out: Tensor, a: Tensor, b: Tensor, *, left_side: bool, lower: bool, transform: str
) -> Cotangents:
    # Giles (2008), section 2.3: x = a^-1 b has dx = a^-1 (db - da x).
    transposed = transform == "transpose"
    right = triangular_solve(
        a, cotangent, left_side=left_side, lower=lower, transform="none" if transposed else "transpose"
    )
    first, second = (right, out) if left_side else (out, right)
    of_matrix = matmul(first, matrix_transpose(second)) if left_side else matmul(matrix_transpose(first), second)
    of_matrix = matrix_transpose(of_matrix) if transposed else of_matrix
    return -(tril if lower else triu)(of_matrix), right


@rule("solve")
def _solve(cotangent: Tensor, out: Tensor, a: Tensor, b: Tensor) -> Cotangents:
    matrix = b.ndim > 1
    right = solve(matrix_transpose(a), as_matrix(cotangent, matrix))
    of_a = -matmul(right, matrix_transpose(as_matrix(out, matrix)))
    return of_a, right if matrix else squeeze(right, -1)


@rule("inv")
def _inv(cotangent: Tensor, out: Tensor, x: Tensor) -> Cotangents:
    transposed = matrix_transpose(out)
    return (-matmul(matmul(transposed, cotangent), transposed),)


@rule("slogdet")
def _slogdet(cotangents: tuple[Any, ...], out: tuple[Tensor, Tensor], x: Tensor) -> Cotangents:
    # The logarithm's real part changes by Re tr(x^-1 dx), and its imaginary part, the phase, by Im tr(x^-1 dx).
    of_sign, of_logarithm = cotangents
    scale: Tensor | None = None if of_logarithm is None else astype(of_logarithm, x.dtype)
    if of_sign is not None and x.dtype.is_complex:
        phase = astype(imag(of_sign * out[0]), x.dtype) * 1j
        scale = phase if scale is None else scale + phase
    if scale is None:
        return (None,)
    return (expand_dims(scale, axis=(-2, -1)) * matrix_transpose(inv(x)),)


def _pseudo_inverse_gradient(gradient: Tensor, inverse: Tensor, x: Tensor) -> Tensor:
    """The gradient of a matrix from the gradient of its pseudo-inverse, where the rank is constant.

    Golub and Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems whose variables
    separate" (1973), equation 4.12.
    """
    turned = adjoint(inverse)
    size, count = x.shape[-2:]
    beside = identity(x, size) - matmul(x, inverse)
    beyond = identity(x, count) - matmul(inverse, x)
    # No square of the inverse is formed, which might overflow.
    of_x = matmul(matmul(matmul(beside, adjoint(gradient)), inverse), turned)
    of_x = of_x + matmul(turned, matmul(inverse, matmul(adjoint(gradient), beyond)))
    return of_x - matmul(turned, matmul(gradient, turned))


@rule("pinv")
@conjugate_rule
def _pinv(gradient: Tensor, out: Tensor, x: Tensor, rtol: Tensor) -> Cotangents:
    return _pseudo_inverse_gradient(gradient, out, x), None


@rule("lstsq")
@conjugate_rule
def _lstsq(gradients: tuple[Any, ...], out: tuple[Tensor, ...], a: Tensor, b: Tensor, rtol: Tensor) -> Cotangents:
    # The solution is pinv(a) @ b. The squared residuals do not change with the solution, which minimises them.
    of_solution, of_residuals, _, of_values = gradients
    matrix, wide = b.ndim > 1, astype(a, out[0].dtype)
    inverse = astype(pinv(a, rtol=rtol), wide.dtype)
    solution, right = as_matrix(out[0], matrix), as_matrix(astype(b, wide.dtype), matrix)
    of_a, of_b = wide * 0, right * 0
    if of_solution is not None:
        columns = as_matrix(of_solution, matrix)
        of_a = of_a + _pseudo_inverse_gradient(matmul(columns, adjoint(right)), inverse, wide)
        of_b = of_b + matmul(adjoint(inverse), columns)
    if of_residuals is not None:
        weights = as_rows(of_residuals) if matrix else expand_dims(of_residuals, axis=(-2, -1))
        weighted = 2 * astype(weights, wide.dtype) * (matmul(wide, solution) - right)
        of_a, of_b = of_a + matmul(weighted, adjoint(solution)), of_b - weighted
    if of_values is not None:
        u, _, vh = svd(wide, full_matrices=False)
        if of_a.shape != a.shape:  # a was broadcast against b, but its singular values were not
            extra = of_a.ndim - a.ndim
            sizes = zip(a.shape, of_a.shape[extra:], strict=True)
            repeated = (
                *range(extra),
                *(extra + axis for axis, (size, broadcast_size) in enumerate(sizes) if size != broadcast_size),
            )
            of_a = reshape(sum(of_a, axis=repeated), a.shape)
        of_a = of_a + matmul(u * as_rows(astype(of_values, u.dtype)), vh)
    return of_a, of_b if matrix else squeeze(of_b, -1), None


def _divide_by_real(x: Tensor, real_divisor: Tensor) -> Tensor:
    """x divided by real numbers."""
    if not x.dtype.is_complex:
        return x / real_divisor
    return complex(real(x) / real_divisor, imag(x) / real_divisor)


@rule("vector_norm")
def _vector_norm(
    cotangent: Tensor, out: Tensor, x: Tensor, *, axis: tuple[int, ...], keepdims: bool, ord: float
) -> Cotangents:
    """The gradient is 0 at the origin, which is one of the subgradients; equal extremes share the cotangent."""
    if ord == 0:
        return (None,)
    kept = tuple(1 if position in axis else size for position, size in enumerate(x.shape))
    cotangent = reshape(cast_to_float32(cotangent), kept)
    if x.dtype.bits < 32:  # a power would magnify the rounding of the result
        x = cast_to_float32(x)
        out = vector_norm(x, axis=axis, ord=ord)
    out = reshape(out, kept)
    away = out != 0
    length, cotangent = where(away, out, 1), where(away, cotangent, 0)
    if ord == 2:  # quotients first: the reciprocal of a length may be out of range
        unit = _divide_by_real(conjugate(x), length)
        return (multiply(astype(cotangent, x.dtype), unit),)
    sizes = abs(x)
    if math.isinf(ord):
        chosen = astype(sizes == out, sizes.dtype)
        weights = cotangent * chosen / maximum(sum(chosen, axis=axis, keepdims=True), 1)
    elif ord == 1:
        weights = broadcast_to(cotangent, x.shape)
    else:
        # 0 to a negative power would be infinite. Any finite number will do there, as it is multiplied by the sign, 0.
        weights = cotangent * where(logical_and(away, sizes > 0), sizes / length, 1) ** (ord - 1)
    return (multiply(astype(weights, x.dtype), conjugate(sign(x))),)
