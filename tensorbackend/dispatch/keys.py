"""What calls are remembered by: the templates of their tensors, and numbers and options with what tells them apart.

A key is a tuple that hashes: lists among the options are in it as tuples. What makes no key raises a built-in error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeAlias

from ..operands import kind_of
from ..opspec import OpSpec
from ..rules.plan import freeze
from ..tensor import Tensor

Key: TypeAlias = tuple[Any, ...]
KeyOf: TypeAlias = Callable[[Sequence[Any], Mapping[str, Any]], Key]
InputsOf: TypeAlias = Callable[[Sequence[Any], Sequence[Tensor | None] | None], Sequence[Any]]

NUMBERS: Final = frozenset({bool, int, float, complex})
"""Types of the Python numbers that calls are remembered with."""


def keyed_by(spec: OpSpec) -> tuple[KeyOf, InputsOf]:
    """What makes a key of an op's arguments, the backend first in it, and what its tensors are in a call of that key.

    The second takes the arguments and the tensors that are kept for Python numbers among them, `None` for the others.
    """
    kinds = [(parameter.role, parameter.kind) for parameter in spec.parameters if parameter.role != "option"]
    if kinds == [("tensors", "positional")]:
        return _key_of_sequence, lambda arguments, numbers: (tuple(arguments[0]),)
    # Others are not remembered.
    count = len(kinds) if all(kind == ("tensor", "positional") for kind in kinds) else 0
    return partial(_key_of_tensors, count), partial(_inputs, count)


def _key_of_tensors(count: int, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Key:
    """Of a call whose first `count` arguments are a tensor, then tensors on its backend and Python numbers."""
    if not count:
        raise LookupError
    first = arguments[0]
    backend = first.backend
    key = [backend, first.template]
    for x in arguments[1:count]:
        if type(x) in NUMBERS:
            key += (x, kind_of(x))
        elif x.backend is not backend:
            raise LookupError
        else:
            key.append(x.template)
    return with_options(key, arguments[count:], keywords)


def _inputs(count: int, arguments: Sequence[Any], numbers: Sequence[Tensor | None] | None) -> Sequence[Any]:
    if numbers is None:
        return arguments[:count]
    return [given if made is None else made for given, made in zip(arguments, numbers, strict=False)]


def _key_of_sequence(arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Key:
    """Of a call whose first argument is a list or tuple of tensors on one backend."""
    tensors = arguments[0]
    if type(tensors) is not list and type(tensors) is not tuple:
        raise LookupError
    backend = tensors[0].backend
    key = [backend, len(tensors)]
    for x in tensors:
        if x.backend is not backend:
            raise LookupError
        key.append(x.template)
    return with_options(key, arguments[1:], keywords)


def with_options(key: list[Any], arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Key:
    """A key that was begun with the options of a call, by position and by name."""
    for value in arguments:
        key += _entered(value)
    if keywords:
        for name, value in keywords.items():
            key += (name, *_entered(value))
    return tuple(key)


def _entered(value: Any) -> tuple[Any, Any]:
    """An option, frozen where it may hold lists, and what tells it from others that are equal."""
    kind = kind_of(value)
    if kind is list or kind is dict or (type(value) is tuple and kind is not tuple):
        value = freeze(value)
        kind = kind_of(value)
    return value, kind


def number_key(x1: Any, x2: Any) -> Key | None:
    """Key of a call with one tensor and one Python number, `None` for any other."""
    first = isinstance(x2, Tensor)
    number, x = (x1, x2) if first else (x2, x1)
    if type(number) not in NUMBERS or not isinstance(x, Tensor):
        return None
    return x.template, x.backend, number, kind_of(number), first
