"""Conjugate gradients, for Hermitian matrices that are definite."""

from __future__ import annotations

from typing import Any

from ..tensor import Tensor
from .iteration import Method, Problem, Watch, dot, square, step_of


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
    tell = Watch(problem, first)

    def with_product(z: Tensor, r: Tensor) -> tuple[Tensor, Tensor]:
        return z, dot(r, z)

    def step(state: tuple[Any, ...]) -> tuple[Any, ...]:
        progress, x, r, p, rz = state
        q = problem.apply(p)
        pq = dot(p, q)
        alpha = step_of(progress.going, rz, pq)
        x, r = x + alpha * p, r - alpha * q
        residual = square(r)
        z, after = (r, residual) if precondition is None else with_product(precondition(r), r)
        p = z + step_of(progress.going, after, rz) * p
        return tell(progress, residual, _broke(pq)), x, r, p, after

    return Method((tell.first, problem.x0, r, z, first if precondition is None else dot(r, z)), step, tell.bound)


def cg_adaptive(problem: Problem) -> Method:
    """Conjugate gradients that explicitly make each direction conjugate to the one before, by the product A p.

    They tolerate a matrix that is not quite symmetric, and a preconditioner that changes.

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
    tell = Watch(problem, first)

    def step(state: tuple[Any, ...]) -> tuple[Any, ...]:
        progress, x, r, p, q = state
        pq = dot(p, q)
        alpha = step_of(progress.going, dot(p, r), pq)
        x, r = x + alpha * p, r - alpha * q
        z = preconditioned(r)
        p = z - step_of(progress.going, dot(q, z), pq) * p
        return tell(progress, square(r), _broke(pq)), x, r, p, problem.apply(p)

    return Method((tell.first, problem.x0, r, p, problem.apply(p)), step, tell.bound)


def _broke(product: Tensor) -> Tensor | None:
    """Where the product of p and A p is 0; `None` for a single example, whose next residual is then not finite."""
    return None if product.ndim == 1 else product == 0
