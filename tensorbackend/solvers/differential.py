"""Initial value problems of ordinary differential equations, and their gradients by the adjoint equation.

The method is that of Dormand and Prince, with adaptive steps and dense output.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import nan
from operator import index
from typing import Any, Final, Literal, NamedTuple

from ..declarations.argument_errors import check_arguments
from ..dispatch.operands import nameless
from ..dtypes import finfo, float32, promote_types
from ..errors import ArgumentError, DTypeError, ShapeError, expected
from ..expr.arguments import is_tree
from ..expr.closures import close
from ..expr.control import scan
from ..expr.evaluate import evaluate
from ..expr.grad.custom import custom_gradient
from ..expr.grad.functions import vjp
from ..expr.graph import Graph
from ..expr.jit import jit
from ..expr.trace import trace_leaves
from ..expr.trees import flatten, leaves_like, unflatten
from ..expr.while_loops import while_loop
from ..ops.composite.elementwise.functions import isfinite, square, stop_gradient
from ..ops.composite.reduction import mean
from ..ops.creation.filled import full, zeros
from ..ops.creation.values import asarray, beside, operand_tensors
from ..ops.elementwise.basic import astype, where
from ..ops.elementwise.binary import greater_equal, less_equal, logical_and, logical_or, maximum, minimum
from ..ops.elementwise.transcendental import sqrt
from ..ops.inspection import result_type
from ..ops.shape import concatenate
from ..rules.plan import choice, number
from ..tensor import Tensor, TensorLike
from ..tensor.missing_names import explain_missing
from .linear import flat_vector, split_vector

Gradient = Literal["adjoint", "direct"]


@explain_missing
class Trajectory(NamedTuple):
    """Result of `solve_ivp`."""

    times: Tensor
    y: Any
    """The values at these times, nested as y0; each tensor has the axis of the times before its own."""
    steps: Tensor
    """The number of steps, those that were rejected among them."""
    converged: Tensor
    """Whether the end was reached."""


class Options(NamedTuple):
    """What decides a compiled integration."""

    rtol: float
    atol: float
    most: int
    direct: bool


def _integrate(
    graph: Graph, options: Options, constants: Sequence[Tensor], y0: Tensor, span: Tensor, times: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The values at the times, the number of steps, and whether the end was reached."""
    sign = where(span[1] >= span[0], full((), 1, dtype=y0.dtype), -1)

    def slope(t: Tensor, y: Tensor) -> Tensor:
        (value,) = evaluate(graph, [*constants, span[0] + sign * t, y])
        return sign * value

    end = abs(span[1] - span[0])
    limit = options.most if options.direct else None
    ended = integrate(slope, y0, end, sign * (times - span[0]), options.rtol, options.atol, options.most, limit)
    return ended.values, ended.steps, logical_and(_reaches(ended.t, end), ~ended.failed)


_compiled = jit(_integrate, static_argnums=(0, 1))


