"""Factors and solutions of stacks of matrices, a column at a time (GVL is Golub and Van Loan, Matrix Computations)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from ...dispatch.fallbacks import fallback
from ...protocol.linalg import Transform
from ...rules.data_errors import not_positive_definite, singular_matrix
from ...template import Shape, Template
from ...tensor import Tensor
from ..contraction import dot
from ..creation.filled import eye, ones, zeros
from ..elementwise.basic import abs as absolute
from ..elementwise.basic import astype, where
from ..elementwise.binary import add, divide, equal, less, less_equal, logical_and, multiply, subtract
from ..elementwise.transcendental import sqrt
from ..indexing.slices import entries
from ..indexing.taking import take_along_axis_at, take_at
from ..reduction import all as every
from ..reduction import any as some
from ..reduction import argmax
from ..reduction import max as largest
from ..reduction import sum as total
from ..shape import broadcast_to, concatenate, flip, matrix_transpose, reshape
from .common import tensor_of_numbers, widen


def _stack(x: Tensor, batch: Shape) -> Tensor:
    """Matrices broadcast to batch axes, which are merged into one."""
    wide = broadcast_to(x, (*batch, *x.shape[-2:]))
    return reshape(wide, (math.prod(batch), *x.shape[-2:]))


def _rows(count: int) -> Tensor:
    """The numbers of the rows, as a column."""
    return tensor_of_numbers(range(count), shape=(count, 1))


def _columns(count: int) -> Tensor:
    """The numbers of the columns, as a row."""
    return tensor_of_numbers(range(count), shape=(1, count))


def _diagonal(x: Tensor) -> Tensor:
    """The main diagonals of a stack of square matrices, as rows."""
    size = x.shape[-1]
    return take_at(
        reshape(x, (x.shape[0], size * size)), tensor_of_numbers(range(0, size * size, size + 1)), axis=1, mode="clip"
    )


@fallback("triangular_solve")
def _triangular_solve(
    out: Template, a: Tensor, b: Tensor, /, *, left_side: bool, lower: bool, transform: Transform
) -> Tensor:
    """Solves a lower triangular system by substitution from the first row on; transposes and flips convert any
    other system to this form."""
    batch = out.shape[:-2]
    left, right = (widen(x) if x.dtype.is_floating else x for x in (_stack(a, batch), _stack(b, batch)))
    if not left_side:  # x @ a = b is a.T @ x.T = b.T
        right = matrix_transpose(right)
    if (transform == "transpose") != (not left_side):
        left, lower = matrix_transpose(left), not lower
    if not lower:
        left, right = flip(left, axis=(1, 2)), flip(right, axis=1)
    if left.size and some(equal(_diagonal(left), 0)).item():
        raise singular_matrix()
    size, solved = left.shape[-1], entries(right, 1, 0, 0)
    for row in range(size):
        line = entries(left, 1, row, 1)
        known = dot(entries(line, 2, 0, row), solved, contract=([2], [1]), batch=([0], [0]))
        solved_row = divide(subtract(entries(right, 1, row, 1), known), entries(line, 2, row, 1))
        solved = concatenate([solved, solved_row], axis=1)
    if not lower:
        solved = flip(solved, axis=1)
    if not left_side:
        solved = matrix_transpose(solved)
    return reshape(astype(solved, out.dtype), out.shape)


@fallback("cholesky", "floating")
def _cholesky(out: Template, x: Tensor, /) -> Tensor:
    """Computes each column from those before it (GVL, algorithm 4.2.1)."""
    size, a = x.shape[-1], widen(_stack(x, x.shape[:-2]))
    if not x.size:
        return zeros(out.shape, dtype=out.dtype)
    factor = entries(a, 2, 0, 0)
    for column in range(size):
        below = size - column
        known = dot(
            entries(factor, 1, column, below), entries(factor, 1, column, 1), contract=([2], [2]), batch=([0], [0])
        )
        rest = subtract(entries(entries(a, 1, column, below), 2, column, 1), known)
        pivot = entries(rest, 1, 0, 1)
        if not every(logical_and(less(0, pivot), less(pivot, math.inf))).item():
            raise not_positive_definite()
        above = zeros((a.shape[0], column, 1), dtype=a.dtype)
        factor = concatenate([factor, concatenate([above, divide(rest, sqrt(pivot))], axis=1)], axis=2)
    return reshape(astype(factor, out.dtype), out.shape)


def _results(x: Tensor, out: Sequence[Template], parts: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Factors in their shapes and dtypes, NaN for matrices that hold NaN or infinity."""
    finite = every(less(absolute(_stack(x, x.shape[:-2])), math.inf), axis=(1, 2), keepdims=True)
    return tuple(
        reshape(astype(where(finite, factor, math.nan), template.dtype), template.shape)
        for factor, template in zip(parts, out, strict=True)
    )


