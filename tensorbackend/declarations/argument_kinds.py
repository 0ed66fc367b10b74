"""Which values an annotation allows, in words and as a test, and the error for a value that it does not allow."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from numbers import Integral, Number, Rational, Real
from operator import index
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from ..dtypes import as_dtype, scalar_kind
from ..errors import (
    ArgumentKindError,
    AxisError,
    DTypeError,
    OperandError,
    TemplateDataError,
    TensorBackendError,
    expected,
    shown,
)
from ..errors.hints import rows
from ..errors.remedies import of_shape
from ..interchange import is_plain_array
from ..template import Template
from ..tensor import Tensor
from .parameters import meaning_of


class _Kind(NamedTuple):
    """A type that does not allow exactly the instances of its class: its words in errors, and a test of values."""

    words: str
    takes: Callable[[Any], bool]


def _is_operand(value: Any) -> bool:
    return isinstance(value, Tensor) or scalar_kind(value) is not None or is_plain_array(value)


def _is_int(value: Any) -> bool:
    """Whether a value is an int of at most 64 bits, as array libraries use; the value of an integer tensor is read."""
    try:
        return not isinstance(value, bool) and -(1 << 63) <= index(value) < 1 << 64
    except TemplateDataError:
        raise
    except TypeError:
        return False


def _is_number(value: Any) -> bool:
    if isinstance(value, bool | str | bytes) or (isinstance(value, Number) and not isinstance(value, Real)):
        return False  # a Decimal is a number that no float can be added to
    if isinstance(value, Rational) and not isinstance(value, Integral):
        return False  # a Fraction likewise, of tensors
    try:
        return float(value) is not None
    except TemplateDataError:
        raise
    except (TypeError, ValueError, OverflowError):
        return False


def _is_dtype(value: Any) -> bool:
    try:
        as_dtype(value)
    except TensorBackendError:
        return False
    return True


_MEANINGS = {
    "tensor": _Kind("a tensor, a Python number or an array", _is_operand),
    "dtype": _Kind("a dtype", _is_dtype),
}
_CLASSES: Mapping[Any, _Kind] = {
    bool: _Kind("True or False", lambda value: scalar_kind(value) == "bool" or type(value).__name__ == "bool"),
    int: _Kind("an int", _is_int),
    float: _Kind("a number", _is_number),
    complex: _Kind("a number", lambda value: scalar_kind(value) is not None),
    Tensor: _Kind("a tensor", lambda value: isinstance(value, Tensor)),
    str: _Kind("a string", lambda value: isinstance(value, str)),
    NoneType: _Kind("None", lambda value: value is None),
}
_CONTAINERS = {"Sequence": "a list or tuple", "Mapping": "a mapping", "Iterable": "a list or tuple", "dict": "a dict"}


def fits(value: Any, kind: Any) -> bool:
    """Whether an annotation allows a value; conditions that a type cannot express are assumed to hold."""
    if kind is Any:
        return True
    if kind is None:
        return value is None
    known = _find_kind(kind)
    if known is not None:
        return known.takes(value)
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return fits(value, inner[0])
    if origin in (Union, UnionType):
        return any(fits(value, member) for member in inner)
    if origin is Literal:
        return any(type(value) is type(literal) and value == literal for literal in inner)
    if origin is None:
        return not isinstance(kind, type) or getattr(kind, "_is_protocol", False) or isinstance(value, kind)
    if origin is type:
        return isinstance(value, type) and (not isinstance(inner[0], type) or issubclass(value, inner[0]))
    if (
        not isinstance(origin, type)
        or not isinstance(value, origin)
        or isinstance(value, str | bytes | bytearray | memoryview)
    ):
        return not isinstance(origin, type)
    if not isinstance(value, Collection):
        return True
    if isinstance(value, Mapping) and len(inner) == 2:
        return all(fits(key, inner[0]) and fits(member, inner[1]) for key, member in value.items())
    if origin is tuple and inner[-1] is not Ellipsis:
        return len(value) == len(inner) and all(fits(*pair) for pair in zip(value, inner, strict=True))
    if isinstance(value, Sequence):
        return all(fits(element, inner[0]) for element in value)
    return True


@cache
def _find_kind(kind: Any) -> _Kind | None:
    return _MEANINGS.get(meaning_of(kind)) or _CLASSES.get(kind)


def _words(kind: Any) -> str:
    """The values that an annotation allows, in words: `Sequence[int] | None` is "a list or tuple of ints, or None"."""
    if kind is Any:
        return "a value"
    known = None if kind is None else _find_kind(kind)
    if kind is None or known is not None:
        return known.words if known is not None else "None"
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _words(inner[0])
    if origin in (Union, UnionType):
        return ", or ".join(dict.fromkeys(map(_words, inner)))
    if origin is Literal:
        return " or ".join(map(repr, inner))
    if origin is type:
        return f"a class of {getattr(inner[0], '__name__', inner[0])}"
    if origin is Callable or getattr(origin, "__name__", "") == "Callable":
        return "a function"
    if origin is tuple and inner[-1] is not Ellipsis:
        return f"({', '.join(map(_words, inner))})"
    if kind is Any:
        return "anything"
    name = getattr(origin or kind, "__name__", str(kind))
    container = _CONTAINERS.get(name, f"{'an' if name[0] in 'AEIOU' else 'a'} {name}")
    element = [] if origin is None else [argument for argument in inner if argument not in (Any, Ellipsis)][-1:]
    return container + "".join(f", each {_words(element_type)}" for element_type in element)


def misfit(kind: Any, label: str, value: Any, function: str = "") -> TensorBackendError:
    """The error for an argument of a function that does not fit; the annotation decides its class."""
    members = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    meanings = {meaning_of(member) for member in members}
    error: type[TensorBackendError] = ArgumentKindError
    if "tensor" in meanings or Tensor in members:
        error = OperandError
    elif meanings & {"axis", "axes", "sole axis"}:
        error = AxisError
    elif "dtype" in meanings:
        error = DTypeError
    remedy = rows("arguments.tensor").get(function, "") if isinstance(value, Tensor | float) else ""
    if isinstance(value, str) and label == "axis":
        remedy = rows("arguments.new_axis").get(function, "")
    remedy = remedy or _remedy(kind, value) or rows("arguments.wrong").get(f"{function}.{label}", "")
    if label == "shape":
        remedy = of_shape(value).get(function) or of_shape(value).get("", remedy)
    return error(expected(_words(kind), remedy, **{label: value}))


def _remedy(kind: Any, value: Any) -> str:
    """The remedy for an argument of a wrong type; empty where there is none."""
    if isinstance(value, set | frozenset) and fits(list(value), kind):
        return "write list(...) around it"
    if isinstance(value, float) and value.is_integer() and fits(int(value), kind):
        return f"write {shown(int(value))}"
    if Template in get_args(kind) and isinstance(value, list | tuple) and all(map(_is_int, value)):
        return f"write 'f32[{', '.join(map(str, value))}]'"
    if Tensor in (kind, *get_args(kind)) and (_is_operand(value) or isinstance(value, list | tuple)):
        return "wrap it in asarray()"
    return ""
