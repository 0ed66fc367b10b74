"""Checks of the kinds of arguments, by the types of the signature.

A call runs first. Only if it ends in an error that is not the library's own are its arguments compared with their
annotations, and the error names the first one that does not match. So a warm call has no overhead, arguments that
behave like the right kind pass, and no function checks kinds itself. If all arguments match, the error is raised
unchanged: it comes from a function of the user, or from a defect of the library.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast, get_args

from ..docstrings import complete_docstring
from ..dtypes import DType
from ..errors import ArgumentKindError, TemplateDataError, TensorBackendError, expected
from ..errors.hints import rows
from ..mesh import Mesh
from ..protocol.callbacks import CompositeCall
from ..protocol.core import Core
from ..protocol.devices import DeviceFacts
from ..scopes import around_calls
from ..template import MAX_AXES, Template, is_deep
from .argument_kinds import fits, misfit
from .parameters import types_of
from .signature_errors import adapt, name_of

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

_PACKAGE = os.path.dirname(os.path.dirname(__file__))
_OF_OPERANDS = ("cond", "switch")  # their operands are the arguments of their functions


def check_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """Wraps a public function that is not a declared op, so that a wrong argument raises an error of the library's own.

    Parameters
    ----------
    function : Callable
        A public function with annotations.

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
            if around_calls:
                return cast(R, around_calls[-1](True, function, *arguments, **keywords))
            return function(*arguments, **keywords)
        except TensorBackendError as error:
            error.named(name_of(function))
            raise
        except Exception as error:  # whatever a wrong argument led to; what `tell` cannot explain is raised unchanged
            renamed = adapt(function, arguments, keywords) if isinstance(error, TypeError) else None
            if renamed is None:
                tell(error, function, arguments, keywords)
                raise
        return call(*arguments, **renamed)

    call.__doc__ = complete_docstring(function)
    return call


def check_arguments_early(function: Callable[P, R]) -> Callable[P, R]:
    """Wraps a public function that keeps its arguments for later, as a transform does: they are checked before it runs.

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
                if not fits(value, kind):
                    raise misfit(kind, parameter, value, function.__name__)
            if around_calls:
                return cast(R, around_calls[-1](True, function, *arguments, **keywords))
            return function(*arguments, **keywords)
        except TensorBackendError as error:
            error.named(name_of(function))
            raise
        except TypeError as error:
            renamed = adapt(function, arguments, keywords)
            if renamed is None:
                tell(error, function, arguments, keywords)
                raise
        return call(*arguments, **renamed)

    call.__doc__ = complete_docstring(function)
    return call


def check_construction(kind: type[T]) -> type[T]:
    """Wraps what makes the objects of a class, so that arguments that it does not take are the library's own error.

    >>> from typing import NamedTuple
    >>> @check_construction
    ... class Pair(NamedTuple):
    ...     first: int
    ...     second: int
    >>> Pair(1)
    Traceback (most recent call last):
    tensorbackend.errors.SignatureError: Pair: expected the argument second, which is missing
    """
    new = "__new__" in vars(kind)
    make: Any = kind.__new__ if new else kind.__init__

    @wraps(make)
    def checked(target: Any, *arguments: Any, **keywords: Any) -> Any:
        try:
            return make(target, *arguments, **keywords)
        except TensorBackendError:
            raise
        except TypeError:
            renamed = adapt(target if new else type(target), arguments, keywords)
            if renamed is None:
                raise
        return make(target, *arguments, **renamed)

    setattr(kind, make.__name__, staticmethod(checked) if new else checked)
    return kind


def tell(error: Exception, function: Callable[..., Any], arguments: Sequence[Any], keywords: Mapping[str, Any]) -> None:
    """Raises an error of the library's own from `error` if an argument does not match its annotation; else returns."""
    labelled = [*_arguments(function, arguments, keywords)]
    if _is_foreign(error) and any(callable(value) and not isinstance(value, type | DType) for _, value, _ in labelled):
        return  # raised by a function of the user's
    if isinstance(error, TypeError):
        _tell_of_callbacks(error, function, labelled)
    for parameter, value, kind in labelled:
        explanation: TensorBackendError | None = None
        if isinstance(error, RecursionError) and is_deep(value):
            explanation = ArgumentKindError(expected(f"lists nested at most {MAX_AXES} deep", **{parameter: value}))
        else:
            try:
                explanation = None if fits(value, kind) else misfit(kind, parameter, value, function.__name__)
            except TemplateDataError as without:
                explanation = without
        if explanation is not None:
            raise explanation.named(name_of(function)) from error


def _tell_of_callbacks(
    error: Exception, function: Callable[..., Any], labelled: Sequence[tuple[str, Any, Any]]
) -> None:
    """Raises an error from `error` if a function of the user's does not take as many arguments as it is called with."""
    from inspect import signature

    name = name_of(function)
    operands = sum(kind is Any for _, _, kind in labelled) if name in _OF_OPERANDS else None
    for parameter, value, kind in labelled:
        several = isinstance(value, list | tuple)
        callbacks, of_one = (value, next(iter(get_args(kind)), None)) if several else ([value], kind)
        types = next(iter(get_args(of_one)), None)
        count = len(types) if isinstance(types, list) else operands if types is Ellipsis else None
        for callback in filter(callable, callbacks) if count is not None else ():
            try:
                called = signature(callback)
            except (TypeError, ValueError):  # a function written in C
                continue
            try:
                called.bind(*range(count or 0))
            except TypeError:
                words = f"a function of {count} argument{'s' * (count != 1)}"
                text = expected(words, rows("arguments.callback").get(name, ""), **{parameter: callback})
                raise ArgumentKindError(text).named(name) from error


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


for _kind in (CompositeCall, Core, DeviceFacts, Mesh, Template):  # classes of lower layers
    check_construction(_kind)
