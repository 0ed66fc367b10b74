"""Attributes of nodes as Python values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorbackend as tb
from onnx import AttributeProto, TensorProto

from .errors import ModelError

PLAIN: dict[int, Callable[[AttributeProto], Any]] = {
    AttributeProto.FLOAT: lambda attribute: attribute.f,
    AttributeProto.INT: lambda attribute: attribute.i,
    AttributeProto.STRING: lambda attribute: text(attribute.s),
    AttributeProto.FLOATS: lambda attribute: tuple(attribute.floats),
    AttributeProto.INTS: lambda attribute: tuple(attribute.ints),
    AttributeProto.STRINGS: lambda attribute: tuple(map(text, attribute.strings)),
    AttributeProto.TYPE_PROTO: lambda attribute: attribute.tp,
    AttributeProto.SPARSE_TENSOR: lambda attribute: attribute.sparse_tensor,
}
"""What reads an attribute of each type that needs nothing else of the model."""


def text(data: bytes) -> str:
    """A text; `ModelError` where the bytes are none."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ModelError(f"expected a text in UTF-8, got bytes={data[:20]!r}") from error


def attribute_value(
    attribute: AttributeProto, tensor: Callable[[TensorProto], tb.Tensor], graph: Callable[..., Any]
) -> Any:
    """The value of an attribute, with tensors and graphs made by these functions."""
    if attribute.type == AttributeProto.TENSOR:
        return tensor(attribute.t)
    if attribute.type == AttributeProto.GRAPH:
        return graph(attribute.g)
    reader = PLAIN.get(attribute.type)
    if reader is None:
        kinds = AttributeProto.AttributeType
        kind = kinds.Name(attribute.type) if attribute.type in kinds.values() else attribute.type
        raise ModelError(f"expected an attribute of a type that operators have, got {attribute.name} of type={kind}")
    return reader(attribute)
