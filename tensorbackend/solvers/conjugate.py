"""Conjugate gradients, for definite Hermitian matrices."""

from __future__ import annotations

from typing import Any

from ..ops.composite.elementwise.functions import isfinite
from ..ops.elementwise.ternary import where
from ..tensor import Tensor
from .iteration import Method, Problem, Watch, dot, square, step_of


def cg(problem: Problem) -> Method:
    """Conjugate gradients.

    References
    ----------
    Saad, Iterative Methods for Sparse Linear Systems, second edition, algorithms 6.18 and 9.1.
    """
    precondition = problem.precondition
    r = problem.b
    z = r if precondition is None else precondition(r)
    first = square(r)
    tell = Watch(problem, first)

    def preconditioned(z: Tensor, r: Tensor) -> tuple[Tensor, Tensor]:
        return z, dot(r, z)

    def step(state: tuple[Any, ...]) -> tuple[Any, ...]:
        progress, x, r, p, rz, _ = state
        before = x
        q = problem.apply(p)
        pq = dot(p, q)
        alpha = step_of(progress.going, rz, pq)
        x, r = x + alpha * p, r - alpha * q
        residual = square(r)
        z, after = (r, residual) if precondition is None else preconditioned(precondition(r), r)
        p = z + step_of(progress.going, after, rz) * p
        return tell(progress, residual, _broke(pq)), x, r, p, after, before

    rz = first if precondition is None else dot(r, z)
    return Method((tell.first, problem.x0, r, z, rz, problem.x0), step, tell.bound, _last)


def cg_adaptive(problem: Problem) -> Method:
    """Conjugate gradients that explicitly make each direction conjugate to the one before, by the product A p.

    They tolerate a matrix that is not quite symmetric, and a preconditioner that changes.

    References
    ----------
    Hestenes and Stiefel, "Methods of Conjugate Gradients for Solving Linear Systems", Journal of Research of the
    National Bureau of Standards 49 (1952), section 5.
    """
    r = problem.b
    p = problem.preconditioned(r)
    first = square(r)
    tell = Watch(problem, first)

    def step(state: tuple[Any, ...]) -> tuple[Any, ...]:
        progress, x, r, p, q, _ = state
        before = x
        pq = dot(p, q)
        alpha = step_of(progress.going, dot(p, r), pq)
        x, r = x + alpha * p, r - alpha * q
        z = problem.preconditioned(r)
        p = z - step_of(progress.going, dot(q, z), pq) * p
        return tell(progress, square(r), _broke(pq)), x, r, p, problem.apply(p), before

    return Method((tell.first, problem.x0, r, p, problem.apply(p), problem.x0), step, tell.bound, _last)


def _broke(product: Tensor) -> Tensor | None:
    """Whether the product of p and A p is 0; `None` for a single example, whose next residual is then not finite."""
    return None if product.ndim == 1 else product == 0


def _last(state: tuple[Any, ...]) -> Tensor:
    """The last x, or the one before if the last step divided by 0."""
    return where(isfinite(state[0].residual), state[1], state[-1])
