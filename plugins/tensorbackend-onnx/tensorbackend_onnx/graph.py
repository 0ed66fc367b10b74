"""Graphs of a model as lists of steps, each of which runs an operator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any, NamedTuple

import tensorbackend as tb
from tensorbackend.errors import TensorBackendError

from .errors import ModelError
from .operators.registry import HOST_ELEMENTS, Node, Operator, Run, Value, read
from .types import ValueType

Values = dict[str, Value]


class Place(NamedTuple):
    """The place of a node: dry runs and profiles show it as the line of the ops that the node runs."""

    file: str
    number: int
    name: str


class Step:
    """A node, ready to run."""

    def __init__(
        self,
        node: Node,
        operator: Operator,
        inputs: Sequence[str],
        attributes: dict[str, Any],
        place: Place,
    ) -> None:
        self.node = node
        self.operator = operator
        self.inputs = tuple(inputs)
        self.bodies = {name: value for name, value in attributes.items() if isinstance(value, Graph)}
        """The attributes that are graphs."""
        self.attributes = {name: value for name, value in attributes.items() if name not in self.bodies}
        self._call = _calling_at(place)
        self.last: tuple[str, ...] = ()
        """The values that no later step uses."""

    @property
    def size(self) -> int:
        """The number of steps that it is, with those of the graphs inside."""
        return 1 + sum(graph.size for graph in self.graphs())

    @property
    def used(self) -> set[str]:
        """The values that the node and the graphs in it use."""
        return set(self.inputs).union(*(body.captured for body in self.bodies.values())) - {""}

    def graphs(self) -> tuple[Graph, ...]:
        """The graphs inside the node: its attributes, or the body of a function."""
        return (*self.bodies.values(), *self.operator.body)

    def run(self, values: Values, run: Run) -> None:
        """Compute the node's results from the values that are there, and add them."""
        node = self.node._replace(run=run)
        keywords = dict(self.attributes)
        for name, graph in self.bodies.items():
            keywords[name] = Body(graph, values, run)
        if self.operator.needs_node:
            keywords["node"] = node
        try:
            inputs = [None if name == "" else values[name] for name in self.inputs]
            results = self._results(inputs, keywords, run)
        except TensorBackendError as error:
            if "in node" not in str(error):
                error.args = (f"{error}; in node {node}", *error.args[1:])
            raise
        # Whatever Python raises where a broken model asks for what does not exist.
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise ModelError(f"{type(error).__name__}: {error}; in node {node}") from error
        for name, result in zip(node.outputs, results, strict=False):
            if name:
                values[name] = _placed(result, run.home)

    def _results(self, inputs: list[Value], keywords: dict[str, Any], run: Run) -> Sequence[Value]:
        try:
            return self._computed(inputs, keywords)
        except TensorBackendError:
            # Names of axes mean something to us and nothing to ONNX: they never make a model fail.
            plain = [_without_names(value) for value in inputs]
            if all(new is old for new, old in zip(plain, inputs, strict=True)):
                raise
            results = self._computed(plain, keywords)
            run.notes.append(f"{self.node} leaves away the names of axes, which clash there")
            return results

    def _computed(self, inputs: list[Value], keywords: dict[str, Any]) -> Sequence[Value]:
        operator = self.operator
        arguments = []
        for position, value in enumerate(inputs):
            reading = operator.reading(position)
            if value is None and position < operator.least and not operator.variadic:
                raise ModelError(f"expected an input at position {position}, got none")
            arguments.append(value if reading is None or value is None else read(value, reading))
        result = self._call(operator.function, arguments, keywords)
        return result if isinstance(result, tuple) else (result,)


