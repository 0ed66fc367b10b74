"""Gradients of roots and minima by the implicit function theorem: iterations are not differentiated.

The user's function is a graph that takes the tensors it closes over, so that a compiled method can be reused, and
a tree of unknowns is one vector, for methods that take vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from ..dtypes import default_dtype, finfo
from ..errors import GradientError, OperandError, ShapeError, expected
from ..expr.closures import close
from ..expr.evaluate import evaluate
from ..expr.grad.custom import custom_gradient
from ..expr.grad.functions import grad, vjp
from ..expr.graph import Graph
from ..expr.trace import trace_leaves
from ..expr.tree_containers import LEAF, Tree
from ..expr.trees import flatten, unflatten
from ..expr.vmap import vmap
from ..ops.composite.elementwise.functions import logical_not
from ..ops.composite.shape.arranging import moveaxis
from ..ops.creation.filled import eye, ones_like, zeros_like
from ..ops.creation.values import asarray, operand_tensors
from ..ops.elementwise.basic import astype, where
from ..ops.elementwise.binary import logical_and, logical_or
from ..ops.inspection import result_type
from ..ops.shape import broadcast_to, concatenate, reshape
from ..select import common_backend
from ..solvers.direct import eliminate
from ..solvers.linear import flat_vector, split_vector
from ..solvers.systems import solve
from ..template import Template
from ..tensor import Tensor, TensorLike

DENSE: Final = 128
"""Up to this number of unknowns a minimum's Hessian is factorised; conjugate gradients take over for more."""

Tensors = Sequence[Tensor]
Equations = Callable[[Tensors, Tensor], Tensor]
"""From parameters and unknowns x to as many values, which are 0 at the solution."""


def records(tensors: Tensors) -> bool:
    """Whether a trace or a tape records a computation with some of these tensors."""
    return common_backend(tensors).dispatch_priority > 1


def solution(
    equations: Equations, transposed_solve: Callable[[Tensors, Tensor, Tensor], Tensor], parameters: Tensors, x: Tensor
) -> Tensor:
    """A solution of equations as a function of their parameters.

    `solve_transpose` takes the parameters, x and a cotangent; it solves with the transpose of the equations'
    derivative by x.
    """

    @custom_gradient
    def implicit(parameters: Tensors, x: Tensor) -> Any:
        def pull(cotangent: Tensor) -> Any:
            # x as a function of the parameters, so that a second derivative sees how it depends on them.
            at: Tensor = implicit(parameters, x)
            adjoint = transposed_solve(parameters, at, cotangent)
            return _pull(lambda values: equations(values, at), parameters, -adjoint), None

        return x, pull

    result: Tensor = implicit(tuple(parameters), x)
    return result


def _pull(function: Callable[[Tensors], Tensor], parameters: Tensors, cotangent: Tensor) -> tuple[Tensor, ...]:
    """The cotangents of parameters; integers have zeros."""

    def fill(values: Tensors) -> list[Tensor]:
        rest = iter(values)
        return [next(rest) if x.dtype.is_inexact else x for x in parameters]

    inexact = [x for x in parameters if x.dtype.is_inexact]
    found = iter(vjp(lambda *values: function(fill(values)), *inexact)[1](cotangent) if inexact else ())
    return tuple([next(found) if x.dtype.is_inexact else zeros_like(x) for x in parameters])


def refuse_gradient(expectation: str, remedy: str, parameters: Tensors, *results: Tensor) -> tuple[Tensor, ...]:
    """Results whose gradient with respect to parameters is a `GradientError`."""

    @custom_gradient
    def refuse(parameters: Tensors, results: Tensors) -> Any:
        def pull(cotangent: Any) -> Any:
            raise GradientError(expected(expectation, remedy))

        return results, pull

    kept: tuple[Tensor, ...] = refuse(tuple(parameters), results)
    return kept


def root_with_gradient(graph: Graph, constants: Tensors, x: Tensor) -> Tensor:
    """A root as a function of the tensors that its function closes over; x has the shape of the function's argument."""

    def equations(constants: Tensors, flat: Tensor) -> Tensor:
        return flat_vector(value_at(graph, constants, reshape(flat, x.shape, names=x.names)))

    def solve_transpose(constants: Tensors, flat: Tensor, cotangent: Tensor) -> Tensor:
        return _solve_by_elimination(lambda flat: equations(constants, flat), flat, cotangent)

    return reshape(solution(equations, solve_transpose, constants, flat_vector(x)), x.shape, names=x.names)


def _solve_by_elimination(function: Callable[[Tensor], Tensor], x: Tensor, cotangent: Tensor) -> Tensor:
    """Solves with the transposed derivative at vectors x; each example of a function depends on its own vector only."""
    _, pull = vjp(function, x)
    units = eye(x.shape[-1], dtype=x.dtype, backend=x.backend)
    rows: Tensor = vmap(lambda unit: pull(broadcast_to(unit, x.shape))[0])(units)
    return eliminate(moveaxis(rows, 0, -1), cotangent)


def scalar_roots_with_gradient(graph: Graph, constants: Tensors, x: Tensor) -> Tensor:
    """Roots of a function of numbers, each of which depends on its own element of x only."""

    def solve_transpose(constants: Tensors, x: Tensor, cotangent: Tensor) -> Tensor:
        value, pull = vjp(lambda x: value_at(graph, constants, x), x)
        by_x: Tensor = pull(ones_like(value))[0]
        return cotangent / by_x

    return solution(lambda constants, x: value_at(graph, constants, x), solve_transpose, constants, x)


