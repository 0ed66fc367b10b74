"""Generators of calls of linear algebra.

Results are compared element by element, so matrices are well-conditioned: one large element in each row and column, all
apart from each other, and small ones elsewhere. By Gershgorin's theorem their eigenvalues and singular values are then
apart too. Degenerate matrices other than zeros are not drawn here; they are tested by the products of their factors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from hypothesis import strategies as st

from ...dtypes import DType, as_dtype
from ...dtypes.packing import pack
from ...ops.creation.filled import from_binary
from ...ops.shape import permute_dims
from ...template import Template
from ...tensor import Tensor
from ..calls import Invocation, generates
from ..strategies import Draw, axes_of, axis_names, shapes, tensors
from . import call, integers, second

Rows = list[list[Any]]

LARGE = 10
"""The first of the large elements, and the difference from one to the next: many times a small element."""


def small(dtype: DType) -> st.SearchStrategy[Any]:
    """Numbers of magnitude 1 at most."""
    if dtype.kind == "bool":
        return st.booleans()
    if dtype.is_integer:
        return st.integers(0 if dtype.kind == "uint" else -1, 1)
    eighths = st.integers(-8, 8).map(lambda eighth: eighth / 8)
    if dtype.is_complex:
        return st.builds(lambda real, imag: complex(real, imag) / 2, eighths, eighths)
    return eighths


def seldom(draw: Draw) -> bool:
    """True in one of ten draws."""
    return draw(st.integers(0, 9)) == 9


def noise(draw: Draw, dtype: DType, rows: int, columns: int) -> Rows:
    """A matrix of small numbers."""
    return [[draw(small(dtype)) for _ in range(columns)] for _ in range(rows)]


def dominant(draw: Draw, dtype: DType, rows: int, columns: int, *, step: int = LARGE, signed: bool = True) -> Rows:
    """A matrix of small numbers with large ones along the main diagonal."""
    matrix = noise(draw, dtype, rows, columns)
    if dtype.kind != "bool":
        for k in range(min(rows, columns)):
            negative = signed and dtype.kind != "uint" and draw(st.booleans())
            matrix[k][k] += -step * (k + 1) if negative else step * (k + 1)
    return matrix


def hermitian(matrix: Rows) -> Rows:
    """A square matrix whose upper triangle is the conjugate of the lower one."""
    size = range(len(matrix))
    return [
        [matrix[i][j] if j < i else matrix[j][i].conjugate() if j > i else matrix[i][i].real for j in size]
        for i in size
    ]


def stack_of(draw: Draw, dtype: DType, batch: Sequence[int], shape: tuple[int, int], make: Any, names: Any) -> Tensor:
    """A stack of matrices that `make(rows, columns)` draws, sometimes with a NaN or an infinity."""
    values = [element for _ in range(math.prod(batch)) for row in make(*shape) for element in row]
    if values and dtype.is_inexact and seldom(draw):
        values[draw(st.integers(0, len(values) - 1))] = draw(st.sampled_from([math.nan, math.inf]))
    template = Template((*batch, *shape), dtype, (*axis_names(len(batch)), *names))
    return from_binary(pack(values, dtype), template, "binary")


def sides(draw: Draw, *, square: bool) -> tuple[int, int]:
    """The shape of a matrix: any, or with `square` a square one, seldom another."""
    rows = draw(st.integers(0, 4))
    return rows, (rows if square and not seldom(draw) else draw(st.integers(0, 4)))


def names_of(draw: Draw) -> tuple[str | None, str | None]:
    """Names of a matrix's axes."""
    return draw(st.sampled_from([("row", "column"), (None, None), ("row", None)]))


def stacks(draw: Draw, dtype: DType, make: Any, *, square: bool) -> Tensor:
    """Stacks of matrices of any number, shape and names."""
    return stack_of(draw, dtype, draw(shapes(most=1, largest=2)), sides(draw, square=square), make, names_of(draw))


