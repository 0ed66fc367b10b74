"""How operators are declared: a function of tensors for each, which says by its signature what it takes.

A parameter that may be given by position is an input. One of type `Ints`, `Floats`, `Int`, `Float` or `Bool` gets the
numbers in the tensor, which must be known before the operator runs: a shape, axes, a scale to resize by. One of type
`Known` gets the tensor, and reads its data itself where it must. So does one of type `Data`, for which only constants
of the model are known: an input there is data, of which a traced function cannot know how many elements it selects. A
keyword is an attribute. The keyword `given` gets all others that ONNX's schema has, or the declaration, and the keyword
`node` what the function must know of its place.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import cache
from types import SimpleNamespace
from typing import Annotated, Any, NamedTuple, Never, TypeVar, get_args

import tensorbackend as tb
from onnx import AttributeProto, NodeProto, defs
from tensorbackend.errors import TemplateDataError, UnsupportedOp, expected

from ..attributes import plain
from ..errors import ModelError

Value = Any
"""A tensor; a list of values for a sequence; `None` for an optional that is empty."""

F = TypeVar("F", bound=Callable[..., Any])

ONNX, MICROSOFT, PREVIEW = "", "com.microsoft", "ai.onnx.preview"

NEWEST = 28
"""The newest opset of ONNX's own domain whose meaning is known here."""

HOST_ELEMENTS = 1024
"""Values without inputs stay on the reference backend, where shapes are computed, up to this many elements."""


class Reading(Enum):
    """How the numbers of an input are read."""

    INTS = "ints"
    FLOATS = "floats"
    INT = "int"
    FLOAT = "float"
    BOOL = "bool"
    KNOWN = "known"
    DATA = "data"


Ints = Annotated[tuple[int, ...], Reading.INTS]
Floats = Annotated[tuple[float, ...], Reading.FLOATS]
Int = Annotated[int, Reading.INT]
Float = Annotated[float, Reading.FLOAT]
Bool = Annotated[bool, Reading.BOOL]
Known = Annotated[tb.Tensor, Reading.KNOWN]
Data = Annotated[tb.Tensor, Reading.DATA]
Maybe = tb.Tensor | None
"""An input that may be left out."""


class Run(NamedTuple):
    """What all nodes of one run of a model share."""

    home: tb.Backend
    """The backend of the model's inputs and parameters."""
    notes: list[str]
    """What the importer had to leave away: names of axes that would clash."""


class Origin(NamedTuple):
    """A call of an op of PyTorch that was exported as a node."""

    op: str
    """Its name, such as "hardtanh"."""
    arguments: tuple[str, ...]
    """Its arguments by position, as PyTorch writes them: "%x" for a tensor, "0" for a number."""


class Node(NamedTuple):
    """The place of an operator in a model."""

    name: str
    operator: str
    domain: str
    opset: int
    """The version of the operator's domain that the model asks for."""
    outputs: tuple[str, ...]
    """The names of the results, "" for one that nobody uses."""
    run: Run | None = None
    """What belongs to the run of the model, while it runs."""
    origin: Origin | None = None
    """The call of PyTorch that was exported as this node, where its metadata say so."""

    def __str__(self) -> str:
        kind = f"{self.domain}.{self.operator}" if self.domain else self.operator
        return f"{kind} {self.name!r}" if self.name else f"{kind} -> {self.outputs[0]!r}" if self.outputs else kind

    def comes_from(self, *ops: str) -> bool:
        """Whether one of these ops of PyTorch was exported as this node."""
        return self.origin is not None and self.origin.op in ops

    def wants(self, position: int) -> bool:
        """Whether somebody uses a result."""
        return position < len(self.outputs) and self.outputs[position] != ""

    def place(self, size: int) -> tb.Backend:
        """The backend for a tensor that is made from nothing: small ones are known while a function is traced."""
        return tb.get_backend("binary") if size <= HOST_ELEMENTS or self.run is None else self.run.home


class Given(SimpleNamespace):
    """The attributes of a node by their names; those that it leaves out have their defaults, or are `None`."""

    def __getattr__(self, name: str) -> None:
        """Those that other versions of the operator have are `None`."""


class Operator(NamedTuple):
    """A function that computes an operator, and what its signature says."""

    function: Callable[..., Any]
    since: int
    readings: tuple[Reading | None, ...]
    """For each input whether its numbers are read."""
    least: int
    """The number of inputs that must be given."""
    variadic: bool
    attributes: frozenset[str]
    needs_node: bool
    body: tuple[Any, ...] = ()
    """The graph that it runs, of a function."""
    others: Mapping[str, Any] | None = None
    """The attributes of `given` with their defaults, if it takes them; empty for those of the schema."""
    takes: Callable[[NodeProto], bool] = lambda proto: True
    """Whether it computes a node; others are computed by the function body of the schema."""

    def reading(self, position: int) -> Reading | None:
        """How the numbers of the input at a position are read, if they are."""
        return self.readings[position] if position < len(self.readings) else None

    def defaults(self, node: Node) -> Mapping[str, Any]:
        """The attributes that `given` has, with their defaults."""
        return {} if self.others is None else self.others or _defaults(node.domain, node.operator, node.opset)


