"""Elimination and substitution by blocks of columns, every step for a whole stack of matrices at once."""

from __future__ import annotations

from typing import Any

from ....protocol import Kernel
from ..base import Array

_PANEL = 32
"""The number of columns of a panel: inside it, columns are treated one by one; the rest is matrix products."""


def eliminate(xp: Any, treated: Kernel, matrix: Array) -> tuple[Array, Array]:
    """Gaussian elimination with partial pivoting: both factors in one array, and the order of the rows.

    Right-looking by blocks of columns (Golub and Van Loan, Matrix Computations, algorithm 3.2.1 with 3.4.1). `treated`
    is `eliminate_columns`, or does the same.
    """
    rows, columns = matrix.shape[-2:]
    factors, order = matrix.copy(), xp.broadcast_to(xp.arange(rows), matrix.shape[:-1]).copy()
    for start in range(0, min(rows, columns), _PANEL):
        stop = min(start + _PANEL, rows, columns)
        treated(factors, order, start, stop)
        if stop == columns:
            break
        lower, right = factors[..., start:stop, start:stop], factors[..., start:stop, stop:]
        for k in range(stop - start - 1):
            right[..., k + 1 :, :] -= lower[..., k + 1 :, k, None] * right[..., None, k, :]
        factors[..., stop:, stop:] -= xp.matmul(factors[..., stop:, start:stop], right)
    return factors, order


def eliminate_columns(xp: Any, factors: Array, order: Array, start: int, stop: int) -> None:
    """Eliminates the columns from `start` to `stop` in place, for `factors` [...][n][m] and `order` [...][n].

    Whole rows are exchanged, but nothing is subtracted from the columns from `stop` on.
    """
    every = xp.ix_(*map(xp.arange, factors.shape[:-2]))  # with an index of rows: that row of each matrix
    for k in range(start, min(stop, factors.shape[-2] - 1)):
        pivot = (*every, xp.argmax(xp.abs(factors[..., k:, k]), axis=-1) + k)
        for rows, row in (factors, factors[..., k, :]), (order, order[..., k]):
            upper = row.copy()
            row[...] = rows[pivot]
            rows[pivot] = upper
        below, diagonal = factors[..., k + 1 :, :], factors[..., k, k, None]
        below[..., k] /= diagonal + (diagonal == 0)  # above zeros alone a pivot of 0 must not lead to NaN
        below[..., k + 1 : stop] -= below[..., k, None] * factors[..., None, k, k + 1 : stop]


def substitute(xp: Any, matrix: Array, right: Array, lower: bool) -> Array:
    """Forward or back substitution."""
    size = matrix.shape[-1]
    solved = xp.broadcast_to(
        right, (*xp.broadcast_shapes(matrix.shape[:-2], right.shape[:-2]), *right.shape[-2:])
    ).copy()
    starts = range(0, size, _PANEL)
    for start in starts if lower else reversed(starts):
        stop = min(start + _PANEL, size)
        inside = range(start, stop)
        for k in inside if lower else reversed(inside):
            solved[..., k, :] /= matrix[..., k, k, None]
            rest = slice(k + 1, stop) if lower else slice(start, k)
            solved[..., rest, :] -= matrix[..., rest, k, None] * solved[..., None, k, :]
        rest = slice(stop, size) if lower else slice(0, start)
        solved[..., rest, :] -= xp.matmul(matrix[..., rest, start:stop], solved[..., start:stop, :])
    return solved