def matrices(draw: Draw, dtype: DType, *, square: bool = False, step: int = LARGE, mixed: bool = True) -> Tensor:
    """Stacks of well-conditioned matrices, with their rows in any order if `mixed`."""

    def make(rows: int, columns: int) -> Rows:
        matrix = dominant(draw, dtype, rows, columns, step=step)
        return list(draw(st.permutations(matrix))) if mixed else matrix

    return stacks(draw, dtype, make, square=square)


def hermitian_matrices(draw: Draw, dtype: DType, *, signed: bool) -> Tensor:
    """Stacks of Hermitian matrices, positive definite unless `signed`."""

    def make(rows: int, columns: int) -> Rows:
        matrix = dominant(draw, dtype, rows, columns, signed=signed)
        return hermitian(matrix) if rows == columns else matrix

    return stacks(draw, dtype, make, square=True)


@generates("cholesky")
def cholesky(draw: Draw, dtype: DType) -> Invocation:
    """Positive definite matrices, seldom others."""
    return call(hermitian_matrices(draw, dtype, signed=seldom(draw)), upper=draw(st.booleans()))


def zeros_seldom(draw: Draw, x: Tensor) -> Tensor:
    """The tensor itself, or seldom zeros in its place: singular matrices."""
    return from_binary(bytes(x.nbytes), x.template, "binary") if seldom(draw) else x


@generates("lu", "svdvals", "pinv", "matrix_rank")
def factor_operand(draw: Draw, dtype: DType) -> Invocation:
    """Matrices with rows in any order."""
    return call(zeros_seldom(draw, matrices(draw, dtype)))


@generates("det", "slogdet", "inv")
def square(draw: Draw, dtype: DType) -> Invocation:
    """Square matrices with rows in any order."""
    return call(zeros_seldom(draw, matrices(draw, dtype, square=True)))


@generates("qr")
def qr(draw: Draw, dtype: DType) -> Invocation:
    """Both modes, seldom an unknown one. Columns of Q beyond those of x are arbitrary, so none are requested."""
    x = matrices(draw, dtype)
    if seldom(draw):
        return call(x, mode="r")
    return call(x, mode=draw(st.sampled_from(["reduced", "complete"])) if x.shape[-2] <= x.shape[-1] else "reduced")


@generates("svd")
def svd(draw: Draw, dtype: DType) -> Invocation:
    """All vectors for square matrices alone: those of a null space are arbitrary."""
    x = matrices(draw, dtype)
    rows, columns = x.shape[-2:]
    return call(x, full_matrices=rows == columns and draw(st.booleans()))


@generates("eigh", "eigvalsh")
def eigh(draw: Draw, dtype: DType) -> Invocation:
    """Hermitian matrices with eigenvalues of both signs."""
    return call(hermitian_matrices(draw, dtype, signed=True))


@generates("eig", "eigvals")
def eig(draw: Draw, dtype: DType) -> Invocation:
    """Real eigenvalues near the diagonal's elements, or complex pairs of blocks of order 2."""

    def pairs(rows: int, columns: int) -> Rows:
        matrix = dominant(draw, dtype, rows, columns, signed=False)
        for k in range(0, min(rows, columns) - 1, 2):
            matrix[k + 1][k + 1] = matrix[k][k]
            matrix[k][k + 1], matrix[k + 1][k] = -4, 8
        return matrix

    if dtype.kind in ("int", "float") and draw(st.booleans()):
        return call(stacks(draw, dtype, pairs, square=True))
    return call(matrices(draw, dtype, square=True, mixed=False))


def right_hand_side(draw: Draw, a: Tensor, dtype: DType, size: int, name: str | None) -> Tensor:
    """A vector or a stack of matrices that matches a matrix, seldom of another size."""
    size = draw(st.integers(0, 4)) if seldom(draw) else size
    values = small(dtype).map(lambda value: value * 4 if dtype.kind != "bool" else value)
    if draw(st.booleans()):
        return draw(tensors(dtype, (size,), names=(name,), values=values))
    batch = a.shape[: draw(st.integers(0, a.ndim - 2))][::-1]
    names = (*axis_names(len(batch)), name, draw(st.sampled_from([None, "right", "right", "column"])))
    return draw(tensors(dtype, (*batch, size, draw(st.integers(0, 3))), names=names, values=values))


