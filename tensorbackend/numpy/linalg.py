"""`numpy.linalg`: NumPy's names and arguments over `tb.linalg`."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy

import tensorbackend as tb

from ..errors import DataError, ShapeError
from ..tensor import Tensor
from .arrays import box, functions, ndarray, result, tensor_of
from .conversion import asarray, cast, chosen_inexact, tensor
from .functions import PUBLIC, Array, function, public

LinAlgError = numpy.linalg.LinAlgError
"""The error of NumPy's programs, which those of this namespace are too."""


class SingularError(DataError, LinAlgError):
    """A matrix that is singular, or not positive definite."""


class NotSquareError(ShapeError, LinAlgError):
    """An array that is no matrix, or no square one."""


class EigResult(NamedTuple):
    """Eigenvalues and eigenvectors."""

    eigenvalues: Any
    eigenvectors: Any


class EighResult(NamedTuple):
    """Eigenvalues and eigenvectors of a Hermitian matrix."""

    eigenvalues: Any
    eigenvectors: Any


class QRResult(NamedTuple):
    """An orthogonal and a triangular factor."""

    Q: Any
    R: Any


class SlogdetResult(NamedTuple):
    """The sign and the logarithm of a determinant."""

    sign: Any
    logabsdet: Any


class SVDResult(NamedTuple):
    """Singular vectors and values."""

    U: Any
    S: Any
    Vh: Any


def _matrix(a: Any, square: bool = False) -> Tensor:
    """A stack of matrices of an inexact dtype that LAPACK has."""
    x = chosen_inexact(tensor(a))
    if x.ndim < 2:
        raise NotSquareError(f"{x.ndim}-dimensional array given. Array must be at least two-dimensional")
    if square and x.shape[-1] != x.shape[-2]:
        raise NotSquareError("Last 2 dimensions of the array must be square")
    return x


def _solved(op: Any, *matrices: Any, **options: Any) -> Any:
    try:
        return op(*matrices, **options)
    except DataError as error:
        text = str(error)
        raise SingularError("Singular matrix" if "singular" in text.lower() else text) from error


@public(space="linalg")
def inv(a: Any) -> Any:
    """The inverse of matrices."""
    return box(_solved(tb.linalg.inv, _matrix(a, square=True)))


@public(space="linalg")
def solve(a: Any, b: Any) -> Any:
    """The solution of linear systems."""
    x = _matrix(a, square=True)
    y = chosen_inexact(tensor(b))
    dtype = functions["result_type"](x.dtype.dtype, y.dtype.dtype)
    x, y = tensor(asarray(box(x), dtype)), tensor(asarray(box(y), dtype))
    if y.shape[: 1 if y.ndim == 1 else y.ndim][-1 if y.ndim == 1 else -2] != x.shape[-1]:
        text = "solve: Input operand 1 has a mismatch in its core dimension 0"
        raise ShapeError(f"{text} (size {y.shape[0]} is different from {x.shape[-1]})")
    return box(_solved(tb.linalg.solve, x, y))


@public(space="linalg")
def det(a: Any) -> Any:
    """The determinants of matrices."""
    return result(tb.linalg.det(_matrix(a, square=True)))


@public(space="linalg")
def slogdet(a: Any) -> SlogdetResult:
    """The sign and the logarithm of the determinants of matrices."""
    return SlogdetResult(*map(result, tb.linalg.slogdet(_matrix(a, square=True))))


@public(space="linalg")
def cholesky(a: Any, /, *, upper: bool = False) -> Any:
    """The Cholesky factor of positive definite matrices."""
    try:
        return box(tb.linalg.cholesky(_matrix(a, square=True), upper=upper))
    except DataError as error:
        raise SingularError("Matrix is not positive definite") from error


@public(space="linalg")
def qr(a: Any, mode: str = "reduced") -> Any:
    """An orthogonal and a triangular factor."""
    x = _matrix(a)
    if mode == "r":
        return box(tb.linalg.qr(x).R)
    if mode not in ("reduced", "complete"):
        raise tb.errors.ArgumentError(f"Unrecognized mode '{mode}'")
    found = tb.linalg.qr(x, mode=mode)  # type: ignore[arg-type]
    return QRResult(box(found.Q), box(found.R))


