"""The factorisations of `numpy.linalg`, and its errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy

import tensorbackend as tb

from ..dtypes import bool_
from ..errors import ArgumentError, DataError, ShapeError
from ..tensor import Tensor
from .arrays import box
from .conversion import cast, chosen_inexact, tensor
from .functions import Function, public

in_linalg: Final[Callable[[Function], Function]] = public(space="linalg")
"""Enters a function in `linalg`."""

LinAlgError = numpy.linalg.LinAlgError
"""The error of NumPy's programs, which those of this namespace are too."""


class SingularError(DataError, LinAlgError):
    """A matrix that is singular, or not positive definite."""


class NotSquareError(ShapeError, LinAlgError):
    """An array that is not a matrix, or not a square one."""


# Plain tuples, as NumPy has them. The results of `tb.linalg` explain mistakes with tensors: some refuse `result * 2`.


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


class SVDResult(NamedTuple):
    """Singular vectors and values."""

    U: Any
    S: Any
    Vh: Any


def matrices(a: Any, square: bool = False, convert: Callable[[Tensor], Tensor] = chosen_inexact) -> Tensor:
    """An array as a stack of matrices, by default of an inexact dtype that LAPACK has."""
    x = convert(tensor(a))
    if x.ndim < 2:
        raise NotSquareError(f"{x.ndim}-dimensional array given. Array must be at least two-dimensional")
    if square and x.shape[-1] != x.shape[-2]:
        raise NotSquareError("Last 2 dimensions of the array must be square")
    return x


_OF_LAPACK: Final = frozenset({tb.float32, tb.float64, tb.complex64, tb.complex128})


def _by_numpy(function: Callable[..., Any], x: Tensor, *options: Any) -> list[Any] | None:
    """What NumPy itself computes from matrices in its memory; None for others, and for axes with names.

    So the order of eigenvalues, and signs and phases of vectors, are those of the program on NumPy.
    """
    if x.data.__class__ is not numpy.ndarray or x.dtype not in _OF_LAPACK or any(x.names):
        return None
    made = function(x.data, *options)
    return [box(tb.asarray(each, backend=x.backend)) for each in (made if isinstance(made, tuple) else (made,))]


@in_linalg
def cholesky(a: Any, /, *, upper: bool = False) -> Any:
    """The Cholesky factor of positive definite matrices."""
    try:
        return box(tb.linalg.cholesky(matrices(a, square=True), upper=upper))
    except DataError as error:
        raise SingularError("Matrix is not positive definite") from error


@in_linalg
def qr(a: Any, mode: str = "reduced") -> Any:
    """An orthogonal and a triangular factor."""
    x = matrices(a)
    if mode not in ("reduced", "complete", "r"):
        raise ArgumentError(f"Unrecognized mode '{mode}'")
    by_numpy = _by_numpy(numpy.linalg.qr, x, mode)
    if by_numpy is not None:
        return by_numpy[0] if mode == "r" else QRResult(*by_numpy)
    found = tb.linalg.qr(x, mode="complete" if mode == "complete" else "reduced")
    return box(found.R) if mode == "r" else QRResult(*map(box, found))


@in_linalg
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """Singular vectors and values."""
    x = matrices(a)
    if not compute_uv:
        return box(tb.linalg.svdvals(x))
    by_numpy = _by_numpy(numpy.linalg.svd, x, full_matrices)
    if by_numpy is not None:
        return SVDResult(*by_numpy)
    return SVDResult(*map(box, tb.linalg.svd(x, full_matrices=full_matrices)))


@in_linalg
def svdvals(x: Any, /) -> Any:
    """Singular values."""
    return box(tb.linalg.svdvals(matrices(x)))


@in_linalg
def eigh(a: Any, UPLO: str = "L") -> EighResult:
    """Eigenvalues and eigenvectors of Hermitian matrices."""
    by_numpy = _by_numpy(numpy.linalg.eigh, matrices(a, square=True), UPLO)
    return EighResult(*(map(box, tb.linalg.eigh(_triangle(a, UPLO))) if by_numpy is None else by_numpy))


@in_linalg
def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    """Eigenvalues of Hermitian matrices."""
    return box(tb.linalg.eigvalsh(_triangle(a, UPLO)))


def _triangle(a: Any, UPLO: str) -> Tensor:
    """The Hermitian matrix from a triangle."""
    uplo = UPLO.upper()
    if uplo not in ("L", "U"):
        raise ArgumentError("UPLO argument must be 'L' or 'U'")
    x = matrices(a, square=True)
    half = tb.tril(x, k=-1) if uplo == "L" else tb.triu(x, k=1)
    across = tb.matrix_transpose(tb.conj(half))
    diagonal = tb.where(tb.eye(x.shape[-1], dtype=bool_, backend=x.backend), tb.real(x) if x.dtype.is_complex else x, 0)
    return half + across + cast(diagonal, x.dtype)


@in_linalg
def eig(a: Any) -> EigResult:
    """Eigenvalues and eigenvectors; real if all eigenvalues are."""
    x = matrices(a, square=True)
    by_numpy = _by_numpy(numpy.linalg.eig, x)
    if by_numpy is not None:
        return EigResult(*by_numpy)
    values, vectors = tb.linalg.eig(x)
    if not tensor(a).dtype.is_complex and _all_real(values):
        values, vectors = tb.real(values), tb.real(vectors)
    return EigResult(box(values), box(vectors))


@in_linalg
def eigvals(a: Any) -> Any:
    """Eigenvalues; real if all are."""
    x = matrices(a, square=True)
    by_numpy = _by_numpy(numpy.linalg.eigvals, x)
    if by_numpy is not None:
        return by_numpy[0]
    values = tb.linalg.eigvals(x)
    return box(tb.real(values) if not tensor(a).dtype.is_complex and _all_real(values) else values)


def _all_real(values: Tensor) -> bool:
    return values.backend.is_concrete(values) and bool(tb.all(tb.equal(tb.imag(values), 0)))
