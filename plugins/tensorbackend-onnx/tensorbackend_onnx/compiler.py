"""From ONNX's records of graphs and functions to steps that run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import tensorbackend as tb
from onnx import AttributeProto, FunctionProto, GraphProto, NodeProto, TensorProto, defs

from .attributes import attribute_value
from .errors import MissingOperators, ModelError
from .files import ModelFile
from .graph import Graph, Place, Step
from .operators.registry import ANY, NEWEST, ONNX, Given, Node, Operator, Origin, calling, find
from .ordering import in_order
from .stored import Stored
from .types import type_of, value_type

Opsets = Mapping[str, int]
Attributes = Mapping[str, AttributeProto]

Places = Callable[[NodeProto], Place | None]
"""Returns the line of a program that a node comes from; `None` for its place in the file."""

NODES = 200_000
"""The number of nodes, those of functions counted where they are called, that a model may have."""

DEPTH = 60
"""How deep graphs and functions may be nested."""


class Compiler:
    """Compiles the graphs of one model, and collects the operators that are missing."""

    def __init__(self, file: ModelFile, place: Places | None = None) -> None:
        self.place = place
        """Says where a node was written, if not in the file."""
        self.file = file
        self.opsets = opsets_of(file.model.opset_import)
        self.functions = {(f.domain, f.name, f.overload): f for f in file.model.functions}
        self.constants: dict[str, Stored] = {}
        """The tensors of the main graph's nodes `Constant`, which count as initialisers."""
        self.missing: dict[str, list[str]] = {}
        self.left = NODES
        self.depth = 0
        self.number = 0
        self.kinds: list[str] = []
        """The operators of the nodes, those of functions left out."""
        self.graphs: dict[Any, Graph] = {}
        self.around: Place | None = None
        """The node whose function is being compiled: its steps take its place."""

    def check(self) -> None:
        """Raise `MissingOperators` where a node has no function."""
        if self.missing:
            each = (
                f"{kind} in {', '.join(nodes[:5])}" + ", ..." * (len(nodes) > 5) for kind, nodes in self.missing.items()
            )
            raise MissingOperators(f"expected operators that the importer has, got {'; '.join(each)}")

    def graph(
        self, proto: GraphProto, opsets: Opsets, attributes: Attributes | None = None, *, main: bool = False
    ) -> Graph:
        """A graph; the initialisers and constants of the main one are the model's parameters and stay out of it."""
        written = {node.output[0]: _value(node) for node in proto.node if _value(node) is not None}
        constants = {name: self.file.stored(tensor) for name, tensor in written.items() if tensor is not None}
        if main:
            self.constants = constants
        else:
            constants |= {tensor.name: self.file.stored(tensor) for tensor in proto.initializer}
        stored = constants.keys() | {tensor.name for tensor in proto.initializer}
        inputs = [value.name for value in proto.input if value.name not in stored]
        if proto.sparse_initializer:
            raise ModelError("expected dense initialisers, got sparse ones")
        outputs = [value.name for value in proto.output]
        nodes = [node for node in proto.node if _value(node) is None]
        if len(written) != len(proto.node) - len(nodes):
            raise ModelError("expected one node for each value, got two nodes Constant for one")
        steps = self.steps(nodes, opsets, attributes or {}, {*inputs, *stored}, closed=main)
        own = {} if main else {name: tensor.on() for name, tensor in constants.items()}
        return Graph(proto.name, inputs, outputs, steps, own, [value_type(value) for value in proto.output])

    def called(self, proto: FunctionProto, opsets: Opsets, attributes: Attributes, place: Place) -> Graph:
        """The body of one of the model's functions, compiled once for a place and attributes."""
        written = tuple(sorted((name, value.SerializeToString()) for name, value in attributes.items()))
        key = (id(proto), self.around or place, written)
        if key in self.graphs:
            self.count(self.graphs[key].size)
        else:
            self.graphs[key] = self.function(proto, opsets, attributes, place)
        return self.graphs[key]

    def count(self, nodes: int) -> None:
        """Count nodes, and raise `ModelError` where there are too many."""
        self.left -= nodes
        if self.left < 0:
            raise ModelError(f"expected at most {NODES} nodes, with those of functions, got more")

    def function(self, proto: FunctionProto, opsets: Opsets, attributes: Attributes, place: Place) -> Graph:
        """The body of a function for a node with these attributes."""
        defaults = {attribute.name: attribute for attribute in proto.attribute_proto}
        given = {name: value for name, value in attributes.items() if name in proto.attribute or name in defaults}
        own = {**opsets, **opsets_of(proto.opset_import)}
        before, self.around = self.around, self.around or place
        try:
            steps = self.steps(proto.node, own, {**defaults, **given}, set(proto.input), closed=True)
        finally:
            self.around = before
        return Graph(proto.name, proto.input, proto.output, steps, {})

    def steps(
        self, nodes: Sequence[NodeProto], opsets: Opsets, attributes: Attributes, available: set[str], *, closed: bool
    ) -> list[Step]:
        """The steps of nodes, in the order in which they can run; `available` has the values that exist before.

        No graph is around one that is `closed`, so that its nodes can use nothing else.
        """
        steps = []
        for proto in in_order(nodes):
            self.count(1)
            unknown = [name for name in proto.input if closed and name and name not in available]
            if unknown:
                raise ModelError(f"expected inputs that are computed before, got {unknown} in {_name(proto)!r}")
            for name in filter(None, proto.output):
                if name in available:
                    raise ModelError(f"expected one node for each value, got another for {name!r} in {_name(proto)!r}")
                available.add(name)
            step = self.step(proto, opsets, attributes)
            if step is not None:
                steps.append(step)
        return steps

    def step(self, proto: NodeProto, opsets: Opsets, attributes: Attributes) -> Step | None:
        """A node as a step, `None` where its operator is missing."""
        domain = "" if proto.domain == "ai.onnx" else proto.domain
        opset = opsets.get(domain, 0)
        node = Node(proto.name, proto.op_type, domain, opset, tuple(proto.output), origin=origin(proto))
        given = self.given(proto, attributes)
        if self.around is None:
            self.number += 1
            self.kinds.append(f"{domain}.{proto.op_type}" if domain else proto.op_type)
        told = self.place(proto) if self.place is not None else None
        place = self.around or told or Place(self.file.name, self.number, _name(proto))
        self.depth += 1
        if self.depth > DEPTH:
            raise ModelError(f"expected graphs and functions at most {DEPTH} deep, got more in {node}")
        try:
            local = self.functions.get((proto.domain, proto.op_type, proto.overload))
            if local is not None:
                called = calling(self.called(local, opsets, given, place))
                return Step(node, called, proto.input, {}, place)
            if opset == 0:
                raise ModelError(f"expected the model to import a version of domain {domain!r}, got none for {node}")
            known = find(domain, proto, opset) or self.of_schema(proto, node, opsets, given, place)
            if known is None:
                self.missing.setdefault(str(node._replace(name="", outputs=())), []).append(repr(_name(proto)))
                return None
            least, most, count = known.least, len(known.readings), len(proto.input)
            if count < least or (count > most and not known.variadic):
                raise ModelError(f"expected {least} to {most} inputs, got {count} in node {node}")
            values = {} if known.attributes == ANY else self.values(node, known, given, opsets, attributes)
            return Step(node, known, proto.input, values, place)
        finally:
            self.depth -= 1

    def of_schema(
        self, proto: NodeProto, node: Node, opsets: Opsets, given: Attributes, place: Place
    ) -> Operator | None:
        """The operator that runs the function body by which ONNX's schema defines a node, `None` where it has none."""
        try:
            schema: Any = defs.get_schema(node.operator, node.opset, node.domain)
        except defs.SchemaError:
            return None
        defaults = {name: attribute.default_value for name, attribute in schema.attributes.items()}
        known = {name: value for name, value in defaults.items() if value.type != AttributeProto.UNDEFINED}
        attributes, opsets = {**known, **given}, {ONNX: NEWEST, **opsets}
        if schema.has_function:
            return calling(self.function(schema.function_body, opsets, attributes, place))
        if not schema.has_context_dependent_function:
            return None
        written = NodeProto()
        written.CopyFrom(proto)
        del written.attribute[:]
        written.attribute.extend(given.values())
        operators: dict[tuple[bytes, ...], Operator] = {}

        def call(*inputs: Any, node: Node) -> Any:
            types = tuple(type_of(value).SerializeToString() for value in inputs)
            if types not in operators:
                text = schema.get_context_dependent_function(written.SerializeToString(), list(types))
                operators[types] = calling(self.function(FunctionProto.FromString(text), opsets, attributes, place))
                self.check()
            return operators[types].function(*inputs, node=node)

        return Operator(call, 1, (), 0, True, ANY, True)

    def values(
        self, node: Node, known: Operator, given: Attributes, opsets: Opsets, around: Attributes
    ) -> dict[str, Any]:
        """The attributes of a node as the keywords of its function."""
        others = known.defaults(node)
        allowed = sorted(known.attributes | others.keys())
        unknown = given.keys() - set(allowed)
        if unknown:
            raise ModelError(f"expected attributes among {allowed}, got {sorted(unknown)} in node {node}")

        def tensor(proto: TensorProto) -> tb.Tensor:
            return self.file.stored(proto).on()

        def graph(proto: GraphProto) -> Graph:
            return self.graph(proto, opsets, around)

        values = {name: attribute_value(attribute, tensor, graph) for name, attribute in given.items()}
        if known.others is None:
            return values
        own = {name: values.pop(name, default) for name, default in others.items() if name not in known.attributes}
        missing = [name for name, value in own.items() if value is ...]
        if missing:
            raise ModelError(f"expected attributes {missing}, got {sorted(given)} in node {node}")
        return {**values, "given": Given(**own)}

    def given(self, proto: NodeProto, attributes: Attributes) -> dict[str, AttributeProto]:
        """The attributes of a node, with those of the function around it where it refers to them."""
        given: dict[str, AttributeProto] = {}
        for attribute in proto.attribute:
            if not attribute.ref_attr_name:
                given[attribute.name] = attribute
            elif attribute.ref_attr_name in attributes:
                copy = AttributeProto()
                copy.CopyFrom(attributes[attribute.ref_attr_name])
                copy.name = attribute.name
                given[attribute.name] = copy
        return given