def _solve_with_adjoint(
    graph: Graph, options: Options, constants: Sequence[Tensor], y0: Tensor, span: Tensor, times: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The same, with a gradient by the adjoint equation, which is solved backwards from time to time."""

    @custom_gradient
    def solve(constants: tuple[Tensor, ...], y0: Tensor, span: Tensor, times: Tensor) -> Any:
        solution = _compiled(graph, options, tuple(constants), y0, span, times)

        def pull(cotangents: Any) -> Any:
            values = solve(constants, y0, span, times)[0]
            return _pull(graph, options, constants, y0, span, times, values, cotangents[0])

        return solution, pull

    result: tuple[Tensor, Tensor, Tensor] = solve(tuple(constants), y0, span, times)
    return result


def _pull(
    graph: Graph,
    options: Options,
    constants: Sequence[Tensor],
    y0: Tensor,
    span: Tensor,
    times: Tensor,
    values: Tensor,
    cotangents: Tensor,
) -> Any:
    """The cotangents of the constants, of y0, of the span and of the times."""
    moving = [x.dtype.is_inexact for x in constants]
    count, size = y0.shape[0], sum(x.size for x, moves in zip(constants, moving, strict=True) if moves)

    def slope(chosen: Sequence[Tensor], t: Tensor, y: Tensor) -> Tensor:
        rest = iter(chosen)
        every = [next(rest) if moves else x for x, moves in zip(constants, moving, strict=True)]
        (value,) = evaluate(graph, [*every, t, y])
        return value

    chosen = [x for x, moves in zip(constants, moving, strict=True) if moves]

    def augmented(t: Tensor, state: Tensor) -> Tensor:
        y, adjoint = state[:count], state[count : 2 * count]
        value, back = vjp(lambda y, *chosen: slope(chosen, t, y), y, *chosen)
        by_y, *by_constants = back(-adjoint)
        return concatenate([value, by_y, *(astype(flat_vector(x), y0.dtype) for x in by_constants)])

    def interval(carry: tuple[Tensor, Tensor], row: tuple[Tensor, ...]) -> Any:
        adjoint, total = carry
        at, before, y, cotangent = row
        adjoint = adjoint + cotangent
        start = concatenate([y, adjoint, total])
        found = _solve_flat(
            augmented, options, start, concatenate([flat_vector(at), flat_vector(before)]), flat_vector(before)
        )[0]
        by_time = (cotangent * slope(chosen, at, y)).sum()
        return (found[0, count : 2 * count], found[0, 2 * count :]), by_time

    before = concatenate([span[:1], times[:-1]])
    first = zeros((count,), dtype=y0.dtype), zeros((size,), dtype=y0.dtype)
    (by_y0, total), by_times = scan(interval, first, (times, before, values, cotangents), reverse=True)
    pieces = split_vector(total, [nameless(x).template for x in chosen])
    found = [astype(piece, x.dtype) for piece, x in zip(pieces, chosen, strict=True)]
    rest = iter(found)
    by_constants = tuple(next(rest) if moves else None for moves in moving)
    by_start = -(by_y0 * slope(chosen, span[0], y0)).sum()
    return by_constants, by_y0, concatenate([flat_vector(by_start), zeros((1,), dtype=y0.dtype)]), by_times


def _solve_flat(
    function: Callable[[Tensor, Tensor], Tensor], options: Options, y0: Tensor, span: Tensor, times: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """A problem of one vector."""
    graph = trace_leaves(lambda leaves: function(*leaves), [span[0].template, y0.template], ["t", "y"])
    (closed,), constants = close([graph])
    if options.direct:
        return _integrate(closed, options, constants, y0, span, times)
    return _solve_with_adjoint(closed, options, constants, y0, span, times)


@check_arguments
def solve_ivp(
    function: Callable[[Tensor, Any], Any],
    span: Sequence[TensorLike] | TensorLike,
    y0: Any,
    /,
    *,
    times: TensorLike | None = None,
    rtol: float = 1e-3,
    atol: float = 1e-6,
    max_steps: int = 10_000,
    gradient: Gradient = "adjoint",
) -> Trajectory:
    """Solve dy/dt = function(t, y) from y0, with adaptive steps of the method of Dormand and Prince.

    Parameters
    ----------
    function : function of a time and of y
        Returns the derivative of y by time, nested as y. It is traced.
    span : pair of numbers or tensors
        The first and the last time; the last may be before the first.
    y0 : tensor, or tree of tensors
        A list or tuple of numbers is a tensor.
        The real values at the first time.
    times : Tensor, optional
        The times at which y is returned, in the order in which they are passed, between those of `span`; by default
        these two. Values between steps are interpolated (dense output of order 4).
    rtol, atol : float
        The relative and the absolute tolerance: the estimated error of a step is at most `atol + rtol * abs(y)`, in the
        root mean square.
    max_steps : int, default 10_000
        The maximum number of steps.
    gradient : {"adjoint", "direct"}, default "adjoint"
        How the gradient is computed. "adjoint" solves another equation backwards in time, to the same tolerances, and
        keeps the values at `times` alone. "direct" differentiates the steps, which is exact for the computed values,
        and keeps `max_steps` of them: choose a small number.

    Returns
    -------
    Trajectory
        The times, the values there, the number of steps, and whether the end was reached. Times that were not reached,
        or are not between those of the span, have NaN. There are gradients with respect to y0, the times, and the
        tensors that the function closes over.

    Raises
    ------
    ArgumentError
        For tolerances that are not above 0, for less than 1 step, and for another word as `gradient`.
    DTypeError
        For a complex y0.
    ShapeError
        For a span of other than two times, times with several axes, and a function that returns other shapes than those
        of y.

    References
    ----------
    Dormand and Prince, "A family of embedded Runge-Kutta formulae", Journal of Computational and Applied Mathematics 6,
    1980. Chen et al., "Neural ordinary differential equations", NeurIPS 2018.

    Examples
    --------
    >>> decay = lambda rate: tb.solvers.solve_ivp(lambda t, y: -rate * y, (0.0, 1.0), tb.ones(1), rtol=1e-6).y[-1, 0]
    >>> round(decay(2.0).item(), 4), round(tb.grad(decay)(2.0).item(), 4)
    (0.1353, -0.1353)
    """
    direct = choice(("adjoint", "direct"), gradient=gradient) == "direct"
    options = Options(number(0, rtol=rtol), number(0, atol=atol), index(max_steps), direct)
    if options.most < 1:
        raise ArgumentError(expected("at least 1 step", max_steps=max_steps))
    if type(y0) in (list, tuple) and not is_tree(y0):
        y0 = asarray(y0)  # numbers in a list, as in SciPy
    given, tree = flatten(y0)
    if not given:
        raise ArgumentError(expected("a y0 with a tensor in it", y0=y0))
    parts = operand_tensors(*given)
    dtype = promote_types(result_type(*parts), float32)
    if not dtype.is_floating:
        raise DTypeError(expected("a real y0", "integrate its real and imaginary parts", dtype=dtype))

    def as_times(value: Any) -> Tensor:
        return astype(beside(value, parts[0].backend, next_to=dtype), dtype)

    ends = list(span) if isinstance(span, list | tuple) else [asarray(span)]
    bounds = concatenate([flat_vector(as_times(x)) for x in ends]) if len(ends) == 2 else flat_vector(as_times(ends[0]))
    if bounds.shape != (2,):
        raise ShapeError(expected("a span of two times", span=bounds.template))
    asked = bounds if times is None else as_times(times)
    if asked.ndim != 1:
        raise ShapeError(expected("times along one axis", times=asked.template))

    templates = [x.template for x in parts]

    def flat_function(t: Tensor, vector: Tensor) -> Tensor:
        found = leaves_like(
            tree,
            function(t, unflatten(tree, split_vector(vector, templates))),
            "the derivative",
            "to be nested like y0",
        )
        tensors = operand_tensors(*found)
        for x, like in zip(tensors, parts, strict=True):
            if x.shape != like.shape:
                raise ShapeError(expected(f"a derivative of shape {like.shape}", derivative=x.template))
        return concatenate([astype(flat_vector(x), dtype) for x in tensors])

    start = concatenate([astype(flat_vector(x), dtype) for x in parts])
    values, steps, converged = _solve_flat(flat_function, options, start, bounds, flat_vector(asked))
    y = unflatten(tree, split_vector(values, templates, asked.names))
    return Trajectory(asked, y, steps, converged)


Slope = Callable[[Tensor, Tensor], Tensor]
"""The derivative of a vector by time, from the time and the vector."""

_AT: Final = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0)
_STAGES: Final = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
)
_WEIGHTS: Final = (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84)
_ERRORS: Final = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)
_DENSE: Final = (
    -12715105075 / 11282082432, 0.0, 87487479700 / 32700410799, -10690763975 / 1880347072,
    701980252875 / 199316789632, -1453857185 / 822651844, 69997945 / 29380423,
)  # fmt: skip
"""Hairer, Nørsett and Wanner, Solving Ordinary Differential Equations I, second edition, II.5 and II.6."""


class Progress(NamedTuple):
    """The state between two steps."""

    t: Tensor
    y: Tensor
    slope: Tensor
    step: Tensor
    values: Tensor
    """The values at the requested times, a row for each; NaN where one is not reached."""
    steps: Tensor
    failed: Tensor
    """Whether the step became too small to go on."""


def _combination(weights: Sequence[float], slopes: Sequence[Tensor]) -> Tensor:
    terms = [slope * weight for weight, slope in zip(weights, slopes, strict=True) if weight]
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def _norm(x: Tensor) -> Tensor:
    """The root mean square."""
    return sqrt(mean(square(x)))


def _first_step(f: Slope, y: Tensor, slope: Tensor, rtol: float, atol: float) -> Tensor:
    """A step for which the error is about a hundredth of the tolerance (Hairer, Nørsett and Wanner, II.4)."""
    scale = atol + rtol * abs(y)
    size, speed = _norm(y / scale), _norm(slope / scale)
    first = where(logical_and(size > 1e-5, speed > 1e-5), 0.01 * size / maximum(speed, 1e-30), 1e-6)
    bend = _norm((f(first, y + first * slope) - slope) / scale) / first
    most = maximum(speed, bend)
    second = where(most > 1e-15, (0.01 / maximum(most, 1e-30)) ** 0.2, maximum(1e-6, first * 1e-3))
    return minimum(100 * first, second)


def _reaches(t: Tensor, end: Tensor) -> Tensor:
    """Whether a time is the end, but for rounding errors."""
    return greater_equal(t, end * (1 - 4 * float(finfo(t.dtype).eps)))


def integrate(
    f: Slope, y0: Tensor, end: Tensor, times: Tensor, rtol: float, atol: float, most: int, limit: int | None
) -> Progress:
    """Integrate from time 0 to `end`, and interpolate at times between them.

    With a `limit` the loop has a gradient; the sizes of steps are constants for it.
    """
    dtype, eps = y0.dtype, float(finfo(y0.dtype).eps)
    start = full((), 0, dtype=dtype)

    def advance(state: Progress) -> Progress:
        t, y, slope = state.t, state.y, state.slope
        step = stop_gradient(minimum(state.step, end - t))
        slopes = [slope]
        for at, weights in zip(_AT, _STAGES, strict=True):
            slopes.append(f(t + at * step, y + step * _combination(weights, slopes)))
        following = y + step * _combination(_WEIGHTS, slopes)
        slopes.append(f(t + step, following))
        scale = atol + rtol * maximum(abs(y), abs(following))
        error = stop_gradient(_norm(step * _combination(_ERRORS, slopes) / scale))
        accepted = error <= 1
        growth = where(isfinite(error), 0.9 * maximum(error, 1e-10) ** -0.2, 0.2)
        growth = minimum(maximum(growth, 0.2), where(accepted, full((), 10, dtype=dtype), 1))
        # Hairer's dense output of order 4.
        share = (times - t) / step
        # A time at the start is in the first step too, so that it has the derivatives of the interpolation.
        begun = logical_or(share > 0, logical_and(t == 0, share == 0))
        # A step that ends short of the end by a rounding error is the last one, so the end is in it.
        reached = maximum(t + step * (1 + 4 * eps), where(_reaches(t + step, end), end, 0.0))
        inside = logical_and(logical_and(accepted, begun), less_equal(times, reached))
        part = where(inside, share, 0.0)[:, None]
        change = following - y
        bend = step * slope - change
        rest = change - step * slopes[-1] - bend
        dense = step * _combination(_DENSE, slopes)
        value = y + part * (change + (1 - part) * (bend + part * (rest + (1 - part) * dense)))
        small = step * growth < 4 * eps * maximum(abs(t), abs(end)) * 1e-3
        return Progress(
            where(accepted, t + step, t),
            where(accepted, following, y),
            where(accepted, slopes[-1], slope),
            step * growth,
            where(inside[:, None], value, state.values),
            state.steps + 1,
            logical_and(small, end - t > 2 * step),
        )

    slope = f(start, y0)
    values = where((times == 0)[:, None], y0, full((times.shape[0], y0.shape[0]), nan, dtype=dtype))
    first = stop_gradient(_first_step(f, y0, slope, rtol, atol))
    count, failed = full((), 0, dtype="int32"), full((), False, dtype="bool")

    def goes_on(state: Progress) -> Tensor:
        return logical_and(logical_and(~_reaches(state.t, end), state.steps < most), ~state.failed)

    return while_loop(goes_on, advance, Progress(start, y0, slope, first, values, count, failed), limit=limit)
