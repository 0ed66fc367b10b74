"""Solutions, inverses, determinants and ranks of matrices, written with factorisations and public ops.

The last two axes are the matrix, the leading ones batches. Integers are converted to the default floating dtype,
float16 and bfloat16 in float32. The result is NaN for a matrix that holds NaN or infinity.
"""

from __future__ import annotations

import builtins
import math
from functools import cache
from typing import NamedTuple

from ....declarations.argument_errors import check_arguments
from ....dispatch import composite
from ....dtypes import DType, finfo, float32, promote_types
from ....errors import ArgumentError, expected
from ....rules.accuracy import ELIMINATION, SPECTRAL
from ....rules.broadcasting import check_dtype, to_floating, to_real
from ....rules.linalg import check_matrix, check_square, eigen, matrix_dtype, singular, solution
from ....rules.plan import flag, integer
from ....tensor import Tensor, TensorLike
from ....tensor.missing_names import explain_missing
from ...creation.filled import eye, full, iota, rename
from ...creation.values import operand_tensor
from ...elementwise.basic import abs, astype, isnan, real, sign, where
from ...elementwise.binary import logical_and
from ...elementwise.transcendental import log
from ...linalg import eig, eigh, lu, svd, triangular_solve
from ...reduction import all, any, argmax, max, prod, sum
from ...shape import broadcast_to, expand_dims, matrix_transpose, squeeze
from ..contraction import matmul
from ..elementwise.functions import isfinite
from .matrices import adjoint, diagonal


@explain_missing
class SlogdetResult(NamedTuple):
    """Result of `slogdet`: det(x) = sign * exp(logabsdet)."""

    sign: Tensor
    logabsdet: Tensor


@explain_missing
class LstsqResult(NamedTuple):
    """Result of `lstsq`: `residuals` are the squared lengths of a @ solution - b."""

    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor


def wide_dtype(dtype: DType) -> DType:
    """The dtype to compute in: the dtype itself, or float32 for a narrower one."""
    return promote_types(dtype, float32)


def nameless(x: Tensor, dtype: DType) -> Tensor:
    """A tensor in a dtype, without names."""
    x = x if x.dtype is dtype else astype(x, dtype)
    return rename(x, *(None,) * x.ndim)


# Systems of equations