class Minima(NamedTuple):
    """The problem whose minima are differentiated, for each example; the last axis is that of the unknowns."""

    graph: Graph
    bounded: bool

    def slope(self, constants: Tensors, x: Tensor) -> Tensor:
        """The gradient of each example's value."""
        template = self.graph.templates[-1]

        def total(x: Tensor) -> Tensor:
            return value_at(self.graph, constants, reshape(x, template.shape, names=template.names)).sum()

        return grad(total)(x)

    def stuck(self, parameters: Tensors, x: Tensor) -> tuple[Tensor, Tensor]:
        """The unknowns at their lower bounds, and those at their upper bounds.

        A gradient descent step would move these out of the bounds. Methods that stay inside end next to them.
        """
        *constants, lower, upper = (parameter.detach() for parameter in parameters)
        x = x.detach()
        slope = self.slope(constants, x)
        low = logical_or(x - lower < slope, lower == upper)
        return low, logical_and(upper - x < -slope, logical_not(low))

    def equations(self, parameters: Tensors, x: Tensor) -> Tensor:
        """The gradient where it is 0, and the distance to a bound where the minimum is at it."""
        *constants, lower, upper = parameters
        slope = self.slope(constants, x)
        if not self.bounded:
            return slope
        low, high = self.stuck(parameters, x)
        return where(low, x - lower, where(high, x - upper, slope))

    def solve_transpose(self, parameters: Tensors, x: Tensor, cotangent: Tensor) -> Tensor:
        """Solves with the transposed derivative of the equations, NaN where that is singular."""

        def function(x: Tensor) -> Tensor:
            return self.equations(parameters, x)

        if x.shape[-1] <= DENSE:
            return _solve_by_elimination(function, x, cotangent)
        _, pull = vjp(function, x)
        if not self.bounded:
            return _solve_by_cg(lambda v: pull(v)[0], cotangent)
        free = logical_not(logical_or(*self.stuck(parameters, x)))
        of_free = _solve_by_cg(lambda v: where(free, pull(where(free, v, 0))[0], v), where(free, cotangent, 0))
        return where(free, of_free, cotangent - pull(of_free)[0])


def _solve_by_cg(function: Callable[[Tensor], Tensor], b: Tensor) -> Tensor:
    found = solve(function, b, "cg", rtol=finfo(b.dtype).eps ** 0.75)
    return where(found.converged[..., None], found.x, float("nan"))


def minimum_with_gradient(minima: Minima, constants: Tensors, lower: Tensor, upper: Tensor, x: Tensor) -> Tensor:
    """Minima as a function of the tensors that their function closes over, and of bounds."""
    return solution(minima.equations, minima.solve_transpose, (*constants, lower, upper), x)


class Objective(NamedTuple):
    """A function of one tensor."""

    graph: Graph
    constants: tuple[Tensor, ...]
    """The tensors that the function closes over."""

    @property
    def constants_without_gradient(self) -> tuple[Tensor, ...]:
        """The constants for iterations, which no gradient flows through."""
        return tuple(x.detach() for x in self.constants)


def trace_function(function: Callable[[list[Any]], Any], tensors: Sequence[Tensor], names: Sequence[str]) -> Graph:
    """The graph of a function of tensors that returns one tensor; `OperandError` if it returns anything else."""
    graph = trace_leaves(function, [x.template for x in tensors], names)
    if not graph.out_tree.is_tensor:
        raise OperandError(expected("a function that returns one tensor", returned=graph.results))
    return graph


def objective(function: Callable[[Tensor], Any], x: Tensor) -> Objective:
    """The objective of a function that returns a tensor for one like x; `OperandError` for any other result."""
    (closed,), constants = close([trace_function(lambda arguments: function(*arguments), [x], ["x"])])
    return Objective(closed, tuple(constants))


def value_at(graph: Graph, constants: Sequence[Tensor], x: Tensor) -> Tensor:
    """The value of the function at x."""
    (value,) = evaluate(graph, [*constants, x])
    return value


class Unknowns(NamedTuple):
    """Tensors of a tree, and their elements in one vector."""

    vector: Tensor
    templates: list[Template]
    tree: Tree

    def nest(self, vector: Tensor) -> Any:
        """The tree of a vector, in the dtype of that."""
        return unflatten(self.tree, split_vector(vector, self.templates))


def as_start(x0: TensorLike) -> Tensor:
    """A tensor to start from, off any tape: integers are numbers of the default floating dtype."""
    x = asarray(x0).detach()
    return astype(x, default_dtype("float")) if x.dtype.is_integer else x


def unknowns(x0: Any) -> Unknowns:
    """The elements of all tensors of a tree as one vector, which is not of integers."""
    leaves, tree = flatten(x0)
    tensors = operand_tensors(*leaves)
    dtype = result_type(*tensors)
    dtype = default_dtype("float") if dtype.is_integer else dtype
    parts = [flat_vector(astype(x, dtype)) for x in tensors]
    return Unknowns(concatenate(parts), [x.template for x in tensors], tree)


class VectorFunction:
    """A function of a tree as a function of a vector, which notes how its results are nested."""

    def __init__(self, function: Callable[[Any], Any], arguments: Unknowns) -> None:
        self._function, self._arguments = function, arguments
        self._templates: list[Template] = []
        self._tree = LEAF

    def __call__(self, vector: Tensor) -> Tensor:
        leaves, self._tree = flatten(self._function(self._arguments.nest(vector)))
        tensors = operand_tensors(*leaves)
        self._templates = [x.template for x in tensors]
        if not tensors:
            raise ShapeError(expected("a function that returns tensors", returned=leaves))
        return concatenate([flat_vector(x) for x in tensors])

    def nest(self, value: Tensor) -> Any:
        """A value of the function, nested as it returned the last one."""
        return unflatten(self._tree, split_vector(value, self._templates))
