"""Templates of factorisations and solutions. A matrix is the last two axes of a tensor; leading axes are batch axes.

The factor that has the rows of x keeps the name of the rows, the factor that has the columns keeps the name of the
columns: in x[n][m] = Q @ R, Q is [n][.] and R is [.][m]. Axes in between have no name.
"""

from __future__ import annotations

from ..dtypes import COMPLEX_OF, DType
from ..errors import ShapeError, expected
from ..template import Names, Shape, Template, check_meeting, check_unique, intern_template, merge_names
from .broadcasting import broadcast_two, check_dtype, result_type, to_floating, to_real
from .plan import Out, Plan, choice, flag


def check_matrix(x: Template) -> Template:
    """The template itself; `ShapeError` for fewer than two axes."""
    if x.ndim < 2:
        raise ShapeError(expected("a matrix, or a stack of them", "reshape() it to two axes", tensor=x))
    return x


def check_square(x: Template) -> Template:
    """The template itself; `ShapeError` unless the last two axes have the same size."""
    check_matrix(x)
    if x.shape[-1] != x.shape[-2]:
        raise ShapeError(expected("a square matrix, or a stack of them", tensor=x))
    return x


def matrix_dtype(*operands: Template) -> DType:
    """The dtype in which matrices are computed: floating or complex, for integers the default floating one."""
    return to_floating(check_dtype(result_type(operands), "numeric"))


def factor(x: Template, sizes: Shape, names: Names, dtype: DType) -> Template:
    """A factor's template: the batch axes of x, then its own axes."""
    return intern_template(x.shape[:-2] + sizes, dtype, check_unique(x.names[:-2] + names))


def plan_factorisation(x: Template, out: Out, **options: object) -> Plan:
    """The plan of a factorisation of x with results of the templates `out`."""
    return Plan(out, (matrix_dtype(x),), options)


def lower_factor(x: Template) -> Plan:
    """The plan of a Cholesky factor: [n][.] for [n][n2]."""
    check_square(x)
    return plan_factorisation(x, factor(x, x.shape[-2:], (x.names[-2], None), matrix_dtype(x)))


def lu_factors(x: Template) -> Plan:
    """The plan of P, L and U: [n: 2][2], [2][2] and [2][m: 3] for [n: 2][m: 3]."""
    (rows, columns), (row, column), dtype = check_matrix(x).shape[-2:], x.names[-2:], matrix_dtype(x)
    rank = min(rows, columns)
    return plan_factorisation(
        x,
        (
            factor(x, (rows, rows), (row, None), dtype),
            factor(x, (rows, rank), (None, None), dtype),
            factor(x, (rank, columns), (None, column), dtype),
        ),
    )


def qr_factors(x: Template, mode: str) -> Plan:
    """The plan of Q and R: [n: 2][2] and [2][m: 3] for [n: 2][m: 3]."""
    (rows, columns), (row, column), dtype = check_matrix(x).shape[-2:], x.names[-2:], matrix_dtype(x)
    choice(("reduced", "complete"), mode=mode)
    inner = rows if mode == "complete" else min(rows, columns)
    q, r = factor(x, (rows, inner), (row, None), dtype), factor(x, (inner, columns), (None, column), dtype)
    return plan_factorisation(x, (q, r), mode=mode)


def eigen(x: Template, *, hermitian: bool) -> Plan:
    """The plan of eigenvalues and eigenvectors: [.] and [n][.] for [n][m].

    The values of a Hermitian matrix are real; the values and vectors of any other matrix are complex.
    """
    dtype = matrix_dtype(check_square(x))
    vectors = dtype if hermitian else COMPLEX_OF.get(dtype, dtype)
    size = x.shape[-1]
    values = factor(x, (size,), (None,), to_real(vectors) if hermitian else vectors)
    return plan_factorisation(x, (values, factor(x, (size, size), (x.names[-2], None), vectors)))


