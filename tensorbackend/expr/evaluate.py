"""Running a graph on a backend: a program of prepared calls, each value freed after its last use."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias, cast

from ..dispatch import perform, primitive_kernel
from ..dispatch.kernels import payloads_of, wrap
from ..errors import TensorBackendError
from ..protocol import Backend, own_method
from ..protocol.core import CompositeCall
from ..select import common_backend, move
from ..template import Template
from ..tensor import Tensor, late
from .graph import Graph
from .node import RENAMED, Node, Value
from .record import ExprBackend

Result: TypeAlias = Tensor | tuple[Tensor, ...]
KEPT_BYTES = 1 << 16
"""A constant of more bytes is made again at each run, rather than kept with the program."""

Step: TypeAlias = Callable[..., Result]
"""One node on one backend: the tensors of its inputs give those of its results."""


class Kernel(ABC):
    """A default implementation that a compiler made for one backend: it is called as a step, without a dispatcher."""

    @abstractmethod
    def __call__(self, out: Any, inputs: Sequence[Tensor], options: Mapping[str, object]) -> Result:
        """The result, as of any default implementation."""

    @abstractmethod
    def step(self, *inputs: Tensor) -> Result:
        """The same from the tensors alone."""


def evaluate(graph: Graph, arguments: Sequence[Any], backend: Backend | None = None) -> list[Tensor]:
    """The results of a graph for tensors in place of its parameters, on their backend unless one is given.

    Raises `ShapeError` for a tensor that does not look as its parameter was traced.
    """
    tensors = [x if isinstance(x, Tensor) else late("asarray")(x) for x in arguments]
    graph.check(tensors)
    if backend is None:
        held = [node.tensor for node in graph.captured if node.tensor is not None]
        backend = common_backend([*tensors, *held])
    if isinstance(backend, ExprBackend):
        return _recorded(graph, tensors, backend)
    return program(graph, backend)(tensors)


def _recorded(graph: Graph, tensors: Sequence[Tensor], backend: ExprBackend) -> list[Tensor]:
    """The results of a graph recorded in the trace around it, at the lines of its nodes."""
    exchanged: dict[Value, Value] = {}
    for value, x in zip(graph.parameters, tensors, strict=True):
        exchanged[value] = move(x, backend).data
    for node in graph.nodes[len(graph.parameters) :]:
        if node.tensor is not None:
            exchanged[Value(node)] = move(node.tensor, backend).data
            continue
        made = node.remade(node.with_inputs(exchanged.__getitem__))
        exchanged.update(zip(node.values, made.values, strict=True))
    return [Tensor(value.template, backend, exchanged[value]) for value in graph.outputs]


def program(graph: Graph, backend: Backend) -> Program:
    """The program of a graph on a backend, made once."""
    found = graph.programs.get(backend)
    if found is None:
        found = graph.programs[backend] = Program(graph, backend)
    return cast(Program, found)


class Instruction(NamedTuple):
    """One step: which places it reads, which it fills, and which are empty afterwards."""

    step: Step
    inputs: tuple[Any, ...]
    """A place, several of a sequence, or `None` for each input."""
    taken: Callable[[list[Any]], tuple[Any, ...]] | None
    """What gives the inputs where there are several and each is one tensor: the quick way."""
    outputs: tuple[int, ...]
    freed: tuple[int, ...]
    node: Node


class Program:
    """The nodes of a graph as calls of a backend's methods. Called with tensors that look as its parameters do."""

    def __init__(self, graph: Graph, backend: Backend) -> None:
        self.backend = backend
        self.templates = graph.templates
        places = {value: place for place, value in enumerate(v for node in graph.nodes for v in node.values)}
        self.size = len(places)
        self.outputs = [places[value] for value in graph.outputs]
        ends = last_uses(graph)
        self.constants: list[Any] = [None] * (self.size - len(graph.parameters))
        self.instructions = []
        for node in graph.nodes[len(graph.parameters) :]:
            run = step(node, backend)
            outputs = tuple(places[value] for value in node.values)
            if not node.inputs and (node.tensor is not None or node.outs[0].nbytes <= KEPT_BYTES):
                self.constants[outputs[0] - len(graph.parameters)] = run()
                continue
            inputs = node.with_inputs(places.__getitem__)
            plain = len(inputs) > 1 and all(isinstance(each, int) for each in inputs)
            taken = itemgetter(*inputs) if plain else None
            freed = tuple(places[value] for value in ends[node])
            self.instructions.append(Instruction(run, inputs, taken, outputs, freed, node))

    def __call__(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        backend = self.backend
        held: list[Any] = [
            x if x.template is template and x.backend is backend else Tensor(template, backend, move(x, backend).data)
            for x, template in zip(tensors, self.templates, strict=True)
        ]
        held += self.constants
        node: Node | None = None
        try:
            for run, inputs, taken, outputs, freed, node in self.instructions:  # noqa: B007 # named in an error
                given = (_taken(held, each) for each in inputs) if taken is None else taken(held)
                result = run(*given)
                if len(outputs) == 1 and type(result) is not tuple:
                    held[outputs[0]] = result
                else:
                    for place, x in zip(outputs, result, strict=True):
                        held[place] = x
                for place in freed:
                    held[place] = None
        except TensorBackendError as error:
            if node is not None and node.line is not None:
                error.add_note(f"in {node.op}, traced at {node.line.file}:{node.line.number}")
            raise
        return [held[place] for place in self.outputs]

    @property
    def sole_step(self) -> Step | None:
        """The step, where it is one of all tensors in their order that gives the one result."""
        if len(self.instructions) != 1:
            return None
        (only,) = self.instructions
        return (
            only.step if only.inputs == tuple(range(len(self.templates))) and [*only.outputs] == self.outputs else None
        )


def _taken(held: list[Any], place: int | tuple[int, ...] | None) -> Any:
    if isinstance(place, tuple):
        return tuple(held[each] for each in place)
    return None if place is None else held[place]


def last_uses(graph: Graph) -> dict[Node, list[Value]]:
    """For each node the values that nothing after it needs, its own unused results among them."""
    seen: set[Value] = set(graph.outputs)
    found: dict[Node, list[Value]] = {}
    for node in reversed(graph.nodes):
        ends = []
        for value in (*node.values, *node.operands):
            if value not in seen:
                seen.add(value)
                ends.append(value)
        found[node] = ends
    return found


def step(node: Node, backend: Backend) -> Step:
    """A node as a call on a backend."""
    out, name, options = node.out, node.op, node.options
    if node.tensor is not None:
        tensor = move(node.tensor, backend)
        return lambda: tensor
    if name == RENAMED:
        assert isinstance(out, Template)  # one value has one template
        return lambda x: Tensor(out, backend, x.data)
    if isinstance(node.default, Kernel):
        return node.default.step
    if node.default is not None:
        method = own_method(backend, name)

        def composite(*inputs: Any) -> Result:
            return cast(Result, perform(backend, name, CompositeCall(out, inputs, options), method, node.default))

        return composite
    kernel = primitive_kernel(backend, name, out, node.with_inputs(_template), options)
    return lambda *inputs: cast(Result, wrap(out, backend, kernel(*payloads_of(inputs))))


def _template(value: Value) -> Template:
    return value.template
