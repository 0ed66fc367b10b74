"""`numpy.linalg`: NumPy's names and arguments over `tb.linalg`."""

from __future__ import annotations

import math
import operator
from typing import Any, NamedTuple

import numpy

import tensorbackend as tb

from ..dtypes import bool_
from ..errors import ArgumentError, DataError, ShapeError
from ..tensor import Tensor
from .arrays import box, functions, result
from .conversion import asarray, back, cast, chosen_inexact, host, tensor
from .factorisations import EighResult as EighResult
from .factorisations import EigResult as EigResult
from .factorisations import LinAlgError as LinAlgError
from .factorisations import NotSquareError as NotSquareError
from .factorisations import QRResult as QRResult
from .factorisations import SingularError as SingularError
from .factorisations import SVDResult as SVDResult
from .factorisations import in_linalg, matrices
from .functions import Array, function
from .shapes import axis_position


class SlogdetResult(NamedTuple):
    """The sign and the logarithm of a determinant."""

    sign: Any
    logabsdet: Any


def _solve(op: Any, *matrices: Any, **options: Any) -> Any:
    try:
        return op(*matrices, **options)
    except DataError as error:
        text = str(error)
        raise SingularError("Singular matrix" if "singular" in text.lower() else text) from error


@in_linalg
def inv(a: Any) -> Any:
    """The inverse of matrices."""
    return box(_solve(tb.linalg.inv, matrices(a, square=True)))


@in_linalg
def solve(a: Any, b: Any) -> Any:
    """The solution of linear systems."""
    x = matrices(a, square=True)
    y = chosen_inexact(tensor(b))
    dtype = functions["result_type"](x.dtype.dtype, y.dtype.dtype)
    x, y = tensor(asarray(box(x), dtype)), tensor(asarray(box(y), dtype))
    if y.shape[: 1 if y.ndim == 1 else y.ndim][-1 if y.ndim == 1 else -2] != x.shape[-1]:
        text = "solve: Input operand 1 has a mismatch in its core dimension 0"
        raise ShapeError(f"{text} (size {y.shape[0]} is different from {x.shape[-1]})")
    return box(_solve(tb.linalg.solve, x, y))


@in_linalg
def det(a: Any) -> Any:
    """The determinants of matrices."""
    return result(tb.linalg.det(matrices(a, square=True)))


@in_linalg
def slogdet(a: Any) -> SlogdetResult:
    """The sign and the logarithm of the determinants of matrices."""
    return SlogdetResult(*map(result, tb.linalg.slogdet(matrices(a, square=True))))


@in_linalg
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = NotImplemented) -> Any:
    """The pseudo-inverse."""
    if rcond is not None and rtol is not NotImplemented:
        raise ArgumentError("`rtol` and `rcond` can't be both set.")
    x = chosen_inexact(tensor(a))
    limit = rcond if rtol is NotImplemented or rtol is None else rtol
    if limit is None:
        limit = 1e-15 if rtol is NotImplemented else max(x.shape[-2:]) * float(numpy.finfo(x.dtype.dtype).eps)
    if not x.size:
        return box(tb.zeros((*x.shape[:-2], x.shape[-1], x.shape[-2]), dtype=x.dtype))
    return box(tb.linalg.pinv(x, rtol=limit if limit.__class__ is float else cast(tensor(limit), tb.float64)))


@in_linalg
def lstsq(a: Any, b: Any, rcond: Any = None) -> tuple[Any, Any, Any, Any]:
    """Least squares: the solution, the sums of squared residuals, the rank and the singular values."""
    x, y = matrices(a), chosen_inexact(tensor(b))
    if y.ndim not in (1, 2):
        raise LinAlgError(f"{y.ndim}-dimensional array given. Array must be two-dimensional")
    if x.shape[0] != y.shape[0]:
        raise LinAlgError("Incompatible dimensions")
    eps = float(numpy.finfo(x.dtype.dtype).eps)
    limit = eps if rcond == -1 else eps * max(x.shape) if rcond is None else float(rcond)
    found = tb.linalg.lstsq(x, y, rcond=limit)
    rank = found.rank
    values = box(found.singular_values) if hasattr(found, "singular_values") else box(tb.linalg.svdvals(x))
    rank_number = numpy.int32(int(rank)) if rank.backend.is_concrete(rank) else result(cast(rank, tb.int32))
    if rank_number == x.shape[1] and x.shape[0] > x.shape[1]:
        rest = y - tb.matmul(x, found.solution)
        residuals = box(tb.reshape(tb.sum(tb.square(tb.abs(rest)), axis=0), (-1,)))
    else:
        residuals = box(tb.zeros((0,), dtype=values._template().dtype))
    return box(found.solution), residuals, rank_number, values


