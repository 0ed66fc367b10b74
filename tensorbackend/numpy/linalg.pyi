"""`numpy.linalg`: NumPy's names and arguments over `tb.linalg`. Written by `python -m tensorbackend.numpy.stub`."""

import builtins
from contextlib import AbstractContextManager
from typing import Any, Literal, NamedTuple, overload

from . import _ArrayOrNumber, ndarray

from numpy.linalg import LinAlgError as LinAlgError

def cholesky(a: Any, /, *, upper: builtins.bool = ...) -> ndarray:
    """The Cholesky factor of positive definite matrices."""
def cond(x: Any, p: Any = ...) -> _ArrayOrNumber:
    """The condition number of matrices."""
def cross(x1: Any, x2: Any, /, *, axis: int = ...) -> ndarray:
    """The cross product of vectors of three elements."""
def det(a: Any) -> _ArrayOrNumber:
    """The determinants of matrices."""
def diagonal(x: Any, /, *, offset: int = ...) -> ndarray:
    """The diagonals of the last two axes."""
def eig(a: Any) -> EigResult: ...
def eigh(a: Any, UPLO: str = ...) -> EighResult: ...
def eigvals(a: Any) -> ndarray:
    """Eigenvalues; real if all are."""
def eigvalsh(a: Any, UPLO: str = ...) -> ndarray:
    """Eigenvalues of Hermitian matrices."""
def inv(a: Any) -> ndarray:
    """The inverse of matrices."""
def lstsq(a: Any, b: Any, rcond: Any = ...) -> tuple[ndarray, ndarray, Any, ndarray]: ...
def matmul(x1: Any, x2: Any, /) -> _ArrayOrNumber:
    """The product of matrices."""
def matrix_norm(x: Any, /, *, keepdims: builtins.bool = ..., ord: Any = ...) -> _ArrayOrNumber:
    """A norm of matrices."""
def matrix_power(a: Any, n: int) -> ndarray:
    """A power of matrices."""
def matrix_rank(A: Any, tol: Any = ..., hermitian: builtins.bool = ..., *, rtol: Any = ...) -> _ArrayOrNumber:
    """The rank of matrices by their singular values."""
def matrix_transpose(x: Any, /) -> ndarray:
    """Swap the last two axes: a view."""
def multi_dot(arrays: Any, *, out: Any = ...) -> _ArrayOrNumber:
    """The product of several matrices, in the cheapest order."""
def norm(x: Any, ord: Any = ..., axis: Any = ..., keepdims: Any = ...) -> _ArrayOrNumber:
    """A norm of vectors or matrices."""
def outer(x1: Any, x2: Any, /) -> ndarray:
    """Each element of one vector times each of another."""
def pinv(a: Any, rcond: Any = ..., hermitian: builtins.bool = ..., *, rtol: Any = ...) -> ndarray:
    """The pseudo-inverse."""
@overload
def qr(a: Any, mode: Literal['reduced', 'complete'] = ...) -> QRResult: ...
@overload
def qr(a: Any, mode: str) -> Any: ...
def slogdet(a: Any) -> SlogdetResult: ...
def solve(a: Any, b: Any) -> ndarray:
    """The solution of linear systems."""
@overload
def svd(a: Any, full_matrices: builtins.bool = ..., compute_uv: Literal[True] = ..., hermitian: builtins.bool = ...) -> SVDResult: ...
@overload
def svd(a: Any, full_matrices: builtins.bool = ..., *, compute_uv: Literal[False], hermitian: builtins.bool = ...) -> ndarray: ...
def svdvals(x: Any, /) -> ndarray:
    """Singular values."""
def tensordot(x1: Any, x2: Any, /, *, axes: Any = ...) -> _ArrayOrNumber:
    """The sum of products over pairs of axes."""
def tensorinv(a: Any, ind: int = ...) -> ndarray:
    """The inverse of an array as a map by tensordot."""
def tensorsolve(a: Any, b: Any, axes: Any = ...) -> ndarray:
    """The solution x of tensordot(a, x) = b."""
def trace(x: Any, /, *, offset: int = ..., dtype: Any = ...) -> _ArrayOrNumber:
    """The sums of the diagonals of the last two axes."""
def vecdot(x1: Any, x2: Any, /, *, axis: int = ...) -> _ArrayOrNumber:
    """The sum of products along an axis, with the first operand conjugated."""
def vector_norm(x: Any, /, *, axis: Any = ..., keepdims: builtins.bool = ..., ord: Any = ...) -> _ArrayOrNumber:
    """A norm of vectors."""
class EigResult(NamedTuple):
    eigenvalues: ndarray
    eigenvectors: ndarray
class EighResult(NamedTuple):
    eigenvalues: ndarray
    eigenvectors: ndarray
class QRResult(NamedTuple):
    Q: ndarray
    R: ndarray
class SVDResult(NamedTuple):
    U: ndarray
    S: ndarray
    Vh: ndarray
class SlogdetResult(NamedTuple):
    sign: _ArrayOrNumber
    logabsdet: _ArrayOrNumber
