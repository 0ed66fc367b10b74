"""Traces functions as closed subgraphs: tensors that a function captured become operands of the node."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import cache, partial
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Final, NamedTuple
from weakref import WeakValueDictionary

from ..caching.memos import remembers
from ..caching.option_keys import options_key
from ..dtypes import DType, Scalar, check_scalar, scalar_kind
from ..errors import GradientError, OperandError, expected
from ..ops.creation.filled import asarray, full
from ..protocol import Backend
from ..template import Template
from ..tensor import Tensor
from .expr_backend import ExprBackend, capture
from .graph import Graph, held_by, rebuilt
from .mesh_variation import Variation, parameter_options, varies_of
from .node import PARAMETER, Node, Value
from .simplify import rewritten
from .trace import trace_leaves
from .trees import flatten


class TracedFunction(NamedTuple):
    """A function's graph, and which of its results were Python numbers."""

    graph: Graph
    numbers: dict[int, Scalar]
    """The Python numbers by their positions among the results; the graph has them in their default dtypes."""

    def cast_number(self, position: int, dtype: DType) -> TracedFunction:
        """The trace with a result that was a Python number as a constant of another dtype.

        Raises `DTypeError` or `OutOfRangeError` for a dtype that does not hold the number.
        """
        outputs, number = list(self.graph.outputs), self.numbers[position]
        check_scalar(number, dtype)
        outputs[position] = _number(number, dtype).data
        return TracedFunction(rebuilt(self.graph, outputs), self.numbers)


def trace_flat(
    function: Callable[[list[Tensor]], tuple[list[Any], list[str]]],
    templates: Sequence[Template],
    names: Sequence[str],
    home: Backend,
    varying: Sequence[Variation],
) -> TracedFunction:
    """The graph of a function that takes a flat list of tensors, and returns its results and their paths.

    `varying` says how the tensors vary over a mesh. Tensors that the function makes from data alone are on `home`.
    Raises `OperandError` for a result that is not a tensor and cannot be converted to one.
    """
    numbers: dict[int, Scalar] = {}

    def tensors(leaves: list[Any]) -> list[Tensor]:
        numbers.clear()
        results = []
        for position, (result, path) in enumerate(zip(*function(leaves), strict=True)):
            if scalar_kind(result) is not None:
                numbers[position] = result
                result = _number(result)
            elif not isinstance(result, Tensor):
                result = as_tensor(result, path, home)
            results.append(result)
        return results

    return TracedFunction(trace_leaves(tensors, templates, names, home, varying), numbers)


def as_tensor(value: Any, path: str, home: Backend) -> Tensor:
    """Another library's array as a tensor; `OperandError` for anything else."""
    if is_array(value):
        return asarray(value, backend=home)
    raise OperandError(expected(f"a tensor, a number or an array as {path}", "leave it out", value=value))


def is_array(value: object) -> bool:
    """Whether a value is a tensor or another library's array."""
    return isinstance(value, Tensor) or hasattr(value, "__array__") or hasattr(value, "__dlpack__")


def _number(value: Scalar, dtype: DType | None = None) -> Tensor:
    return full((), value, dtype=dtype, backend=ExprBackend())


def close(graphs: Sequence[Graph], more: Sequence[Tensor] = ()) -> tuple[tuple[Graph, ...], list[Tensor]]:
    """Makes captured tensors parameters; returns the graphs, and the tensors for these parameters.

    Before its other parameters, each graph takes all tensors that any of the graphs captured, and the tensors in `more`
    even if no graph captured them.

    Equal graphs from the same source lines are returned as one object, so that a backend compiles a loop once, however
    often the loop is recorded in a graph or called.
    """
    captured_nodes = {
        _identity(x): node for graph in graphs for node, x in zip(graph.captured, held_by(graph), strict=True)
    }
    for x in more:
        captured_nodes.setdefault(_identity(x), capture(x).node)
    tensors = [node.tensor for node in captured_nodes.values() if node.tensor is not None]
    return tuple(intern_graph(_close(graph, captured_nodes)) for graph in graphs), tensors


def close_over(graph: Graph, tensors: Sequence[Tensor]) -> Graph:
    """A graph with these tensors as its first parameters, whether it captured them or not.

    Raises `GradientError` if the graph captured any other value of a trace around it.
    """
    captured_nodes = {_identity(x): capture(x).node for x in tensors}
    for x in held_by(graph):
        if isinstance(x.backend, ExprBackend) and _identity(x) not in captured_nodes:
            expectation = "a function of cotangents that takes traced values only from its arguments or its closure"
            error = GradientError(expected(expectation, "pass the tensor as an argument", used=x.template))
            raise error.named("custom_gradient")
    return _close(graph, captured_nodes)


def _identity(x: Tensor) -> Hashable:
    """A key that identifies a captured tensor."""
    return x.template, x.data if isinstance(x.backend, ExprBackend) else id(x.data), x.backend


