"""Graphs from objects of JSON that anybody may have written."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping
from typing import Any, Final, NoReturn

from ..dtypes import as_dtype, complex128, float64
from ..dtypes.defaults import PRODUCT_PRECISIONS
from ..errors import TensorBackendError
from ..files.source import broken
from ..ops.composite.elementwise.functions import complex as complex_of
from ..ops.composite.shape.arranging import stack
from ..ops.elementwise.basic import astype, imag, real
from ..rules.window import Windows
from ..template import Template
from ..tensor import Tensor
from .graph import NO_OPTION, Graph, TracedCall
from .node import CAPTURED, PARAMETER, Line, Node, Value
from .saved_nodes import make_node
from .tree_containers import LEAF, Tree

_DEPTH: Final = 60
"""How deep graphs may be nested in each other."""


class Reader:
    """Graphs from objects of JSON that anybody may have written."""

    def __init__(self, tensors: Mapping[str, Tensor]) -> None:
        self.tensors = tensors
        self.depth = 0

    def graph(self, entry: Any) -> Graph:
        """A graph, each node of which is checked."""
        self.depth += 1
        if self.depth > _DEPTH:
            raise broken("a program that is nested too deep")
        nodes: list[Node] = []
        count = len(entry["names"])
        for number, written in enumerate(entry["nodes"]):
            if (written["op"] == PARAMETER) is not (number < count):
                raise broken("parameters that do not come first")
            nodes.append(self.node(written, nodes))
        outputs = [_value(place, nodes) for place in entry["outputs"]]
        tree = self.tree(entry["tree"])
        if tree.size != len(outputs) or not all(isinstance(name, str) for name in entry["names"]):
            raise broken("results that do not fit their nesting")
        graph = Graph([Value(node) for node in nodes[:count]], outputs, tree, entry["names"])
        graph.call = self.call(entry["call"], count)
        self.depth -= 1
        return graph

    def node(self, entry: Any, before: list[Node]) -> Node:
        """A node."""
        op, out, line = entry["op"], self.option(entry["out"]), entry.get("line")
        templates = [out] if isinstance(out, Template) else list(out)
        if not isinstance(op, str) or not all(isinstance(template, Template) for template in templates):
            raise broken(f"a node {op!r} without templates")
        if op == PARAMETER:
            node = Node(op, templates[0])
        elif op == CAPTURED:
            node = Node(op, templates[0], tensor=self.tensor(entry["tensor"], templates[0]))
        else:
            inputs = tuple([
                operand if operand is None
                else tuple([_value(place, before) for place in operand["each"]]) if isinstance(operand, dict)
                else _value(operand, before)
                for operand in entry["in"]
            ])  # fmt: skip
            options = {name: self.option(value) for name, value in entry["options"].items()}
            composite = entry.get("composite") is True
            try:
                node = make_node(op, out, inputs, options, composite)
            except TensorBackendError as error:  # of the rule, about what the file says
                raise broken(f"in node {len(before)}, {op}: {error}") from error
            node.products = entry.get("products", "highest")
            if node.products not in PRODUCT_PRECISIONS:
                raise broken(f"a precision of products {node.products!r}")
        if line is not None:
            file, number, function = line
            node.line = Line(str(file), int(number), str(function))
        return node

    def tensor(self, name: Any, template: Template) -> Tensor:
        """A captured tensor, with the names of its node."""
        x = self.tensors[name]
        if template.dtype is complex128 and x.dtype.is_floating and x.ndim == template.ndim + 1:
            x = whole_of(astype(x, float64))
        if x.shape != template.shape or x.dtype is not template.dtype:
            raise broken(f"a tensor {x.template!r} in place of {template!r}")
        return x.rename(*template.names)

    def call(self, entry: Any, count: int) -> TracedCall | None:
        """How the arguments are nested."""
        if entry is None:
            return None
        tree = self.tree(entry["tree"])
        options = [NO_OPTION if option is None else self.option(option[0]) for option in entry["options"]]
        if tree.size != len(options) or options.count(NO_OPTION) != count or len(tree.children) != 2:
            raise broken("arguments that do not fit their nesting")
        return TracedCall(tree, options)

    def tree(self, entry: Any) -> Tree:
        """How leaves are nested."""
        if entry == "leaf":
            return LEAF
        kinds: dict[str, type] = {"tuple": tuple, "list": list, "dict": dict, "NoneType": type(None)}
        children = tuple(map(self.tree, entry["children"]))
        keys = tuple(map(self.option, entry["keys"]))
        if len(keys) != len(children):
            raise broken("a container whose keys do not fit")
        kind = entry["kind"]
        # A named tuple is made from the names, as its class may be anywhere.
        return Tree(namedtuple(kind[6:], keys) if kind.startswith("named ") else kinds[kind], keys, children)

    def option(self, entry: Any) -> Any:
        """An option."""
        if entry is None or type(entry) in (bool, int, str):
            return entry
        if "shape" in entry:
            return Template(entry["shape"], as_dtype(entry["dtype"]), entry["names"])
        ((kind, value),) = entry.items()
        if kind == "float":
            return float.fromhex(value)
        if kind == "complex":
            return complex(*map(float.fromhex, value))
        if kind == "dtype":
            return as_dtype(value)
        if kind == "graph":
            return self.graph(value)
        entries = [self.option(part) for part in value]
        if kind == "windows":
            return Windows(*entries)
        return tuple(entries) if kind == "tuple" else entries if kind == "list" else _unknown(kind)


def _unknown(kind: object) -> NoReturn:
    raise broken(f"an option of the kind {kind!r}")


def parts_of(x: Tensor) -> Tensor:
    """A tensor as safetensors holds it, which has no complex128: its parts go along a last axis."""
    return stack([real(x), imag(x)], axis=-1) if x.dtype is complex128 else x


def whole_of(parts: Tensor) -> Tensor:
    """The complex128 tensor of `parts_of`."""
    return complex_of(parts[..., 0], parts[..., 1])


def _value(place: Any, nodes: list[Node]) -> Value:
    """The value at a place: the number of a node that came before, and of one of its results."""
    number, index = place
    if not (type(number) is type(index) is int and 0 <= number < len(nodes) and 0 <= index < len(nodes[number].outs)):
        raise broken(f"an input {place} that is not computed before")
    return Value(nodes[number], index)