@public(space="linalg")
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """Singular vectors and values."""
    x = _matrix(a)
    if not compute_uv:
        return box(tb.linalg.svdvals(x))
    return SVDResult(*map(box, tb.linalg.svd(x, full_matrices=full_matrices)))


@public(space="linalg")
def svdvals(x: Any, /) -> Any:
    """Singular values."""
    return box(tb.linalg.svdvals(_matrix(x)))


@public(space="linalg")
def eigh(a: Any, UPLO: str = "L") -> EighResult:
    """Eigenvalues and eigenvectors of Hermitian matrices."""
    return EighResult(*map(box, tb.linalg.eigh(_triangle(a, UPLO))))


@public(space="linalg")
def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    """Eigenvalues of Hermitian matrices."""
    return box(tb.linalg.eigvalsh(_triangle(a, UPLO)))


def _triangle(a: Any, UPLO: str) -> Tensor:
    """The Hermitian matrix of which a triangle is given."""
    uplo = UPLO.upper()
    if uplo not in ("L", "U"):
        raise tb.errors.ArgumentError("UPLO argument must be 'L' or 'U'")
    x = _matrix(a, square=True)
    half = tb.tril(x, k=-1) if uplo == "L" else tb.triu(x, k=1)
    across = tb.matrix_transpose(tb.conj(half))
    diagonal = tb.where(tb.eye(x.shape[-1], dtype=tb.bool), tb.real(x) if x.dtype.is_complex else x, 0)
    return half + across + cast(diagonal, x.dtype)


@public(space="linalg")
def eig(a: Any) -> EigResult:
    """Eigenvalues and eigenvectors; real where all eigenvalues are."""
    values, vectors = tb.linalg.eig(_matrix(a, square=True))
    if not tensor(a).dtype.is_complex and _all_real(values):
        values, vectors = tb.real(values), tb.real(vectors)
    return EigResult(box(values), box(vectors))


@public(space="linalg")
def eigvals(a: Any) -> Any:
    """Eigenvalues; real where all are."""
    values = tb.linalg.eigvals(_matrix(a, square=True))
    return box(tb.real(values) if not tensor(a).dtype.is_complex and _all_real(values) else values)


def _all_real(values: Tensor) -> bool:
    return values.backend.is_concrete(values) and bool(tb.all(tb.equal(tb.imag(values), 0)))


@public(space="linalg")
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = NotImplemented) -> Any:
    """The pseudo-inverse."""
    x = chosen_inexact(tensor(a))
    limit = rcond if rtol is NotImplemented or rtol is None else rtol
    if limit is None:
        limit = 1e-15 if rtol is NotImplemented else max(x.shape[-2:]) * float(numpy.finfo(x.dtype.dtype).eps)
    if not x.size:
        return box(tb.zeros((*x.shape[:-2], x.shape[-1], x.shape[-2]), dtype=x.dtype))
    return box(tb.linalg.pinv(x, rtol=limit if limit.__class__ is float else cast(tensor(limit), tb.float64)))


@public(space="linalg")
def lstsq(a: Any, b: Any, rcond: Any = None) -> tuple[Any, Any, Any, Any]:
    """Least squares: the solution, the sums of squared residuals, the rank and the singular values."""
    x, y = _matrix(a), chosen_inexact(tensor(b))
    if y.ndim not in (1, 2):
        raise LinAlgError(f"{y.ndim}-dimensional array given. Array must be two-dimensional")
    if x.shape[0] != y.shape[0]:
        raise LinAlgError("Incompatible dimensions")
    eps = float(numpy.finfo(x.dtype.dtype).eps)
    limit = eps if rcond == -1 else eps * max(x.shape) if rcond is None else float(rcond)
    found = tb.linalg.lstsq(x, y, rcond=limit)
    rank = found.rank
    values = box(found.singular_values) if hasattr(found, "singular_values") else box(tb.linalg.svdvals(x))
    rank_number = int(rank) if rank.backend.is_concrete(rank) else result(rank)
    if rank_number == x.shape[1] and x.shape[0] > x.shape[1]:
        rest = y - tb.matmul(x, found.solution)
        squares = tb.sum(tb.square(tb.abs(rest)), axis=0)
        residuals = box(tb.reshape(squares, (-1,)))
    else:
        residuals = box(tb.zeros((0,), dtype=values._template().dtype))
    return (
        box(found.solution),
        residuals,
        numpy.int64(rank_number) if isinstance(rank_number, int) else rank_number,
        values,
    )


