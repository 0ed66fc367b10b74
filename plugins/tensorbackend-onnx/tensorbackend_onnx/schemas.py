"""Operators without a function here, computed by the bodies that ONNX's own schemas define them by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import tensorbackend as tb
from onnx import AttributeProto, FunctionProto, NodeProto, TypeProto, defs

from .dtypes import ELEMENT_TYPES
from .operators.registry import ANY, NEWEST, ONNX, Node, Operator, Value, calling

if TYPE_CHECKING:
    from .compiler import Compiler
    from .graph import Place


def from_schema(
    compiler: Compiler,
    proto: NodeProto,
    node: Node,
    opsets: Mapping[str, int],
    given: Mapping[str, AttributeProto],
    place: Place,
) -> Operator | None:
    """The operator that runs the function body of a node's schema, `None` where the schema has no body."""
    try:
        schema: Any = defs.get_schema(node.operator, node.opset, node.domain)
    except defs.SchemaError:
        return None
    defaults = {
        name: attribute.default_value
        for name, attribute in schema.attributes.items()
        if attribute.default_value.type != AttributeProto.UNDEFINED
    }
    attributes = {**defaults, **given}
    opsets = {ONNX: NEWEST, **opsets}
    if schema.has_function:
        body = schema.function_body
        return calling(compiler.function(body, opsets, attributes, place))
    if not schema.has_context_dependent_function:
        return None
    written = NodeProto()
    written.CopyFrom(proto)
    del written.attribute[:]
    written.attribute.extend(given.values())
    operators: dict[tuple[bytes, ...], Operator] = {}

    def call(*inputs: Value, node: Node) -> Any:
        types = tuple(_type_of(value).SerializeToString() for value in inputs)
        if types not in operators:
            text = schema.get_context_dependent_function(written.SerializeToString(), list(types))
            operators[types] = calling(compiler.function(FunctionProto.FromString(text), opsets, attributes, place))
            compiler.check()
        return operators[types].function(*inputs, node=node)

    return Operator(call, 1, (), 0, True, ANY, True)


def _type_of(value: Value) -> TypeProto:
    """The type of a value as ONNX records it; nothing for an input that is not given."""
    found = TypeProto()
    if isinstance(value, tb.Tensor):
        found.tensor_type.elem_type = ELEMENT_TYPES[value.dtype]
        for size in value.shape:
            found.tensor_type.shape.dim.add().dim_value = size
    elif isinstance(value, list):
        found.sequence_type.elem_type.CopyFrom(_type_of(value[0]) if value else TypeProto())
    return found
