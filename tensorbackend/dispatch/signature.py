"""The public face of an op: what `help`, `inspect.signature` and `typing.get_type_hints` say of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, TypeVar

from ..docstrings import completed
from ..opspec import OpSpec, Parameter
from ..tensor import Tensor, TensorLike

Op = TypeVar("Op", bound=Callable[..., Any])


def public(op: Op, spec: OpSpec) -> Op:
    """An op under the name, docstring and signature of its declared function, of tensors where that has templates.

    `__wrapped__` is never called: it is a function with the parameters of the declared one, as readers of signatures
    follow that attribute.
    """
    declared: Any = spec.function
    face: Any = FunctionType(
        declared.__code__, declared.__globals__, spec.name, declared.__defaults__, declared.__closure__
    )
    face.__kwdefaults__ = declared.__kwdefaults__
    face.__annotations__ = _annotations(spec)
    target: Any = op
    text = completed(declared, getattr(spec.result, "__name__", "Tensor"))
    for function in (target, face):
        function.__module__, function.__name__ = declared.__module__, declared.__name__
        function.__qualname__, function.__doc__ = declared.__qualname__, text
    target.__annotations__, target.__wrapped__ = face.__annotations__, face
    return op


def _annotations(spec: OpSpec) -> dict[str, Any]:
    """The types of the parameters and of the result, as a caller sees them."""
    types_by_name: dict[str, Any] = {}
    for parameter in spec.parameters:
        if parameter.role == "option":
            types_by_name[parameter.name] = spec.function.__annotations__.get(parameter.name, Any)
        else:
            types_by_name[parameter.name] = _of_operand(parameter)
    returned = spec.function.__annotations__.get("return", Tensor)
    types_by_name["return"] = (spec.result or Tensor) if spec.kind == "primitive" else returned
    return types_by_name


def _of_operand(parameter: Parameter) -> Any:
    return Sequence[TensorLike] if parameter.role == "tensors" else TensorLike
