"""Checks of the kinds of arguments, by the types of the signature.

A call runs first. Only if it ends in an error that is not the library's own are its arguments compared with their
annotations, and the error names the first one that does not match. So a warm call has no overhead, arguments that
behave like the right kind pass, and no function checks kinds itself. If all arguments match, the error is raised
unchanged: it comes from a function of the user, or from a defect of the library.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache, wraps
from operator import index
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, ParamSpec, TypeVar, Union, get_args, get_origin

from ..docstrings import complete_docstring
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
from ..interchange import is_plain_array
from ..template import MAX_AXES, is_deep
from ..tensor import Tensor
from .parameters import meaning_of, types_of

P = ParamSpec("P")
R = TypeVar("R")

_PACKAGE = os.path.dirname(os.path.dirname(__file__))


def check_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """Wraps a public function that is not a declared op, so that a wrong argument raises an error of the library's own.

    Parameters
    ----------
    function : Callable
        A function with annotations.

    Returns
    -------
    Callable
        The function, which raises an error of the library's own for an argument that its annotation does not allow.

    Examples
    --------
    >>> @check_arguments
    ... def half(number: float) -> float:
    ...     return number / 2
    >>> half("text")
    Traceback (most recent call last):
    tensorbackend.errors.ArgumentKindError: half: expected a number, got number='text'
    """

    @wraps(function)
    def call(*arguments: P.args, **keywords: P.kwargs) -> R:
        try:
            return function(*arguments, **keywords)
        except TensorBackendError as error:
            error.named(_name(function))
            raise
        except Exception as error:  # whatever a wrong argument led to; what `tell` cannot explain is raised unchanged
            tell(error, function, arguments, keywords)
            raise

    call.__doc__ = complete_docstring(function)
    return call


def check_arguments_early(function: Callable[P, R]) -> Callable[P, R]:
    """Wraps a public function that keeps its arguments for later, as a transform does: they are checked before it runs.

    Parameters
    ----------
    function : Callable
        A function with annotations.

    Returns
    -------
    Callable
        The function, which raises an error of the library's own for an argument that its annotation does not allow.

    Examples
    --------
    >>> @check_arguments_early
    ... def twice(function: Callable[[int], int]) -> Callable[[int], int]:
    ...     return lambda number: function(function(number))
    >>> twice("text")
    Traceback (most recent call last):
    tensorbackend.errors.ArgumentKindError: twice: expected a function, got function='text'
    """

    @wraps(function)
    def call(*arguments: P.args, **keywords: P.kwargs) -> R:
        try:
            for parameter, value, kind in _arguments(function, arguments, keywords):
                if not _fits(value, kind):
                    raise _misfit(kind, parameter, value)
            return function(*arguments, **keywords)
        except TensorBackendError as error:
            error.named(_name(function))
            raise

    call.__doc__ = complete_docstring(function)
    return call


def _name(function: Callable[..., Any]) -> str:
    """The name of a function in errors; for an `__init__` it is the name of the class."""
    return function.__qualname__.removesuffix(".__init__").rpartition(".")[2]


def tell(
    error: Exception,
    function: Callable[..., Any],
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
) -> None:
    """Raises an error of the library's own from `error` if an argument does not match its annotation; else returns."""
    labelled = [*_arguments(function, arguments, keywords)]
    if _is_foreign(error) and any(callable(value) and not isinstance(value, type) for _, value, _ in labelled):
        return  # raised by a function of the user's
    for parameter, value, kind in labelled:
        explanation: TensorBackendError | None = None
        if isinstance(error, RecursionError) and is_deep(value):
            explanation = ArgumentKindError(expected(f"lists nested at most {MAX_AXES} deep", **{parameter: value}))
        else:
            try:
                explanation = None if _fits(value, kind) else _misfit(kind, parameter, value)
            except TemplateDataError as without:
                explanation = without
        if explanation is not None:
            raise explanation.named(_name(function)) from error


def _arguments(
    function: Callable[..., Any], arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> Iterator[tuple[str, Any, Any]]:
    """The label in errors, the value and the type of each argument; nothing if the signature does not take the call."""
    from inspect import signature, unwrap  # slow to import, and only an error or a transform needs it

    try:
        bound = signature(function).bind(*arguments, **keywords)
    except TypeError:
        return
    types = types_of(unwrap(function))
    for name, value in bound.arguments.items():
        kind, parameter = types.get(name, Any), bound.signature.parameters[name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            yield from ((name, argument, kind) for argument in value)
        elif parameter.kind is parameter.VAR_KEYWORD:
            yield from ((key, argument, kind) for key, argument in value.items())
        else:
            yield name, value, kind


def _is_foreign(error: Exception) -> bool:
    """Whether an error was raised by code outside the package."""
    frame, file = error.__traceback__, _PACKAGE
    while frame is not None:
        file, frame = frame.tb_frame.f_code.co_filename, frame.tb_next
    return not file.startswith((_PACKAGE, "<frozen"))


# Values that a type allows


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
    try:
        return not isinstance(value, bool | str | bytes) and float(value) is not None
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


def _fits(value: Any, kind: Any) -> bool:
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
        return _fits(value, inner[0])
    if origin in (Union, UnionType):
        return any(_fits(value, member) for member in inner)
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
        return all(_fits(key, inner[0]) and _fits(member, inner[1]) for key, member in value.items())
    if origin is tuple and inner[-1] is not Ellipsis:
        return len(value) == len(inner) and all(_fits(*pair) for pair in zip(value, inner, strict=True))
    if isinstance(value, Sequence):
        return all(_fits(element, inner[0]) for element in value)
    return True


@cache
def _find_kind(kind: Any) -> _Kind | None:
    return _MEANINGS.get(meaning_of(kind)) or _CLASSES.get(kind)


def _words(kind: Any) -> str:
    """The values that an annotation allows, in words: `Sequence[int] | None` is "a list or tuple of ints, or None"."""
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
    name = getattr(origin or kind, "__name__", str(kind))
    container = _CONTAINERS.get(name, f"a {name}")
    element = [] if origin is None else [argument for argument in inner if argument not in (Any, Ellipsis)][-1:]
    return container + "".join(f", each {_words(element_type)}" for element_type in element)


def _misfit(kind: Any, label: str, value: Any) -> TensorBackendError:
    """The error for a value that does not fit; the annotation decides its class."""
    members = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    meanings = {meaning_of(member) for member in members}
    error: type[TensorBackendError] = ArgumentKindError
    if "tensor" in meanings or Tensor in members:
        error = OperandError
    elif meanings & {"axis", "axes", "sole axis"}:
        error = AxisError
    elif "dtype" in meanings:
        error = DTypeError
    return error(expected(_words(kind), _remedy(kind, value), **{label: value}))


def _remedy(kind: Any, value: Any) -> str:
    """The remedy for an argument of a wrong type; empty where there is none."""
    if isinstance(value, set | frozenset) and _fits(list(value), kind):
        return "write list(...) around it"
    if isinstance(value, float) and value.is_integer() and _fits(int(value), kind):
        return f"write {shown(int(value))}"
    if Tensor in (kind, *get_args(kind)) and (_is_operand(value) or isinstance(value, list | tuple)):
        return "wrap it in asarray()"
    return ""