def singular(x: Template, full_matrices: bool) -> Plan:
    """The plan of U, s and Vh: [n: 2][2], [2] and [2][m: 3] for [n: 2][m: 3]; Vh is [3][m: 3] for full matrices."""
    (rows, columns), (row, column), dtype = check_matrix(x).shape[-2:], x.names[-2:], matrix_dtype(x)
    rank, full_matrices = min(rows, columns), flag(full_matrices=full_matrices)
    u = factor(x, (rows, rows if full_matrices else rank), (row, None), dtype)
    vh = factor(x, (columns if full_matrices else rank, columns), (None, column), dtype)
    return plan_factorisation(x, (u, factor(x, (rank,), (None,), to_real(dtype)), vh), full_matrices=full_matrices)


def solution(
    a: Template, b: Template, *, left_side: bool = True, transposed: bool = False, square: bool = True
) -> Template:
    """The template of x with a @ x = b, or x @ a = b: x[m][k] for a[n][m] and b[n][k].

    A `b` of one axis is a vector. Batch axes broadcast. Raises `ShapeError` for a matrix that is not square if it must
    be, or if b has another number of equations than a, and `NamesError` if the names of their axes differ.
    """
    dtype = matrix_dtype(a, b)
    if square and b.ndim > 1 and b.shape[-1] == b.shape[-2] and (a.ndim < 2 or a.shape[-1] != a.shape[-2]):
        order = "the matrix comes first, then the right-hand side"
        raise ShapeError(expected("a square matrix, or a stack of them, first", order, matrix=a, right=b))
    check_square(a) if square else check_matrix(a)
    if b.ndim < (1 if left_side else 2):
        expected_form = "a vector or matrices" if left_side else "a matrix, or a stack of them,"
        raise ShapeError(expected(f"{expected_form} on the right-hand side", tensor=b))
    axes = list(zip(a.shape[-2:], a.names[-2:], strict=True))
    (equations, row), (unknowns, column) = axes if left_side != transposed else axes[::-1]
    at = -2 if left_side and b.ndim > 1 else -1
    if b.shape[at] != equations:
        of_vectors = b.ndim == a.ndim - 1 and b.shape[-1] == equations
        remedy = "write solve(a, b[..., None])[..., 0] for a vector of each matrix" if of_vectors else ""
        raise ShapeError(expected(f"{equations} equations on the right-hand side", remedy, matrix=a, right=b))
    check_meeting((row,), (b.names[at],), a, b)
    if b.ndim == 1:
        return intern_template((*a.shape[:-2], unknowns), dtype, check_unique((*a.names[:-2], column)))
    stack1, stack2 = (intern_template(x.shape[:-2], x.dtype, x.names[:-2]) for x in (a, b))
    shape = (unknowns, b.shape[-1]) if left_side else (b.shape[-2], unknowns)
    names = (column, b.names[-1]) if left_side else (b.names[-2], column)
    batch, batch_names = broadcast_two(stack1, stack2, (a, b)), merge_names(stack1, stack2, (a, b))
    return intern_template(batch + shape, dtype, check_unique(batch_names + names, "b"))


def triangular_solution(a: Template, b: Template, left_side: bool, lower: bool, transform: str) -> Plan:
    """The plan of a triangular system; b is a stack of matrices."""
    choice(("none", "transpose"), transform=transform)
    left_side = flag(left_side=left_side)
    out = solution(a, b, left_side=left_side, transposed=transform == "transpose")
    return Plan(
        out, (out.dtype, out.dtype), {"left_side": left_side, "lower": flag(lower=lower), "transform": transform}
    )


def diagonal_run(rows: int, columns: int, offset: int) -> tuple[int, int]:
    """Where a diagonal starts in a row-major matrix and how long it is; its elements are `columns + 1` apart.

    >>> diagonal_run(2, 3, 1), diagonal_run(2, 3, -1), diagonal_run(2, 3, 5)
    ((1, 2), (3, 1), (0, 0))
    """
    length = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    start = offset if offset >= 0 else -offset * columns
    return (start, length) if length else (0, 0)
