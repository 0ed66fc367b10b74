"""Stabilised biconjugate gradients, for any square matrix."""

from __future__ import annotations

from typing import Any

from ..dtypes import finfo
from ..ops.composite.elementwise.functions import logical_not
from ..ops.creation.filled import zeros_like
from ..ops.elementwise.binary import logical_and, logical_or, maximum
from ..ops.elementwise.ternary import where
from ..ops.elementwise.unary import abs as abs_
from ..tensor import Tensor
from .iteration import GROWTH, Method, Problem, Watch, dot, held, ratio, square


def bicgstab(problem: Problem, degree: int) -> Method:
    """Biconjugate gradients stabilised by polynomials of `degree`; an iteration takes `2 * degree` products.

    The preconditioner is applied from the right, so that residuals are those of the system; y in the loop is x before
    the preconditioner. The result is the iterate with the least residual, also of those within a sweep: a sweep goes on
    after a solution, and where the method breaks down, later iterates are of no use.

    References
    ----------
    Sleijpen and Fokkema, "BiCGstab(l) for linear equations involving unsymmetric matrices with complex spectrum",
    Electronic Transactions on Numerical Analysis 1 (1993), pages 11 to 32.
    """
    precondition = problem.precondition

    def preconditioned(x: Tensor) -> Tensor:
        return x if precondition is None else precondition(x)

    def apply(x: Tensor) -> Tensor:
        return problem.apply(preconditioned(x))

    r = shadow = problem.b
    first = square(r)
    tell = Watch(problem, first)
    one = dot(r, r) * 0 + 1
    noise = finfo(r.dtype).eps ** 2  # times the greatest square: by so much has rounding made the residual wrong

    def better(best: Tensor, least: Tensor, y: Tensor, residual: Tensor) -> tuple[Tensor, Tensor]:
        """The iterate with the least squared residual so far, and that residual; a solution stays what it is."""
        replaces = logical_and(residual < least, least > problem.goal)
        return where(replaces, y, best), where(replaces, residual, least)

    def step(state: tuple[Any, ...]) -> tuple[Any, ...]:
        progress, best, peak, y, r, u, rho, alpha, omega = state
        going, least = progress.going, progress.residual
        rho = -omega * rho
        # Residuals and directions: the i-th is the matrix to the power of i times the first.
        rs, us, broke = [r], [u], logical_not(going)
        for j in range(degree):
            before, rho = rho, dot(shadow, rs[j])
            beta = ratio(alpha * rho, before)
            us = [rs[i] - beta * us[i] for i in range(j + 1)]
            us.append(apply(us[j]))
            gamma = dot(shadow, us[j + 1])
            alpha = held(going, ratio(rho, gamma))
            rs = [rs[i] - alpha * us[i + 1] for i in range(j + 1)]
            rs.append(apply(rs[j]))
            y = y + alpha * us[0]
            stuck = logical_or(rho == 0, gamma == 0)
            broke = logical_or(broke, stuck)
            residual = square(rs[0])
            peak = maximum(peak, residual)
            if j:  # us[1] is no longer the product with us[0], but a difference of others
                peak = maximum(peak, square(y))
            if degree > 1:  # what follows a solution in a sweep divides noise by noise
                best, least = better(best, least, y, maximum(residual, peak * noise))
        factors = [held(going, factor) for factor in _least(rs[0], rs[1:])]
        for j, factor in enumerate(factors):
            y = y + factor * rs[j]
        r, u = rs[0], us[0]
        for j, factor in enumerate(factors, 1):
            r, u = r - factor * rs[j], u - factor * us[j]
        residual = square(r)
        lost = peak * noise
        best, least = better(best, least, y, maximum(residual, lost))
        ends = logical_not(logical_and(residual <= GROWTH * least, residual >= lost))
        return tell(progress, least, logical_or(broke, ends)), best, peak, y, r, u, rho, alpha, factors[-1]

    def finish(state: tuple[Any, ...]) -> Tensor:
        return preconditioned(state[1])

    start = tell.first, problem.x0, first, problem.x0, r, zeros_like(r), one, one * 0, one
    return Method(start, step, tell.bound, finish)


def _least(r: Tensor, vectors: list[Tensor]) -> list[Tensor]:
    """The factors with which the vectors add up nearest to r, by orthogonalising one vector after the other."""
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
    """The square of what is left of a vector, 0 where that is rounding alone: the vector depends on those before."""
    noise = (10 * finfo(before.dtype).eps) ** 2
    return where(abs_(size) <= noise * square(before), 0, size)
