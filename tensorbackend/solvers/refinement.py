"""Iterative methods, restarted on the residual until it is small enough.

A method updates its residual, in which rounding errors accumulate; some methods break down. So when a method ends, the
residual is computed from x. If it is still too large and the method has decreased it, the method starts again with
that residual as its right-hand side. A residual is scaled like b, so that each run has the same precision.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from ..dtypes import finfo
from ..expr.vmap import vmap
from ..expr.while_loops import while_loop
from ..ops.composite.elementwise.functions import isfinite, logical_not
from ..ops.creation.filled import zeros_like
from ..ops.elementwise.basic import where
from ..ops.elementwise.binary import logical_and, logical_or, maximum, minimum
from ..ops.elementwise.transcendental import sqrt
from ..tensor import Tensor
from .iteration import GROWTH, Function, Method, Problem, iterate, power, scale_preconditioner, square

ROUNDING: Final = 10
"""How many times eps, the norm of x and the size of a row of A rounding may leave as a residual."""

LESS: Final = 0.9
"""The part of the residual that a run may leave, for another run to follow."""


class System(NamedTuple):
    """A scaled linear system, and its tolerances."""

    apply: Function
    adjoint: Function
    precondition: Function | None
    b: Tensor
    length: Tensor
    """The norm of b."""
    size: Tensor
    """The root of the mean squared norm of the rows of A."""
    tolerance: Tensor
    """The norm of a residual that is small enough."""
    normal: Tensor | None
    """The tolerance of a residual that is orthogonal to all columns, for least squares; relative to its norm."""


class State(NamedTuple):
    """The progress of the examples."""

    going: Tensor
    x: Tensor
    r: Tensor
    """b - A x."""
    left: Tensor
    """The norm of r."""
    met: Tensor
    """Whether r is small enough."""
    iterations: Tensor
    broke: Tensor
    """Whether the last run of the method broke down."""


def start_state(system: System, x: Tensor, most: Tensor, at_zero: bool) -> State:
    """The state before the first run, from x, which is 0 if it is `at_zero`."""
    if at_zero:
        r, left = system.b, system.length
        met = left <= system.tolerance if system.normal is None else _meets(system, x, r, left)
    else:
        r, left, met = _measure(system, x)
    none = zeros_like(met)
    goes_on = logical_and(logical_and(isfinite(left), logical_not(met)), most > 0)
    return State(goes_on, x, r, left, met, zeros_like(most), none)


def refine(system: System, method: Callable[[Problem], Method], start: State, most: Tensor) -> State:
    """The state after as many runs of a method as decrease the residual."""

    def iteration(before: State) -> State:
        change, iterations, broke = _run(system, method, before, most, None)
        iterations = before.iterations + iterations
        x = before.x + change
        r, left, met = _measure(system, x)
        spent = iterations >= most
        # The last iterate may have a larger residual, unless the method broke down.
        lasts = logical_and(spent, logical_not(broke))
        taken = logical_and(before.going, left <= where(lasts, before.left * GROWTH**0.5, before.left))
        more = logical_and(logical_not(logical_or(met, spent)), left <= LESS * before.left)
        return State(
            logical_and(taken, more),
            where(taken, x, before.x),
            where(taken, r, before.r),
            where(taken, left, before.left),
            where(taken, met, before.met),
            iterations,
            _select_active(before, broke, before.broke),
        )

    def goes_on(state: State) -> Tensor:
        return state.going.any()

    return while_loop(goes_on, iteration, start)


def refine_trajectory(
    system: System, method: Callable[[Problem], Method], start: State, most: Tensor, trajectory: Sequence[int]
) -> State:
    """The states of one run after each number of iterations in a trajectory, stacked."""
    change, iterations, broke = _run(system, method, start, most, trajectory)
    x = start.x + change
    r, left, met = vmap(lambda x: _measure(system, x))(x)
    return State(broke, x, r, left, met, iterations, broke)


def _run(
    system: System, method: Callable[[Problem], Method], state: State, most: Tensor, trajectory: Sequence[int] | None
) -> tuple[Tensor, Tensor, Tensor]:
    """One run of a method: the change of x, the number of iterations, and whether the method broke down."""
    unit = power(state.left)
    inverse = 1 / unit
    b = state.r * inverse
    epsilon = finfo(b.dtype).eps
    # The residual that a method updates ends a little below the tolerance, so that the residual itself is below it too.
    goal = maximum(system.tolerance * (1 - 300 * epsilon**0.5), state.left * (4 * epsilon)) * inverse
    goal = goal * goal
    if trajectory is not None:
        b, goal = where(state.going, b, 0), where(state.going, goal, 1)
    else:
        b, goal = _select_active(state, b, 0), _select_active(state, goal, 1)
    given = system.precondition
    problem = Problem(
        system.apply,
        system.adjoint,
        None if given is None else scale_preconditioner(given, b),
        b,
        zeros_like(state.x),
        goal,
        most - state.iterations,
    )
    solver = method(problem)
    change, progress = iterate(solver, trajectory)
    return change * unit, progress.iterations, logical_not(progress.residual <= solver.bound)


def _select_active(state: State, value: Tensor, other: Any) -> Tensor:
    """The value for examples that continue. Inside the loop a single example continues."""
    return value if state.going.ndim == 1 else where(state.going, value, other)


def _measure(system: System, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The residual, its norm, and whether it is small enough. Squares that underflow count as 0."""
    r = system.b - system.apply(x)
    left = sqrt(square(r))
    return r, left, _meets(system, x, r, left)


def _meets(system: System, x: Tensor, r: Tensor, left: Tensor) -> Tensor:
    """Whether a residual is small enough: within the tolerance, or within rounding errors."""
    epsilon = finfo(r.dtype).eps
    rounding = minimum(system.size * sqrt(square(x)) * (ROUNDING * epsilon), system.length * epsilon**0.5)
    met = left <= maximum(system.tolerance, rounding)
    if system.normal is not None:
        whole = system.size * max(r.shape[-1], 1) ** 0.5
        met = logical_or(met, sqrt(square(system.adjoint(r))) <= whole * maximum(left * system.normal, rounding))
    return met