@in_linalg
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """The rank of matrices by their singular values."""
    if tol is not None and rtol is not None:
        raise ArgumentError("`tol` and `rtol` can't be both set.")
    x = tensor(A)
    if x.ndim < 2:
        return int(tb.any(tb.not_equal(x, 0)))
    x = chosen_inexact(x)
    values = tb.linalg.svdvals(x)
    if not values.shape[-1]:
        return result(tb.zeros(values.shape[:-1], dtype=tb.int64))
    if tol is None:
        share = max(x.shape[-2:]) * float(numpy.finfo(x.dtype.dtype).eps) if rtol is None else tensor(rtol)[..., None]
        limit = tb.max(values, axis=-1, keepdims=True) * share
    else:
        limit = cast(tensor(tol), values.dtype)[..., None]
    return result(tb.sum(values > limit, axis=-1))


@function(space="linalg")
def norm(x: Array, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Array:
    """A norm of vectors or matrices."""
    if x.dtype is tb.float16:
        return cast(_norm(cast(x, tb.float32), ord, axis, keepdims), tb.float16)
    return _norm(chosen_inexact(x), ord, axis, keepdims)


def _norm(t: Tensor, ord: Any, axis: Any, keepdims: bool) -> Tensor:
    if axis is None:
        if ord is None or (ord in ("f", "fro") and t.ndim == 2) or (ord == 2 and t.ndim == 1):
            flat = t if t.ndim == 1 else tb.reshape(t, (-1,))
            made = tb.linalg.vector_norm(flat)
            return tb.reshape(made, (1,) * t.ndim) if keepdims else made
        axis = tuple(range(t.ndim))
    axes = tuple(axis) if isinstance(axis, tuple | list) else (int(axis),)
    if len(axes) == 1:
        if isinstance(ord, str):
            raise ArgumentError(f"Invalid norm order '{ord}' for vectors")
        return tb.linalg.vector_norm(t, axis=axes[0], keepdims=keepdims, ord=2 if ord is None else ord)
    if len(axes) != 2:
        raise ArgumentError("Improper number of dimensions to norm.")
    first, second = (axis_position(each, t.ndim) for each in axes)
    if first == second:
        raise ArgumentError("Duplicate axes given.")
    moved = tb.moveaxis(t, (first, second), (-2, -1))
    if ord not in (None, "fro", "f", "nuc", 1, -1, 2, -2, math.inf, -math.inf):
        raise ArgumentError("Invalid norm order for matrices.")
    made = tb.linalg.matrix_norm(moved, ord="fro" if ord in (None, "f") else ord)
    return tb.expand_dims(made, axis=tuple(sorted((first, second)))) if keepdims else made


def _norm_operand(x: Tensor) -> Tensor:
    """A tensor in a floating or complex dtype, also in float16, of which NumPy has norms alone."""
    return x if x.dtype.is_inexact else cast(x, tb.float64)


@in_linalg
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """A norm of vectors."""
    return result(tb.linalg.vector_norm(_norm_operand(tensor(x)), axis=axis, keepdims=keepdims, ord=ord))


@in_linalg
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """A norm of matrices."""
    return result(tb.linalg.matrix_norm(matrices(x, convert=_norm_operand), keepdims=keepdims, ord=ord))


@in_linalg
def cond(x: Any, p: Any = None) -> Any:
    """The condition number of matrices."""
    t = matrices(x)
    if 0 in t.shape[-2:]:
        raise LinAlgError("cond is not defined on empty arrays")
    if p in (None, 2, -2):
        values = tb.linalg.svdvals(t)
        made = values[..., -1] / values[..., 0] if p == -2 else values[..., 0] / values[..., -1]
        unknown = tb.logical_and(tb.isnan(made), tb.logical_not(tb.any(tb.isnan(t), axis=(-2, -1))))
        return result(tb.where(unknown, math.inf, made))
    square = matrices(x, square=True)
    try:
        inverse = tb.linalg.inv(square)
    except DataError:  # some of the matrices are singular
        return back(numpy.linalg.cond(host(box(square)), p))
    return functions["multiply"](norm(box(square), p, axis=(-2, -1)), norm(box(inverse), p, axis=(-2, -1)))


@in_linalg
def matrix_power(a: Any, n: int) -> Any:
    """A power of matrices."""
    try:
        n = operator.index(n)
    except TypeError as error:
        raise TypeError("exponent must be an integer") from error
    x = tensor(a)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise NotSquareError("Last 2 dimensions of the array must be square")
    if n == 1:
        return asarray(a)
    if n >= 0 and (x.dtype is bool_ or n >= 2**63):
        power = box(tb.broadcast_to(tb.eye(x.shape[-1], dtype=x.dtype), x.shape))
        for bit in f"{n:b}":
            power = functions["matmul"](power, power)
            power = functions["matmul"](power, box(x)) if bit == "1" else power
        return power
    return box(_solve(tb.linalg.matrix_power, x if n >= 0 else chosen_inexact(x), n))


@in_linalg
def multi_dot(arrays: Any, *, out: Any = None) -> Any:
    """The product of several matrices, in the cheapest order."""
    parts = [asarray(each) for each in arrays]
    if len(parts) < 2:
        raise ArgumentError("Expecting at least two arrays.")
    first, last = parts[0].ndim == 1, parts[-1].ndim == 1
    if first:
        parts[0] = parts[0].reshape(1, -1)
    if last:
        parts[-1] = parts[-1].reshape(-1, 1)
    if any(each.ndim != 2 for each in parts):
        raise LinAlgError("array given must be two-dimensional")
    made = _multiply_chain(parts)
    if first and last:
        made = made[0, 0]
    elif first or last:
        made = functions["ravel"](made)
    return made if out is None else functions["copyto"](out, made) or out


def _multiply_chain(parts: list[Any]) -> Any:
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


@in_linalg
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
    return solve(x.reshape(count, count), functions["ravel"](y)).reshape(shape)


@in_linalg
def tensorinv(a: Any, ind: int = 2) -> Any:
    """The inverse of an array as a map by tensordot."""
    if ind <= 0:
        raise ArgumentError("Invalid ind argument.")
    x = asarray(a)
    rows = math.prod(x.shape[ind:])
    return inv(x.reshape(rows, -1)).reshape(x.shape[ind:] + x.shape[:ind])


@in_linalg
def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """The diagonals of the last two axes."""
    return functions["diagonal"](x, offset, -2, -1)


@in_linalg
def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """The sums of the diagonals of the last two axes."""
    return functions["trace"](x, offset, -2, -1, dtype)


@in_linalg
def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The cross product of vectors of three elements."""
    sizes = asarray(x1).shape[axis], asarray(x2).shape[axis]
    if sizes != (3, 3):
        text = "Both input arrays must be (arrays of) 3-dimensional vectors, but they are"
        raise ArgumentError(f"{text} {sizes[0]} and {sizes[1]} dimensional instead.")
    return functions["cross"](x1, x2, axis=axis)


@in_linalg
def outer(x1: Any, x2: Any, /) -> Any:
    """Each element of one vector times each of another."""
    if asarray(x1).ndim != 1 or asarray(x2).ndim != 1:
        raise ArgumentError("Input arrays must be one-dimensional")
    return functions["outer"](x1, x2)


@in_linalg
def matmul(x1: Any, x2: Any, /) -> Any:
    """The product of matrices."""
    return functions["matmul"](x1, x2)


@in_linalg
def matrix_transpose(x: Any, /) -> Any:
    """Swap the last two axes: a view."""
    return functions["matrix_transpose"](x)


@in_linalg
def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """The sum of products over pairs of axes."""
    return functions["tensordot"](x1, x2, axes)


@in_linalg
def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The sum of products along an axis, with the first operand conjugated."""
    return result(tb.vecdot(*functions["chosen"](x1, x2), axis=axis))