def _value(node: NodeProto) -> TensorProto | None:
    """The tensor of a node `Constant`, where it has one of numbers."""
    if node.op_type != "Constant" or node.domain not in ("", "ai.onnx") or len(node.attribute) != 1 or not node.output:
        return None
    attribute = node.attribute[0]
    dense = attribute.name == "value" and attribute.type == AttributeProto.TENSOR and not attribute.ref_attr_name
    return attribute.t if dense else None


def opsets_of(imports: Iterable[Any]) -> dict[str, int]:
    """The versions of the domains that a model or function imports."""
    opsets = {"" if entry.domain == "ai.onnx" else entry.domain: entry.version for entry in imports}
    if opsets.get(ONNX, 1) > NEWEST:
        raise MissingOperators(f"expected an opset up to {NEWEST}, got opset={opsets[ONNX]}; update tensorbackend-onnx")
    return opsets


_CALL = re.compile(r"target=torch\.ops\.aten\.(\w+)[^]]*\]\(args = \(([^()]*)\)")
"""A call of PyTorch in the metadata with which its exporter says what a node is."""


def origin(proto: NodeProto) -> Origin | None:
    """The call of PyTorch that was exported as a node, where its metadata say so."""
    facts = {fact.key: fact.value for fact in proto.metadata_props}
    found = _CALL.search(facts.get("pkg.torch.onnx.fx_node", ""))
    return None if found is None else Origin(found.group(1), tuple(found.group(2).split(", ")))


def _name(proto: NodeProto) -> str:
    """The name of a node, or of what it computes."""
    return proto.name or next(filter(None, proto.output), proto.op_type)