@generates("solve")
def solve(draw: Draw, dtype: DType) -> Invocation:
    """Systems with and without names, seldom singular."""
    a = zeros_seldom(draw, matrices(draw, dtype, square=True))
    other = second(draw, dtype)
    name = draw(st.sampled_from([a.names[-2], a.names[-2], "other"]))
    return call(a, right_hand_side(draw, a, other, a.shape[-1], name))


@generates("triangular_solve")
def triangular_solve(draw: Draw, dtype: DType) -> Invocation:
    """All sides, triangles and transforms; the triangle that is not read may hold anything."""
    a = matrices(draw, dtype, square=True, mixed=False)
    options = {
        "left_side": draw(st.booleans()),
        "lower": draw(st.booleans()),
        "transform": draw(st.sampled_from(["none", "transpose"])),
    }
    b = right_hand_side(draw, a, dtype, a.shape[-1], None)
    if not options["left_side"] and b.ndim > 1:
        b = permute_dims(b, (*range(b.ndim - 2), b.ndim - 1, b.ndim - 2))
    return call(a, b, **options)


@generates("lstsq")
def lstsq(draw: Draw, dtype: DType) -> Invocation:
    """More equations than unknowns, and a right-hand side far from the column space: residuals that are only rounding
    errors could not be compared."""
    columns = draw(st.integers(0, 3))
    rows = columns + draw(st.integers(1, 2))
    names = names_of(draw)
    batch = draw(shapes(most=1, largest=2))
    a = stack_of(draw, dtype, batch, (rows, columns), partial(dominant, draw, dtype), names)
    count = draw(st.integers(0, 2))
    right = [[draw(small(dtype)) for _ in range(count)] for _ in range(rows)]
    for column in range(count):
        right[-1][column] = True if dtype.kind == "bool" else 40
    template = Template((rows, count), dtype, (names[0], None))
    return call(a, from_binary(pack([element for row in right for element in row], dtype), template, "binary"))


@generates("matrix_power")
def matrix_power(draw: Draw, dtype: DType) -> Invocation:
    """Negative powers too, and 0."""
    return call(matrices(draw, dtype, square=True, step=4, mixed=False), draw(st.integers(-2, 3)))


@generates("expm")
def expm(draw: Draw, dtype: DType) -> Invocation:
    """Norms around 5 at most, so that no result is cancelled away."""
    return call(stacks(draw, dtype, partial(noise, draw, dtype), square=True))


@generates("sqrtm")
def sqrtm(draw: Draw, dtype: DType) -> Invocation:
    """Eigenvalues with positive real parts in most draws, and Hermitian matrices."""
    hermitian_ = draw(st.booleans())

    def make(rows: int, columns: int) -> Rows:
        matrix = dominant(draw, dtype, rows, columns, step=4, signed=seldom(draw))
        return hermitian(matrix) if hermitian_ and rows == columns else matrix

    return call(stacks(draw, dtype, make, square=True), hermitian=hermitian_)


