"""A function traced for a gradient on recalled nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

from ...dispatch.watching import is_watching
from ...dtypes import defaults
from ...protocol import Backend
from ...select import call_with_default, get_backend, move
from ...select.default import current as default_now
from ...tensor import Tensor
from ..expr_backend import ExprBackend, capture, depends_on_argument, leak_error
from ..graph import Graph, reachable, remake
from ..kept_nodes import Recall, value_under
from ..node import PARAMETER, Node, Value
from ..scopes import CapturedNode, Mark, scope_variable
from ..trace import argument_names, outputs_of
from ..tree_containers import LEAF, Tree
from ..trees import flatten, unflatten
from .calls import Argnums, Call, places_of
from .gradient_programs import tensor_of
from .tape import current_tape


class RecalledCall(NamedTuple):
    """A call of a function that was traced on recalled nodes."""

    scope: Recall
    function: Callable[..., Any]
    arguments: Sequence[Any]
    positions: int | tuple[int, ...]
    leaves: Sequence[Tensor]
    """The tensors of the arguments at those positions, which are the first values that the trace made."""
    tree: Tree
    outputs: list[Value]
    out_tree: Tree

    @property
    def key(self) -> Any:
        """What determines the gradient's program: the nodes in their order, the results, the backend, the precision.

        It is `None` for a trace that made new nodes.
        """
        scope = self.scope
        for value in self.outputs:
            if not scope.holds(value):
                return None
        return tuple(scope.made), *self.outputs, self.out_tree, scope.home, defaults.current_precision()

    def places(self, tensors: Sequence[Tensor]) -> tuple[int, ...] | None:
        """The positions of tensors among those that the trace captured, `None` if one is any other tensor."""
        places = [place for place in map(self._place, tensors) if place is not None]
        return tuple(places) if len(places) == len(tensors) else None

    def payloads(self, places: Sequence[int], more: Sequence[Tensor]) -> list[Any]:
        """The payloads of captured tensors at some positions, then those of the arguments, then further ones."""
        lifted, home = [*self.scope.lifted.values()], self.scope.home
        tensors = *[lifted[place][1] for place in places], *self.leaves, *more
        return [x.data if x.backend is home else move(x, home).data for x in tensors]

    def _place(self, x: Tensor) -> int | None:
        """The position of a tensor among those that the trace captured, `None` for any other tensor."""
        for place, (_, tensor) in enumerate(self.scope.lifted.values()):
            if tensor.data is x.data and tensor.template is x.template and tensor.backend is x.backend:
                return place
        return None

    def call(self, held: Sequence[Tensor] | None = None, leaves: Sequence[Tensor] | None = None) -> Call:
        """The same as `traced` returns, with other tensors for captured ones, and for `leaves`, if given."""
        positions = [self.positions] if isinstance(self.positions, int) else self.positions
        parameters = [node for node, _ in zip(self.scope.made, self.leaves, strict=False)]
        exchanged: dict[Value, Value] = {
            Value(node): Value(Node(PARAMETER, node.out, line=node.line)) for node in parameters
        }
        first = list(exchanged.values())
        if held is not None:
            for (value, _), tensor in zip(self.scope.lifted.values(), held, strict=True):
                exchanged[Value(value.node)] = capture(tensor)
        names = places_of(argument_names(self.function, self.arguments), self.arguments, positions)
        outputs = _anew(self.scope, self.outputs, exchanged)
        graph = Graph(first, outputs, self.out_tree, names)
        return Call(graph, list(self.leaves if leaves is None else leaves), self.tree, self.out_tree, {})


def _anew(scope: Recall, outputs: Sequence[Value], exchanged: dict[Value, Value]) -> list[Value]:
    """Results on new nodes, with a captured tensor in each node that represents one, and other values for some.

    Raises `BackendError` for values of traces that have ended.
    """
    _refuse_leaks(scope, outputs)
    for node in sorted(reachable(outputs), key=lambda node: scope.made.get(node, node.serial)):
        if Value(node) in exchanged:
            continue
        tensor = scope.tensor_of(node) if isinstance(node, CapturedNode) else None
        if tensor is None:
            remake([node], exchanged)
        else:
            held = exchanged[Value(node)] = capture(tensor)
            held.node.line = node.line
    return [exchanged[value] for value in outputs]


def _refuse_leaks(scope: Recall, outputs: Sequence[Value]) -> None:
    """Raises `BackendError` if results need a value of a trace that has ended."""
    seen: set[Node] = set()
    waiting = list(outputs)
    while waiting:
        value = waiting.pop()
        node = value.node
        if isinstance(value.index, Mark) and not scope.holds(value):  # though the node may be one of this trace
            raise leak_error(value)
        if node in seen or node in scope.made:
            continue
        if node.op == PARAMETER or (node.serial < scope.start and node.inputs and depends_on_argument(value)):
            raise leak_error(value)
        seen.add(node)
        waiting += node.operands


@cache
def _recorder() -> tuple[ExprBackend, Backend]:
    return ExprBackend(), get_backend("binary")


def recall_call(
    function: Callable[..., Any], argnums: Argnums, arguments: Sequence[Any], keywords: dict[str, Any]
) -> RecalledCall | None:
    """Trace a function as `traced` does, on recalled nodes; `None` for a call that needs a new trace.

    These are calls inside another trace, on a tape, under a profile or with a cast of operands, and calls whose
    differentiated arguments are not tensors with data on one backend.
    """
    if scope_variable.get() is not None or defaults.cast_blocks or is_watching() or current_tape() is not None:
        return None
    positions: Any = argnums
    try:
        if positions.__class__ is not int:
            positions = tuple(positions)
        chosen = _select_arguments(positions, arguments)
    except (IndexError, TypeError, ValueError):
        return None
    flat = positions.__class__ is tuple and {*map(type, chosen)} <= {Tensor}
    leaves, tree = (chosen, tree_of(len(chosen))) if flat else flatten(chosen)
    if not leaves or leaves[0].__class__ is not Tensor:
        return None
    home = leaves[0].backend
    for leaf in leaves:
        if leaf.__class__ is not Tensor or leaf.backend is not home or not leaf.template.dtype.is_inexact:
            return None
    default = default_now()
    if not _is_plain(home) or (default is not home and isinstance(default, ExprBackend)):
        return None
    backend, holder = _recorder()
    scope = Recall(home, holder, default)
    tensors = [tensor_of(leaf.template, backend, scope.parameter(leaf.template)) for leaf in leaves]
    nested, filled = tensors if flat else unflatten(tree, tensors), list(arguments)
    if positions.__class__ is int:
        filled[positions] = nested
    else:
        for place, argument in zip(positions, nested, strict=True):
            filled[place] = argument
    failed = True
    try:
        scope_variable.set(scope)
        outputs, out_tree = call_with_default(backend, _run, scope, function, filled, keywords)
        failed = False
    finally:
        scope_variable.set(None)
        if scope.rebound:
            scope.end(failed)
    return RecalledCall(scope, function, arguments, positions, leaves, tree, outputs, out_tree)


@cache
def tree_of(count: int) -> Tree:
    """The tree of a tuple of so many leaves."""
    return flatten((0,) * count)[1]


def _select_arguments(positions: Any, arguments: Sequence[Any]) -> Any:
    """The differentiated arguments. Raises an error for positions that `traced` must normalise or refuse."""
    if positions.__class__ is int:
        if positions < 0:
            raise ValueError
        return arguments[positions]
    if min(positions) < 0 or len({*positions}) < len(positions):
        raise ValueError
    return tuple([arguments[place] for place in positions])


@cache
def _is_plain(backend: Backend) -> bool:
    """Whether a backend has data, keeps no record of what is computed, and lays its payloads without names."""
    return backend.beneath is backend and backend.holds_data and not backend.lays_by_name


def _run(
    scope: Recall, function: Callable[..., Any], arguments: Sequence[Any], keywords: dict[str, Any]
) -> tuple[list[Value], Tree]:
    result = function(*arguments, **keywords)
    if result.__class__ is Tensor and result.backend is _recorder()[0] and scope.token is None:
        return [value_under(result.template, result.data)], LEAF
    return outputs_of(result, scope)
