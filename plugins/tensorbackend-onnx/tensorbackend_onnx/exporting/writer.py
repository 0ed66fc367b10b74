"""What ops are written with: the nodes of a model in order, and its constants.

An op is written as ONNX's own operators where a function here says how; else as the parts that `parts.py` gives in
public ops; else, for a composite, as its own default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import Any

import numpy
import tensorbackend as tb
from onnx import GraphProto, NodeProto, defs, helper, numpy_helper
from tensorbackend.errors import UnsupportedOp, expected
from tensorbackend.expr.node import CAPTURED, PARAMETER, RENAMED, Node, Value
from tensorbackend.extending import numpy_dtype
from tensorbackend.sizes import is_size, is_symbolic, source_of

from ..dtypes import ELEMENT_TYPES, part_dtype
from .guards import OpenTrace
from .size_nodes import SizeNodes

Name = str
"""The name of a value in the model."""

Typed = tuple[Name, tb.Template]
"""A value that a graph inside declares."""

Write = Callable[..., Any]
"""Writes an op: gets the writer, the node and the names of its inputs; returns the names of its results."""

WRITES: dict[str, Write] = {}
"""How each op is written, by the name of its callback."""

PARTS: dict[str, Callable[..., Any]] = {}
"""Ops as functions of public ops, which are written instead: they get the node, then tensors."""

COMPLEX: dict[str, Write] = {}
"""How each op of complex numbers is written, which are pairs along a last axis."""

UNIFORM: set[str] = set()
"""Composites that an operator computes only where all inputs have the floating dtype of the result."""


def writes(
    *ops: str, uniform: bool = False, pairs: bool = False, table: dict[str, Write] = WRITES
) -> Callable[[Write], Write]:
    """Declare how ops are written.

    `uniform` says that all inputs must have the floating dtype of the result, `pairs` that pairs are written alike.
    """

    def declare(function: Write) -> Write:
        for chosen in (table, *([COMPLEX] if pairs else [])):
            chosen.update(dict.fromkeys(ops, function))
        if uniform:
            UNIFORM.update(ops)
        return function

    return declare


def rows(functions: dict[str, Write], *, uniform: bool = False, pairs: bool = False) -> None:
    """Declare how each op of a table is written."""
    for op, function in functions.items():
        writes(op, uniform=uniform, pairs=pairs)(function)


def option(node: Node, name: str) -> Any:
    """An option of a node, whose type follows from its op."""
    return node.options[name]


def is_uniform(node: Node) -> bool:
    """Whether all inputs of a node have the floating dtype of its result."""
    dtype = node.outs[0].dtype
    return tb.isdtype(dtype, "real floating") and all(value.template.dtype == dtype for value in node.operands)


def is_complex(node: Node) -> bool:
    """Whether a node computes, or takes, complex numbers."""
    templates = [*node.outs, *(value.template for value in node.operands)]
    return any(template.dtype.kind == "complex" for template in templates)


def alike(one: Any, other: Any) -> bool:
    """Whether sizes are the same, as numbers or expressions; no guard says so where they are not."""
    return source_of(one) == source_of(other)


def array_of(tensor: tb.Tensor) -> Any:
    """A tensor's data as a model has it."""
    array = numpy.asarray(tensor)
    return numpy.stack([array.real, array.imag], axis=-1) if array.dtype.kind == "c" else array


class Shared:
    """What the graph of a model and the graphs inside it have in common."""

    def __init__(
        self, opset: int, trace: OpenTrace | None = None, sizes: SizeNodes | None = None, *, strict: bool = False
    ) -> None:
        self.opset = opset
        self.strict = strict
        """Whether results are this library's where ONNX leaves them open to engines: NaN in windows of maxima."""
        self.trace = trace
        """The trace of open axes, if there are any."""
        self.sizes = sizes
        """The nodes that compute sizes which depend on them."""
        self.numbers = count()
        self.constants: dict[Name, Any] = {}
        self.apart: set[str] = set()
        """The ops that were written as their parts."""
        self.places: dict[Name, str] = {}
        """The op and the line of the user's that each node comes from."""


