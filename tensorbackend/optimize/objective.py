"""The user's function as a graph that takes the tensors it closes over, so that a compiled method can be reused, and
trees of unknowns as one vector, for methods that take vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..dispatch.operands import nameless
from ..dtypes import default_dtype
from ..errors import OperandError, ShapeError, expected
from ..expr.closures import close
from ..expr.evaluate import evaluate
from ..expr.graph import Graph
from ..expr.trace import trace_leaves
from ..expr.tree_containers import LEAF, Tree
from ..expr.trees import flatten, unflatten
from ..ops.creation.values import asarray, operand_tensors
from ..ops.elementwise.basic import astype
from ..ops.inspection import result_type
from ..ops.shape import concatenate, reshape
from ..template import Template
from ..tensor import Tensor, TensorLike


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
        return nested(vector, self.templates, self.tree)


def nested(vector: Tensor, templates: list[Template], tree: Tree) -> Any:
    """The elements of a vector as tensors of some shapes and names."""
    leaves, place = [], 0
    for x in templates:
        leaves.append(reshape(vector[place : place + x.size], x.shape, names=x.names))
        place += x.size
    return unflatten(tree, leaves)


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
    parts = [reshape(nameless(astype(x, dtype)), (-1,)) for x in tensors]
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
        return concatenate([reshape(nameless(x), (-1,)) for x in tensors])

    def nest(self, value: Tensor) -> Any:
        """A value of the function, nested as it returned the last one."""
        return nested(value, self._templates, self._tree)
