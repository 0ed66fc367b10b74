"""Nodes of a tape, and cached gradients of what was recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast
from weakref import ref

from ...dtypes import defaults
from ...errors import TemplateDataError
from ...ops.creation.filled import full
from ...protocol import Backend
from ...rules.plan import Out
from ...tensor import Tensor
from ..expr_backend import ExprBackend, expr_tensor
from ..graph import Graph, reachable
from ..kept_nodes import Plan
from ..node import PARAMETER, Default, Input, Line, Node, Value, operands_of, serials
from .engine import pull_back
from .gradient_programs import GRADIENT_PROGRAMS, GradientProgram, tensor_of

if TYPE_CHECKING:
    from .tape import Tape


open_tape: Final[ContextVar[ref[Tape] | None]] = ContextVar("tensorbackend_tape", default=None)
# A weak reference: if an interrupt hits just as the block of a tape begins, `__exit__` never runs. The tape then ends
# as soon as nothing refers to it.


def active_tape() -> Tape | None:
    """The tape whose block runs in this thread and is not paused, `None` if there is none."""
    held = open_tape.get()
    return None if held is None else held()


class UnrecordedUse(NamedTuple):
    """Where a value was computed from recorded values outside the block of their tape, so that it was not recorded."""

    tape: Tape
    """The tape that recorded those values; the latest one, if there are several."""
    line: Line | None


class TapeNode(Node):
    """A node that was run when it was made."""

    __slots__ = ("left", "plan", "results", "tape")

    plan: Plan | None
    """What the node is besides its inputs, if it can be recalled: such nodes with equal plans and inputs are equal."""
    results: tuple[Tensor, ...]
    """The node's results, with data."""
    tape: Tape | None
    """The tape that recorded it; `None` for a constant."""
    left: UnrecordedUse | None
    """For a constant, the place where it was computed from values that a tape had recorded, if it was."""


def make_node(
    tape: Tape | None,
    results: tuple[Tensor, ...],
    op: str,
    out: Out,
    inputs: tuple[Input, ...] = (),
    options: Mapping[str, object] = MappingProxyType({}),
    default: Default | None = None,
    *,
    tensor: Tensor | None = None,
    line: Line | None = None,
    left: UnrecordedUse | None = None,
) -> TapeNode:
    """A node, made faster than by its class; it has the given line."""
    node = object.__new__(TapeNode)
    node.op, node.out, node.inputs, node.operands, node.options = op, out, inputs, operands_of(inputs), options
    node.default, node.tensor, node.line, node.serial = default, tensor, line, next(serials)
    node.tape, node.results, node.left, node.plan = tape, results, left, None
    node.products = defaults.product_precision()
    return node


_UNFIT: Final = GradientProgram(Graph((), ()), cast(Backend, None), None)
"""Marks a gradient whose rules read data, so that it is derived each time."""


def recall_gradient(y: Value, leaves: Sequence[Tensor]) -> list[Tensor] | None:
    """The gradient of a value on a tape, outside the blocks of all tapes, by a program for what the tape recorded.

    It is `None` if there is no program, as for custom gradients, and if an error must be raised.
    """
    nodes = cast(list[TapeNode], reachable([y]))  # as a tape has no other nodes
    numbers: dict[Node, int] = {node: number for number, node in enumerate(nodes)}
    rows: list[Any] = [y.index, len(nodes)]
    for node in nodes:
        plan = node.plan
        if plan is not None:
            rows.append(plan)
            for source, index in node.operands:
                rows += numbers[source], index
        elif node.inputs:  # of an op that is not recalled
            return None
        else:
            rows += node.tape is None, node.out
    for x in leaves:
        rows += x.template, numbers.get(x.data.node, -1), x.data.index
    home = cast(TapeNode, y.node).results[y.index].backend
    key = "tape", *rows, home, defaults.current_precision()
    program = GRADIENT_PROGRAMS.get(key)
    if program is None:
        program = GRADIENT_PROGRAMS.keep(key, _derive(y, leaves, numbers, home) or _UNFIT)
    if program is _UNFIT:
        return None
    payloads = [nodes[number].results[index].data for number, index in program.places]
    with suppress(Exception):  # the error is raised again where the nodes have the lines of this computation
        results = program(payloads)
        return [tensor_of(x.template, home, data) for x, data in zip(leaves, results, strict=True)]
    return None


def _derive(y: Value, leaves: Sequence[Tensor], numbers: dict[Node, int], home: Backend) -> GradientProgram | None:
    """The program of a gradient, by a graph whose parameters are the values that it needs; `None` if it reads data."""
    taken: dict[Value, Value] = {}

    def lookup(value: Value) -> Tensor:
        if value not in taken:
            taken[value] = Value(Node(PARAMETER, value.template, line=value.node.line))
        return expr_tensor(taken[value])

    seed = full((), 1, dtype=y.template.dtype, backend=ExprBackend())
    try:
        cotangents = pull_back([y], [seed], [leaf.data for leaf in leaves], lookup)
    except TemplateDataError:
        return None
    graph = Graph(list(taken.values()), [cotangent.data for cotangent in cotangents])
    if graph.captured:
        return None
    return GradientProgram(graph, home, [(numbers[node], index) for node, index in taken])
