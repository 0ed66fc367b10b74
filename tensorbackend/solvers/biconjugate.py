"""Stabilised biconjugate gradients, for any square matrix."""

from __future__ import annotations

from typing import Any

from ..ops.creation.filled import zeros_like
from ..ops.elementwise.binary import logical_or
from ..tensor import Tensor
from .iteration import Method, Problem, Watch, dot, held, ratio, square


def bicgstab(problem: Problem, degree: int) -> Method:
    """Biconjugate gradients stabilised by polynomials of `degree`; an iteration takes `2 * degree` products.

    The preconditioner is applied from the right, so that residuals are those of the system.

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

    r = shadow = problem.b - problem.apply(problem.x0)
    first = square(r)
    tell = Watch(problem, first)
    one = dot(r, r) * 0 + 1

    def step(state: tuple[Any, ...]) -> tuple[Any, ...]:
        progress, x, r, u, rho, alpha, omega = state
        going = progress.going
        rho = -omega * rho
        # Residuals and directions: the i-th is the matrix to the power of i times the first.
        rs, us, change, broke = [r], [u], zeros_like(x), None
        for j in range(degree):
            before, rho = rho, dot(shadow, rs[j])
            beta = ratio(alpha * rho, before)
            us = [rs[i] - beta * us[i] for i in range(j + 1)]
            us.append(apply(us[j]))
            gamma = dot(shadow, us[j + 1])
            alpha = held(going, ratio(rho, gamma))
            rs = [rs[i] - alpha * us[i + 1] for i in range(j + 1)]
            rs.append(apply(rs[j]))
            change = change + alpha * us[0]
            stuck = logical_or(rho == 0, gamma == 0)
            broke = stuck if broke is None else logical_or(broke, stuck)
        factors = [held(going, factor) for factor in _least(rs[0], rs[1:])]
        for j, factor in enumerate(factors):
            change = change + factor * rs[j]
        r, u = rs[0], us[0]
        for j, factor in enumerate(factors, 1):
            r, u = r - factor * rs[j], u - factor * us[j]
        x = x + preconditioned(change)
        return tell(progress, square(r), broke), x, r, u, rho, alpha, factors[-1]

    start = tell.first, problem.x0, r, zeros_like(r), one, one * 0, one
    return Method(start, step, tell.bound)


def _least(r: Tensor, vectors: list[Tensor]) -> list[Tensor]:
    """The factors with which the vectors add up nearest to r, by orthogonalising one vector after the other."""
    directions: list[Tensor] = []
    squares: list[Tensor] = []
    shares: list[list[Tensor]] = []
    rests: list[Tensor] = []
    for vector in vectors:
        share = []
        for direction, size in zip(directions, squares, strict=True):
            share.append(ratio(dot(direction, vector), size))
            vector = vector - share[-1] * direction
        directions.append(vector)
        shares.append(share)
        squares.append(dot(vector, vector))
        rests.append(ratio(dot(vector, r), squares[-1]))
    factors: list[Tensor] = [*rests]
    for j in range(len(vectors) - 2, -1, -1):
        for i in range(j + 1, len(vectors)):
            factors[j] = factors[j] - shares[i][j] * factors[i]
    return factors