def _close(graph: Graph, captured_nodes: Mapping[Hashable, Node]) -> Graph:
    constants = {
        key: Value(Node(PARAMETER, node.out, options=parameter_options(varies_of(node.tensor)), line=node.line))
        for key, node in captured_nodes.items()
    }

    def visit(node: Node) -> Sequence[Value]:
        known = None if node.tensor is None else constants.get(_identity(node.tensor))
        return node.values if known is None else (known,)

    inner = rewritten(graph, visit)
    names = [f"constants[{number}]" for number in range(len(constants))]
    return Graph([*constants.values(), *inner.parameters], inner.outputs, graph.out_tree, [*names, *inner.names])


_known: WeakValueDictionary[Hashable, Graph] = WeakValueDictionary()
remembers("graphs of loops and branches", _known.__len__, _known.clear)


def intern_graph(graph: Graph) -> Graph:
    """The known graph with the same nodes, or else this one. A graph that captured tensors is returned unchanged."""
    if graph.captured:
        return graph
    try:
        return _known.setdefault(_structure(graph), graph)
    except TypeError:  # an option that does not hash
        return graph


def _structure(graph: Graph) -> Hashable:
    numbers = {node: number for number, node in enumerate(graph.nodes)}

    def place(value: Value) -> tuple[int, int]:
        return numbers[value.node], value.index

    def row(node: Node) -> tuple[Any, ...]:
        line = None if node.op == PARAMETER else node.line  # that of the call, of which there may be many
        return node.op, node.out, node.map_inputs(place), node.default, line, node.products, *options_key(node.options)

    rows = map(row, graph.nodes)
    return tuple(rows), tuple(map(place, graph.outputs)), len(graph.parameters), graph.names, graph.out_tree


_DEPTH: Final = 6
"""The largest number of steps from a function to an object that is searched: from the function to an object in its
closure is one step, from there to an attribute another."""

_OPAQUE = (type, ModuleType, Backend, Graph, Node, str, bytes, int, float, complex)


def reachable_tensors(*functions: Callable[..., Any]) -> list[Tensor]:
    """The tensors that functions reach by closures, default arguments, bound objects and attributes, each once.

    >>> import tensorbackend as tb
    >>> def outer(x):
    ...     return lambda: {"twice": [x, x]}
    >>> x = tb.ones(3)
    >>> [tensor is x for tensor in reachable_tensors(outer(x))]
    [True]
    """
    tensors: list[Tensor] = []
    seen: set[int] = set()
    waiting: deque[tuple[Any, int]] = deque((function, 0) for function in functions)
    while waiting:
        value, depth = waiting.popleft()
        if id(value) in seen or isinstance(value, _OPAQUE):
            continue
        seen.add(id(value))
        if isinstance(value, Tensor):
            tensors.append(value)
        elif depth < _DEPTH:
            waiting.extend((child, depth + 1) for child in _children(value))
    return tensors


def _children(value: Any) -> Iterator[Any]:
    """The objects directly inside a function, a container or any other object."""
    if isinstance(value, FunctionType):
        yield from (cell.cell_contents for cell in value.__closure__ or () if _is_full(cell))
        yield from value.__defaults__ or ()
        yield from (value.__kwdefaults__ or {}).values()
    elif isinstance(value, MethodType):
        yield from (value.__self__, value.__func__)
    elif isinstance(value, partial):
        yield from (value.func, *value.args, *value.keywords.values())
    elif isinstance(value, set | frozenset):
        yield from value
    else:
        leaves, tree = flatten(value)
        yield from leaves if tree.kind is not None else getattr(value, "__dict__", {}).values()


def _is_full(cell: CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018 # raises for an empty cell
    except ValueError:
        return False
    return True


def freeze_variables(function: Callable[..., Any]) -> Callable[..., Any]:
    """A copy of a function with the current values of its free variables, such as the variable of a loop.

    Variables to which the function itself assigns remain shared.

    >>> functions = [lambda: number for number in range(3)]
    >>> [function() for function in functions]
    [2, 2, 2]
    >>> [function() for function in [freeze_variables(lambda: number) for number in range(3)]]
    [0, 1, 2]
    """
    if not isinstance(function, FunctionType) or not function.__closure__:
        return function
    shared = _assigned_variables(function.__code__)
    cells = tuple(
        CellType(cell.cell_contents) if name not in shared and _is_full(cell) else cell
        for name, cell in zip(function.__code__.co_freevars, function.__closure__, strict=True)
    )
    copy = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__, cells)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


@cache
def _assigned_variables(code: CodeType) -> frozenset[str]:
    """The variables of enclosing functions to which code, or code inside it, assigns."""
    from dis import get_instructions  # slow to import, and only custom gradients need it

    names = {
        instruction.argval
        for instruction in get_instructions(code)
        if instruction.opname in ("STORE_DEREF", "DELETE_DEREF")
    }
    inner = [_assigned_variables(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return frozenset(names.union(*inner))
