"""`minimize`: the minimum of a function, for each example of a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from operator import index
from typing import Any, Final, Generic, NamedTuple, TypeVar, overload

from ..declarations.argument_errors import check_arguments
from ..dispatch.operands import nameless
from ..errors import ArgumentError, DTypeError, ShapeError, expected
from ..errors.remedies import of_no_real_number
from ..expr.arguments import is_tree
from ..expr.tree_containers import LEAF, Tree
from ..expr.trees import flatten, paths, unflatten
from ..ops.composite.elementwise.functions import isfinite, logical_not
from ..ops.creation.filled import full
from ..ops.creation.values import beside, operand_tensors
from ..ops.elementwise.basic import astype
from ..ops.inspection import result_type
from ..ops.shape import broadcast_to, concatenate, reshape
from ..protocol import Backend
from ..select import common_backend, get_backend, move
from ..tensor import Tensor, TensorLike
from ..tensor.missing_names import explain_missing
from .implicit import (
    Minima,
    as_start,
    minimum_with_gradient,
    objective,
    records,
    refuse_gradient,
    trace_function,
    value_at,
)
from .quasi_newton import METHODS as SCIPYS
from .quasi_newton import Inputs, Plan, minimise, minimise_with_scipy

X = TypeVar("X")

METHODS: Final = ("l-bfgs", *SCIPYS)

_INFINITY: Final = float("inf")


@explain_missing
class Minimum(NamedTuple, Generic[X]):
    """Result of `minimize`. With a trajectory each part has one more axis, in front."""

    x: X
    """A tensor, or tensors nested as x0."""
    value: Tensor
    """The value of the function there."""
    iterations: Tensor
    """The number of iterations, int32, for each example."""
    converged: Tensor
    """Whether the gradient is small enough, or no step makes the value smaller."""
    diverged: Tensor
    """Whether there is a NaN or an infinity, or the method gave up."""


@overload
def minimize(
    function: Callable[[Tensor], Any],
    x0: Tensor,
    /,
    method: str = "l-bfgs",
    *,
    tolerance: TensorLike = 1e-5,
    max_iterations: TensorLike = 1000,
    bounds: tuple[Any, Any] | None = None,
    history: int = 10,
    trajectory: Sequence[int] | None = None,
) -> Minimum[Tensor]: ...
@overload
def minimize(
    function: Callable[[Any], Any],
    x0: Any,
    /,
    method: str = "l-bfgs",
    *,
    tolerance: TensorLike = 1e-5,
    max_iterations: TensorLike = 1000,
    bounds: tuple[Any, Any] | None = None,
    history: int = 10,
    trajectory: Sequence[int] | None = None,
) -> Minimum[Any]: ...
@check_arguments
def minimize(
    function: Callable[[Any], Any],
    x0: Any,
    /,
    method: str = "l-bfgs",
    *,
    tolerance: TensorLike = 1e-5,
    max_iterations: TensorLike = 1000,
    bounds: tuple[Any, Any] | None = None,
    history: int = 10,
    trajectory: Sequence[int] | None = None,
) -> Minimum[Any]:
    """Find a local minimum of a function near x0.

    Parameters
    ----------
    function : function of a tensor or tree
        Takes a value like x0 and returns a number, or one for each example: for a result of shape (b,), the first axis
        of x0 is that of b examples, each of which has its own minimum. It is traced.
    x0 : Tensor or tree of Tensors
        The initial guess; integers are read as floats. In a tree, all tensors begin with the axes of the examples. If
        it has no elements, it is the minimum itself.
    method : str
        `"l-bfgs"`, a graph that runs on any backend, in `jit` and `vmap`; or one of SciPy's methods by its name, such
        as `"Nelder-Mead"` or `"trust-constr"`, which run outside of traces. Those that use a gradient get it.
    tolerance : float or Tensor
        An example has converged if no element of its gradient has a larger magnitude. SciPy's methods use it as their
        `tol`.
    max_iterations : int or Tensor
        The maximum number of iterations, for each example if it is a tensor.
    bounds : pair, optional
        The lower and the upper bounds of x, each a tensor that broadcasts with x0, a number, or `None` for none; for a
        tree a number, `None`, or numbers and tensors nested as x0.
    history : int
        The number of steps that L-BFGS stores.
    trajectory : sequence of ints, optional
        Ascending numbers of iterations of L-BFGS after which all parts of the result are recorded; each part is stacked
        along a new first axis. The search stops after the last of these.

    Returns
    -------
    Minimum
        The minimum, with flags that say how the search ended.

    Raises
    ------
    ShapeError
        For a function whose result does not have the first axes of x0.
    ArgumentError
        For an unknown method.

    Notes
    -----
    Gradients flow from x and its value to the tensors that the function closes over and to bounds, by the implicit
    function theorem: with the Hessian at the minimum, not through the iterations. They are correct if x is a minimum
    inside or on the bounds, and NaN if the Hessian is singular. A trajectory has no gradient (`GradientError`). For
    a method of SciPy, which does not run in a trace, take the gradient on a tape. The gradient with respect to x0 is
    zero.

    Examples
    --------
    >>> rosenbrock = lambda x: (1 - x[..., 0]) ** 2 + 100 * (x[..., 1] - x[..., 0] ** 2) ** 2
    >>> minimum = tb.optimize.minimize(rosenbrock, tb.asarray([[-1.0, 1.0], [3.0, 2.0]], dtype="f64"))
    >>> tb.round(minimum.x).tolist(), minimum.converged.tolist()
    ([[1.0, 1.0], [1.0, 1.0]], [True, True])
    >>> line = {"slope": tb.zeros(()), "start": tb.zeros(())}
    >>> at, seen = tb.asarray([0.0, 1.0, 2.0]), tb.asarray([1.0, 3.0, 5.0])
    >>> fit = tb.optimize.minimize(lambda p: tb.sum((p["slope"] * at + p["start"] - seen) ** 2), line).x
    >>> tb.round(fit["slope"]).item(), tb.round(fit["start"]).item()
    (2.0, 1.0)
    """
    if isinstance(bounds, list):  # SciPy's, of which two would pass as the lower and the upper bounds
        raise ArgumentError(expected("one pair of bounds", "write (lower, upper), each for all of x", bounds=bounds))
    if is_tree(x0):
        nested = _TreeFunction(function, *flatten(x0))
        low, high = bounds or (None, None)
        minimum = minimize(
            nested,
            nested.start,
            method,
            tolerance=tolerance,
            max_iterations=max_iterations,
            bounds=bounds and (nested.bound(low, -_INFINITY), nested.bound(high, _INFINITY)),
            history=history,
            trajectory=trajectory,
        )
        return minimum._replace(x=nested.tree(minimum.x))
    x = as_start(x0)
    if not x.dtype.is_floating:
        raise DTypeError(expected("a floating x0", "cast it with astype()", x0=x.template))
    known = {name.lower(): name for name in METHODS}
    if not isinstance(method, str) or method.lower() not in known:
        raise ArgumentError(expected(f"one of the methods {', '.join(map(repr, METHODS))}", method=method))
    if index(history) < 1:
        raise ArgumentError(expected("a history of at least 1 step", history=history))
    traced_objective = objective(function, x)
    (result,) = traced_objective.graph.results
    batch, size = result.shape, prod(x.shape[result.ndim :])
    if x.shape[: result.ndim] != batch:
        remedy = "take the sum() over all axes except those of the examples"
        raise ShapeError(expected("a function whose result has the first axes of x0", remedy, x0=x, result=result))
    if not result.dtype.is_floating:
        remedy = of_no_real_number(result.dtype.is_complex)
        raise DTypeError(expected("a function with a floating result", remedy, result=result))
    names, home = x.names[: result.ndim], x.backend
    flat = reshape(nameless(x), (*batch, size))
    low, high = bounds or (None, None)
    lower, upper = _bound(low, -_INFINITY, x, flat), _bound(high, _INFINITY, x, flat)
    tensors = Inputs(
        traced_objective.constants_without_gradient,
        flat,
        lower.detach(),
        upper.detach(),
        _number_per_example(tolerance, batch, x.dtype, home, "tolerance"),
        _number_per_example(max_iterations, batch, "int32", home, "max_iterations"),
    )
    steps = None if trajectory is None else tuple(map(index, trajectory))
    plan = Plan(traced_objective.graph, index(history), bounds is not None, steps)
    chosen = known[method.lower()]
    if steps is not None and chosen != "l-bfgs":
        raise ArgumentError(expected("no trajectory for a method of SciPy", "use 'l-bfgs'", method=chosen))
    if not x.size:
        value = nameless(value_at(plan.graph, traced_objective.constants, x))
        parts = [x, value, full(batch, 0, dtype="int32", backend=home), isfinite(value), logical_not(isfinite(value))]
        if steps is not None:
            parts = [broadcast_to(nameless(part), (len(steps), *part.shape)) for part in parts]
    elif chosen == "l-bfgs":
        state = minimise(plan, tensors)
        parts = [state.x, state.value, state.iterations, state.converged, state.diverged]
    else:
        parts = minimise_with_scipy(chosen, plan, tensors)
    constants = traced_objective.constants
    if x.size and records([*constants, lower, upper, flat]):
        if steps is None:
            minima = Minima(plan.graph, plan.bounded)
            parts[0] = minimum_with_gradient(minima, constants, lower, upper, parts[0])
            parts[1] = value_at(plan.graph, constants, reshape(parts[0], x.shape, names=x.names))
        else:
            expectation, remedy = "no gradient through a trajectory", "minimize without one to get a gradient"
            parts[:2] = refuse_gradient(expectation, remedy, (*constants, lower, upper), *parts[:2])
    front: tuple[int, ...] = () if steps is None else (len(steps),)
    outer = (None,) * len(front) + names
    return Minimum(
        reshape(parts[0], (*front, *x.shape), names=((None,) * len(front) + x.names)),
        *(reshape(part, (*front, *batch), names=outer) for part in parts[1:]),
    )


class _TreeFunction:
    """A function of a tree as a function of vectors, which hold the elements of the tensors one after the other."""

    def __init__(self, function: Callable[[Any], Any], leaves: Sequence[Any], tree: Tree) -> None:
        detached = [as_start(x) for x in operand_tensors(*leaves)]
        home = common_backend(detached)
        self._function, self._tree = function, tree
        self._tensors = tensors = [move(x, home) for x in detached]
        for x in tensors:
            if not x.dtype.is_floating:
                raise DTypeError(expected("floating tensors in x0", "cast them with astype()", x0=x.template))
        (result,) = trace_function(lambda parts: function(unflatten(tree, parts)), tensors, paths(tree, "x0")).results
        batch = result.shape
        for x in tensors:
            if x.shape[: len(batch)] != batch:
                remedy = "take the sum() over all axes except those of the examples"
                expectation = "a function whose result has the first axes of each tensor of x0"
                raise ShapeError(expected(expectation, remedy, x0=x.template, result=result))
        self._dtype = result_type(*(x.dtype for x in tensors))
        self._batch, names = batch, tensors[0].names[: len(batch)] if tensors else ()
        self.start = self._flat(tensors).rename(*names, None)

    def _elements(self, x: Tensor) -> int:
        return prod(x.shape[len(self._batch) :])

    def _flat(self, tensors: Sequence[Tensor]) -> Tensor:
        rows = [reshape(astype(nameless(x), self._dtype), (*self._batch, self._elements(x))) for x in tensors]
        return concatenate(rows, axis=-1)

    def tree(self, x: Tensor) -> Any:
        """The tree of the tensors that vectors hold; the vectors may have axes before those of the examples."""
        front, end, parts = x.shape[: x.ndim - 1 - len(self._batch)], 0, []
        bare = nameless(x)
        for like in self._tensors:
            begin, end = end, end + self._elements(like)
            names = (*(None,) * len(front), *like.names)
            parts.append(reshape(astype(bare[..., begin:end], like.dtype), (*front, *like.shape), names=names))
        return unflatten(self._tree, parts)

    def __call__(self, x: Tensor) -> Any:
        return self._function(self.tree(x))

    def bound(self, value: Any, none: float) -> Tensor:
        """A bound for each element of the vectors, from one bound for all or from a tree of bounds."""
        leaves, tree = flatten(none if value is None else value)
        if tree is LEAF:
            leaves *= len(self._tensors)
        elif tree != self._tree:
            raise ArgumentError(expected("a number, None or a tree nested like x0 as a bound", bounds=value))
        return self._flat(
            [
                broadcast_to(astype(nameless(beside(leaf, x.backend, next_to=x.dtype)), x.dtype), x.shape)
                for leaf, x in zip(leaves, self._tensors, strict=True)
            ]
        )


def _bound(value: Any, none: float, x: Tensor, flat: Tensor) -> Tensor:
    """A bound for each element; `none` where no bound is given."""
    if value is None:
        return full((1,), none, dtype=x.dtype, backend=get_backend(x.backend.beneath))  # type: ignore[arg-type] # a Backend
    bound = astype(nameless(beside(value, x.backend, next_to=x.dtype)), x.dtype)
    return reshape(broadcast_to(bound, x.shape), flat.shape)


def _number_per_example(value: Any, batch: tuple[int, ...], dtype: Any, home: Backend, name: str) -> Tensor:
    """A number for each example, of shape (..., 1)."""
    x = nameless(beside(value, home, next_to=dtype)).detach()
    if x.shape not in ((), batch):
        remedy = "give one number, or one for each example"
        raise ShapeError(expected(f"{name} of shape {batch}", remedy, **{name: x.template}))
    return broadcast_to(astype(x, dtype), batch)[..., None]
