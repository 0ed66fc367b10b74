"""The parts of a graph: nodes, their values, and the user's line that made each."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from itertools import count
from operator import attrgetter
from types import FrameType, MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from ..declarations.op_specs import OpSpec
from ..dtypes.defaults import Products, product_precision, with_products
from ..errors.tracebacks import is_ours
from ..protocol.callbacks import Default as Default
from ..rules.plan import Out
from ..scopes import Block
from ..sizes import is_symbolic
from ..template import Template, is_symbolic_template
from ..tensor import Tensor

PARAMETER: Final = "parameter"
"""The op of a node for an argument of the traced function."""

CAPTURED: Final = "captured"
"""The op of a node for a tensor with data that the traced function holds on to."""

RENAMED: Final = "rename"
"""The op of a node that renames the axes of a value, for which there is no callback."""


HOOK: Final = "debug_callback"
"""The op of a node that calls a function of the user's for its side effects."""

HOST: Final = "host_call"
"""The op of a node that calls a function of the user's with NumPy arrays, for its result."""

CUSTOM: Final = "custom_gradient"
"""The op of a node that holds a graph with a gradient of its own."""

PROGRAM: Final = "<program>"
"""The file name in the code of a graph's program."""


class Line(NamedTuple):
    """A line of the user's program."""

    file: str
    number: int
    function: str
    scope: str = ""
    """The names of the `name_scope` blocks around it, such as `"encoder/attention"`."""

    def __str__(self) -> str:
        place = f"{self.file.rpartition('/')[2]}:{self.number}"
        return f"{place} ({self.scope})" if self.scope else place


class Value(NamedTuple):
    """One result of a node: the payload of a tensor on ExprBackend. Equal values are the same result of one node."""

    node: Node
    index: int = 0  # type: ignore[assignment] # in place of the method of tuples

    @property
    def template(self) -> Template:
        """The template of the value."""
        out = self.node.out
        return out if isinstance(out, Template) else out[self.index]

    def __repr__(self) -> str:
        return f"<{self.node.op} {self.template!r}>"


Input: TypeAlias = "Value | tuple[Value, ...] | None"
"""The argument for a tensor parameter: a value, the values of a sequence, or `None` if it was left out."""

Operand = TypeVar("Operand")

_TEMPLATE: Final = attrgetter("template")

serials: Final = count()
"""The serial numbers of nodes."""


class Node:
    """One call of an op: the name of the op's callback, the inputs, options and output template, and the user's line.

    A composite is one node, and its default implementation `default` makes its parts. Nodes never change. Their serial
    numbers increase with time, so a node comes after its inputs.
    """

    __slots__ = ("default", "inputs", "line", "op", "operands", "options", "out", "products", "serial", "tensor")

    operands: tuple[Value, ...]
    """The values that the node needs, with sequences flattened."""

    def __init__(
        self,
        op: str,
        out: Out,
        inputs: tuple[Input, ...] = (),
        options: Mapping[str, object] = MappingProxyType({}),
        *,
        default: Default | None = None,
        tensor: Tensor | None = None,
        line: Line | None = None,
        products: Products | None = None,
    ) -> None:
        self.op, self.out, self.inputs, self.options = op, out, inputs, options
        self.operands = operands_of(inputs)
        self.default = default
        self.tensor = tensor
        """The tensor of a `captured` node."""
        self.line = line or here()
        self.products = product_precision() if products is None else products
        """The precision of its products, `product_precision()` where it was recorded."""
        self.serial = next(serials)

    @property
    def outs(self) -> tuple[Template, ...]:
        """The templates of its results."""
        return (self.out,) if isinstance(self.out, Template) else self.out

    @property
    def values(self) -> tuple[Value, ...]:
        """The node's results."""
        if isinstance(self.out, Template):
            return (Value(self),)
        return tuple([Value(self, index) for index in range(len(self.out))])

    @property
    def templates(self) -> tuple[Any, ...]:
        """The node's inputs, with templates in place of values."""
        return self.map_inputs(_TEMPLATE)

    def map_inputs(self, exchange: Callable[[Value], Any]) -> tuple[Any, ...]:
        """The node's inputs, with the result of `exchange` in place of each value."""
        if self.operands is self.inputs:
            return tuple(map(exchange, self.operands))
        return map_each(exchange, self.inputs, Value)

    def remade(self, inputs: tuple[Any, ...], options: Mapping[str, object] | None = None) -> Node:
        """The same call with other inputs, at the same line, and with other options if they are given."""
        chosen = self.options if options is None else options
        return Node(self.op, self.out, inputs, chosen, default=self.default, line=self.line, products=self.products)

    def __repr__(self) -> str:
        return f"<node {self.op} {self.out!r}>"