@public(space="linalg")
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """The rank of matrices by their singular values."""
    x = chosen_inexact(tensor(A))
    if x.ndim < 2:
        return numpy.int64(bool(tb.any(tb.not_equal(x, 0))))
    values = tb.linalg.svdvals(x)
    if tol is None:
        share = max(x.shape[-2:]) * float(numpy.finfo(x.dtype.dtype).eps) if rtol is None else tensor(rtol)[..., None]
        limit = tb.max(values, axis=-1, keepdims=True) * share
    else:
        limit = cast(tensor(tol), values.dtype)[..., None]
    return result(tb.sum(values > limit, axis=-1))


@public(space="linalg")
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """A norm of vectors or matrices."""
    t = chosen_inexact(tensor(x))
    if axis is None:
        if ord is None or (ord in ("f", "fro") and t.ndim == 2) or (ord == 2 and t.ndim == 1):
            flat = tb.reshape(t, (-1,))
            made = tb.linalg.vector_norm(flat)
            return result(tb.reshape(made, (1,) * t.ndim) if keepdims else made)
        axis = tuple(range(t.ndim))
    axes = tuple(axis) if isinstance(axis, tuple | list) else (int(axis),)
    if len(axes) == 1:
        if isinstance(ord, str):
            raise tb.errors.ArgumentError(f"Invalid norm order '{ord}' for vectors")
        return result(tb.linalg.vector_norm(t, axis=axes[0], keepdims=keepdims, ord=2 if ord is None else ord))
    if len(axes) != 2:
        raise tb.errors.ArgumentError("Improper number of dimensions to norm.")
    first, second = (functions["axis"](each, t.ndim) for each in axes)
    if first == second:
        raise tb.errors.ArgumentError("Duplicate axes given.")
    moved = tb.moveaxis(t, (first, second), (-2, -1))
    if ord not in (None, "fro", "f", "nuc", 1, -1, 2, -2, math.inf, -math.inf):
        raise tb.errors.ArgumentError("Invalid norm order for matrices.")
    made = tb.linalg.matrix_norm(moved, ord="fro" if ord in (None, "f") else ord)
    return result(tb.expand_dims(made, axis=tuple(sorted((first, second)))) if keepdims else made)


@public(space="linalg")
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """A norm of vectors."""
    return result(tb.linalg.vector_norm(chosen_inexact(tensor(x)), axis=axis, keepdims=keepdims, ord=ord))


@public(space="linalg")
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """A norm of matrices."""
    return result(tb.linalg.matrix_norm(_matrix(x), keepdims=keepdims, ord=ord))


@public(space="linalg")
def cond(x: Any, p: Any = None) -> Any:
    """The condition number of matrices."""
    t = _matrix(x)
    if not t.size:
        raise LinAlgError("cond is not defined on empty arrays")
    if p in (None, 2, -2):
        values = tb.linalg.svdvals(t)
        made = values[..., -1] / values[..., 0] if p == -2 else values[..., 0] / values[..., -1]
        return result(made)
    square = _matrix(x, square=True)
    try:
        inverse = tb.linalg.inv(square)
    except DataError:
        return numpy.float64(math.inf)
    return functions["multiply"](norm(box(square), p, axis=(-2, -1)), norm(box(inverse), p, axis=(-2, -1)))


@public(space="linalg")
def matrix_power(a: Any, n: int) -> Any:
    """A power of matrices."""
    import operator

    try:
        n = operator.index(n)
    except TypeError as error:
        raise TypeError("exponent must be an integer") from error
    x = tensor(a)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise NotSquareError("Last 2 dimensions of the array must be square")
    return box(_solved(tb.linalg.matrix_power, x if n >= 0 and x.dtype is not tb.bool else chosen_inexact(x), n))


