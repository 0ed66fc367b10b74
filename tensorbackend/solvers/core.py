"""One solve as a function of tensors, which is compiled for each set of static arguments."""

from __future__ import annotations

from typing import NamedTuple

from ..dtypes import finfo
from ..expr.jit import jit
from ..expr.vmap import vmap
from ..ops.composite.contraction import matmul
from ..ops.composite.elementwise.functions import isfinite, logical_not
from ..ops.creation.filled import iota, zeros
from ..ops.elementwise.binary import less_equal, logical_and, logical_or, maximum, minimum
from ..ops.elementwise.conversion import astype
from ..ops.elementwise.ternary import where
from ..ops.elementwise.unary import conj
from ..ops.shape import broadcast_to, matrix_transpose
from ..tensor import Tensor
from .biconjugate import bicgstab
from .conjugate import cg, cg_adaptive
from .direct import direct
from .iteration import Method, Problem, Progress, iterated, square
from .least_squares import lsqr
from .linear import Form, Linear
from .minimal import gmres


class Plan(NamedTuple):
    """The static parameters of a solve."""

    method: str
    number: int
    """The degree of `bicgstab`, the length of a cycle of `gmres`."""
    form: Form
    preconditioner: Form | None
    trajectory: tuple[int, ...] | None


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
def solved(plan: Plan, tensors: Inputs) -> Outcome:
    """The solution of a system."""
    basis, form = tensors.basis, plan.form

    def project(x: Tensor) -> Tensor:
        """x without its part in the null space."""
        if basis is None:
            return x
        return x - matmul(matmul(x, matrix_transpose(conj(basis))), basis)

    def apply(x: Tensor) -> Tensor:
        return project(form(tensors.parts, x))

    def adjoint(x: Tensor) -> Tensor:
        return conj(form.transposed(tensors.parts, conj(x)))

    def precondition(x: Tensor) -> Tensor:
        assert plan.preconditioner is not None  # it is called only then
        return project(plan.preconditioner(tensors.preconditioner, x))

    b = project(tensors.b)
    goal = maximum(square(b) * tensors.rtol**2, tensors.atol**2)
    problem = Problem(
        apply, adjoint, precondition if plan.preconditioner else None, b, project(tensors.x0), goal, tensors.most
    )
    if plan.method == "direct":
        x = project(direct(Linear(form, tensors.parts), b))
        none = zeros(goal.shape, dtype="bool", backend=b.backend)
        progress = Progress(none, astype(none, "int32"), goal)
        bound = goal
        if plan.trajectory is not None:
            x, progress = _repeated(x, progress, len(plan.trajectory))
    else:
        method = _method(plan, problem, tensors)
        (x, progress), bound = iterated(method, plan.trajectory), method.bound
    return _verified(plan, problem, x, progress, bound, tensors.rtol)


def _repeated(x: Tensor, progress: Progress, count: int) -> tuple[Tensor, Progress]:
    """The result of a solve without iterations, repeated for each entry of a trajectory."""
    return broadcast_to(x, (count, *x.shape)), Progress(
        *(broadcast_to(part, (count, *part.shape)) for part in progress)
    )


def _method(plan: Plan, problem: Problem, tensors: Inputs) -> Method:
    if plan.method == "cg":
        return cg(problem)
    if plan.method == "cg-adaptive":
        return cg_adaptive(problem)
    if plan.method == "bicgstab":
        return bicgstab(problem, plan.number)
    if plan.method == "gmres":
        return gmres(problem, plan.number)
    return lsqr(problem, tensors.rtol)


def _verified(plan: Plan, problem: Problem, x: Tensor, progress: Progress, bound: Tensor, rtol: Tensor) -> Outcome:
    """Judges convergence by the residual itself, because errors add up in a method's recurrence.

    The residual may be 10 times the tolerance, or as large as the rounding errors of a product with x, up to sqrt(eps)
    times the norm of b, which is half of the digits of b.
    """
    sign = where(iota(x.shape[-1], dtype="int32", backend=x.backend) % 2 == 0, 1, -1)
    probe = broadcast_to(astype(sign, x.dtype), x.shape if plan.trajectory is None else x.shape[1:])
    size = square(problem.apply(probe)) / x.shape[-1]  # about the squared norm of the matrix

    def residual(x: Tensor) -> Tensor:
        return problem.b - problem.apply(x)

    r = residual(x) if plan.trajectory is None else vmap(residual)(x)
    left = square(r)
    epsilon = finfo(x.dtype).eps
    rounding = minimum(size * square(x) * (100 * epsilon) ** 2, square(problem.b) * epsilon)
    met = less_equal(left, maximum(problem.goal * 100, rounding))
    if plan.method == "lsqr":
        normal = square(problem.adjoint(r) if plan.trajectory is None else vmap(problem.adjoint)(r))
        scale = maximum(size, 1e-30) * left
        met = logical_or(met, less_equal(normal, scale * maximum(100 * rtol**2, x.shape[-1] * epsilon)))
    diverged = logical_not(logical_and(progress.residual <= bound, isfinite(left)))
    converged = logical_and(logical_and(progress.residual <= problem.goal, met), logical_not(diverged))
    return Outcome(x, r, progress.iterations[..., 0], converged[..., 0], diverged[..., 0])
