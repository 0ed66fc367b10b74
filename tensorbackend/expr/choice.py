"""A choice between functions, which are traced before any is run: `cond` and `switch`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVarTuple, overload

from ..declarations.argument_errors import check_arguments
from ..errors import ArgumentError, TensorBackendError, expected
from ..ops.elementwise.basic import astype, clip
from ..ops.elementwise.binary import less
from ..ops.inspection import result_type
from ..protocol import Backend
from ..template import Template
from ..tensor import Tensor, TensorLike
from .aliases import call_watched
from .arguments import split
from .closures import TracedFunction, is_array, trace_flat
from .control import call_cond, check_integer, check_predicate, close_on, name_errors
from .evaluate import evaluate
from .graph import Graph
from .loop_state import Leaves, check_same, home_of
from .node import PARAMETER, Node, Value
from .trace import trace_leaves
from .tree_containers import Tree
from .trees import Nested, flatten, leaves_like, paths, unflatten

Operands = TypeVarTuple("Operands")

Function = Callable[..., Any]


class _Branches:
    """Functions that take the same operands, traced, with results of the same templates."""

    def __init__(self, functions: Sequence[Function], operands: tuple[Any, ...], home: Backend, names: Sequence[str]):
        self.given = operands
        leaves, self.tree = flatten(operands)
        arrays, self.fill = split(leaves, is_array)
        places = paths(self.tree, "operands")
        named = [path for path, leaf in zip(places, leaves, strict=True) if is_array(leaf)]
        self.operands = Leaves(arrays, named, home)
        self.all = "both functions" if len(functions) == 2 else "all functions"
        self.out_tree: Tree | None = None
        branches = [self._trace_branch(function, home) for function in functions]
        self.traced = _alike(branches, paths(self.result_tree, "result"), names, self.all)

    @property
    def result_tree(self) -> Tree:
        """How the results are nested."""
        assert self.out_tree is not None  # once the first function is traced
        return self.out_tree

    def _trace_branch(self, function: Function, home: Backend) -> TracedFunction:
        def flat(tensors: list[Tensor]) -> tuple[list[Any], list[str]]:
            given = unflatten(self.tree, self.fill(tensors))
            result = call_watched(function, (given, {}), (self.given, {}), lambda: paths(self.tree, "operands"))
            if self.out_tree is None:
                self.out_tree = flatten(result)[1]
            leaves = leaves_like(self.out_tree, result, "result", f"to be the same from {self.all}")
            return leaves, paths(self.out_tree, "result")

        return trace_flat(flat, self.operands.templates, self.operands.paths, home, self.operands.varying)


@overload
def cond(
    predicate: TensorLike,
    true_function: Callable[[*Operands], Nested],
    false_function: Callable[[*Operands], Nested],
    *operands: *Operands,
) -> Nested: ...
@overload
def cond(predicate: TensorLike, true_function: Function, false_function: Function, *operands: Any) -> Any: ...
@check_arguments  # type: ignore[misc] # `Any` is for the operands of the functions
def cond(predicate: TensorLike, true_function: Function, false_function: Function, *operands: Any) -> Any:
    """Call the first function if `predicate` is true, otherwise the second; `predicate` may depend on data.

    Both functions are traced, and only the chosen one is computed. They return tensors, with equal nesting in lists,
    tuples, dicts and dataclasses. The operands may be nested in the same way; those that are not tensors are passed to
    the functions unchanged. Raises `DTypeError` or `ShapeError` for a predicate that is not a bool without axes. If the
    results of the functions differ, raises the error for the first difference.

    Parameters
    ----------
    predicate : Tensor
        A bool without axes.
    true_function, false_function
        Functions of the operands.
    *operands
        The arguments of the functions.

    Returns
    -------
    Any
        The result of the chosen function.

    Examples
    --------
    >>> x = tb.asarray([3.0, 4.0])
    >>> tb.cond(tb.sum(x) > 5, lambda x: x / 2, lambda x: x, x).tolist()
    [1.5, 2.0]
    """
    with name_errors("cond"):
        home = home_of(predicate, operands)
        asked = Leaves([predicate], ["predicate"], home)
        check_predicate(asked.templates[0], "predicate")
        branches = _Branches([true_function, false_function], operands, home, ["true_function", "false_function"])
        results = call_cond(asked, branches.operands, *[branch.graph for branch in branches.traced])
        return unflatten(branches.result_tree, results)


@overload
def switch(index: TensorLike, functions: Sequence[Callable[[*Operands], Nested]], *operands: *Operands) -> Nested: ...
@overload
def switch(index: TensorLike, functions: Sequence[Function], *operands: Any) -> Any: ...
@check_arguments  # type: ignore[misc] # as above
def switch(index: TensorLike, functions: Sequence[Function], *operands: Any) -> Any:
    """Call one of several functions: the one at `index`, which may depend on data.

    All functions are traced, and only the chosen one is computed. It is found by bisection: for n functions a graph
    has n - 1 `cond` nodes, of which about log2(n) run.

    Parameters
    ----------
    index
        An integer without axes. It is clipped: below 0 it selects the first function, beyond the end the last.
    functions
        One or more functions. They return tensors, with equal nesting in lists, tuples, dicts and dataclasses.
    *operands
        The arguments of the functions, which may be nested in the same way; anything but a tensor is passed to the
        functions unchanged.

    Returns
    -------
    Any
        The result of the chosen function.

    Raises
    ------
    DTypeError
        For an index that is not an integer without axes. If the results of the functions differ, the error for the
        first difference is raised.
    ArgumentError
        If there are no functions.

    Examples
    --------
    >>> x = tb.asarray([1.0, 4.0])
    >>> [tb.switch(i, [tb.negative, tb.square, tb.sqrt], x).tolist() for i in (0, 2, 7)]
    [[-1.0, -4.0], [1.0, 2.0], [1.0, 2.0]]
    """
    with name_errors("switch"):
        if not functions:
            raise ArgumentError(expected("at least one function", functions=functions))
        home = home_of(index, operands)
        asked = Leaves([index], ["index"], home)
        check_integer(asked.templates[0], "an index")
        names = [f"functions[{number}]" for number in range(len(functions))]
        branches = _Branches(list(functions), operands, home, names)
        graphs = [branch.graph for branch in branches.traced]
        closed, backend, (inputs, (place,)) = close_on(graphs, branches.operands, asked)
        wide = clip(astype(place, "int64"), 0, len(closed) - 1)
        graph = _bisect(closed, 0, wide.template)
        return unflatten(branches.result_tree, evaluate(graph, [wide, *inputs], backend))


def _bisect(graphs: Sequence[Graph], first: int, place: Template) -> Graph:
    """A graph that takes an index and operands, and runs the graph at that index; `graphs[0]` has the index `first`."""
    names = ["index", *graphs[0].names]
    if len(graphs) == 1:
        (graph,) = graphs
        return Graph([Value(Node(PARAMETER, place)), *graph.parameters], graph.outputs, names=names)
    middle = len(graphs) // 2
    lower = _bisect(graphs[:middle], first, place)
    upper = _bisect(graphs[middle:], first + middle, place)

    def chosen(inputs: list[Tensor]) -> tuple[Tensor, ...]:
        return call_cond([less(inputs[0], first + middle)], inputs, lower, upper)

    return trace_leaves(chosen, [place, *graphs[0].templates], names)


def _alike(branches: list[TracedFunction], places: list[str], names: Sequence[str], every: str) -> list[TracedFunction]:
    """Casts the Python numbers of each branch to the dtype that the other branches return in the same place.

    Raises the error for the first result that still differs.
    """
    branches = list(branches)
    for position, path in enumerate(places):
        with suppress(TensorBackendError):  # the check below names the result
            dtypes = [
                None if position in branch.numbers else branch.graph.results[position].dtype for branch in branches
            ]
            strong = [dtype for dtype in dtypes if dtype is not None]
            dtype = strong[0] if strong else result_type(*(branch.graph.results[position].dtype for branch in branches))
            for number, branch in enumerate(branches):
                if dtypes[number] is None and branch.graph.results[position].dtype is not dtype:
                    branches[number] = branch.cast_number(position, dtype)
        before = branches[0].graph.results[position]
        for name, branch in zip(names[1:], branches[1:], strict=True):
            expectation = f"{path} to be the same from {every}, {before!r}"
            check_same(expectation, before, branch.graph.results[position], name, "in one of them")
    return branches