@public(space="linalg")
def multi_dot(arrays: Any, *, out: Any = None) -> Any:
    """The product of several matrices, in the order that takes the least time."""
    parts = [asarray(each) for each in arrays]
    if len(parts) < 2:
        raise tb.errors.ArgumentError("Expecting at least two arrays.")
    first, last = parts[0].ndim == 1, parts[-1].ndim == 1
    if first:
        parts[0] = parts[0].reshape(1, -1)
    if last:
        parts[-1] = parts[-1].reshape(-1, 1)
    if any(each.ndim != 2 for each in parts):
        raise LinAlgError("array given must be two-dimensional")
    made = _multiplied(parts)
    if first and last:
        made = made[0, 0]
    elif first or last:
        made = functions["ravel"](made)
    return made if out is None else functions["copyto"](out, made) or out


def _multiplied(parts: list[Any]) -> Any:
    if len(parts) < 3:
        return functions["dot"](*parts)
    sizes = [parts[0].shape[0], *[each.shape[1] for each in parts]]
    count = len(parts)
    cost = [[0.0] * count for _ in range(count)]
    cut = [[0] * count for _ in range(count)]
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            cost[i][j], cut[i][j] = min(
                (cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)
            )

    def product(i: int, j: int) -> Any:
        return parts[i] if i == j else functions["dot"](product(i, cut[i][j]), product(cut[i][j] + 1, j))

    return product(0, count - 1)


@public(space="linalg")
def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    """The solution x of tensordot(a, x) = b."""
    x, y = asarray(a), asarray(b)
    if axes is not None:
        order = [each for each in range(x.ndim) if each not in axes]
        x = x.transpose([*order, *axes])
    shape = x.shape[y.ndim :]
    count = math.prod(shape)
    if x.size != count**2:
        raise LinAlgError("Input arrays must satisfy the requirement prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])")
    return solve(x.reshape(count, count), y.ravel()).reshape(shape)


@public(space="linalg")
def tensorinv(a: Any, ind: int = 2) -> Any:
    """The inverse of an array as a map by tensordot."""
    if ind <= 0:
        raise tb.errors.ArgumentError("Invalid ind argument.")
    x = asarray(a)
    rows = math.prod(x.shape[ind:])
    return inv(x.reshape(rows, -1)).reshape(x.shape[ind:] + x.shape[:ind])


@public(space="linalg")
def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """The diagonals of the last two axes."""
    return functions["diagonal"](x, offset, -2, -1)


@public(space="linalg")
def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """The sums of the diagonals of the last two axes."""
    return functions["trace"](x, offset, -2, -1, dtype)


@public(space="linalg")
def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The cross product of vectors of three elements."""
    sizes = asarray(x1).shape[axis], asarray(x2).shape[axis]
    if sizes != (3, 3):
        text = "Both input arrays must be (arrays of) 3-dimensional vectors, but they are"
        raise tb.errors.ArgumentError(f"{text} {sizes[0]} and {sizes[1]} dimensional instead.")
    return functions["cross"](x1, x2, axis=axis)


@public(space="linalg")
def outer(x1: Any, x2: Any, /) -> Any:
    """Each element of one vector times each of another."""
    if asarray(x1).ndim != 1 or asarray(x2).ndim != 1:
        raise tb.errors.ArgumentError("Input arrays must be one-dimensional")
    return functions["outer"](x1, x2)


@public(space="linalg")
def matmul(x1: Any, x2: Any, /) -> Any:
    """The product of matrices."""
    return functions["matmul"](x1, x2)


@public(space="linalg")
def matrix_transpose(x: Any, /) -> Any:
    """The last two axes exchanged: a view."""
    return functions["matrix_transpose"](x)


@public(space="linalg")
def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """The sum of products over pairs of axes."""
    return functions["tensordot"](x1, x2, axes)


@public(space="linalg")
def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The sum of products along an axis, the first ones conjugated."""
    return result(tb.vecdot(*functions["chosen"](x1, x2), axis=axis))


for _name, _function in list(PUBLIC.items()):
    if _name.startswith("linalg."):
        globals()[_name.partition(".")[2]] = _function
_ = (Array, function, ndarray, tensor_of)
