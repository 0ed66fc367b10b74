"""Roots of functions of vectors by Newton's method and of functions of numbers by bisection, and fixed points."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any, Generic, NamedTuple, TypeVar, overload

from ..declarations.argument_errors import check_arguments
from ..dtypes import default_dtype
from ..errors import DTypeError, ShapeError, expected
from ..expr.arguments import is_tree
from ..expr.grad.jacobians import jacobian
from ..expr.graph import Graph
from ..expr.jit import jit
from ..expr.while_loops import while_loop
from ..ops.composite.elementwise.functions import isfinite, logical_not
from ..ops.creation.filled import full
from ..ops.creation.values import asarray, operand_tensors
from ..ops.elementwise.basic import astype, sign, where
from ..ops.elementwise.binary import logical_and, logical_or, maximum
from ..ops.inspection import result_type
from ..ops.shape import broadcast_to, reshape
from ..rules.plan import number
from ..solvers.direct import eliminate
from ..solvers.linear import flat_vector
from ..tensor import Tensor, TensorLike
from ..tensor.missing_names import explain_missing
from .implicit import (
    VectorFunction,
    as_start,
    objective,
    records,
    root_with_gradient,
    scalar_roots_with_gradient,
    unknowns,
    value_at,
)

X = TypeVar("X")


@explain_missing
class Root(NamedTuple, Generic[X]):
    """Result of `root`, `fixed_point` and `bisect`."""

    x: X
    value: Any
    """The value of the function there."""
    iterations: Tensor
    converged: Tensor
    diverged: Tensor
    """Whether there is a NaN or an infinity, as after a singular Jacobian; for `bisect`, equal signs at both ends."""


@overload
def root(
    function: Callable[[Tensor], Any], x0: TensorLike, /, *, tolerance: float = ..., max_iterations: int = ...
) -> Root[Tensor]: ...
@overload
def root(function: Callable[[Any], Any], x0: X, /, *, tolerance: float = ..., max_iterations: int = ...) -> Root[X]: ...
@check_arguments
def root(function: Callable[[Any], Any], x0: Any, /, *, tolerance: float = 1e-6, max_iterations: int = 50) -> Root[Any]:
    """Find a root of a function near x0 by Newton's method.

    Parameters
    ----------
    function : function of x
        Takes a tensor or a tree like x0, and returns a tensor or a tree with the same number of elements. It is traced.
    x0 : tensor, or tree of tensors
        The initial guess; integers are read as floats of the default dtype. If it has no elements, it is the root
        itself.
    tolerance : float
        The search has converged if no element of the value has a larger magnitude.
    max_iterations : int
        The maximum number of iterations. The step of each is halved up to ten times until the value decreases.

    Returns
    -------
    Root
        The root, with flags that say whether the search converged.

    Raises
    ------
    ShapeError
        For a function that returns more or fewer elements than it takes.
    ArgumentError
        For a tolerance that is not above 0.

    Notes
    -----
    Gradients flow from the result to the tensors that the function closes over, by the implicit function theorem: with
    the Jacobian at x, not through the iterations. They are NaN if it is singular, and correct if x is a root. The
    gradient with respect to x0 is zero.

    References
    ----------
    Nocedal and Wright, Numerical Optimization, second edition, algorithm 11.4.

    Examples
    --------
    >>> circle_and_line = lambda x: tb.stack([x[0] ** 2 + x[1] ** 2 - 25, x[0] - 3])
    >>> crossing = tb.optimize.root(circle_and_line, tb.asarray([1.0, 1.0]))
    >>> tb.round(crossing.x).tolist(), crossing.converged.item()
    ([3.0, 4.0], True)
    """
    if is_tree(x0):
        given = unknowns(x0)
        flat = VectorFunction(function, given)
        found = root(flat, given.vector, tolerance=tolerance, max_iterations=max_iterations)
        return found._replace(x=given.nest(found.x), value=flat.nest(found.value))
    x = as_start(x0)
    if not x.dtype.is_inexact:
        raise DTypeError(expected("a floating or complex x0", "cast it with astype()", x0=x.template))
    tolerance = number(0, tolerance=tolerance)
    traced_objective = objective(function, x)
    (result,) = traced_objective.graph.results
    if result.size != x.size:
        raise ShapeError(
            expected("a function whose result has the number of elements of x0", x0=x.template, result=result)
        )
    graph, constants = traced_objective
    if not x.size:
        zero, true = (
            full((), number, dtype=dtype, backend=x.backend) for number, dtype in ((0, "int32"), (True, "bool"))
        )
        return Root(x, value_at(graph, constants, x), zero, true, logical_not(true))
    constants_of_steps = traced_objective.constants_without_gradient
    solved = _newton(graph, tolerance, index(max_iterations), constants_of_steps, flat_vector(x))
    zero_of = reshape(solved.x, x.shape, names=x.names)
    if records([*constants, zero_of]):
        zero_of = root_with_gradient(graph, constants, zero_of)
        return solved._replace(x=zero_of, value=value_at(graph, constants, zero_of))
    return solved._replace(x=zero_of, value=reshape(solved.value, result.shape, names=result.names))


@jit(static_argnums=(0, 1, 2))
def _newton(graph: Graph, tolerance: float, most: int, constants: tuple[Tensor, ...], start: Tensor) -> Root[Tensor]:
    template = graph.templates[-1]

    def function(x: Tensor) -> Tensor:
        return flat_vector(value_at(graph, constants, reshape(x, template.shape, names=template.names)))

    def size(value: Tensor) -> Tensor:
        return abs(value).max()

    def is_active(state: Root[Tensor]) -> Tensor:
        ended = logical_or(state.converged, state.diverged)
        return logical_and(logical_not(ended), state.iterations < most)

    def iteration(state: Root[Tensor]) -> Root[Tensor]:
        step = eliminate(jacobian(function)(state.x), -state.value)

        def shorter(carry: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
            count, factor, _, _ = carry
            at = state.x + factor / 2 * step
            return count + 1, factor / 2, at, function(at)

        def too_long(carry: tuple[Tensor, ...]) -> Tensor:
            return logical_and(carry[0] < 10, logical_not(size(carry[3]) < size(state.value)))

        at = state.x + step
        one = asarray(1.0, dtype=state.x.dtype)
        _, _, x, value = while_loop(too_long, shorter, (astype(state.iterations * 0, "int32"), one, at, function(at)))
        return make_root(x, value, state.iterations + 1)

    def make_root(x: Tensor, value: Tensor, iterations: Tensor) -> Root[Tensor]:
        finite = logical_and(isfinite(x).all(), isfinite(value).all())
        return Root(x, value, iterations, logical_and(size(value) <= tolerance, finite), logical_not(finite))

    zero = full((), 0, dtype="int32", backend=start.backend)
    last_state: Root[Tensor] = while_loop(is_active, iteration, make_root(start, function(start), zero))
    return last_state


@jit(static_argnums=(0, 1, 2))
def _iterate(graph: Graph, tolerance: float, most: int, constants: tuple[Tensor, ...], start: Tensor) -> Root[Tensor]:
    """Iterations of x + value, where the value is that of the function minus x."""

    def goes_on(state: Root[Tensor]) -> Tensor:
        return logical_and(logical_not(logical_or(state.converged, state.diverged)), state.iterations < most)

    def iteration(state: Root[Tensor]) -> Root[Tensor]:
        return make_root(state.x + state.value, state.iterations + 1)

    def make_root(x: Tensor, iterations: Tensor) -> Root[Tensor]:
        value = value_at(graph, constants, x)
        finite = logical_and(isfinite(x).all(), isfinite(value).all())
        near = (abs(value) <= tolerance * maximum(abs(x), 1)).all()
        return Root(x, value, iterations, logical_and(near, finite), logical_not(finite))

    last: Root[Tensor] = while_loop(goes_on, iteration, make_root(start, full((), 0, dtype="int32")))
    return last


@overload
def fixed_point(
    function: Callable[[Tensor], Any], x0: TensorLike, /, *, tolerance: float = ..., max_iterations: int = ...
) -> Root[Tensor]: ...
@overload
def fixed_point(
    function: Callable[[Any], Any], x0: X, /, *, tolerance: float = ..., max_iterations: int = ...
) -> Root[X]: ...
@check_arguments
def fixed_point(
    function: Callable[[Any], Any], x0: Any, /, *, tolerance: float = 1e-6, max_iterations: int = 500
) -> Root[Any]:
    """Find a fixed point of a function, x = function(x), by applying it again and again.

    Parameters
    ----------
    function : function of x
        Takes a tensor or a tree like x0, and returns one like it. It is traced.
    x0 : tensor, or tree of tensors
        The initial guess; integers are read as floats of the default dtype.
    tolerance : float
        The search has converged if no element changes by more than this times the larger of its magnitude and 1.
    max_iterations : int
        The maximum number of iterations.

    Returns
    -------
    Root
        The fixed point; `value` is the last change, function(x) - x.

    Raises
    ------
    ShapeError, ArgumentError
        As for `root`.

    Notes
    -----
    The iterations converge where the function brings points near to each other. Gradients flow to the tensors that the
    function closes over, by the implicit function theorem: a dense system with as many equations as x has elements.
    They do not depend on x0.

    Examples
    --------
    >>> heron = lambda a: tb.optimize.fixed_point(lambda x: (x + a / x) / 2, tb.asarray(1.0)).x
    >>> round(heron(9.0).item(), 4), round(tb.grad(heron)(9.0).item(), 4)
    (3.0, 0.1667)
    """
    tolerance = number(0, tolerance=tolerance)
    given = unknowns(x0 if is_tree(x0) else [asarray(x0)])
    start = given.vector.detach()
    if not start.dtype.is_inexact:
        raise DTypeError(expected("a floating or complex x0", "cast it with astype()", dtype=start.dtype))
    flat = VectorFunction(lambda parts: function(parts if is_tree(x0) else parts[0]), given)

    def change(x: Tensor) -> Tensor:
        value = flat(x)
        if value.shape != x.shape:
            raise ShapeError(expected("a function whose result has the elements of x0", x0=x0, result=value.template))
        return astype(value, x.dtype) - x

    traced = objective(change, start)
    found = _iterate(traced.graph, tolerance, index(max_iterations), traced.constants_without_gradient, start)
    x = found.x
    if records([*traced.constants, x]):
        x = root_with_gradient(traced.graph, traced.constants, x)
    point, rest = given.nest(x), given.nest(value_at(traced.graph, traced.constants, x))
    return found._replace(**(({"x": point, "value": rest}) if is_tree(x0) else {"x": point[0], "value": rest[0]}))


@check_arguments
def bisect(
    function: Callable[[Tensor], Any],
    low: TensorLike,
    high: TensorLike,
    /,
    *,
    tolerance: float = 1e-6,
    max_iterations: int = 100,
) -> Root[Tensor]:
    """Find a root of a function of numbers by bisection, for each element.

    Parameters
    ----------
    function : function of a tensor
        Takes a tensor of the shape of `low` and `high`, and returns a number for each element, from that element alone.
        It is traced.
    low, high : Tensor
        The ends of the intervals to search; they broadcast. Integers are read as floats of the default dtype.
    tolerance : float
        The width to which each interval is halved.
    max_iterations : int
        The maximum number of bisections.

    Returns
    -------
    Root
        The midpoints of the last intervals, the values there, and the flags of each. If the function has the same sign
        at both ends, `diverged` is true.

    Raises
    ------
    ArgumentError
        For a tolerance that is not above 0.

    Notes
    -----
    Gradients flow from the result to the tensors that the function closes over, by the implicit function theorem, not
    through the bisections. The gradient with respect to the ends is zero.

    Examples
    --------
    >>> roots = tb.optimize.bisect(lambda x: x**2 - tb.asarray([4.0, 9.0]), 0.0, tb.asarray([5.0, 5.0]))
    >>> tb.round(roots.x).tolist(), roots.converged.tolist()
    ([2.0, 3.0], [True, True])
    """
    tolerance = number(0, tolerance=tolerance)
    one, other = operand_tensors(low, high)
    dtype = result_type(one, other)
    dtype = default_dtype("float") if dtype.is_integer else dtype
    if not dtype.is_floating:
        raise DTypeError(expected("floating bounds", "cast them with astype()", low=one.template, high=other.template))
    both = one + other  # the shape and the names of both
    start, end = (broadcast_to(astype(x, dtype), both.shape).detach() for x in (one, other))
    traced_objective = objective(function, start)
    graph, constants = traced_objective
    detached = traced_objective.constants_without_gradient  # here, as a loop depends on what it detaches itself
    (result,) = graph.results
    if result.shape != both.shape:
        raise ShapeError(expected("a function with a number for each element", x=both.template, result=result))

    def value(x: Tensor) -> Tensor:
        return value_at(graph, detached, x)

    at_start, at_end = sign(value(start)), sign(value(end))
    bracketed = at_start * at_end <= 0

    def halve(state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        count, start, end = state
        middle = start + (end - start) / 2
        left = sign(value(middle)) == at_start
        return count + 1, where(left, middle, start), where(left, end, middle)

    def wide(state: tuple[Tensor, ...]) -> Tensor:
        return logical_and(state[0] < index(max_iterations), logical_not((abs(state[2] - state[1]) <= tolerance).all()))

    start = where(at_end == 0, end, start)
    end = where(at_start == 0, start, end)
    count, start, end = while_loop(wide, halve, (full((), 0, dtype="int32", backend=start.backend), start, end))
    x = start + (end - start) / 2
    narrow = abs(end - start) <= tolerance
    if records([*constants, x]):
        x = scalar_roots_with_gradient(graph, constants, x)
    return Root(x, value_at(graph, constants, x), count, logical_and(bracketed, narrow), logical_not(bracketed))
