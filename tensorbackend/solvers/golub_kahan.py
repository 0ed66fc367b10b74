"""Least squares, for any matrix, whether it has more rows or more columns."""

from __future__ import annotations

from typing import Any

from ..ops.composite.elementwise.functions import logical_not
from ..ops.elementwise.binary import logical_and, minimum
from ..ops.elementwise.conversion import astype
from ..ops.elementwise.ternary import where
from ..ops.elementwise.transcendental import sqrt
from ..tensor import Tensor
from .iteration import Method, Problem, Progress, Watch, ratio, square


def lsqr(problem: Problem, normal: Tensor) -> Method:
    """The x of minimum norm among those of minimum residual, by LSQR.

    An example has also converged if its residual is orthogonal to all columns within the tolerance `normal`,
    relative to the norms of the residual and of the matrix.

    References
    ----------
    Paige and Saunders, "LSQR: An Algorithm for Sparse Linear Equations and Sparse Least Squares", ACM Transactions on
    Mathematical Software 8 (1982), pages 43 to 71.
    """

    def normalise(x: Tensor) -> tuple[Tensor, Tensor]:
        """The vector scaled to length 1, and its length in the vector's dtype."""
        length = astype(sqrt(square(x)), x.dtype)
        return ratio(x, length), length

    r = problem.b
    u, beta = normalise(r)
    v, alpha = normalise(problem.adjoint(u))
    first = square(r)
    tell = Watch(problem, first)

    def mark_converged(told: Progress, least: Tensor) -> Progress:
        """Marks examples as converged whose residual cannot decrease."""
        residual = where(least, minimum(told.residual, problem.goal), told.residual)
        return told._replace(going=logical_and(told.going, logical_not(least)), residual=residual)

    def step(state: tuple[Any, ...]) -> tuple[Any, ...]:
        progress, x, u, v, w, alpha, left, diagonal, total = state
        going = progress.going
        u, beta = normalise(problem.apply(v) - alpha * u)
        total = total + square(alpha) + square(beta)
        v, alpha = normalise(problem.adjoint(u) - beta * v)
        length = astype(sqrt(square(diagonal) + square(beta)), diagonal.dtype)
        c, s = ratio(diagonal, length), ratio(beta, length)
        theta, diagonal = s * alpha, -c * alpha
        part, left = c * left, s * left
        x = x + where(going, ratio(part, length), 0) * w
        w = v - ratio(theta, length) * w
        residual, gradient = square(left), square(left * alpha * c)
        told = tell(progress, residual)
        least = logical_and(going, gradient <= normal * normal * total * residual)
        told = mark_converged(told, least)
        return told, x, u, v, w, alpha, left, diagonal, total

    begun = mark_converged(tell.first, logical_and(tell.first.going, square(alpha) == 0))
    return Method((begun, problem.x0, u, v, v, alpha, beta, alpha, first * 0), step, tell.bound)
