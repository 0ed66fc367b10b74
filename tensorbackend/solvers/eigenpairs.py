"""A few eigenpairs of a Hermitian matrix, by products with it alone."""

from __future__ import annotations

import builtins
from operator import index
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from ..declarations.argument_errors import check_arguments
from ..dispatch.operands import nameless
from ..dtypes import DType, finfo
from ..errors import ArgumentError, DTypeError, GradientError, ShapeError, expected
from ..expr.choice import cond
from ..expr.control import fori_loop
from ..expr.grad.custom import custom_gradient
from ..expr.jit import jit
from ..expr.while_loops import while_loop
from ..ops.composite.contraction import matmul
from ..ops.composite.elementwise.functions import logical_not
from ..ops.composite.linalg.matrices import adjoint
from ..ops.composite.linalg.norms import vector_norm
from ..ops.composite.linalg.systems import wide_dtype
from ..ops.composite.shape.arranging import unstack
from ..ops.creation.filled import full, iota, zeros, zeros_like
from ..ops.creation.values import asarray, beside
from ..ops.elementwise.basic import abs, astype, conj, real, where
from ..ops.elementwise.binary import greater, less_equal, logical_and, maximum, multiply
from ..ops.elementwise.transcendental import sin
from ..ops.indexing.slices import put_slice
from ..ops.indexing.taking import take_along_axis, take_at
from ..ops.linalg import eigh
from ..ops.reduction import argmax, max, sum
from ..ops.shape import concatenate, expand_dims, matrix_transpose
from ..ops.sorting import argsort
from ..rules.broadcasting import to_real
from ..rules.plan import choice, number
from ..select import common_backend
from ..sparse import SparseMatrix, from_scipy
from ..tensor import Tensor, TensorLike
from ..tensor.missing_names import explain_missing
from .linear import Form, Linear, TracedForm, cast_linear, linear, shape_of

Which: TypeAlias = Literal["largest", "smallest", "magnitude"]
WHICH: Final[tuple[Which, ...]] = ("largest", "smallest", "magnitude")


@explain_missing
class Eigenpairs(NamedTuple):
    """Result of `eigsh`."""

    eigenvalues: Tensor
    """The eigenvalues in ascending order, real."""
    eigenvectors: Tensor
    """Their vectors, of length 1, in the columns. The largest component of each is real and positive."""
    residual: Tensor
    """The norm of A v - lambda v for each pair, computed from the result."""
    converged: Tensor
    """Whether that is small enough, for each pair."""
    iterations: Tensor
    """The number of restarts, int32."""


class _Plan(NamedTuple):
    """The static parameters."""

    form: Form
    pairs: int
    which: Which
    kept: int
    """The number of vectors that a restart keeps."""
    size: int
    """The number of vectors of the basis."""


