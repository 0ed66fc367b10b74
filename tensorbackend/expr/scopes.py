"""The traces that run in this thread, and the state of each."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, Final

from ..protocol import Backend
from ..scopes import Block
from ..template import Template
from ..tensor import Tensor
from .node import PARAMETER, Node, Value, next_serial


class Mark(int):
    """The index of a result in a value that one trace recorded.

    Traces that recall nodes have the same nodes in their values. The mark distinguishes their values.
    """


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