def operands_of(inputs: tuple[Input, ...]) -> tuple[Value, ...]:
    """The values among inputs, with sequences flattened; the same tuple if all inputs are values."""
    for operand in inputs:
        if type(operand) is not Value:
            return tuple(flat(inputs, Value))
    return inputs  # type: ignore[return-value] # all are values


def flat(inputs: Iterable[Any], kind: type[Operand]) -> list[Operand]:
    """The operands of a kind among inputs, with sequences flattened, and without those that were left out."""
    operands: list[Operand] = []
    for operand in inputs:
        if isinstance(operand, kind):
            operands.append(operand)
        elif operand is not None:
            operands.extend(operand)
    return operands


def map_each(function: Callable[[Operand], Any], inputs: Iterable[Any], kind: type[Operand]) -> tuple[Any, ...]:
    """Inputs with the result of a function for each operand of a kind; `None` stays."""
    return tuple([function(x) if isinstance(x, kind) else x and tuple(map(function, x)) for x in inputs])


def spec_of_default(default: Any) -> OpSpec | None:
    """The declaration of the composite that a function is the default implementation of; `None` for other functions."""
    spec = getattr(getattr(default, "__self__", None), "spec", None)
    return spec if isinstance(spec, OpSpec) else None


def next_serial() -> int:
    """A serial number: larger than those of all existing nodes, smaller than those of later ones."""
    return next(serials)


# The user's line

_line: ContextVar[Line | None] = ContextVar("tensorbackend_line", default=None)

current_scope: Final[ContextVar[str]] = ContextVar("tensorbackend_name_scope", default="")
"""The names of the `name_scope` blocks that run, with slashes between them."""


@cache  # asked for every frame above a new node, or above a call that is profiled
def is_users(file: str) -> bool:
    """Whether a file of code is the user's: not of this package, nor a program of a graph, nor frozen into Python."""
    return not (is_ours(file) or file.startswith((PROGRAM, "<frozen ")))


def here() -> Line | None:
    """The line that `at_line` sets, else the innermost current line outside this package."""
    said = _line.get()
    if said is not None:
        return said
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if is_users(frame.f_code.co_filename):
            return Line(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name, current_scope.get())
        frame = frame.f_back
    return None


def frames_to_user() -> int:
    """The `stacklevel` of a warning that is to show the innermost current line outside this package."""
    depth, frame = 1, sys._getframe(1)
    while not is_users(frame.f_code.co_filename) and frame.f_back is not None:
        depth, frame = depth + 1, frame.f_back
    return depth


def at_line(line: Line | None) -> Block[None]:
    """Inside the block, new nodes get this line: nodes that a rewrite makes from a node keep the node's line."""
    return Block(None, [(_line, line)])


@contextmanager
def in_place_of(node: Node) -> Iterator[None]:
    """A block in which new nodes take the place of a node: they get its line and the precision of its products."""
    with at_line(node.line), with_products(node.products):
        yield


def is_sized(node: Node) -> bool:
    """Whether a symbolic size decides what a node computes, so that it is computed in each run."""
    return any(map(is_symbolic_template, node.outs)) or is_symbolic(tuple(node.options.values()))