@check_arguments
def eigsh(
    A: Any,
    k: int = 6,
    /,
    *,
    which: Which = "largest",
    x0: TensorLike | None = None,
    rtol: float | None = None,
    max_iterations: int = 300,
    basis_size: int | None = None,
) -> Eigenpairs:
    """Find a few eigenvalues and eigenvectors of a large Hermitian matrix, by products of it with vectors alone.

    Parameters
    ----------
    A : SparseMatrix, Tensor or function
        A Hermitian matrix of shape (n, n), floating or complex: a sparse matrix of `tb.sparse`, a dense tensor, or
        another library's matrix. Or a linear function of a vector, for which x0 must be given; it is traced.
    k : int, default 6
        The number of eigenpairs, from 1 to n.
    which : {"largest", "smallest", "magnitude"}, default "largest"
        The largest, the smallest (most negative), or the largest in magnitude. For those nearest to a number s, pass a
        function that solves with A - s, and "magnitude": its eigenvalues are 1 / (lambda - s).
    x0 : Tensor, optional
        A vector to start from, with a part in each eigenvector that is looked for; by default numbers without a
        pattern.
    rtol : float, optional
        A pair has converged if the norm of A v - lambda v is at most rtol times the largest magnitude of an eigenvalue
        that was found; by default `eps ** (2 / 3)` of the dtype.
    max_iterations : int, default 300
        The maximum number of restarts, each of which takes about (`basis_size` - k) / 2 products.
    basis_size : int, optional
        The number of vectors that are kept, more than k unless that is n; by default the larger of 20 and 2 k + 1.

    Returns
    -------
    Eigenpairs
        `eigenvalues` (k,) in ascending order, `eigenvectors` (n, k), and for each pair `residual` and `converged`.

    Raises
    ------
    ShapeError, DTypeError
        For a matrix that is not square, a batch, and integers.
    ArgumentError
        For a k or a basis out of range, and a function without x0.

    See Also
    --------
    linalg.eigh : All eigenpairs of a dense matrix.

    Notes
    -----
    Lanczos' method with full orthogonalization and thick restarts, and again among the vectors that are orthogonal to
    those found until nothing better is: the method alone finds further vectors of an eigenvalue by chance. The gradient
    of the eigenvalues is that of v* A v, where A may be a function that closes over parameters. Eigenvectors have none;
    neither have second derivatives.

    References
    ----------
    K. Wu and H. Simon, "Thick-restart Lanczos method for large symmetric eigenvalue problems", SIAM J. Matrix Anal.
    Appl. 22 (2000).

    Examples
    --------
    >>> laplace = tb.sparse.diagonals([-1.0, 2.0, -1.0], [-1, 0, 1], (50, 50))
    >>> pairs = tb.solvers.eigsh(laplace, 2)
    >>> tb.round(pairs.eigenvalues * 1000).tolist(), pairs.converged.tolist()
    ([3985.0, 3996.0], [True, True])
    """
    count = index(k)
    choice(WHICH, which=which)
    function, start, name, given = _operands(A, x0)
    columns = start.shape[0]
    if not 1 <= count <= columns:
        raise ArgumentError(expected(f"k from 1 to {columns}, the number of columns", k=k))
    size = min(columns, builtins.max(20, 2 * count + 1) if basis_size is None else index(basis_size))
    if size < min(columns, count + 1):
        raise ArgumentError(expected(f"a basis of more than {count} vectors", basis_size=basis_size))
    tolerance = finfo(start.dtype).eps ** (2 / 3) if rtol is None else number(0, rtol=rtol)
    plan = _Plan(function.form, count, which, min(count + (size - count) // 2, size - 1), size)
    constant = Linear(function.form, tuple([part.detach() for part in function.parts]))
    vectors, iterations, largest = _search_all(plan, constant.parts, start.detach(), tolerance, index(max_iterations))
    vectors = vectors.detach()
    products = _apply(function, vectors)
    values = _rayleigh_quotients(vectors, products)
    residual = vector_norm(products - vectors * expand_dims(astype(values, vectors.dtype), axis=-1), axis=-1)
    residual = residual.detach()
    order = argsort(values.detach())
    values, vectors, residual = (take_at(part, order, axis=0, mode="clip") for part in (values, vectors, residual))
    columns_of = _forbid_gradient([x for x in function.parts if x.dtype.is_inexact], matrix_transpose(vectors))
    return Eigenpairs(
        astype(values, to_real(given)),
        astype(columns_of, given).rename(name, None),
        astype(residual, to_real(given)),
        residual <= multiply(largest.detach(), tolerance),
        iterations,
    )


def _operands(A: Any, x0: Any) -> tuple[Linear, Tensor, str | None, DType]:
    """The matrix as a function of vectors, a vector to start from, the name of its axis, and the dtype of results."""
    if hasattr(A, "tocsr") and not isinstance(A, SparseMatrix):
        A = from_scipy(A)
    elif not isinstance(A, Tensor | SparseMatrix) and not callable(A):
        A = asarray(A)
    if not isinstance(A, Tensor | SparseMatrix):
        if x0 is None:
            raise ArgumentError(expected("x0= for a function", "pass a vector without a pattern", A=A))
        start = asarray(x0)
        if start.ndim != 1 or not start.dtype.is_inexact:
            raise ShapeError(expected("x0 as a floating or complex vector", x0=start.template))
        function = linear(A, start.template, 1, "A")
        name, given = start.names[0], start.dtype
    else:
        if A.ndim != 2 or A.shape[0] != A.shape[1]:
            remedy = "find those of a batch by tb.vmap"
            raise ShapeError(expected("A as one square matrix", remedy, A=A.template))
        if not A.dtype.is_inexact:
            raise DTypeError(expected("a floating or complex A", "cast it with astype()", A=A.template))
        function = linear(A, A.template, 1, "A")
        name, given = A.names[0], A.dtype  # those of A v, as in eigh
        home = common_backend(function.parts)
        start = _pattern(A.shape[0], 0, wide_dtype(given), home) if x0 is None else beside(x0, home, next_to=given)
    batch, rows, columns = shape_of(function)
    if batch or rows != columns or start.shape != (columns,):
        raise ShapeError(expected("a square A, and x0 as a vector with its columns", x0=start.template, rows=rows))
    dtype = wide_dtype(given)
    return cast_linear(function, dtype), astype(nameless(start), dtype), name, given


def _pattern(size: int, number: Any, dtype: DType, backend: Any = None) -> Tensor:
    """Numbers between -1 and 1 without a pattern that a matrix could have, other ones for each number."""
    places = astype(iota((size,), dtype="int64", backend=backend), to_real(dtype))
    within, block = places % 71, places // 71 % 53
    return astype(sin((places + 1) * 12.9898 + (within * 7.7 + (within + block * 0.61) * (number % 1009))), dtype)


@jit(static_argnums=0)
def _search_all(plan: _Plan, parts: tuple[Tensor, ...], start: Tensor, rtol: float, most: int) -> tuple[Tensor, ...]:
    """What `_search` finds, with the vectors that it missed.

    A Krylov space holds one vector of each eigenvalue. So it is searched again among the vectors that are orthogonal to
    those found, until none of them belongs to the wanted ones: once for a matrix without multiple eigenvalues.
    """
    columns, dtype = start.shape[0], start.dtype
    none = zeros((0, columns), dtype=dtype, backend=start.backend)
    first = full((), 0, dtype="int64", backend=start.backend)
    vectors, iterations, largest = _search(plan, parts, start, rtol, most, none, first)
    left = columns - plan.pairs
    if plan.size >= columns:
        return vectors, iterations, largest
    size = builtins.min(plan.size, left)
    again = plan._replace(pairs=builtins.min(plan.pairs, left), size=size, kept=builtins.min(plan.kept, size - 1))
    constant = Linear(plan.form, parts)

    def wanted_first(vectors: Tensor) -> tuple[Tensor, Tensor]:
        values = _rayleigh_quotients(vectors, _apply(constant, vectors))
        order = argsort(abs(values) if plan.which == "magnitude" else values, descending=plan.which != "smallest")
        order = order[: plan.pairs]
        return take_at(vectors, order, axis=0, mode="clip"), take_at(values, order, axis=0, mode="clip")

    def add_missed(state: Any) -> Any:
        vectors, values, _, count, iterations, largest = state
        other = _pattern(columns, count + 1, dtype, start.backend)
        missed, more, largest_of_others = _search(again, parts, other, rtol, most, vectors, count + 1)
        vectors, following = wanted_first(concatenate([vectors, missed], axis=0))
        largest = maximum(largest, largest_of_others)
        better = (abs(following - values) > largest * rtol).any()
        return vectors, following, better, count + 1, iterations + more, largest

    vectors, values = wanted_first(vectors)
    vectors, _, _, _, iterations, largest = while_loop(
        lambda state: logical_and(state[2], less_equal(state[3], plan.pairs)),
        add_missed,
        (vectors, values, full((), True, dtype="bool", backend=start.backend), first, iterations, largest),
    )  # fmt: skip
    return vectors, iterations, largest


def _rayleigh_quotients(vectors: Tensor, products: Tensor) -> Tensor:
    """v* A v of vectors in rows and their products with A."""
    return real(sum(conj(vectors) * products, axis=-1))


def _apply(function: Linear, rows: Tensor) -> Tensor:
    """The products of the matrix with vectors in rows; a function of one vector is called for each."""
    if isinstance(function.form, TracedForm):
        return concatenate([expand_dims(function(row), axis=0) for row in unstack(rows, axis=0)], axis=0)
    return function(rows)


@jit(static_argnums=0)
def _search(
    plan: _Plan, parts: tuple[Tensor, ...], start: Tensor, rtol: float, most: int, known: Tensor, attempt: Tensor
) -> tuple[Tensor, ...]:
    """The vectors, in rows, the number of restarts, and the largest magnitude of an eigenvalue that was found.

    All vectors are orthogonal to the eigenvectors that are known, in rows. Each attempt has other vectors in place of
    those that are lost, as the known eigenvectors may be made of those of the last one.
    """
    size, columns, dtype = plan.size, start.shape[0], start.dtype
    eps = finfo(dtype).eps

    def remove(vector: Tensor, basis: Tensor) -> Tensor:
        """The part of a vector that is orthogonal to rows."""
        return vector - matmul(matmul(conj(basis), vector), basis)

    def extend(j: Tensor, state: Any) -> Any:
        """Multiply the last vector by the matrix, and add the part of the product that is new to the basis."""
        basis, products, number = state
        product = plan.form(parts, take_at(basis, j, axis=0, mode="clip"))
        rest = remove(product, basis)
        lost = less_equal(vector_norm(rest), vector_norm(product) * (eps * 8))
        # If the matrix maps the space of the basis to itself, the next vector is any other one.
        rest = cond(lost, lambda: _pattern(columns, number + j, dtype, start.backend), lambda: rest)
        for _ in range(3):  # rounding leaves a part after the first time, and after the second if little is new
            rest = remove(remove(rest, basis), known)
        length = vector_norm(rest)
        unit = rest / astype(where(length == 0, 1, length), dtype)
        return (
            put_slice(basis, expand_dims(unit, axis=0), starts=(j + 1, 0)),
            put_slice(products, expand_dims(product, axis=0), starts=(j, 0)),
            number,
        )

    def ritz(basis: Tensor, products: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The approximations that are kept, the wanted ones first, and whether those have converged."""
        inner = basis[:size], products[:size]
        small = matmul(conj(inner[0]), matrix_transpose(inner[1]))
        values, mixed = eigh((small + adjoint(small)) * 0.5)
        largest = max(abs(values))
        if plan.which != "smallest":  # the wanted ones first
            order = argsort(abs(values) if plan.which == "magnitude" else values, descending=True)
            values, mixed = take_at(values, order, axis=0, mode="clip"), take_at(mixed, order, axis=1, mode="clip")
        turned = matrix_transpose(mixed[:, : builtins.max(plan.kept, plan.pairs)])
        vectors, images = matmul(turned, inner[0]), matmul(turned, inner[1])
        wanted = astype(values[: plan.pairs], dtype)[:, None]
        left = vector_norm(images[: plan.pairs] - wanted * vectors[: plan.pairs], axis=-1)
        return vectors, images, (left <= largest * rtol).all(), largest

    def sweep(state: Any) -> Any:
        """Fill the basis, and begin another with the vectors that are kept."""
        basis, products, begin, *_, count = state
        number = (attempt * 7 + astype(count, "int64")) * size + 1
        basis, products, _ = fori_loop(begin, size, extend, (basis, products, number))
        vectors, images, met, largest = ritz(basis, products)
        empty = zeros((size - plan.kept, columns), dtype=dtype, backend=start.backend)
        following = concatenate([vectors[: plan.kept], basis[size:], empty], axis=0)
        images = concatenate([images[: plan.kept], empty, basis[size:] * 0], axis=0)
        return following, images, zeros_like(begin) + plan.kept, vectors[: plan.pairs], met, largest, count + 1

    def scalar(value: Any, dtype: Any) -> Tensor:
        return full((), value, dtype=dtype, backend=start.backend)

    start = remove(remove(start, known), known)  # twice, as rounding may be all that is left after the first time
    length = vector_norm(start)
    empty = zeros((size + 1, columns), dtype=dtype, backend=start.backend)
    first = start / astype(where(length == 0, 1, length), dtype)
    basis = put_slice(empty, expand_dims(first, axis=0), starts=(0, 0))
    restarts = most if size + known.shape[0] < columns else 0
    _, _, _, vectors, _, largest, count = while_loop(
        lambda state: logical_and(logical_not(state[4]), less_equal(state[6], restarts)),
        sweep,
        (basis, empty, scalar(0, "int64"), empty[: plan.pairs], scalar(False, "bool"), scalar(0, to_real(dtype)),
         scalar(0, "int32")),
    )  # fmt: skip
    return _fix_phases(vectors), count - 1, largest


def _fix_phases(rows: Tensor) -> Tensor:
    """Vectors whose largest component, the first of several, is real and positive."""
    sizes = abs(rows)
    near = greater(sizes, max(sizes, axis=-1, keepdims=True) * (1 - 1e-3))
    place = argmax(astype(near, "uint8"), axis=-1, keepdims=True)
    leading = take_along_axis(rows, place, axis=-1)
    return rows * conj(leading) / astype(abs(leading), rows.dtype)


def _forbid_gradient(values: list[Tensor], vectors: Tensor) -> Tensor:
    """The vectors, for which a gradient is an error."""

    @custom_gradient
    def constant(values: list[Tensor], vectors: Tensor) -> Any:
        def pull(cotangent: Tensor) -> Any:
            remedy = "use the eigenvalues, or tb.linalg.eigh for a dense matrix"
            raise GradientError(expected("no gradient through eigenvectors", remedy))

        return vectors, pull

    return constant(values, vectors) if common_backend([*values, vectors]).dispatch_priority > 1 else vectors
