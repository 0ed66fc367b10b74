"""Stabilised biconjugate gradients, for any square matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..dtypes import finfo
from ..ops.composite.elementwise.functions import logical_not
from ..ops.creation.filled import zeros_like
from ..ops.elementwise.binary import logical_and, logical_or, maximum, minimum
from ..ops.elementwise.ternary import where
from ..ops.elementwise.unary import abs as abs_
from ..tensor import Tensor
from .iteration import GROWTH, Method, Problem, Watch, dot, ratio, square, zero_if_done


def bicgstab(problem: Problem, degree: int) -> Method:
    """Biconjugate gradients stabilised by polynomials of `degree`; an iteration needs `2 * degree` products.

    The preconditioner is applied from the right, so that residuals are those of the system; y in the loop is x before
    the preconditioner. The result is the iterate with the smallest residual in the last sweep, or the one before it:
    a sweep continues after a solution, and if the method breaks down, later iterates are useless.

    References
    ----------
    Sleijpen and Fokkema, "BiCGstab(l) for linear equations involving unsymmetric matrices with complex spectrum",
    Electronic Transactions on Numerical Analysis 1 (1993), pages 11 to 32.
    """

    def apply(x: Tensor) -> Tensor:
        return problem.apply(problem.preconditioned(x))

    r = shadow = problem.b
    first = square(r)
    tell = Watch(problem, first)
    one = dot(r, r) * 0 + 1
    noise = finfo(r.dtype).eps ** 2
    alone = first.ndim == 1

    def quotient(numerator: Tensor, denominator: Tensor) -> Tensor:
        """The quotient; a single example may become NaN, which ends the loop."""
        return numerator / denominator if alone else ratio(numerator, denominator)

    def nearest(iterates: Sequence[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
        """The first iterate that is a solution, else the one with the smallest residual, and its squared residual.

        The residuals after a large y are dominated by rounding errors.
        """
        best, least = iterates[0]
        lost = 0 * least
        for y, residual in iterates[1:]:
            lost = maximum(lost, noise * square(y))
            known = maximum(residual, lost)
            replaces = logical_and(known < least, least > problem.goal)
            best, least = where(replaces, y, best), where(replaces, known, least)
        return best, least

    def step(state: tuple[Any, ...]) -> tuple[Any, ...]:
        progress, kept, y, residual, r, u, rho, alpha, omega = state
        going, before = progress.going, residual
        iterates = [(y, residual)]
        rho = -omega * rho
        # Residuals and directions: the i-th is the matrix to the power of i times the first.
        rs, us, broke = [r], [u], None
        for j in range(degree):
            last, rho = rho, dot(shadow, rs[j])
            beta = quotient(alpha * rho, last)
            us = [rs[i] - beta * us[i] for i in range(j + 1)]
            us.append(apply(us[j]))
            alpha = zero_if_done(going, quotient(rho, dot(shadow, us[j + 1])))
            rs = [rs[i] - alpha * us[i + 1] for i in range(j + 1)]
            rs.append(apply(rs[j]))
            y = y + alpha * us[0]
            if not alone:
                broke = alpha == 0 if broke is None else logical_or(broke, alpha == 0)
            if j < degree - 1:
                iterates.append((y, square(rs[0])))
        factors = [zero_if_done(going, factor) for factor in _combination_factors(rs[0], rs[1:])]
        for j, factor in enumerate(factors):
            y = y + factor * rs[j]
        r, u = rs[0], us[0]
        for j, factor in enumerate(factors, 1):
            r, u = r - factor * rs[j], u - factor * us[j]
        residual = square(r)
        iterates.append((y, residual))
        least = iterates[1][1]
        for _, other in iterates[2:]:
            least = where(other < least, other, least)  # not a NaN
        # A residual that jumps is noise divided by noise: the method ends, to begin again with a better iterate.
        lasts = residual <= GROWTH * (before if degree == 1 else minimum(least, before))
        if degree > 2:  # y may be so large that its small residual is rounding
            lasts = logical_and(lasts, residual >= noise * square(y))
        ends = logical_not(lasts)
        told = tell(progress, least, ends if broke is None else logical_or(broke, ends))
        if not alone:  # what has ended keeps its result
            (new_y, new_size), (old_y, old_size) = nearest(iterates), kept[0]
            iterates = [(where(going, new_y, old_y), where(going, new_size, old_size))]
        return told, tuple(iterates), y, residual, r, u, rho, alpha, factors[-1]

    def finish(state: tuple[Any, ...]) -> Tensor:
        return problem.preconditioned(nearest(state[1])[0])

    iterates = ((problem.x0, first),) * (degree + 1 if alone else 1)
    start = tell.first, iterates, problem.x0, first, r, zeros_like(r), one, one * 0, one
    return Method(start, step, tell.bound, finish)


def _combination_factors(r: Tensor, vectors: list[Tensor]) -> list[Tensor]:
    """The factors of the vectors' linear combination nearest to r, by orthogonalising one vector after the other."""
    directions: list[Tensor] = []
    squares: list[Tensor] = []
    shares: list[list[Tensor]] = []
    rests: list[Tensor] = []
    for vector in vectors:
        share, before = [], vector
        for direction, size in zip(directions, squares, strict=True):
            share.append(ratio(dot(direction, vector), size))
            vector = vector - share[-1] * direction
        directions.append(vector)
        shares.append(share)
        squares.append(dot(vector, vector) if not share else _clear(dot(vector, vector), before))
        rests.append(ratio(dot(vector, r), squares[-1]))
    factors: list[Tensor] = [*rests]
    for j in range(len(vectors) - 2, -1, -1):
        for i in range(j + 1, len(vectors)):
            factors[j] = factors[j] - shares[i][j] * factors[i]
    return factors


def _clear(size: Tensor, before: Tensor) -> Tensor:
    """The square of the remainder of a vector, 0 if that is rounding alone: the vector depends on those before."""
    noise = (10 * finfo(before.dtype).eps) ** 2
    return where(abs_(size) <= noise * square(before), 0, size)
