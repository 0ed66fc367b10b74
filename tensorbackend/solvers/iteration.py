"""What the iterative methods share: the problem, its progress, and the loop.

Vectors have shape (..., n), numbers of each example shape (..., 1), so that they broadcast.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from ..expr.while_loops import while_loop
from ..ops.composite.contraction import matmul, vecdot
from ..ops.composite.elementwise.functions import logical_not
from ..ops.creation.filled import zeros
from ..ops.elementwise.binary import less_equal, logical_and, logical_or
from ..ops.elementwise.conversion import astype
from ..ops.elementwise.ternary import where
from ..ops.elementwise.unary import conj, real
from ..ops.reduction import any as any_
from ..ops.shape import reshape
from ..tensor import Tensor

Function: TypeAlias = Callable[[Tensor], Tensor]

GROWTH = 1e10
"""A squared residual that grows by this factor has diverged."""


class Problem(NamedTuple):
    """A linear system as the methods see it."""

    apply: Function
    """The matrix, projected where there is a null space."""
    adjoint: Function
    """Its conjugate transpose."""
    precondition: Function | None
    b: Tensor
    x0: Tensor
    goal: Tensor
    """The squared norm of a residual that is small enough."""
    most: Tensor
    """The most iterations, int32."""


class Progress(NamedTuple):
    """How far each example is."""

    going: Tensor
    iterations: Tensor
    converged: Tensor
    diverged: Tensor


class Method(NamedTuple):
    """What a method begins with and does in an iteration. A state begins with the progress and x."""

    start: tuple[Any, ...]
    step: Callable[[tuple[Any, ...]], tuple[Any, ...]]


def dot(x: Tensor, y: Tensor) -> Tensor:
    """The inner product of vectors, conjugate in the first: shape (..., 1)."""
    if x.ndim == y.ndim == 1:
        return reshape(matmul(conj(x) if x.dtype.is_complex else x, y), (1,))
    return vecdot(x, y)[..., None]


def square(x: Tensor) -> Tensor:
    """The squared norm of vectors: real, shape (..., 1)."""
    found = dot(x, x)
    return real(found) if found.dtype.is_complex else found


def ratio(numerator: Tensor, denominator: Tensor) -> Tensor:
    """A quotient that is 0 where the denominator is."""
    nothing = denominator == 0
    return where(nothing, 0, numerator / where(nothing, 1, denominator))


def held(going: Tensor, factor: Tensor) -> Tensor:
    """A factor of examples that go on, 0 for the others; of a single one, which goes on as long as the loop, itself."""
    return factor if going.ndim == 1 else where(going, factor, 0)


def watched(problem: Problem, first: Tensor, count: int = 1) -> Callable[..., Progress]:
    """What tells the progress of a method from the squared norm of the residual, first of all of the first one.

    Each call after the first counts so many iterations.
    """
    bound = first * GROWTH + problem.goal

    def progress(before: Progress | None, residual: Tensor, broke: Tensor | None = None) -> Progress:
        converged, finite = less_equal(residual, problem.goal), less_equal(residual, bound)
        if before is None:
            iterations = zeros(problem.most.shape, dtype=problem.most.dtype, like=problem.most)
        elif residual.ndim == 1:
            iterations = before.iterations + count
        else:
            iterations = before.iterations + astype(before.going, problem.most.dtype) * count
        diverged = logical_not(finite)  # as it is for NaN
        if broke is not None:
            diverged = logical_or(diverged, logical_and(broke, logical_not(converged)))
        going = logical_and(logical_not(logical_or(converged, diverged)), iterations < problem.most)
        if before is not None and residual.ndim > 1:
            going = logical_and(going, before.going)
            converged = where(before.going, converged, before.converged)
            diverged = where(before.going, diverged, before.diverged)
        return Progress(going, iterations, converged, diverged)

    return progress


def iterated(method: Method, trajectory: Sequence[int] | None) -> tuple[Tensor, Progress]:
    """The solution and its progress in the end, or stacked for some numbers of iterations."""

    def goes_on(state: tuple[Any, ...]) -> Tensor:
        going = state[0].going
        return reshape(going, ()) if going.ndim == 1 else any_(going)

    state = while_loop(goes_on, method.step, method.start, trajectory=trajectory)
    return state[1], state[0]
