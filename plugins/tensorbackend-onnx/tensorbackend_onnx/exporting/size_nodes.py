"""Models for any size of an axis: the sizes that depend on open ones are computed in the model.

A size of an open axis is read off an input. What follows from it, such as the number of windows, is an expression of
the trace, of which nodes are made. A range of sizes is checked when the model runs: an index of a list of one entry is
0 for sizes within the range, and 1 outside, which any runtime refuses.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy
from onnx import NodeProto, TensorProto, helper, numpy_helper
from tensorbackend.errors import UnsupportedOp, expected

from .expressions import Range, parsed

Name = str

OPERATORS: dict[type[ast.operator], str] = {ast.Add: "Add", ast.Div: "Div", ast.Mult: "Mul", ast.Sub: "Sub"}


class Source(NamedTuple):
    """Where the size of an open axis is found: an input and an axis."""

    name: Name
    axis: int


class SizeNodes:
    """The nodes at the beginning of a model that compute sizes; each is a tensor of one number."""

    def __init__(self, sources: Mapping[str, Source], functions: Mapping[str, Any]) -> None:
        self.sources, self.functions = sources, functions
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []
        self.known: dict[str, Name] = {}

    def op(self, operator: str, *inputs: Name, **attributes: Any) -> Name:
        """Write a node."""
        name = f"size_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], name, **attributes))
        return name

    def constant(self, numbers: Any, dtype: str = "int64") -> Name:
        """Numbers that are known."""
        array = numpy.asarray(numbers, dtype)
        key = f"{dtype}{array.tolist()}"
        if key not in self.known:
            self.known[key] = f"size_constant_{len(self.constants)}"
            self.constants.append(numpy_helper.from_array(array, self.known[key]))
        return self.known[key]

    def vector(self, sizes: Iterable[Any]) -> Name:
        """A tensor of sizes, some of which are expressions."""
        parts = [self.size(source) for source in sizes]
        return parts[0] if len(parts) == 1 else self.op("Concat", *parts, axis=0)

    def size(self, source: str) -> Name:
        """An expression of integers."""
        name, floating = self._value(parsed(source))
        return self.op("Cast", name, to=TensorProto.INT64) if floating else name

    def number(self, source: str, element_type: int) -> Name:
        """An expression as a number in a dtype."""
        key = f"{source} to {element_type}"
        if key not in self.known:
            name, _ = self._value(parsed(source))
            self.known[key] = self.op("Cast", self.op("Squeeze", name, self.constant([0])), to=element_type)
        return self.known[key]

    def _value(self, node: ast.expr) -> tuple[Name, bool]:
        """The name of a value, and whether it is a float64."""
        key = ast.unparse(node)
        floating = self._is_floating(node)
        if key not in self.known:
            self.known[key] = self._written(node, floating)
        return self.known[key], floating

    def _is_floating(self, node: ast.expr) -> bool:
        match node:
            case ast.Constant(value=value):
                return isinstance(value, float)
            case ast.Call(func=ast.Name(id="max"), args=arguments):
                return any(map(self._is_floating, arguments))
            case ast.Call(func=ast.Name(id=name)):
                return self.functions[name] is not int
            case ast.BinOp(op=ast.Div()):
                return True
            case ast.BinOp(left=left, right=right):
                return self._is_floating(left) or self._is_floating(right)
            case ast.UnaryOp(operand=operand):
                return self._is_floating(operand)
        return False

    def _written(self, node: ast.expr, floating: bool) -> Name:
        match node:
            case ast.Constant(value=value):
                return self.constant([value], "float64" if floating else "int64")
            case ast.Name(id=name):
                source = self.sources[name]
                return self.op("Shape", source.name, start=source.axis, end=source.axis + 1)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.op("Neg", self._value(operand)[0])
            case ast.BinOp(left=left, op=op, right=right):
                names = [self._as(side, floating) for side in (left, right)]
                if type(op) in OPERATORS:
                    return self.op(OPERATORS[type(op)], *names)
                if not floating:
                    rest = self.op("Mod", *names)  # with the sign of the divisor, as in Python
                    return rest if isinstance(op, ast.Mod) else self.op("Div", self.op("Sub", names[0], rest), names[1])
            case ast.Call(func=ast.Name(id="max"), args=arguments):
                return self.op("Max", *(self._as(argument, floating) for argument in arguments))
            case ast.Call(func=ast.Name(id=name), args=[argument]):
                function, value = self.functions[name], self._as(argument, floating)
                if function in (float, int, numpy.float64):
                    return value
                if function is numpy.float32:
                    return self.op("Cast", self.op("Cast", value, to=TensorProto.FLOAT), to=TensorProto.DOUBLE)
        raise UnsupportedOp(
            expected(
                "sizes that integers and their quotients make", "leave the axis out of open=", got=ast.unparse(node)
            )
        )

    def _as(self, node: ast.expr, floating: bool) -> Name:
        name, own = self._value(node)
        if own == floating:
            return name
        return self.op("Cast", name, to=TensorProto.DOUBLE if floating else TensorProto.INT64)

    def checked(self, source: str, own: Range, name: Name, rank: int) -> Name:
        """Pass an input on, or fail where a size is outside its range; returns the name of what is passed on."""
        size, _ = self._value(parsed(source))
        outside = self.op("Less", size, self.constant([own.least]))
        if own.most is not None:
            outside = self.op("Or", outside, self.op("Greater", size, self.constant([own.most])))
        place = self.op("Squeeze", self.op("Cast", outside, to=TensorProto.INT64), self.constant([0]))
        # A shape of zeros keeps the sizes.
        same = self.op("Gather", self.constant([[0] * rank]), place, axis=0)
        return self.op("Reshape", name, same)


def all_nodes(nodes: Iterable[NodeProto]) -> Iterator[NodeProto]:
    """Nodes, and those of the graphs inside them."""
    for node in nodes:
        yield node
        for attribute in node.attribute:
            yield from all_nodes(attribute.g.node)


def reads(nodes: Iterable[NodeProto], name: Name) -> bool:
    """Whether any node reads a value."""
    return any(name in node.input for node in all_nodes(nodes))


def renamed(nodes: Iterable[NodeProto], old: Name, new: Name) -> None:
    """Let nodes read another value."""
    for node in all_nodes(nodes):
        for place, name in enumerate(node.input):
            if name == old:
                node.input[place] = new