@generates("matrix_norm")
def matrix_norm(draw: Draw, dtype: DType) -> Invocation:
    """All orders, and 3, which is refused."""
    order = draw(st.sampled_from(["fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf, 3]))
    return call(matrices(draw, dtype), ord=order, keepdims=draw(st.booleans()))


VECTOR_ORDERS = st.sampled_from([0, 1, 2, 3, -1, 0.5, math.inf, -math.inf])


@generates("vector_norm")
def vector_norm(draw: Draw, dtype: DType) -> Invocation:
    """All orders along any axes."""
    x = draw(tensors(dtype, tame=True))
    return call(x, axis=draw(axes_of(x, "Axes")), ord=draw(VECTOR_ORDERS), keepdims=draw(st.booleans()))


@generates("norm")
def norm(draw: Draw, dtype: DType) -> Invocation:
    """Draws vectors along one axis, matrices in two, all elements."""
    if draw(st.booleans()):
        x = draw(tensors(dtype, shapes(least=1), tame=True))
        return call(x, axis=draw(axes_of(x, "Axis")), ord=draw(VECTOR_ORDERS), keepdims=draw(st.booleans()))
    x = matrices(draw, dtype)
    axes = draw(st.sampled_from([None, (-2, -1), (-1, -2)]))
    order = draw(st.sampled_from([None, "fro", "nuc", 1, -1, 2, math.inf]))
    return call(x, axis=axes, ord=order, keepdims=draw(st.booleans()))


@generates("diagonal")
def diagonal(draw: Draw, dtype: DType) -> Invocation:
    """Diagonals above and below the main one, and beyond the matrix."""
    return call(
        draw(tensors(dtype, shapes(least=1 if seldom(draw) else 2), tame=True)), offset=draw(st.integers(-4, 4))
    )


@generates("trace")
def trace(draw: Draw, dtype: DType) -> Invocation:
    """Diagonals of the last two axes, or of any two."""
    drawn = diagonal(draw, dtype)
    x = drawn.arguments[0]
    if x.ndim < 2 or draw(st.booleans()):
        return drawn
    axis1, axis2 = draw(st.permutations(range(x.ndim)))[:2]
    return call(x, **drawn.options, axis1=axis1, axis2=draw(st.sampled_from([axis2, axis2 - x.ndim])))


@generates("cross")
def cross(draw: Draw, dtype: DType) -> Invocation:
    """Vectors along the last axis, another, or a named one."""
    shape = list(draw(shapes(most=2)))
    place = draw(st.integers(0, len(shape)))
    shape.insert(place, draw(st.sampled_from([3, 3, 3, 3, 2])))
    names = [*axis_names(len(shape))]
    names[place] = "space"
    x1, x2 = (draw(tensors(dtype, tuple(shape), names=names, tame=True)) for _ in range(2))
    return call(x1, x2, axis=draw(st.sampled_from([place - len(shape), "space"])))


@generates("apply_matrix")
def apply_matrix(draw: Draw, dtype: DType) -> Invocation:
    """Matrices for vectors along an axis, by position or by its name; some have another number of columns."""
    x = draw(tensors(dtype, shapes(least=1), tame=True))
    axis = draw(st.integers(0, x.ndim - 1))
    columns = x.shape[axis] + (1 if seldom(draw) else 0)
    matrix = draw(tensors(dtype, (draw(st.integers(0, 3)), columns), names=("new", None), tame=True))
    return call(x, matrix, axis=draw(st.sampled_from([axis, axis - x.ndim, x.names[axis] or axis])))


@generates("adjoint")
def adjoint(draw: Draw, dtype: DType) -> Invocation:
    """Draws stacks of matrices; tensors of fewer axes are refused."""
    return call(draw(tensors(dtype, shapes(least=1 if seldom(draw) else 2))))


@generates("sparse_matvec", "sparse_matmul")
def sparse_product(draw: Draw, dtype: DType) -> Invocation:
    """Products with matrices of up to 5 stored entries, some of them at the same place."""
    rows, columns = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    count, format = draw(st.integers(0, 5)), draw(st.sampled_from(["coo", "csr", "csc"]))
    batch = draw(st.sampled_from([(), (), (2,)]))
    apart = draw(st.sampled_from([(), batch]))
    size = {"csr": rows, "csc": columns}.get(format)
    if size is None:
        first = integers(draw, (*apart, count), 0, rows - 1, names=(None,) * (len(apart) + 1))
    else:
        places = [sorted(draw(st.integers(0, count)) for _ in range(size - 1)) for _ in range(math.prod(apart))]
        pointers = [number for inner_pointers in places for number in (0, *inner_pointers, count)]
        first = from_binary(pack(pointers, as_dtype("int32")), Template((*apart, size + 1), "int32"), "binary")
    second = integers(
        draw, (*apart, count), 0, (rows if format == "csc" else columns) - 1, names=(None,) * (len(apart) + 1)
    )
    values = draw(tensors(dtype, (*batch, count), names=(None,) * (len(batch) + 1), tame=True))
    return call(values, first, second, _operand(draw, dtype, columns), format=format, rows=rows)


def _operand(draw: Draw, dtype: DType, columns: int) -> Tensor:
    """A matrix; an op that takes vectors takes its rows as a batch of vectors."""
    return draw(tensors(dtype, (columns, columns), names=(None, None), tame=True))