class Graph:
    """The steps of a graph in order."""

    def __init__(
        self,
        name: str,
        inputs: Sequence[str],
        outputs: Sequence[str],
        steps: Sequence[Step],
        constants: Mapping[str, tb.Tensor],
        types: Sequence[ValueType] = (),
    ) -> None:
        self.name = name
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self.steps = tuple(steps)
        self.constants = constants
        """Initialisers that are part of the graph, on the reference backend."""
        self._placed: dict[tb.Backend, dict[str, tb.Tensor]] = {}
        self.types = tuple(types)
        """What the file says of the outputs."""
        self.size: int = sum(step.size for step in steps)
        """The number of steps, with those of the graphs inside."""
        self.own = {*inputs, *constants} | {name for step in steps for name in step.node.outputs if name}
        _mark_last_uses(self)

    @property
    def captured(self) -> set[str]:
        """The values of graphs around this one that it uses."""
        return set(self.outputs).union(*(step.used for step in self.steps)) - self.own - {""}

    def constants_on(self, home: tb.Backend) -> Mapping[str, tb.Tensor]:
        """The constants, of which a backend with data gets the large ones once."""
        if home.dispatch_priority != 1:
            return self.constants
        if home not in self._placed:
            self._placed[home] = {name: _placed(constant, home) for name, constant in self.constants.items()}
        return self._placed[home]

    def __call__(
        self,
        inputs: Sequence[Value],
        run: Run,
        outer: Mapping[str, Value] | None = None,
        wanted: Sequence[str] | None = None,
    ) -> tuple[Value, ...]:
        """The values of the outputs.

        Inputs that are not given are `None`. `outer` has the values around the graph. Of a function some outputs may be
        `None`: those at whose places `wanted` has no name.
        """
        if len(inputs) > len(self.inputs):
            raise ModelError(f"expected at most {len(self.inputs)} inputs of graph {self.name}, got {len(inputs)}")
        values: Values = {**(outer or {}), **self.constants_on(run.home), **dict.fromkeys(self.inputs)}
        values.update(zip(self.inputs, inputs, strict=False))
        for step in self.steps:
            step.run(values, run)
            for name in step.last:
                values.pop(name, None)
        needed = (
            self.outputs if wanted is None else [own for own, name in zip(self.outputs, wanted, strict=False) if name]
        )
        missing = [name for name in needed if name not in values]
        if missing:
            raise ModelError(f"expected a node that computes the output of {self.name}, got none for {missing}")
        return tuple(values.get(name) for name in self.outputs)


class Body:
    """A graph inside a node, such as a branch, with the values around it."""

    def __init__(self, graph: Graph, outer: Mapping[str, Value], run: Run) -> None:
        self.graph = graph
        self.run = run
        self.outer = {name: outer[name] for name in graph.captured if name in outer}

    def __call__(self, *inputs: Value) -> tuple[Value, ...]:
        if len(inputs) != len(self.graph.inputs):
            raise ModelError(f"expected {len(self.graph.inputs)} inputs of graph {self.graph.name}, got {len(inputs)}")
        return self.graph(inputs, self.run, self.outer)


def _call(function: Callable[..., Any], arguments: Sequence[Value], keywords: Mapping[str, Any]) -> Any:
    return function(*arguments, **keywords)


def _calling_at(place: Place) -> Callable[..., Any]:
    """A function that calls another, from a line that says which node of which model it is."""
    file, number, name = place
    code = _call.__code__.replace(co_filename=file, co_firstlineno=number - 1, co_name=name, co_qualname=name)
    return FunctionType(code, {})


def _mark_last_uses(graph: Graph) -> None:
    """Mark for each step which values of the graph no later step uses."""
    kept = set(graph.outputs)
    for step in reversed(graph.steps):
        used = step.used.union(step.node.outputs)
        step.last = tuple((used & graph.own) - kept - {""})
        kept |= used


def _placed(value: Value, home: tb.Backend) -> Value:
    """A result that no input has touched, moved to the other values once it is large."""
    large = isinstance(value, tb.Tensor) and value.size > HOST_ELEMENTS and value.backend.name == "binary"
    return tb.asarray(value, backend=home) if large and value.backend != home else value


def _without_names(value: Value) -> Value:
    if isinstance(value, tb.Tensor) and any(value.names):
        return tb.rename(value, *(None,) * value.ndim)
    return value
