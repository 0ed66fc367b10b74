"""Minimal residuals over Krylov subspaces, with restarts, for any square matrix."""

from __future__ import annotations

from typing import Any

from ..expr.while_loops import while_loop
from ..ops.composite.contraction import matmul
from ..ops.creation.filled import eye, iota, zeros
from ..ops.elementwise.binary import equal, less, logical_and
from ..ops.elementwise.conversion import astype
from ..ops.elementwise.ternary import where
from ..ops.elementwise.transcendental import sqrt
from ..ops.elementwise.unary import abs as abs_
from ..ops.elementwise.unary import conj
from ..ops.linalg import triangular_solve
from ..ops.reduction import any as any_
from ..ops.reduction import sum as sum_
from ..ops.shape import broadcast_to, matrix_transpose
from ..tensor import Tensor
from .iteration import Method, Problem, Progress, Watch, ratio, square


def gmres(problem: Problem, restart: int) -> Method:
    """Generalised minimal residuals: a step of the loop is a cycle of up to `restart` iterations.

    The preconditioner is applied from the right, so that residuals are those of the system. Each new direction is made
    orthogonal to the others twice.

    References
    ----------
    Saad, Iterative Methods for Sparse Linear Systems, second edition, algorithms 6.9 and 9.5.
    """
    size, like = restart + 1, problem.b
    rows = iota(size, dtype="int32", backend=like.backend)

    def cycle(state: tuple[Any, ...]) -> tuple[Any, ...]:
        """One cycle: keeps directions, the triangle of rotated coefficients, the rotation, and the rotated residual."""
        progress, x, r = state
        batch = r.shape[:-1]
        length = sqrt(square(r))
        basis = where((rows == 0)[:, None], ratio(r, astype(length, r.dtype))[..., None, :], 0)
        triangle = zeros((*batch, restart, size), dtype=r.dtype, like=like)  # transposed: a row for each iteration
        rotation = broadcast_to(eye(size, dtype=r.dtype, backend=like.backend), (*batch, size, size))
        left = where(rows == 0, astype(length, r.dtype), 0)

        def grow(state: tuple[Any, ...]) -> tuple[Any, ...]:
            k, progress, basis, triangle, rotation, left = state
            here, after = equal(rows, k), equal(rows, k + 1)
            direction = apply(sum_(where(here[:, None], basis, 0), axis=-2))
            coefficients = zeros((*batch, size), dtype=r.dtype, like=like)
            for _ in range(2):
                shares = _columns(conj(basis), direction)
                direction = direction - _columns(matrix_transpose(basis), shares)
                coefficients = coefficients + shares
            length = astype(sqrt(square(direction)), r.dtype)
            basis = where(after[:, None], ratio(direction, length)[..., None, :], basis)
            column = _columns(rotation, where(after, length, coefficients))
            # A rotation of the last two rows makes the lower element of the column 0.
            one = sum_(where(here, column, 0), axis=-1, keepdims=True)
            other = sum_(where(after, column, 0), axis=-1, keepdims=True)
            hypotenuse = astype(sqrt(abs_(one) ** 2 + abs_(other) ** 2), r.dtype)
            c, s = where(hypotenuse == 0, 1, ratio(one, hypotenuse)), ratio(other, hypotenuse)
            column = _rotate_rows(column[..., None], c, s, here, after)[..., 0]
            rotation = _rotate_rows(rotation, c, s, here, after)
            left = _rotate_rows(left[..., None], c, s, here, after)[..., 0]
            going = progress.going
            row = less(rows, k + 1) & going
            place = equal(iota(restart, dtype="int32", backend=like.backend), k)
            triangle = where(place[:, None], where(row, column, 0)[..., None, :], triangle)
            rest = abs_(sum_(where(after, left, 0), axis=-1, keepdims=True)) ** 2
            return k + 1, tell(progress, rest), basis, triangle, rotation, left

        def goes_on(state: tuple[Any, ...]) -> Tensor:
            return logical_and(state[0] < restart, any_(state[1].going))

        start = astype(rows[0], "int32"), progress, basis, triangle, rotation, left
        _, inner, basis, triangle, rotation, left = while_loop(goes_on, grow, start)
        upper = matrix_transpose(triangle[..., :restart])
        empty = _diagonal(upper) == 0
        identity = eye(restart, dtype="bool", backend=like.backend)
        upper = where(logical_and(identity, empty[..., None, :]), 1, upper)
        right_side = where(empty, 0, left[..., :restart])
        factors = triangular_solve(upper, right_side[..., None], lower=False)[..., 0]
        change = _columns(matrix_transpose(basis[..., :restart, :]), factors)
        x = where(progress.going, x + problem.preconditioned(change), x)
        r = problem.b - problem.apply(x)
        return _progress_after_cycle(progress, inner, square(r)), x, r

    def _progress_after_cycle(before: Progress, inner: Progress, residual: Tensor) -> Progress:
        """The progress after a cycle: with its iterations, but judged by the residual itself."""
        told = tell(before, residual)
        more = logical_and(told.going, inner.iterations < problem.most)
        return Progress(more, inner.iterations, told.residual)

    def apply(x: Tensor) -> Tensor:
        return problem.apply(problem.preconditioned(x))

    r = problem.b
    first = square(r)
    tell = Watch(problem, first)
    return Method((tell.first, problem.x0, r), cycle, tell.bound)


def _columns(matrix: Tensor, x: Tensor) -> Tensor:
    """Each matrix times its vector."""
    return matmul(matrix, x[..., None])[..., 0]


def _diagonal(matrix: Tensor) -> Tensor:
    size = matrix.shape[-1]
    return sum_(where(eye(size, dtype="bool", backend=matrix.backend), matrix, 0), axis=-1)


def _rotate_rows(x: Tensor, c: Tensor, s: Tensor, here: Tensor, after: Tensor) -> Tensor:
    """The matrices with their rows `here` and `after` rotated."""
    one = sum_(where(here[:, None], x, 0), axis=-2, keepdims=True)
    other = sum_(where(after[:, None], x, 0), axis=-2, keepdims=True)
    c, s = c[..., None], s[..., None]
    first, second = conj(c) * one + conj(s) * other, c * other - s * one
    return where(here[:, None], first, where(after[:, None], second, x))
