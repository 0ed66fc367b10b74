"""Conjugate gradients, for Hermitian matrices that are definite."""

from __future__ import annotations

from typing import Any

from ..tensor import Tensor
from .iteration import Method, Problem, dot, held, ratio, square, watched


def cg(problem: Problem) -> Method:
    """Conjugate gradients.

    References
    ----------
    Saad, Iterative Methods for Sparse Linear Systems, second edition, algorithms 6.18 and 9.1.
    """
    precondition = problem.precondition
    r = problem.b - problem.apply(problem.x0)
    z = r if precondition is None else precondition(r)
    first = square(r)
    tell = watched(problem, first)

    def with_product(z: Tensor, r: Tensor) -> tuple[Tensor, Tensor]:
        return z, dot(r, z)

    def step(state: tuple[Any, ...]) -> tuple[Any, ...]:
        progress, x, r, p, rz = state
        q = problem.apply(p)
        pq = dot(p, q)
        alpha = held(progress.going, ratio(rz, pq))
        x, r = x + alpha * p, r - alpha * q
        residual = square(r)
        z, after = (r, residual) if precondition is None else with_product(precondition(r), r)
        p = z + held(progress.going, ratio(after, rz)) * p
        return tell(progress, residual, pq == 0), x, r, p, after

    return Method((tell(None, first), problem.x0, r, z, first if precondition is None else dot(r, z)), step)


def cg_adaptive(problem: Problem) -> Method:
    """Conjugate gradients whose directions are made conjugate anew in each iteration, by the product that is there.

    They bear a matrix that is not quite symmetric, and a preconditioner that changes.

    References
    ----------
    Hestenes and Stiefel, "Methods of Conjugate Gradients for Solving Linear Systems", Journal of Research of the
    National Bureau of Standards 49 (1952), section 5.
    """
    precondition = problem.precondition

    def preconditioned(r: Tensor) -> Tensor:
        return r if precondition is None else precondition(r)

    r = problem.b - problem.apply(problem.x0)
    p = preconditioned(r)
    first = square(r)
    tell = watched(problem, first)

    def step(state: tuple[Any, ...]) -> tuple[Any, ...]:
        progress, x, r, p, q = state
        pq = dot(p, q)
        alpha = held(progress.going, ratio(dot(p, r), pq))
        x, r = x + alpha * p, r - alpha * q
        z = preconditioned(r)
        p = z - held(progress.going, ratio(dot(q, z), pq)) * p
        return tell(progress, square(r), pq == 0), x, r, p, problem.apply(p)

    return Method((tell(None, first), problem.x0, r, p, problem.apply(p)), step)
