"""The gradient of a solve, which is another solve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import GradientError, expected
from ..expr.grad.custom import custom_gradient
from ..expr.grad.functions import vjp
from ..expr.trees import flatten
from ..ops.creation.filled import zeros_like
from ..ops.elementwise.basic import astype, conj, where
from ..ops.elementwise.binary import maximum, minimum
from ..select import common_backend
from ..tensor import Tensor
from .core import Inputs, Outcome, Plan, require_convergence, solve_scaled
from .iteration import norm, ratio
from .linear import Form, TransposedForm

HERMITIAN = ("cg", "cg-adaptive")
"""Methods for matrices that are their own conjugate transposes."""

DEFAULT_RTOL = 1e-5
"""The relative tolerance that `solve` has by default."""

Values = Sequence[Tensor]


def solve_with_gradient(plan: Plan, tensors: Inputs) -> Outcome:
    """The solution of a system, with gradients with respect to b and to the values of the matrix.

    No gradient flows through the iterations. The gradient is that of the solution as a function of the arguments. It
    is NaN if its own solve does not converge.
    """
    if common_backend(flatten(tensors)[0]).dispatch_priority <= 1:  # nothing records the computation
        return solve_scaled(plan, tensors)
    constant = _detach(tensors)
    outcome = solve_scaled(plan, constant)

    def parts(values: Values) -> tuple[Tensor, ...]:
        rest = iter(values)
        return tuple([next(rest) if x.dtype.is_inexact else x for x in constant.parts])

    @custom_gradient
    def implicit(values: Values, b: Tensor, x: Tensor) -> Any:
        def pull(cotangent: Tensor) -> Any:
            if plan.trajectory is not None:
                remedy = "solve without a trajectory to get a gradient"
                raise GradientError(expected("no gradient through the trajectory of a solve", remedy))
            # x as a function of the arguments, so that a second derivative sees how it depends on them.
            solution = implicit(values, b, x)
            of = constant._replace(parts=parts(values), b=b)
            by_b = _solve_transpose(plan, of, cotangent)
            return _cotangents_of_values(plan, of, values, parts, solution, by_b, cotangent), by_b, None

        return x, pull

    values = [x for x in tensors.parts if x.dtype.is_inexact]
    return outcome._replace(x=implicit(values, tensors.b, outcome.x))


def _detach(tensors: Inputs) -> Inputs:
    def detach(part: Any) -> Any:
        if isinstance(part, tuple):
            return tuple([x.detach() for x in part])
        return None if part is None else part.detach()

    return Inputs(*map(detach, tensors))


def _transpose_form(form: Form) -> Form:
    return form.form if isinstance(form, TransposedForm) else TransposedForm(form)


def _solve_transpose(plan: Plan, tensors: Inputs, b: Tensor) -> Tensor:
    """Solves with the transpose (not conjugated) of the matrix for another b, to the tolerances of the first solve."""
    before = norm(tensors.b)
    # An absolute tolerance says nothing about another b. One that is larger than b would make the gradient 0.
    relative = minimum(where(before == 0, DEFAULT_RTOL, ratio(tensors.atol, before)), DEFAULT_RTOL)
    rtol = maximum(tensors.rtol, where(tensors.atol == 0, 0, relative)).detach()
    basis = None if tensors.basis is None else conj(tensors.basis)
    other = tensors._replace(b=b, rtol=rtol, atol=zeros_like(rtol), basis=basis)
    if plan.method in HERMITIAN:
        return conj(_reliable(plan, other._replace(b=conj(b), x0=zeros_like(b), basis=tensors.basis)))
    form = _transpose_form(plan.form)
    preconditioner = None if plan.preconditioner is None else _transpose_form(plan.preconditioner)
    start = zeros_like(tensors.b)  # one element for each row of the matrix
    return _reliable(plan._replace(form=form, preconditioner=preconditioner), other._replace(x0=start))


def _reliable(plan: Plan, tensors: Inputs) -> Tensor:
    """The solution from x0 = 0, with gradients; NaN for examples that have not converged, or an error on request."""
    outcome = solve_with_gradient(plan._replace(at_zero=True), tensors)
    factor = require_convergence(outcome) if plan.refuses else where(outcome.converged, 1, _NAN)
    # A factor, as it makes NaN of the solution's derivatives too.
    return outcome.x * astype(factor, tensors.rtol.dtype)[..., None]


_NAN = float("nan")


def _cotangents_of_values(
    plan: Plan, tensors: Inputs, values: Values, parts: Any, x: Tensor, by_b: Tensor, cotangent: Tensor
) -> list[Tensor]:
    """The cotangents of the values of the matrix."""
    if not values:
        return []

    def pull(at: Tensor, cotangent: Tensor) -> tuple[Tensor, ...]:
        """The cotangents of the values, by the vector-Jacobian product of the product with a vector."""
        cotangents: tuple[Tensor, ...] = vjp(lambda *values: plan.form(parts(values), at), *values)[1](cotangent)
        return cotangents

    cotangents = pull(x, -by_b)
    if plan.method != "lsqr":
        return list(cotangents)
    # The derivative of the pseudo-inverse: Golub and Pereyra, SIAM Journal on Numerical Analysis 10 (1973), pages 413
    # to 432.
    residual = tensors.b - plan.form(tensors.parts, x)
    back = tensors._replace(x0=zeros_like(x), b=conj(by_b), atol=zeros_like(tensors.atol))
    of_rows = _reliable(plan, back)
    of_columns = _solve_transpose(plan, tensors, conj(x))
    outside = cotangent - plan.form.apply_transpose(tensors.parts, by_b)
    more = pull(of_rows, conj(residual)), pull(conj(outside), of_columns)
    return [sum_of(terms) for terms in zip(cotangents, *more, strict=True)]


def sum_of(tensors: Sequence[Tensor]) -> Tensor:
    """The sum of tensors."""
    first, *rest = tensors
    for tensor in rest:
        first = first + tensor
    return first