class Writer:
    """Writes the nodes of one graph."""

    def __init__(self, shared: Shared) -> None:
        self.shared = shared
        self.nodes: list[NodeProto] = []
        self.where = ""

    def inside(self) -> Writer:
        """A writer for a graph inside this one."""
        inner = Writer(self.shared)
        inner.where = self.where
        return inner

    def has(self, operator: str) -> bool:
        """Whether the opset of the model has an operator."""
        return defs.has(operator, self.shared.opset)

    def op(self, operator: str, *inputs: Name, **attributes: Any) -> Name:
        """Write an operator with one result, and return the result's name."""
        return self.several(operator, 1, *inputs, **attributes)[0]

    def several(self, operator: str, results: int, *inputs: Name, **attributes: Any) -> list[Name]:
        """Write an operator with several results, and return their names."""
        number = next(self.shared.numbers)
        names = [f"{operator}_{number}"] if results == 1 else [f"{operator}_{number}_{n}" for n in range(results)]
        if is_symbolic(list(attributes.values())):
            raise self.refuse(
                f"{operator} whose attributes depend on the size of an open axis", "leave it out of open="
            )
        self.nodes.append(helper.make_node(operator, inputs, names, f"{operator}_{number}", **attributes))
        self.shared.places[f"{operator}_{number}"] = self.where
        return names

    def constant(self, array: Any) -> Name:
        """A constant of the model."""
        name = f"constant_{next(self.shared.numbers)}"
        self.shared.constants[name] = numpy.asarray(array)
        return name

    def ints(self, numbers: Iterable[int]) -> Name:
        """Sizes, bounds or axes: those that depend on an open axis are computed in the model."""
        given = list(numbers)
        if self.shared.sizes is None or not is_symbolic(given):
            return self.constant(numpy.asarray(given, "int64"))
        return self.shared.sizes.vector(map(source_of, given))

    def scalar(self, value: Any, dtype: tb.DType) -> Name:
        """A number in a dtype."""
        if self.shared.sizes is not None and is_size(value):
            return self.shared.sizes.number(source_of(value), ELEMENT_TYPES[dtype])
        return self.constant(numpy.asarray(value).astype(numpy_dtype(dtype)))

    def empty(self, out: tb.Template) -> Name:
        """A tensor without entries, of which other axes may be open."""
        zero = numpy_helper.from_array(numpy.zeros(1, numpy_dtype(out.dtype)))
        return self.op("ConstantOfShape", self.ints(out.shape), value=zero)

    def cast(self, x: Name, dtype: tb.DType) -> Name:
        """The value in another dtype. What is too large for a float of 8 bits becomes NaN or infinite, as here."""
        options = {"saturate": 0} if dtype.name.startswith("float8") else {}
        return self.op("Cast", x, to=ELEMENT_TYPES[dtype], **options)

    def refuse(self, what: str, remedy: str = "") -> UnsupportedOp:
        """The error for what has no counterpart, with the user's line."""
        trace = self.shared.trace
        what = what if trace is None else trace.readable(what)
        return UnsupportedOp(
            expected(f"an op that ONNX has, got {what} at {self.where}", *([remedy] if remedy else []))
        )

    def at(self, where: str) -> None:
        """Say where errors and guards come from."""
        self.where = where
        if self.shared.trace is not None:
            self.shared.trace.where = where

    def graph(self, nodes: Sequence[Node], outputs: Sequence[Value], names: dict[Value, Name]) -> list[Name]:
        """Write the nodes of a traced graph whose parameters have these names, and return the names of its outputs."""
        for node in nodes:
            if node.op == PARAMETER and Value(node) in names:
                continue
            self.at(f"{node.op}, {node.line}" if node.line else node.op)
            results = self.node(node, names)
            names.update(zip(node.values, results, strict=True))
        return [names[output] for output in outputs]

    def node(self, node: Node, names: dict[Value, Name]) -> list[Name]:
        """Write a node, and return the names of its results."""
        if node.op == CAPTURED:
            assert node.tensor is not None
            return [self.constant(array_of(node.tensor))]
        if all(out.size == 0 and out.dtype.kind != "complex" for out in node.outs):
            # Runtimes differ where an axis has no entries, and there is nothing to compute.
            return [self.empty(out) for out in node.outs]
        inputs = node.map_inputs(lambda value: names[value])
        if node.op == RENAMED:
            return [inputs[0]]
        known = COMPLEX if is_complex(node) else WRITES
        write = None if known is WRITES and node.op in UNIFORM and not is_uniform(node) else known.get(node.op)
        results = NotImplemented if write is None else write(self, node, *inputs)
        if results is NotImplemented:
            results = self.parts(node, names)
        return [results] if isinstance(results, str) else list(results)

    def parts(self, node: Node, names: dict[Value, Name]) -> list[Name]:
        """Write what a node is made of: the parts given for its op, or the default of a composite."""
        function = PARTS.get(node.op)
        if function is None and node.default is None:
            raise self.refuse(f"{node.op} of {', '.join(repr(value.template) for value in node.operands)}")

        def apart(*tensors: tb.Tensor) -> Any:
            given = dict(zip(node.operands, tensors, strict=True))
            inputs = node.map_inputs(lambda value: given[value])
            if function is not None:
                return function(node, *inputs)
            assert node.default is not None
            return node.default(node.out, inputs, node.options)

        self.shared.apart.add(node.op)
        unique = list(dict.fromkeys(node.operands))
        places = [unique.index(value) for value in node.operands]
        trace = tb.trace(lambda *tensors: apart(*(tensors[place] for place in places)))
        graph = trace(*(value.template for value in unique))
        inner = {parameter: names[value] for parameter, value in zip(graph.parameters, unique, strict=True)}
        where = self.where
        results = self.graph(graph.nodes, graph.outputs, inner)
        self.at(where)
        return results

    def body(self, inputs: Sequence[Typed], outputs: Sequence[Typed]) -> GraphProto:
        """The graph that this writer has written, as an attribute of a node around it."""
        own = [self.op("Identity", name) for name, _ in outputs]  # an output may be a value of the graph around
        results = [declared(name, template) for name, (_, template) in zip(own, outputs, strict=True)]
        given = [declared(name, template) for name, template in inputs]
        return helper.make_graph(self.nodes, f"graph_{next(self.shared.numbers)}", given, results)


def declared(name: Name, template: tb.Template) -> Any:
    """A value in a graph inside, without its sizes, as they may be open."""
    sizes = None if template.ndim else (2,) if template.dtype.kind == "complex" else ()
    return helper.make_tensor_value_info(name, ELEMENT_TYPES[part_dtype(template.dtype)], sizes)
