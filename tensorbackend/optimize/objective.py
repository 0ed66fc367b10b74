"""The user's function as a graph that takes the tensors it closes over, so that a compiled method can be reused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..errors import OperandError, expected
from ..expr.closures import close
from ..expr.evaluate import evaluate
from ..expr.graph import Graph
from ..expr.trace import trace_leaves
from ..tensor import Tensor


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