@composite.within(ELIMINATION)
def solve(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Solve x1 @ x = x2 by elimination with partial pivoting.

    An x2 with one axis is a vector, with more axes a stack of matrices; batch axes broadcast.
    The solution for `x1[n][m]` and `x2[n][k]` is `x[m][k]`.
    Raises `ShapeError` for an x1 that is not square and for an x2 with another number of equations, `NamesError` if
    matching axes have two names, `DataError` for a singular matrix.

    >>> tb.linalg.solve(tb.asarray([[2.0, 0.0], [1.0, 1.0]]), tb.asarray([2.0, 3.0])).tolist()
    [1.0, 2.0]
    """
    out = solution(x1.template, x2.template)
    matrix, right = (nameless(x, wide_dtype(out.dtype)) for x in (x1, x2))
    if x2.ndim == 1:
        right = expand_dims(right, axis=-1)
    permutation, lower, upper = lu(matrix)
    halfway = triangular_solve(lower, matmul(matrix_transpose(permutation), right))
    unknowns = triangular_solve(upper, halfway, lower=False)
    if matrix.dtype.is_complex:  # the factors of a matrix that is not finite are nan+0j, their products nan+nanj
        unknowns = where(all(isfinite(matrix), axis=(-2, -1), keepdims=True), unknowns, math.nan)
    unknowns = squeeze(unknowns, -1) if x2.ndim == 1 else unknowns
    return rename(astype(unknowns, out.dtype), *out.names)


@composite.within(ELIMINATION)
def inv(x: Tensor, /) -> Tensor:
    """The inverse of a square matrix; `DataError` for a singular one. The inverse of `x[n][m]` is `[m][n]`.

    >>> tb.linalg.inv(tb.asarray([[2.0, 0.0], [0.0, 4.0]])).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    dtype = matrix_dtype(check_square(x.template))
    inverse = solve(nameless(x, dtype), eye(x.shape[-1], dtype=dtype))
    return rename(inverse, *x.names[:-2], x.names[-1], x.names[-2])


def _tolerance(x: Tensor) -> float:
    """Singular values below this fraction of the largest count as 0 (Array API standard)."""
    size = builtins.max(x.shape[-2:], default=1)  # the op itself refuses a tensor that is not a matrix
    return _eps(to_floating(x.dtype)) * size


@cache
def _eps(dtype: DType) -> float:
    return finfo(dtype).eps


def _is_significant(values: Tensor, rtol: Tensor) -> Tensor:
    """Whether each singular value is above `rtol` times the largest one."""
    if not values.shape[-1]:
        return values > 0
    rtol = rtol if not rtol.dtype.is_complex else real(rtol)
    cutoff = expand_dims(nameless(rtol, values.dtype), axis=-1) * max(values, axis=-1, keepdims=True)
    return values > cutoff


@composite.within(SPECTRAL)
def _pinv(x: Tensor, rtol: Tensor, /) -> Tensor:
    """See `pinv`."""
    dtype = matrix_dtype(check_matrix(x.template))
    u, values, vh = svd(nameless(x, wide_dtype(dtype)), full_matrices=False)
    return _invert_factors(x, dtype, adjoint(vh), values, adjoint(u), rtol)


def _hermitian_pinv(x: Tensor, rtol: Tensor) -> Tensor:
    """The pseudo-inverse of a Hermitian matrix by its eigenvalues."""
    dtype = matrix_dtype(check_square(x.template))
    values, vectors = eigh(nameless(x, wide_dtype(dtype)))
    return _invert_factors(x, dtype, vectors, values, adjoint(vectors), rtol)


def _invert_factors(x: Tensor, dtype: DType, left: Tensor, values: Tensor, right: Tensor, rtol: Tensor) -> Tensor:
    """The pseudo-inverse of x as a product of three factors, of which the middle one inverts singular values."""
    inverses = where(_is_significant(abs(values), rtol), 1 / values, 0)
    pseudoinverse = matmul(left * expand_dims(inverses, axis=-2), right)
    return rename(astype(pseudoinverse, dtype), *x.names[:-2], x.names[-1], x.names[-2])


@check_arguments
def pinv(x: TensorLike, /, *, rtol: TensorLike | None = None, hermitian: bool = False) -> Tensor:
    """The pseudo-inverse of a matrix (Moore and Penrose), by its singular values. That of `x[n][m]` is `[m][n]`.

    Singular values of at most `rtol` times the largest are treated as 0. `rtol` is a number, or one for each matrix; by
    default it is the dtype's eps times the longer side of the matrix. A `hermitian` matrix is read as by `eigh`, whose
    eigenvalues take less time than singular values.

    >>> tb.linalg.pinv(tb.asarray([[2.0, 0.0], [0.0, 0.0]])).tolist()
    [[0.5, 0.0], [0.0, 0.0]]
    """
    x = operand_tensor(x, rtol)
    if flag(hermitian=hermitian):
        return _hermitian_pinv(x, operand_tensor(_tolerance(x) if rtol is None else rtol, x))
    return _pinv(x, _tolerance(x) if rtol is None else rtol)


@composite
def _matrix_rank(x: Tensor, rtol: Tensor, /) -> Tensor:
    """See `matrix_rank`."""
    dtype = matrix_dtype(check_matrix(x.template))
    rank = sum(_is_significant(svdvals(nameless(x, wide_dtype(dtype))), rtol), axis=-1)
    return rename(rank, *x.names[:-2])


@check_arguments
def matrix_rank(x: TensorLike, /, *, rtol: TensorLike | None = None) -> Tensor:
    """The rank of a matrix (int64): the number of singular values above `rtol` times the largest.

    `rtol` is a number, or one for each matrix; by default it is the dtype's eps times the longer side of the matrix.

    >>> tb.linalg.matrix_rank(tb.asarray([[1.0, 2.0], [2.0, 4.0]])).item()
    1
    """
    x = operand_tensor(x, rtol)
    return _matrix_rank(x, _tolerance(x) if rtol is None else rtol)


@composite.within(SPECTRAL)
def _lstsq(a: Tensor, b: Tensor, rtol: Tensor, /) -> LstsqResult:
    """See `lstsq`."""
    out = solution(a.template, b.template, square=False)
    dtype = wide_dtype(out.dtype)
    matrix, right = nameless(a, dtype), nameless(b, dtype)
    if b.ndim == 1:
        right = expand_dims(right, axis=-1)
    u, values, vh = svd(matrix, full_matrices=False)
    kept = _is_significant(values, rtol)
    inverses = expand_dims(where(kept, 1 / values, 0), axis=-1)
    unknowns = matmul(adjoint(vh), inverses * matmul(adjoint(u), right))
    apart = abs(matmul(matrix, unknowns) - right)
    residuals = sum(apart * apart, axis=-2)
    if b.ndim == 1:
        unknowns, residuals = squeeze(unknowns, -1), squeeze(residuals, -1)
    batch = a.names[:-2]
    part = to_real(out.dtype)
    names = out.names[:-1] if b.ndim == 1 else (*out.names[:-2], out.names[-1])
    return LstsqResult(
        rename(astype(unknowns, out.dtype), *out.names),
        rename(astype(residuals, part), *names),
        rename(sum(kept, axis=-1), *batch),
        rename(astype(values, part), *batch, None),
    )


@check_arguments
def lstsq(
    a: TensorLike, b: TensorLike, /, *, rtol: TensorLike | None = None, rcond: TensorLike | None = None
) -> LstsqResult:
    """The least-squares solution of a @ x = b with the smallest norm, by singular values.

    Singular values of at most `rtol` times the largest are treated as 0. By default `rtol` is the dtype's eps times the
    longer side of the matrix; `rcond` is NumPy's name for it. A b with one axis is a vector, with more axes a stack of
    matrices; batch axes broadcast. The solution for `a[n][m]` and `b[n][k]` is `x[m][k]`. Raises `ShapeError` and
    `NamesError` as `solve` does.

    >>> x, residuals, rank, _ = tb.linalg.lstsq(tb.asarray([[1.0], [1.0]]), tb.asarray([1.0, 3.0]))
    >>> tb.round(x).tolist(), tb.round(residuals).item(), rank.item()
    ([2.0], 2.0, 1)
    """
    if rtol is not None and rcond is not None:
        raise ArgumentError(expected("rtol or its other name rcond, not both", rtol=rtol, rcond=rcond))
    tolerance = rcond if rtol is None else rtol
    a = operand_tensor(a, b, tolerance)
    return _lstsq(a, b, _tolerance(a) if tolerance is None else tolerance)


# Determinants


def _parity(permutation: Tensor, dtype: DType) -> Tensor:
    """The determinant of a permutation matrix: -1 for an odd number of pairs out of order, else 1."""
    size = permutation.shape[-1]
    if size < 2:
        return full((), 1, dtype=dtype)
    order = argmax(real(permutation) if dtype.is_complex else permutation, axis=-2)
    first, second = expand_dims(order, axis=-1), expand_dims(order, axis=-2)
    pairs = iota((size, size), axis=0) < iota((size, size), axis=1)
    count = sum(logical_and(first > second, pairs), axis=(-2, -1))
    return astype(1 - 2 * (count % 2), dtype)


@composite.calls("determinant").within(ELIMINATION)
def det(x: Tensor, /) -> Tensor:
    """The determinant of a square matrix; 1 for a matrix of size 0.

    >>> tb.linalg.det(tb.asarray([[0.0, 2.0], [3.0, 0.0]])).item()
    -6.0
    """
    dtype = matrix_dtype(check_square(x.template))
    permutation, _, upper = lu(nameless(x, wide_dtype(dtype)))
    pivots = diagonal(upper)
    determinant = prod(pivots, axis=-1) * _parity(permutation, upper.dtype)
    if dtype.is_complex:  # the pivots of a matrix that is not finite are NaN + 0j, whose product is NaN + NaNj
        determinant = where(any(isnan(pivots), axis=-1), math.nan, determinant)
    return rename(astype(determinant, dtype), *x.names[:-2])


@composite.within(ELIMINATION)
def slogdet(x: Tensor, /) -> SlogdetResult:
    """Sign (phase, for complex matrices) and logarithm of the magnitude of a determinant, without overflow.

    For a singular matrix they are 0 and -inf.

    >>> sign, logabsdet = tb.linalg.slogdet(tb.asarray([[0.0, 1.0], [1.0, 0.0]]))
    >>> sign.item(), logabsdet.item()
    (-1.0, 0.0)
    """
    dtype = matrix_dtype(check_square(x.template))
    permutation, _, upper = lu(nameless(x, wide_dtype(dtype)))
    pivots = diagonal(upper)
    signs = prod(sign(pivots), axis=-1) * _parity(permutation, upper.dtype)
    logarithms = sum(log(abs(pivots)), axis=-1)
    batch = x.names[:-2]
    return SlogdetResult(rename(astype(signs, dtype), *batch), rename(astype(logarithms, to_real(dtype)), *batch))


# Powers


@composite.within(ELIMINATION)
def matrix_power(x: Tensor, n: int, /) -> Tensor:
    """The n-th power of a square matrix; for negative n, the power of its inverse.

    The result of `x[n][m]` is `[n][m]`, or `[m][n]` for negative n. Integers keep their dtype and wrap for n >= 0.
    Raises `ArgumentError` for an n that is not an int, `DataError` for a singular matrix and negative n.

    >>> tb.linalg.matrix_power(tb.asarray([[1, 1], [0, 1]]), 10).tolist()
    [[1, 10], [0, 1]]
    """
    power = integer(n=n)
    dtype = check_dtype(check_square(x.template).dtype, "numeric")
    names = x.names if power >= 0 else (*x.names[:-2], x.names[-1], x.names[-2])
    x = nameless(x, wide_dtype(dtype) if dtype.is_inexact else dtype)
    if power < 0:
        x, dtype = inv(x), matrix_dtype(x.template)
    product: Tensor | None = None
    left = builtins.abs(power)
    while left:
        if left & 1:
            product = x if product is None else matmul(product, x)
        left >>= 1
        if left:
            x = matmul(x, x)
    if product is None:
        product = broadcast_to(eye(x.shape[-1], dtype=x.dtype), x.shape)
    return rename(astype(product, dtype), *names)


# Parts of decompositions


@composite.within(SPECTRAL)
def eigvalsh(x: Tensor, /) -> Tensor:
    """The real eigenvalues of a Hermitian matrix in ascending order. Only the lower triangle is read.

    >>> tb.linalg.eigvalsh(tb.asarray([[3.0, 0.0], [0.0, -1.0]])).tolist()
    [-1.0, 3.0]
    """
    eigen(x.template, hermitian=True)  # so that its errors name this op
    return eigh(x).eigenvalues


@composite.within(SPECTRAL)
def eigvals(x: Tensor, /) -> Tensor:
    """The complex eigenvalues of a square matrix, in the order of `eig`.

    >>> tb.linalg.eigvals(tb.asarray([[0.0, 1.0], [-1.0, 0.0]])).tolist()
    [-1j, 1j]
    """
    eigen(x.template, hermitian=False)
    return eig(x).eigenvalues


@composite.within(SPECTRAL)
def svdvals(x: Tensor, /) -> Tensor:
    """The singular values of a matrix in descending order.

    >>> tb.linalg.svdvals(tb.asarray([[0.0, 2.0], [-3.0, 0.0]])).tolist()
    [3.0, 2.0]
    """
    singular(x.template, full_matrices=False)
    return svd(x, full_matrices=False).S
