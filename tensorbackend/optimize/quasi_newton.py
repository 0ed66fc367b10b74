"""L-BFGS as one graph: batched, with bounds, compiled on any backend; and SciPy's methods, imported on first use, which
minimise one example after the other on the host.

Vectors have shape (..., n), and numbers for each example have shape (..., 1).
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from ..dispatch.operands import nameless
from ..dtypes import finfo
from ..errors import BackendError, UnsupportedOp, expected
from ..expr.evaluate import evaluate
from ..expr.expr_backend import ExprBackend
from ..expr.grad.functions import value_and_grad, vjp
from ..expr.graph import Graph
from ..expr.jit import jit
from ..expr.trees import flatten
from ..expr.while_loops import while_loop
from ..ops.composite.elementwise.functions import isfinite, logical_not
from ..ops.composite.shape.arranging import stack
from ..ops.creation.filled import full_like, ones_like, zeros, zeros_like
from ..ops.creation.values import asarray
from ..ops.elementwise.basic import astype, where
from ..ops.elementwise.binary import logical_and, logical_or, maximum, minimum
from ..ops.shape import reshape
from ..tensor import Tensor
from .implicit import value_at

DECREASE: Final = 1e-4
"""A step must bring at least this share of the decrease that the slope promises."""
CURVATURE: Final = 0.9
"""The share of the slope that may be left after a step."""
SEARCHES: Final = 30
"""The most evaluations in one search along a line."""


class Plan(NamedTuple):
    """The static parameters of a minimisation."""

    graph: Graph
    history: int
    bounded: bool
    trajectory: tuple[int, ...] | None


class Inputs(NamedTuple):
    """The tensors of a minimisation."""

    constants: tuple[Tensor, ...]
    x0: Tensor
    lower: Tensor
    upper: Tensor
    tolerance: Tensor
    most: Tensor


class State(NamedTuple):
    """The state between two iterations."""

    going: Tensor
    x: Tensor
    value: Tensor
    gradient: Tensor
    steps: Tensor
    """Shape (history, ..., n): the last steps, the latest first."""
    changes: Tensor
    """The changes of the gradient in these steps."""
    scales: Tensor
    """Shape (history, ..., 1): 1 over the inner product of each step and its change, 0 where there is no step."""
    iterations: Tensor
    converged: Tensor
    diverged: Tensor


def dot(x: Tensor, y: Tensor) -> Tensor:
    """The inner product, shape (..., 1)."""
    return (x * y).sum(axis=-1, keepdims=True)


@jit(static_argnums=0)
def minimise(plan: Plan, tensors: Inputs) -> State:
    """The last state, or the states of a trajectory.

    References
    ----------
    Nocedal and Wright, Numerical Optimization, second edition, algorithms 7.4 and 7.5; the search along a line of Lewis
    and Overton, "Nonsmooth optimization via quasi-Newton methods", Mathematical Programming 141 (2013), algorithm 2.6.
    """
    template = plan.graph.templates[-1]
    batch = tensors.x0.shape[:-1]
    epsilon = finfo(template.dtype).eps

    def both(x: Tensor) -> tuple[Tensor, Tensor]:
        """The value and the gradient of each example."""

        def values(x: Tensor) -> Tensor:
            return evaluate(plan.graph, [*tensors.constants, x])[0]

        value, pull = vjp(values, reshape(x, template.shape, names=template.names))
        (slope,) = pull(ones_like(value))
        return reshape(nameless(value), (*batch, 1)), reshape(nameless(slope), x.shape)

    def project_to_bounds(x: Tensor) -> Tensor:
        return minimum(maximum(x, tensors.lower), tensors.upper) if plan.bounded else x

    def free(x: Tensor, gradient: Tensor) -> Tensor:
        """The gradient, 0 where a step against it would leave the bounds."""
        if not plan.bounded:
            return gradient
        stuck = logical_or(logical_and(x <= tensors.lower, gradient > 0), logical_and(x >= tensors.upper, gradient < 0))
        return where(stuck, 0, gradient)

    def small(x: Tensor, gradient: Tensor) -> Tensor:
        return abs(free(x, gradient)).max(axis=-1, keepdims=True) <= tensors.tolerance

    def direction(state: State) -> Tensor:
        """A descent direction, from the gradient and the curvature of the last steps."""
        towards, shares = free(state.x, state.gradient), []
        for place in range(plan.history):
            share = state.scales[place] * dot(state.steps[place], towards)
            towards = towards - share * state.changes[place]
            shares.append(share)
        curvature = dot(state.changes[0], state.changes[0]) * state.scales[0]
        first = 1 / maximum(1.0, abs(state.gradient).sum(axis=-1, keepdims=True))
        towards = towards * where(curvature > 0, 1 / where(curvature > 0, curvature, 1), first)
        for place in reversed(range(plan.history)):
            share = state.scales[place] * dot(state.changes[place], towards)
            towards = towards + (shares[place] - share) * state.steps[place]
        return free(state.x, -towards) if not plan.bounded else where(free(state.x, state.gradient) == 0, 0, -towards)

    def search(state: State, towards: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """A step that satisfies the Wolfe conditions: x, value and gradient after it, and whether there is one."""
        slope = dot(state.gradient, towards)

        def iteration(carry: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
            searching, count, low, high, length, x, value, gradient = carry
            at = project_to_bounds(state.x + length * towards)
            new_value, new_gradient = both(at)
            sufficient_value = state.value + DECREASE * dot(state.gradient, at - state.x)
            noise = 4 * epsilon * maximum(abs(state.value), abs(new_value))
            enough = logical_and(new_value <= sufficient_value + noise, isfinite(new_value))
            left = dot(new_gradient, towards)
            far = left >= CURVATURE * slope
            done = enough if plan.bounded else logical_and(enough, far)
            high = where(enough, high, length)
            low = where(logical_and(enough, logical_not(far)), length, low)
            longer = where(high == float("inf"), 2 * length, (low + high) / 2)
            take = logical_and(searching, enough)
            return (
                logical_and(searching, logical_not(done)),
                count + 1,
                low,
                high,
                where(searching, longer, length),
                where(take, at, x),
                where(take, new_value, value),
                where(take, new_gradient, gradient),
            )

        start = (
            state.going,
            zeros((), dtype="int32", like=state.iterations),
            zeros_like(slope),
            full_like(slope, float("inf")),
            ones_like(slope),
            state.x,
            state.value,
            state.gradient,
        )
        last_carry = while_loop(lambda carry: logical_and(carry[0].any(), carry[1] < SEARCHES), iteration, start)
        x, value, gradient = last_carry[5:]
        return x, value, gradient, (x != state.x).any(axis=-1, keepdims=True)

    def iteration(state: State) -> State:
        towards = direction(state)
        downhill = dot(towards, state.gradient) < 0
        towards = where(downhill, towards, -free(state.x, state.gradient))
        x, value, gradient, moved = search(state, towards)
        step, change = x - state.x, gradient - state.gradient
        product = dot(step, change)
        kept = logical_and(product > epsilon * dot(change, change), state.going)
        scale = where(kept, 1 / where(kept, product, 1), 0)

        def push(rows: Tensor, new: Tensor) -> Tensor:
            if plan.history == 1:
                return where(kept, new, rows[0])[None]
            newer = stack([new, *(rows[place] for place in range(plan.history - 1))])
            return where(kept, newer, rows)

        stalled = state.value - value <= 4 * epsilon * maximum(abs(value), abs(state.value))
        finite = logical_and(isfinite(value), isfinite(gradient).all(axis=-1, keepdims=True))
        converged = logical_or(small(x, gradient), logical_and(logical_and(moved, stalled), finite))
        iterations = state.iterations + astype(state.going, "int32")
        diverged = logical_not(finite)
        going = logical_and(logical_not(logical_or(converged, diverged)), iterations < tensors.most)
        return State(
            logical_and(logical_and(going, moved), state.going),
            x,
            value,
            gradient,
            push(state.steps, step),
            push(state.changes, change),
            push(state.scales, scale),
            iterations,
            where(state.going, converged, state.converged),
            where(state.going, diverged, state.diverged),
        )

    x = project_to_bounds(tensors.x0)
    value, gradient = both(x)
    finite = logical_and(isfinite(value), isfinite(gradient).all(axis=-1, keepdims=True))
    done = logical_and(small(x, gradient), finite)
    rows = zeros((plan.history, *x.shape), dtype=x.dtype, like=x)
    start = State(
        logical_and(logical_and(logical_not(done), finite), tensors.most > 0),
        x,
        value,
        gradient,
        rows,
        rows,
        rows[..., :1],
        zeros(tensors.most.shape, dtype="int32", like=tensors.most),
        done,
        logical_not(finite),
    )
    last_state: Any = while_loop(lambda state: state.going.any(), iteration, start, trajectory=plan.trajectory)
    return State(*last_state)


METHODS: Final = (
    "Nelder-Mead", "Powell", "CG", "BFGS", "Newton-CG", "L-BFGS-B", "TNC", "COBYLA", "SLSQP", "trust-constr",
)  # fmt: skip
_WITHOUT_GRADIENT = ("Nelder-Mead", "Powell", "COBYLA")
_WITHOUT_BOUNDS = ("CG", "BFGS", "Newton-CG")


@jit(static_argnums=0)
def _value_and_gradient(
    graph: Graph, constants: tuple[Tensor, ...], x: Tensor, chosen: Tensor
) -> tuple[Tensor, Tensor]:
    """The value of the example whose weight in `chosen` is 1, and its gradient with respect to all of x."""
    template = graph.templates[-1]

    def total(x: Tensor) -> Tensor:
        value = value_at(graph, constants, reshape(x, template.shape, names=template.names))
        return (reshape(value, (-1,)) * chosen).sum()

    return value_and_grad(total)(x)


def minimise_with_scipy(method: str, plan: Any, tensors: Any) -> list[Tensor]:
    """Returns x, the value, the iterations, and whether each example has converged, and has diverged."""
    import numpy

    x0 = tensors.x0
    if any(isinstance(x.backend, ExprBackend) or not x.backend.holds_data for x in flatten(tensors)[0]):
        remedy = "use 'l-bfgs', or call it outside a trace, and take gradients on a tape"
        raise BackendError(expected("tensors with data for a method of SciPy", remedy, method=method, x0=x0.template))
    try:
        from scipy.optimize import minimize
    except ImportError:
        raise UnsupportedOp(expected(f"SciPy for the method {method!r}", "pip install scipy"), x0.dtype) from None
    if plan.bounded and method in _WITHOUT_BOUNDS:
        raise BackendError(expected(f"no bounds for the method {method!r}", "use 'l-bfgs' or 'L-BFGS-B'"))
    start = numpy.asarray(x0, numpy.float64)
    rows = start.reshape(-1, start.shape[-1])
    count = len(rows)
    lower, upper = (numpy.broadcast_to(numpy.asarray(x), start.shape).reshape(rows.shape) for x in tensors[2:4])
    tolerance, most = (numpy.asarray(x).reshape(count) for x in tensors[4:6])
    minimisers, facts = numpy.array(rows), []
    for place in range(count):
        chosen = asarray(numpy.eye(count)[place], dtype=x0.dtype, backend=x0.backend)

        def both(x: Any, place: int = place, chosen: Tensor = chosen) -> tuple[float, Any]:
            whole = numpy.array(rows)
            whole[place] = x
            at = asarray(whole.reshape(start.shape), dtype=x0.dtype, backend=x0.backend)
            value, slope = _value_and_gradient(plan.graph, tensors.constants, at, chosen)
            return float(value), numpy.asarray(slope, numpy.float64).reshape(rows.shape)[place]

        gradient = method not in _WITHOUT_GRADIENT
        bounds = list(zip(lower[place], upper[place], strict=True)) if plan.bounded else None
        result = minimize(
            both if gradient else lambda x, both=both: both(x)[0],
            rows[place],
            jac=True if gradient else None,
            method=method,
            tol=float(tolerance[place]),
            bounds=bounds,
            options={"maxfun" if method == "TNC" else "maxiter": int(most[place])},
        )
        minimisers[place] = result.x
        finite = bool(numpy.isfinite(result.fun)) and bool(numpy.isfinite(result.x).all())
        steps = getattr(result, "nit", getattr(result, "nfev", 0))
        facts.append((float(result.fun), int(steps), bool(result.success) and finite, not finite))
    batch = start.shape[:-1]
    columns = [asarray(numpy.array(column).reshape(batch), backend=x0.backend) for column in zip(*facts, strict=True)]
    x = asarray(minimisers.reshape(start.shape), dtype=x0.dtype, backend=x0.backend)
    value, iterations, converged, diverged = columns
    return [x, asarray(value, dtype=x0.dtype), asarray(iterations, dtype="int32"), converged, diverged]
