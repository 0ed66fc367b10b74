"""Nonlinear least squares by the method of Levenberg and Marquardt."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any, NamedTuple

from ..declarations.argument_errors import check_arguments
from ..dispatch.operands import nameless
from ..dtypes import finfo, float32, promote_types
from ..errors import ArgumentError, DTypeError, expected
from ..expr.arguments import is_tree
from ..expr.grad.jacobians import jacfwd
from ..expr.graph import Graph
from ..expr.jit import jit
from ..expr.while_loops import while_loop
from ..ops.composite.contraction import matmul
from ..ops.composite.elementwise.functions import isfinite, logical_not, square
from ..ops.creation.filled import eye, full, full_like
from ..ops.creation.values import asarray
from ..ops.elementwise.basic import astype, where
from ..ops.elementwise.binary import logical_and, logical_or, maximum
from ..ops.shape import matrix_transpose, reshape
from ..rules.plan import number
from ..solvers.direct import eliminate
from ..solvers.iteration import largest_magnitude, power
from ..tensor import Tensor
from ..tensor.missing_names import explain_missing
from .implicit import Minima, VectorFunction, minimum_with_gradient, objective, records, unknowns, value_at


@explain_missing
class LeastSquares(NamedTuple):
    """Result of `least_squares`."""

    x: Any
    residuals: Any
    """The values of the function there."""
    cost: Tensor
    """Half of the sum of their squares."""
    iterations: Tensor
    converged: Tensor
    diverged: Tensor
    """Whether there is a NaN or an infinity."""


class _State(NamedTuple):
    x: Tensor
    residuals: Tensor
    cost: Tensor
    damping: Tensor
    growth: Tensor
    iterations: Tensor
    converged: Tensor
    diverged: Tensor


@jit(static_argnums=(0, 1, 2))
def _levenberg_marquardt(
    graph: Graph, tolerance: float, most: int, constants: tuple[Tensor, ...], start: Tensor
) -> tuple[_State, Tensor]:
    """The last state, and the unit of its iterations.

    They compute in float32 at least, and with residuals divided by this unit, a power of two, so that the largest at
    the start is from 1 to 2: squares neither overflow nor underflow. The damping is that of H. B. Nielsen, "Damping
    parameter in Marquardt's method", 1999.
    """
    (result,) = graph.results
    kind = promote_types(promote_types(start.dtype, result.dtype), float32)

    def values(x: Tensor) -> Tensor:
        found = value_at(graph, constants, astype(x, start.dtype))
        return astype(reshape(nameless(found), (result.size,)), kind)

    begun = values(start)
    scale = reshape(power(largest_magnitude(begun)), ())

    def function(x: Tensor) -> Tensor:
        return values(x) * (1 / scale)

    def cost(residuals: Tensor) -> Tensor:
        return 0.5 * square(residuals).sum()

    def goes_on(state: _State) -> Tensor:
        return logical_and(logical_not(logical_or(state.converged, state.diverged)), state.iterations < most)

    unit, numbers = eye(start.shape[0], dtype=kind), finfo(kind)

    def iteration(state: _State) -> _State:
        columns = matrix_transpose(jacfwd(function)(state.x))
        # A row for each unknown, divided by a power of two and damped by its norm: units of unknowns do not matter.
        units = power(largest_magnitude(columns))
        columns = columns * (1 / units)
        normal, gradient = matmul(columns, matrix_transpose(columns)), matmul(columns, state.residuals)
        diagonal = maximum((normal * unit).sum(axis=0), numbers.smallest_normal)
        damped = eliminate(normal + unit * (state.damping * diagonal), -gradient)
        step = damped / units[:, 0]
        following = state.x + step
        residuals = function(following)
        value = cost(residuals)
        gain = state.cost - value
        foreseen = 0.5 * (damped * (state.damping * diagonal * damped - gradient)).sum()
        better = gain > 0
        ratio = gain / where(foreseen == 0, 1, foreseen)
        shrink = state.damping * maximum(1 / 3, 1 - (2 * ratio - 1) ** 3)
        # At least eps: a smaller damping leaves a singular matrix singular.
        damping = maximum(where(better, shrink, state.damping * state.growth), numbers.eps)
        small = (abs(step) <= tolerance * abs(state.x)).all()
        # The cosines of the angles between the residuals and the columns of slopes.
        flat = (square(gradient) <= tolerance * tolerance * 2 * state.cost * diagonal).all()
        slow = logical_and(better, gain <= tolerance * tolerance * state.cost)
        finite = isfinite(gradient).all()
        return _State(
            where(better, following, state.x),
            where(better, residuals, state.residuals),
            where(better, value, state.cost),
            damping,
            where(better, full((), 2, dtype=kind), state.growth * 2),
            state.iterations + 1,
            logical_and(logical_or(logical_or(small, flat), logical_or(slow, value == 0)), finite),
            logical_not(finite),
        )

    residuals = begun * (1 / scale)
    first = _State(
        astype(start, kind),
        residuals,
        cost(residuals),
        full((), 1e-3, dtype=kind),
        full((), 2, dtype=kind),
        full((), 0, dtype="int32"),
        cost(residuals) == 0,
        logical_not(isfinite(cost(residuals))),
    )
    last: _State = while_loop(goes_on, iteration, first)
    found = last._replace(x=astype(last.x, start.dtype), residuals=astype(last.residuals * scale, result.dtype))
    return found, scale


@check_arguments
def least_squares(
    function: Callable[[Any], Any], x0: Any, /, *, tolerance: float = 1e-8, max_iterations: int = 100
) -> LeastSquares:
    """Minimise the sum of the squares of a function's values near x0, by the method of Levenberg and Marquardt.

    Parameters
    ----------
    function : function of x
        Returns the residuals: a tensor of any shape, or a tree of tensors. It is traced.
    x0 : tensor, or tree of tensors
        The initial guess; integers are read as floats of the default dtype.
    tolerance : float, default 1e-8
        The search has converged if a step is smaller than this, relative to x, if the sum of squares decreases by less
        than its square, relative to the sum, or if the cosines between residuals and slopes are smaller.
    max_iterations : int, default 100
        The maximum number of iterations, those among them that do not decrease the sum.

    Returns
    -------
    LeastSquares
        The minimum, nested as x0, the residuals there, and flags that say whether the search converged.

    Raises
    ------
    ArgumentError
        For a tolerance that is not above 0.
    DTypeError
        For an x0 or residuals that are not floating.

    Notes
    -----
    An iteration solves a dense system of as many equations as there are unknowns. Gradients flow from the result to the
    tensors that the function closes over, by the implicit function theorem, not through the iterations.

    References
    ----------
    Nocedal and Wright, Numerical Optimization, second edition, section 10.3.

    Examples
    --------
    >>> t = tb.asarray([0.0, 1.0, 2.0], dtype="f64")
    >>> seen = 3.0 * tb.exp(-0.5 * t)
    >>> start = {"height": tb.asarray(1.0, dtype="f64"), "rate": tb.asarray(1.0, dtype="f64")}
    >>> fit = tb.optimize.least_squares(lambda p: p["height"] * tb.exp(-p["rate"] * t) - seen, start)
    >>> round(fit.x["height"].item(), 6), round(fit.x["rate"].item(), 6), fit.converged.item()
    (3.0, 0.5, True)
    """
    tolerance = number(0, tolerance=tolerance)
    given = unknowns(x0 if is_tree(x0) else [asarray(x0)])
    start = given.vector.detach()
    if not start.dtype.is_floating:
        raise DTypeError(expected("a floating x0", "cast it with astype()", dtype=start.dtype))

    def of_list(parts: Any) -> Any:
        return function(parts if is_tree(x0) else parts[0])

    flat = VectorFunction(of_list, given)
    traced = objective(flat, start)
    (result,) = traced.graph.results
    if not result.dtype.is_floating:
        raise DTypeError(expected("floating residuals", "take their real() and imag()", residuals=result))
    if not start.size:
        raise ArgumentError(expected("at least one unknown", x0=x0))
    last, scale = _levenberg_marquardt(
        traced.graph, tolerance, index(max_iterations), traced.constants_without_gradient, start
    )
    x, residuals = last.x, last.residuals
    if records([*traced.constants, x]):
        cost = objective(lambda x: 0.5 * square(flat(x) * (1 / scale)).sum(), start)
        bounds = full_like(start, -float("inf")), full_like(start, float("inf"))
        x = minimum_with_gradient(Minima(cost.graph, False), cost.constants, *bounds, x)
        residuals = value_at(traced.graph, traced.constants, x)
    found = given.nest(x)
    return LeastSquares(
        found if is_tree(x0) else found[0],
        flat.nest(residuals),
        0.5 * square(residuals).sum(),
        last.iterations,
        last.converged,
        last.diverged,
    )
