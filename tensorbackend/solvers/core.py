"""One solve as a function of tensors, compiled for each set of static arguments, and the error of one that fails."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy

from ..dtypes import finfo
from ..errors import ConvergenceError, expected
from ..expr.hooks import debug_callback, host_call
from ..expr.jit import jit
from ..ops.composite.contraction import matmul
from ..ops.composite.elementwise.functions import isfinite, logical_not
from ..ops.composite.linalg.norms import vector_norm
from ..ops.creation.filled import ones_like, zeros_like
from ..ops.elementwise.basic import conj, where
from ..ops.elementwise.binary import logical_and, logical_or, maximum
from ..ops.elementwise.transcendental import sqrt
from ..ops.shape import broadcast_to, matrix_transpose
from ..tensor import Tensor
from .direct import direct
from .iteration import Method, Problem, largest_magnitude, power, scale_system, square
from .linear import Form, Linear
from .methods import bicgstab, cg, cg_adaptive, gmres, lsqr
from .refinement import State, System, refine, refine_trajectory, start_state


class Plan(NamedTuple):
    """The static parameters of a solve."""

    method: str
    number: int
    """The degree of `bicgstab`, the length of a cycle of `gmres`."""
    form: Form
    preconditioner: Form | None
    trajectory: tuple[int, ...] | None
    at_zero: bool
    """Whether x0 is 0."""
    refuses: bool
    """Whether to raise an error for a solve that fails."""


class Inputs(NamedTuple):
    """The tensors of a solve."""

    parts: tuple[Tensor, ...]
    preconditioner: tuple[Tensor, ...]
    basis: Tensor | None
    """The basis of the null space: orthonormal rows."""
    b: Tensor
    x0: Tensor
    rtol: Tensor
    atol: Tensor
    most: Tensor


class Outcome(NamedTuple):
    """The result of a solve, for each example of the batch."""

    x: Tensor
    residual: Tensor
    iterations: Tensor
    converged: Tensor
    diverged: Tensor


@jit(static_argnums=0)
def solve_scaled(plan: Plan, tensors: Inputs) -> Outcome:
    """The solution of a system, in units in which the largest elements of A and of b are from 1 to 2."""
    basis, form = tensors.basis, plan.form

    def project(x: Tensor) -> Tensor:
        """x without its part in the null space."""
        if basis is None:
            return x
        return x - matmul(matmul(x, matrix_transpose(conj(basis))), basis)

    def precondition(x: Tensor) -> Tensor:
        assert plan.preconditioner is not None  # it is called only then
        return project(plan.preconditioner(tensors.preconditioner, x))

    b = project(tensors.b)
    matrix = scale_system(form, tensors.parts, b, tensors.x0.shape[-1])
    unit = power(largest_magnitude(b))
    b = b * (1 / unit)
    length = sqrt(square(b))
    system = System(
        lambda x: project(matrix.apply(x)),
        matrix.adjoint,
        precondition if plan.preconditioner else None,
        b,
        length,
        matrix.size,
        maximum(length * tensors.rtol, tensors.atol / unit),
        tensors.rtol if plan.method == "lsqr" else None,
    )
    # The solution for b = 0 is 0, whatever x0 is.
    x0 = tensors.x0 if plan.at_zero else where(length == 0, 0, project(tensors.x0) * (1 / unit) * matrix.power)
    if plan.method == "direct":
        x = where(length == 0, 0, project(direct(Linear(form, matrix.parts), b)))
        state = start_state(system, x, tensors.most, False)
        if plan.trajectory is not None:
            count = len(plan.trajectory)
            state = State(*(broadcast_to(part, (count, *part.shape)) for part in state))
        spent = zeros_like(state.met)  # a direct method has no limit of iterations
    else:
        start = start_state(system, x0, tensors.most, plan.at_zero)

        def method(problem: Problem) -> Method:
            return _method(plan, problem, tensors.rtol)

        if plan.trajectory is None:
            state = refine(system, method, start, tensors.most)
            spent = state.iterations >= tensors.most
        else:
            state = refine_trajectory(system, method, start, tensors.most, plan.trajectory)
            spent = ones_like(state.met)  # the end of a trajectory is not a failure
    return _outcome(state, spent, length, unit, matrix.power)


def _method(plan: Plan, problem: Problem, rtol: Tensor) -> Method:
    if plan.method == "cg":
        return cg(problem)
    if plan.method == "cg-adaptive":
        return cg_adaptive(problem)
    if plan.method == "bicgstab":
        return bicgstab(problem, plan.number)
    if plan.method == "gmres":
        return gmres(problem, plan.number)
    return lsqr(problem, rtol)


def _outcome(state: State, spent: Tensor, length: Tensor, unit: Tensor, power_of_matrix: Tensor) -> Outcome:
    """The outcome in the units of A and b, where `length` is 0 for a b of zeros.

    An example that has neither converged nor used all its iterations has diverged, and so has one whose x overflows or
    underflows.
    """
    scale = unit / power_of_matrix
    finite = isfinite(state.left)
    x = where(finite, state.x * scale, _NAN)
    normal = logical_or(scale >= finfo(scale.dtype).smallest_normal, length == 0)
    held = logical_and(isfinite(x).all(axis=-1, keepdims=True), normal)
    converged = logical_and(state.met, held)
    gone_wrong = logical_or(logical_or(state.broke, logical_not(held)), logical_not(spent))
    diverged = logical_and(logical_not(converged), gone_wrong)
    return Outcome(x, state.r * unit, state.iterations[..., 0], converged[..., 0], diverged[..., 0])


_NAN = float("nan")


def refuse_failure(outcome: Outcome) -> None:
    """Raises `ConvergenceError` unless all examples have converged; in compiled code too, once data are available."""

    def look(*flags: Tensor) -> None:
        _look("a solver", *map(numpy.asarray, flags))

    debug_callback(look, *_summary(outcome))


def require_convergence(outcome: Outcome) -> Tensor:
    """A number 1 for each example of a gradient's solve, or `ConvergenceError` unless all have converged.

    A gradient drops calls that are made only for side effects, but not a number that it multiplies by.
    """

    def ones(*flags: Any) -> Any:
        _look("the solve of a gradient", *flags)
        return numpy.ones(flags[0].shape)

    told = tuple([part.detach() for part in _summary(outcome)])
    return host_call(ones, told[0].template.replace(dtype=told[-1].dtype), *told)


def _summary(outcome: Outcome) -> tuple[Tensor, ...]:
    return outcome.converged, outcome.diverged, outcome.iterations, vector_norm(outcome.residual, axis=-1)


def _look(what: str, converged: Any, diverged: Any, iterations: Any, residual: Any) -> None:
    """Raises an error unless all examples have converged."""
    if converged.all():
        return
    remedy = "raise max_iterations or the tolerance, give a preconditioner or a null_space, or use another method"
    raise ConvergenceError(
        expected(
            f"{what} to converge",
            remedy,
            converged=converged.tolist(),
            diverged=diverged.tolist() if diverged.any() else False,
            iterations=iterations.tolist(),
            residual=residual.tolist(),
        )
    ).named("solve")
