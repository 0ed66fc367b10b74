"""Trees of unknowns as one vector, for methods that take vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..dispatch.operands import nameless
from ..dtypes import default_dtype
from ..errors import ShapeError, expected
from ..expr.tree_containers import LEAF, Tree
from ..expr.trees import flatten, unflatten
from ..ops.creation.values import asarray, operand_tensors
from ..ops.elementwise.conversion import astype
from ..ops.inspection import result_type
from ..ops.shape import concatenate, reshape
from ..template import Template
from ..tensor import Tensor, TensorLike


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
