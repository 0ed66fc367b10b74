"""Attributes of nodes as Python values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorbackend as tb
from onnx import AttributeProto, TensorProto, helper

from .errors import ModelError

PLAIN = {"FLOAT", "INT", "STRING", "FLOATS", "INTS", "STRINGS", "TYPE_PROTO", "SPARSE_TENSOR"}
"""The types of attributes that need nothing else of the model."""


def plain(attribute: AttributeProto) -> Any:
    """The value of an attribute: a number, a text, or a tuple of these."""
    value = helper.get_attribute_value(attribute)
    if isinstance(value, list):
        return tuple(text(item) if isinstance(item, bytes) else item for item in value)
    return text(value) if isinstance(value, bytes) else value


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
    kinds = AttributeProto.AttributeType
    kind = kinds.Name(attribute.type) if attribute.type in kinds.values() else attribute.type
    if kind not in PLAIN:
        raise ModelError(f"expected an attribute of a type that operators have, got {attribute.name} of type={kind}")
    return plain(attribute)
