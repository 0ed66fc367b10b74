"""The traces that run in this thread, and the state of each."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from gc import collect
from typing import Any, Final
from weakref import ReferenceType, ref

from ..errors import BackendError, expected
from ..protocol import Backend
from ..scopes import Block
from ..template import Template
from ..tensor import Tensor
from .node import PARAMETER, Node, Value, next_serial


class Mark(int):
    """The index of a result in a value that one trace recorded.

    Traces that recall nodes have the same nodes in their values. The mark distinguishes their values.
    """

    start: int
    """The serial number at which the trace begins. Nodes with smaller ones were made by another trace, on its lines."""

    def __new__(cls, index: int, start: int = 0) -> Mark:
        mark = super().__new__(cls, index)
        mark.start = start
        return mark


class CapturedNode(Node):
    """A node for a tensor with data that a trace has captured, without the tensor, which the trace holds."""

    __slots__ = ()

    def __init__(self, template: Template) -> None:
        super().__init__(PARAMETER, template)


class Scope:
    """The state of one trace: the serial number at which it begins, and the tensors with data that it has captured."""

    mark: Mark | None = None
    """The index 0 in the values of a trace that recalls nodes; `None` in any other trace."""

    def __init__(self, holder: Backend, default: Backend) -> None:
        self.start = next_serial()
        self.captured: dict[tuple[int, Template, Backend], Value] = {}
        self.numbers: dict[Any, Value] = {}
        self.holder = holder
        """The backend of data that is made from Python numbers or another library's arrays."""
        self.default = default
        """The default backend around the trace."""
        self.repeated: int | None = None
        """The start of the innermost trace, this one or one around it, whose graph runs again without Python."""
        self.token: Value | None = None
        """The token that the last call of a function with side effects returned; `expr.effects` explains tokens."""
        self.outer: Scope | None = None
        """The trace around this one."""
        self.written: list[Any] = []
        """The tensors and arrays of the trace to which a trace inside it wrote, each in its own values of them."""
        self.rebound: list[tuple[ReferenceType[Any], Callable[[Any], None]]] = []
        """The objects with data to which the trace assigned values without, and how each gets its data back."""

    def end(self, failed: bool) -> None:
        """Gives objects their data back; `BackendError` if one of them outlives the trace, whose values it had.

        An object that the traced function made from constants, and dropped, is no error.
        """
        rebound, self.rebound = self.rebound, []
        outlives = False
        for reference, restore in reversed(rebound):
            x = reference()
            if x is not None:
                restore(x)
                outlives = True
        x = None
        if not outlives or failed:
            return
        collect()  # an object in a cycle
        if any(reference() is not None for reference, _ in rebound):
            remedy = "pass the array as an argument and return it, or write to a copy that the function makes"
            raise BackendError(expected("no assignment of traced values to an array from outside the function", remedy))

    def tensor_of(self, node: CapturedNode) -> Tensor | None:
        """The tensor that a node represents in this trace or one around it; `None` if they have not captured it."""
        return None if self.outer is None else self.outer.tensor_of(node)


scope_variable: Final[ContextVar[Scope | None]] = ContextVar("tensorbackend_trace", default=None)


def current() -> Scope | None:
    """The innermost trace that runs, `None` outside all traces."""
    return scope_variable.get()


def outside_traces() -> Block[None]:
    """A block outside all traces, for code that runs on data while a graph is made."""
    return Block(None, [(scope_variable, None)])


def note_rebound(x: Any, restore: Callable[[Any], None]) -> None:
    """Notes that an object with data now holds a value of the innermost trace, and how it gets its data back."""
    scope = scope_variable.get()
    if scope is not None:
        scope.rebound.append((ref(x), restore))


class TraceBlock(Block[Any]):
    """A block of one trace."""

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        if self._value.rebound:
            self._value.end(failed=any(error))
