"""Parts that the iterative methods share: the problem, its progress, and the loop.

Vectors have shape (..., n), and numbers for each example have shape (..., 1), so that they broadcast. Methods start
from x = 0, with systems whose elements are scaled to be near 1 (`scaling.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from ..expr.vmap import vmap
from ..expr.while_loops import while_loop
from ..ops.composite.contraction import matmul, vecdot
from ..ops.creation.filled import zeros
from ..ops.elementwise.basic import astype, conj, real, where
from ..ops.elementwise.binary import logical_and
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
    """The conjugate transpose of the matrix."""
    precondition: Function | None
    b: Tensor
    """The right-hand side, which is the first residual; 0 for examples that need no iteration."""
    x0: Tensor
    """Zeros, in the shape of x."""
    goal: Tensor
    """The squared norm of a residual that is small enough."""
    most: Tensor
    """The most iterations, int32."""

    def preconditioned(self, x: Tensor) -> Tensor:
        """The preconditioner applied to x; x itself without one."""
        return x if self.precondition is None else self.precondition(x)


class Progress(NamedTuple):
    """The progress of the solution of each example."""

    going: Tensor
    iterations: Tensor
    residual: Tensor
    """The squared norm of the residual, as the method knows it; infinite where the method broke down."""


class Method(NamedTuple):
    """The start and the step of an iterative method. The first parts of a state are the progress and x."""

    start: tuple[Any, ...]
    step: Callable[[tuple[Any, ...]], tuple[Any, ...]]
    bound: Tensor
    """The squared residual beyond which the method has diverged."""
    finish: Callable[[tuple[Any, ...]], Tensor] | None = None
    """What makes x of the last state, if it is another x than that of the state."""


def dot(x: Tensor, y: Tensor) -> Tensor:
    """The inner product of vectors, conjugate in the first: shape (..., 1)."""
    if x.ndim == y.ndim == 1:
        return reshape(matmul(conj(x) if x.dtype.is_complex else x, y), (1,))
    return vecdot(x, y)[..., None]


def square(x: Tensor) -> Tensor:
    """The squared norm of vectors: real, shape (..., 1)."""
    product = dot(x, x)
    return real(product) if product.dtype.is_complex else product


def step_of(going: Tensor, numerator: Tensor, denominator: Tensor) -> Tensor:
    """The quotient, 0 for examples that are done. For a single example it may be NaN, which ends the loop."""
    return numerator / denominator if going.ndim == 1 else where(going, ratio(numerator, denominator), 0)


def ratio(numerator: Tensor, denominator: Tensor) -> Tensor:
    """The quotient, 0 where the denominator is 0."""
    nothing = denominator == 0
    return where(nothing, 0, numerator / where(nothing, 1, denominator))


def zero_if_done(going: Tensor, factor: Tensor) -> Tensor:
    """The factor, 0 for examples that are done. A single example continues with the loop, so its factor is kept."""
    return factor if going.ndim == 1 else where(going, factor, 0)


class Watch:
    """Computes the progress of a method from the squared norms of its residuals, of which `first` is the first."""

    def __init__(self, problem: Problem, first: Tensor) -> None:
        self.problem, self.bound = problem, first * GROWTH + problem.goal
        none = zeros(problem.most.shape, dtype=problem.most.dtype, like=problem.most)
        self.first = Progress(self._goes_on(none, first), none, first)

    def _goes_on(self, iterations: Tensor, residual: Tensor) -> Tensor:
        """Whether an example continues: its residual is not small enough, too large or NaN, and iterations remain."""
        open_ = logical_and(residual > self.problem.goal, residual <= self.bound)
        return logical_and(open_, iterations < self.problem.most)

    def __call__(self, before: Progress, residual: Tensor, broke: Tensor | None = None) -> Progress:
        """The progress after one more iteration; if the method `broke` down, the residual becomes infinite."""
        if broke is not None:
            residual = where(logical_and(broke, residual > self.problem.goal), _INFINITY, residual)
        if residual.ndim == 1:
            iterations = before.iterations + 1
            return Progress(self._goes_on(iterations, residual), iterations, residual)
        iterations = before.iterations + astype(before.going, before.iterations.dtype)
        residual = where(before.going, residual, before.residual)
        return Progress(logical_and(before.going, self._goes_on(iterations, residual)), iterations, residual)


_INFINITY = float("inf")


def iterate(method: Method, trajectory: Sequence[int] | None) -> tuple[Tensor, Progress]:
    """The solution and its progress at the end, or stacked for the numbers of iterations in a trajectory."""

    def goes_on(state: tuple[Any, ...]) -> Tensor:
        going = state[0].going
        return reshape(going, ()) if going.ndim == 1 else any_(going)

    state = while_loop(goes_on, method.step, method.start, trajectory=trajectory)
    if method.finish is None:
        return state[1], state[0]
    return (method.finish if trajectory is None else vmap(method.finish))(state), state[0]
