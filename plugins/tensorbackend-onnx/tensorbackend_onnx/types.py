"""What a model says of its inputs and outputs: dtypes, and shapes in which sizes may be open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import tensorbackend as tb
from onnx import TypeProto, ValueInfoProto, helper
from tensorbackend.errors import DTypeError, ShapeError, expected

from .dtypes import DTYPES, ELEMENT_TYPES, dtype_of
from .errors import ModelError


class TensorType(NamedTuple):
    """A tensor's dtype, sizes and names of axes, where the file says them.

    >>> image = TensorType(tb.float32, (None, 3, None, 8), ("batch", None, "height", None))
    >>> image
    f32[batch: ?][3][height: ?][8]
    >>> image.template(batch=2, height=4)
    f32[batch: 2][3][height: 4][8]
    """

    dtype: tb.DType
    shape: tuple[int | None, ...] | None
    """The size of each axis, `None` for one that is open; `None` where even the number of axes is open."""
    names: tuple[str | None, ...]

    def __repr__(self) -> str:
        if self.shape is None:
            return f"{self.dtype.alias}[...]"
        axes = zip(self.names, self.shape, strict=True)
        sizes = (f"[{'' if name is None else f'{name}: '}{'?' if size is None else size}]" for name, size in axes)
        return self.dtype.alias + "".join(sizes)

    def template(self, **sizes: int) -> tb.Template:
        """The template with these sizes, by the names of open axes.

        Raises
        ------
        ShapeError
            An axis stays open.
        """
        if self.shape is None:
            raise ShapeError(expected("a shape in the file", "write a template", type=self))
        axes = zip(self.names, self.shape, strict=True)
        shape = [sizes.get(name or "") if size is None else size for name, size in axes]
        closed = [size for size in shape if size is not None]
        if len(closed) < len(shape):
            raise ShapeError(expected("a size for each open axis", "such as template(batch=8)", type=self, sizes=sizes))
        return tb.Template(closed, self.dtype, self.names)


class OtherType(NamedTuple):
    """A sequence or an optional value, and the type inside it."""

    kind: str
    inside: ValueType | None

    def __repr__(self) -> str:
        return f"{self.kind}({self.inside})"


ValueType = TensorType | OtherType


def value_type(value: ValueInfoProto, names: Sequence[str | None] | None = None) -> ValueType:
    """The type of an input or output; names of the user replace the file's."""
    found = _type(value.type)
    if names is None or not isinstance(found, TensorType) or found.shape is None:
        return found
    if len(names) != len(found.shape):
        raise ShapeError(expected(f"a name, or None, for each axis of {value.name}, {found}", names=tuple(names)))
    return found._replace(names=tuple(names))


def _type(proto: TypeProto) -> ValueType:
    kind = proto.WhichOneof("value")
    if kind == "tensor_type":
        return _tensor_type(proto.tensor_type)
    if kind == "sequence_type":
        return OtherType("sequence", _type(proto.sequence_type.elem_type))
    if kind == "optional_type":
        return OtherType("optional", _type(proto.optional_type.elem_type))
    return OtherType(str(kind or "unknown").removesuffix("_type"), None)


def _tensor_type(proto: TypeProto.Tensor) -> ValueType:
    if proto.elem_type not in DTYPES:
        return OtherType(f"tensor of element type {proto.elem_type}", None)
    if not proto.HasField("shape"):
        return TensorType(dtype_of(proto.elem_type), None, ())
    known = (axis.HasField("dim_value") and axis.dim_value >= 0 for axis in proto.shape.dim)
    sizes = tuple(axis.dim_value if own else None for axis, own in zip(proto.shape.dim, known, strict=True))
    written = [axis.dim_param if axis.dim_param.isidentifier() else None for axis in proto.shape.dim]
    names = tuple(name if written.count(name) == 1 else None for name in written)
    return TensorType(dtype_of(proto.elem_type), sizes, names)


def type_of(value: Any) -> TypeProto:
    """The type of a value as ONNX records it; nothing for an input that is not given."""
    if isinstance(value, tb.Tensor):
        return helper.make_tensor_type_proto(ELEMENT_TYPES[value.dtype], value.shape)
    is_list = isinstance(value, list)
    return helper.make_sequence_type_proto(type_of(value[0] if value else None)) if is_list else TypeProto()


def check_fits(name: str, tensor: tb.Tensor, declared: ValueType) -> None:
    """Raise `ShapeError` or `DTypeError` where a tensor is not what the model says of its input."""
    if not isinstance(declared, TensorType):
        raise ModelError(f"expected {declared!r} for input {name}, got a tensor")
    if tensor.dtype != declared.dtype:
        remedy = f"such as {name}.astype({declared.dtype.name!r})"
        raise DTypeError(expected(f"{declared.dtype.name} for input {name}", remedy, dtype=tensor.dtype.name))
    shape = declared.shape
    if shape is None:
        return
    if len(shape) != tensor.ndim:
        raise ShapeError(expected(f"{declared!r} for input {name}", shape=tensor.shape))
    if any(size not in (None, given) for size, given in zip(shape, tensor.shape, strict=True)):
        remedy = "sizes were fixed at the export: leave some open there, as from_torch does with dynamic_shapes="
        raise ShapeError(expected(f"{declared!r} for input {name}", remedy, shape=tensor.shape))


def with_names(tensor: tb.Tensor, declared: ValueType) -> tb.Tensor:
    """The tensor with the declared names on the axes that have none, where these names are free."""
    if not isinstance(declared, TensorType) or declared.shape is None or not any(declared.names):
        return tensor
    own = tensor.names
    names = [
        old if old is not None else new if new not in own else None
        for old, new in zip(own, declared.names, strict=True)
    ]
    return tensor if tuple(names) == own else tb.rename(tensor, *names)


Names = Mapping[str, Sequence[str | None]]