@fallback("lu", "floating")
def _lu(out: tuple[Template, Template, Template], x: Tensor, /) -> tuple[Tensor, ...]:
    """Eliminates with partial pivoting; stores each multiplier in place of the zero that it makes (GVL, algorithm
    3.4.1)."""
    a = widen(_stack(x, x.shape[:-2]))
    count, rows, columns = a.shape
    rank = min(rows, columns)
    number, other = _rows(rows), _columns(columns)
    order = broadcast_to(number, (count, rows, 1))
    for column in range(rank):
        sizes = where(less(number, column), -1.0, absolute(entries(a, 2, column, 1)))
        pivot = argmax(sizes, axis=1, keepdims=True)
        exchanged = where(equal(number, pivot), column, where(equal(number, column), pivot, number))
        order = take_along_axis_at(order, exchanged, axis=1, mode="clip")
        a = take_along_axis_at(a, broadcast_to(exchanged, a.shape), axis=1, mode="clip")
        line = entries(a, 1, column, 1)
        divisor = entries(line, 2, column, 1)
        below = logical_and(less(column, number), _distinct(divisor))
        factors = where(below, divide(entries(a, 2, column, 1), where(_distinct(divisor), divisor, 1.0)), 0.0)
        reduced = subtract(a, multiply(factors, where(less(column, other), line, 0.0)))
        a = where(logical_and(below, equal(other, column)), factors, reduced)
    lower = add(where(less(_columns(rank), number), entries(a, 2, 0, rank), 0.0), eye(rows, rank, dtype=a.dtype))
    upper = where(less_equal(_rows(rank), other), entries(a, 1, 0, rank), 0.0)
    permutation = astype(equal(number, matrix_transpose(order)), a.dtype)
    return _results(x, out, (permutation, lower, upper))


def _distinct(x: Tensor) -> Tensor:
    """Whether elements are not zero."""
    return less(0, absolute(x))


@fallback("qr", "floating")
def _qr(out: tuple[Template, Template], x: Tensor, /, *, mode: Literal["reduced", "complete"]) -> tuple[Tensor, ...]:
    """Factorises by Householder reflections (GVL, algorithm 5.2.1), then makes the diagonal of R non-negative."""
    r = widen(_stack(x, x.shape[:-2]))
    count, rows, columns = r.shape
    inner = out[1].shape[-2]
    number, other = _rows(rows), _columns(columns)
    q = broadcast_to(eye(rows, dtype=r.dtype), (count, rows, rows))
    for column in range(min(rows - 1, columns)) if r.size else ():
        v = where(less(number, column), 0.0, entries(r, 2, column, 1))
        size = largest(absolute(v), axis=1, keepdims=True)
        v = divide(v, where(equal(size, 0), 1.0, size))  # so that no square overflows or vanishes
        length = sqrt(total(multiply(v, v), axis=1, keepdims=True))
        head = entries(v, 1, column, 1)
        v = where(equal(number, column), where(less(head, 0), subtract(head, length), add(head, length)), v)
        square = total(multiply(v, v), axis=1, keepdims=True)
        scale = where(equal(square, 0), 0.0, divide(2.0, where(equal(square, 0), 1.0, square)))
        along = dot(v, r, contract=([1], [1]), batch=([0], [0]))
        r = subtract(r, multiply(multiply(v, scale), along))
        across = dot(q, v, contract=([2], [1]), batch=([0], [0]))
        q = subtract(q, multiply(across, matrix_transpose(multiply(v, scale))))
    r, q = entries(where(less_equal(number, other), r, 0.0), 1, 0, inner), entries(q, 2, 0, inner)
    rank = min(rows, columns)
    turned = less(_diagonal(entries(entries(r, 1, 0, rank), 2, 0, rank)), 0)
    signs = where(turned, -1.0, ones((), dtype=r.dtype))
    signs = concatenate([signs, ones((count, inner - rank), dtype=r.dtype)], axis=1)
    down = reshape(signs, (count, inner, 1))
    return _results(x, out, (multiply(q, matrix_transpose(down)), multiply(r, down)))
