"""Factorisations and solutions of one matrix: a list of rows of Python floats or complex numbers.

Nothing here knows of tensors or dtypes. GVL is Golub and Van Loan, Matrix Computations, 4th edition.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from operator import mul
from typing import Any, TypeAlias

from ...rules.data_errors import not_positive_definite, singular_matrix
from .complex_scalars import absolute as magnitude
from .scalars import times_power

Vector: TypeAlias = list[Any]
Matrix: TypeAlias = list[Vector]


def identity(size: int) -> Matrix:
    """The identity matrix of a size."""
    return [[1.0 if row == column else 0.0 for column in range(size)] for row in range(size)]


def transpose(matrix: Sequence[Sequence[Any]], columns: int) -> Matrix:
    """The transpose of a matrix with `columns` columns, a number that no row shows if there is none."""
    return [list(column) for column in zip(*matrix, strict=True)] if matrix else [[] for _ in range(columns)]


def conjugate(vector: Iterable[Any]) -> Vector:
    """The complex conjugate of each component."""
    return [component.conjugate() for component in vector]


def adjoint(matrix: Matrix, columns: int) -> Matrix:
    """The conjugate transpose."""
    return [conjugate(column) for column in transpose(matrix, columns)]


def product(left: Matrix, right: Matrix, columns: int) -> Matrix:
    """The matrix product; `right` has `columns` columns."""
    across = transpose(right, columns)
    return [[sum(map(mul, row, column)) for column in across] for row in left]


def length(vector: Iterable[Any]) -> float:
    """The Euclidean norm, without overflow on the way."""
    return math.hypot(*[part for number in vector for part in (number.real, number.imag)])


def phase(number: Any) -> Any:
    """A number divided by its magnitude, 1 for zero; of a real number this is the sign."""
    size = magnitude(number)
    return number / size if size else 1.0


def is_finite(matrix: Matrix) -> bool:
    """Whether no element is NaN or infinite."""
    return all(math.isfinite(element.real) and math.isfinite(element.imag) for row in matrix for element in row)


def equilibrate(matrix: Matrix) -> tuple[Matrix, int]:
    """The matrix times 2**-exponent, so that its largest element is about 1, and the exponent.

    Squares of elements then neither overflow nor vanish; powers of two round nothing.
    """
    largest = max(
        (abs(part) for row in matrix for element in row for part in (element.real, element.imag)), default=0.0
    )
    exponent = math.frexp(largest)[1]
    if largest == 0 or abs(exponent) < 200:
        return matrix, 0
    return unscale(matrix, -exponent), exponent


def unscale(matrix: Matrix, exponent: int) -> Matrix:
    """The matrix times 2**exponent."""
    return [[times_power(element, exponent) for element in row] for row in matrix] if exponent else matrix


def cholesky(matrix: Matrix) -> Matrix:
    """The lower factor, row by row (Cholesky-Banachiewicz; GVL 4.2.5); only the lower half is read."""
    size = len(matrix)
    factor: Matrix = []
    mirrored: Matrix = []
    for position, row in enumerate(matrix):
        factor_row: Vector = []
        for column in range(position):
            known = sum(map(mul, factor_row, mirrored[column]))
            factor_row.append((row[column] - known) / factor[column][column])
        rest = row[position].real - sum(
            element.real * element.real + element.imag * element.imag for element in factor_row
        )
        if not rest > 0:
            raise not_positive_definite()
        factor_row.append(math.sqrt(rest))
        mirrored.append(conjugate(factor_row))
        factor.append(factor_row)
    return [row + [0.0] * (size - len(row)) for row in factor]


def eliminate(matrix: Matrix) -> tuple[Matrix, list[int]]:
    """Gaussian elimination with partial pivoting (GVL 3.4.1): both factors in one, and the order of the rows."""
    factors = [row[:] for row in matrix]
    order = list(range(len(matrix)))
    columns = len(matrix[0]) if matrix else 0
    for k in range(min(len(matrix), columns)):
        pivot = max(range(k, len(matrix)), key=lambda row: magnitude(factors[row][k]))  # the first of ties
        factors[k], factors[pivot] = factors[pivot], factors[k]
        order[k], order[pivot] = order[pivot], order[k]
        diagonal, tail = factors[k][k], factors[k][k + 1 :]
        if diagonal == 0:
            continue
        for row in factors[k + 1 :]:
            multiplier = row[k] / diagonal
            row[k] = multiplier
            if multiplier:
                row[k + 1 :] = [a - multiplier * b for a, b in zip(row[k + 1 :], tail, strict=True)]
    return factors, order


def lu(matrix: Matrix, columns: int) -> tuple[Matrix, Matrix, Matrix]:
    """Permutation, unit lower and upper factor."""
    factors, order = eliminate(matrix)
    rank = min(len(matrix), columns)
    permutation = [[1.0 if order[column] == row else 0.0 for column in range(len(order))] for row in range(len(order))]
    lower = [
        [*row[: min(i, rank)], *([1.0] if i < rank else []), *[0.0] * (rank - i - 1)] for i, row in enumerate(factors)
    ]
    upper = [[0.0] * i + factors[i][i:] for i in range(rank)]
    return permutation, lower, upper


def determinant(matrix: Matrix) -> Any:
    """The product of the pivots, with the sign of the permutation."""
    factors, order = eliminate(matrix)
    return math.prod((factors[k][k] for k in range(len(matrix))), start=parity(order))


def parity(order: Sequence[int]) -> float:
    """1.0 for an even permutation, -1.0 for an odd one: each cycle of even length flips the sign."""
    sign, seen = 1.0, [False] * len(order)
    for start in range(len(order)):
        steps, at = 0, start
        while not seen[at]:
            seen[at] = True
            at, steps = order[at], steps + 1
        if steps and steps % 2 == 0:
            sign = -sign
    return sign


def substitute(matrix: Matrix, right: Matrix, columns: int, *, lower: bool) -> Matrix:
    """x with matrix @ x = right for a triangular matrix (GVL 3.1.1 and 3.1.2); `right` has `columns` columns."""
    if any(row[k] == 0 for k, row in enumerate(matrix)):
        raise singular_matrix()
    if not lower:  # an upper triangle is a lower one in reverse order
        turned = [row[::-1] for row in reversed(matrix)]
        return substitute(turned, right[::-1], columns, lower=True)[::-1]
    solved = []
    for column in transpose(right, columns):
        solution: Vector = []
        for k, row in enumerate(matrix):
            solution.append((column[k] - sum(map(mul, solution, row))) / row[k])
        solved.append(solution)
    return transpose(solved, len(matrix))


def solve(matrix: Matrix, right: Matrix, columns: int) -> Matrix:
    """x with matrix @ x = right, by elimination; a pivot of exactly 0 makes the matrix singular."""
    factors, order = eliminate(matrix)
    if any(factors[k][k] == 0 for k in range(len(factors))):
        raise singular_matrix()
    unit = [[*row[:k], 1.0, *row[k + 1 :]] for k, row in enumerate(factors)]
    halfway = substitute(unit, [right[row] for row in order], columns, lower=True)
    return substitute(factors, halfway, columns, lower=False)


def qr(matrix: Matrix, columns: int, *, complete: bool) -> tuple[Matrix, Matrix]:
    """Householder's Q and R (GVL 5.2.1, Q by 5.1.6 backwards), R's diagonal made non-negative."""
    small, exponent = equilibrate(matrix)
    rows, rank = len(matrix), min(len(matrix), columns)
    across = transpose(small, columns)
    reflectors: list[tuple[Vector, float]] = []
    for k in range(rank):
        vector = across[k][k:]
        size = length(vector)
        if length(vector[1:]) == 0:
            reflectors.append((vector, 0.0))
            continue
        first = vector[0]
        vector = [component / size for component in vector]  # squares of tiny columns would vanish
        vector[0] += phase(first)
        scale = 1 / (1 + magnitude(first) / size)  # 2 / (v.H v)
        reflectors.append((vector, scale))
        across[k][k:] = [-phase(first) * size] + [0.0] * (rows - k - 1)
        for column in across[k + 1 :]:
            _reflect(column, k, vector, scale)
    wide = rows if complete else rank
    q = [[1.0 if row == column else 0.0 for row in range(rows)] for column in range(wide)]
    for k in reversed(range(rank)):
        for column in q[k:]:
            _reflect(column, k, *reflectors[k])
    r = transpose(across, rows)[:wide]
    for k in range(rank):
        turn = phase(r[k][k])
        if turn != 1:
            r[k] = [turn.conjugate() * element for element in r[k]]
            q[k] = [turn * element for element in q[k]]
        r[k] = [0.0] * k + [magnitude(r[k][k])] + r[k][k + 1 :]
    return transpose(q, rows), unscale(r, exponent)


def _reflect(column: Vector, k: int, vector: Vector, scale: float) -> None:
    """Applies the reflector (I - scale v v.H) to a column from row k on."""
    if scale:
        weight = scale * sum(map(mul, conjugate(vector), column[k:]))
        column[k:] = [a - weight * b for a, b in zip(column[k:], vector, strict=True)]
