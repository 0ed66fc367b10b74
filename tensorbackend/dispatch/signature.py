"""The public face of an op: what `help`, `inspect.signature` and `typing.get_type_hints` say of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, Final, TypeVar

from ..declarations.op_specs import OpSpec
from ..docstrings import complete_docstring
from ..tensor import Tensor, TensorLike

Op = TypeVar("Op", bound=Callable[..., Any])


def public(op: Op, spec: OpSpec) -> Op:
    """Gives an op the name, docstring and signature of its declared function, with tensors in place of templates.

    `__wrapped__` is never called. It is a function with the parameters of the declared one, because readers of
    signatures follow that attribute.
    """
    declared: Any = spec.function
    annotations, names = _public_types(spec)
    face: Any = FunctionType(declared.__code__, names, spec.name, declared.__defaults__, declared.__closure__)
    face.__kwdefaults__ = declared.__kwdefaults__
    face.__annotations__ = annotations
    target: Any = op
    text = complete_docstring(declared, getattr(spec.result, "__name__", "Tensor"))
    for function in (target, face):
        function.__module__, function.__name__ = declared.__module__, declared.__name__
        function.__qualname__, function.__doc__ = declared.__qualname__, text
    target.__annotations__, target.__wrapped__ = annotations, face
    return op


def _public_types(spec: OpSpec) -> tuple[dict[str, Any], dict[str, Any]]:
    """The annotations of the parameters and the result, as a caller sees them, and the names to evaluate them with.

    They are texts, as in `x: 'TensorLike'`, because `help` shows an alias itself in full.
    """
    declared: Any = spec.function
    annotations: dict[str, Any] = {**declared.__annotations__}
    known: dict[str, Any] = {"TensorLike": TensorLike, "Sequence": Sequence}
    for parameter in spec.parameters:
        if parameter.role != "option":
            annotations[parameter.name] = _OPERANDS[parameter.role] + " | None" * parameter.optional
    if spec.kind == "primitive":
        result = spec.result or Tensor
        annotations["return"], known[result.__name__] = result.__name__, result
    return annotations, {**declared.__globals__, **known}


_OPERANDS: Final = {"tensor": "TensorLike", "tensors": "Sequence[TensorLike]"}
"""The annotations of operands by their role. A rule declares templates in their place, and some bodies tensors."""