@cache
def _defaults(domain: str, name: str, opset: int) -> Mapping[str, Any]:
    """The attributes that a schema has, with their defaults; `...` for one that a node must have."""
    found: dict[str, Any] = {}
    for key, attribute in defs.get_schema(name, opset, domain).attributes.items():
        default = attribute.default_value
        known = default.type != AttributeProto.UNDEFINED
        found[key] = plain(default) if known else ... if attribute.required else None
    return found


ANY = frozenset({"*"})
"""The attributes of an operator that has taken them from the record of the node already."""

OPERATORS: dict[tuple[str, str], list[Operator]] = {}
"""The functions of each operator by domain and name, the newest first."""


def operator(
    *names: str, since: int = 1, domain: str = ONNX, attributes_before: int = 0,
    takes: Callable[[NodeProto], bool] | None = None, **defaults: Any,
) -> Callable[[F], F]:  # fmt: skip
    """Declare a function as an operator of these names, from a version of its domain on.

    With `attributes_before` it also is the operator of the versions before that one, in which all its inputs but the
    first were attributes of the same names. `defaults` has the attributes in `given`, where no schema has them. It
    computes the nodes that it `takes`, by default all.
    """

    def declare(function: F) -> F:
        newest = declared(function, max(since, attributes_before), **defaults)
        newest = newest if takes is None else newest._replace(takes=takes)
        enter(names, domain, newest)
        if attributes_before:
            inputs = [*inspect.signature(function).parameters][1 : len(newest.readings)]
            attributes, first = newest.attributes.union(inputs), newest.readings[:1]
            enter(names, domain, newest._replace(since=since, readings=first, least=1, attributes=attributes))
        return function

    return declare


def rows(functions: Mapping[str, Callable[..., Any]], *, since: int = 1, domain: str = ONNX) -> None:
    """Declare the functions of a table, by the names of their operators."""
    for name, function in functions.items():
        operator(name, since=since, domain=domain)(function)


def enter(names: Sequence[str], domain: str, version: Operator) -> None:
    """Enter a version of an operator under these names."""
    for name in names:
        versions = OPERATORS.setdefault((domain, name), [])
        versions.append(version)
        versions.sort(key=lambda version: -version.since)


def calling(graph: Callable[..., Any]) -> Operator:
    """A graph of a function as an operator; inputs that are not given are `None`."""

    def call(*inputs: Value, node: Node) -> Any:
        return graph(inputs, node.run, wanted=node.outputs)

    return Operator(call, 1, (), 0, True, ANY, True, (graph,))


def find(domain: str, proto: NodeProto, opset: int) -> Operator | None:
    """The function that computes a node as a version of its domain defines it, `None` where there is none."""
    versions = (found for found in OPERATORS.get((domain, proto.op_type), ()) if found.since <= opset)
    newest = next(versions, None)
    return newest if newest is not None and newest.takes(proto) else None


def declared(function: Callable[..., Any], since: int = 1, **defaults: Any) -> Operator:
    """A function as an operator, by what its signature says."""
    readings: list[Reading | None] = []
    least, variadic, attributes = 0, False, set()
    for name, parameter in inspect.signature(function, eval_str=True).parameters.items():
        if parameter.annotation is Never:  # it is there for an error's text
            continue
        if parameter.kind is parameter.KEYWORD_ONLY:
            attributes.add(name)
        elif parameter.kind is parameter.VAR_POSITIONAL:
            variadic = True
        else:
            readings.append(_reading(parameter.annotation))
            least += parameter.default is parameter.empty
    named, others = frozenset(attributes - {"node", "given"}), defaults if "given" in attributes else None
    return Operator(function, since, tuple(readings), least, variadic, named, "node" in attributes, others=others)


def _reading(annotation: Any) -> Reading | None:
    parts = (item for part in (annotation, *get_args(annotation)) for item in getattr(part, "__metadata__", ()))
    return next((item for item in parts if isinstance(item, Reading)), None)


def refuse(**attributes: Any) -> None:
    """Raise for attributes that ask for what is not imported; 0 and `None` ask for nothing."""
    for name, value in attributes.items():
        if value:
            raise UnsupportedOp(expected(f"{name}=0", "export the model without it", **{name: value}))


def read(value: Value, reading: Reading) -> Any:
    """The numbers of a tensor that decides on a shape; with `Known` and `Data` the operator reads them."""
    if reading in (Reading.KNOWN, Reading.DATA):
        return value
    if not isinstance(value, tb.Tensor):
        raise ModelError(expected("a tensor", got=type(value).__name__))
    if not tb.is_concrete(value):
        raise TemplateDataError(
            expected("numbers that are known while a function is traced", "give them as data", tensor=value)
        )
    kind = {Reading.BOOL: bool, Reading.INT: int, Reading.INTS: int}.get(reading, float)
    numbers = tuple(map(kind, value.reshape((-1,)).tolist()))
    if reading in (Reading.INTS, Reading.FLOATS):
        return numbers
    if len(numbers) != 1:
        raise ModelError(expected("one number", tensor=value))
    return numbers[0]
