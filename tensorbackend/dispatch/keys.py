"""What calls are remembered by: the templates of their tensors, and numbers and options with what tells them apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..operands import kind_of
from ..rules.plan import freeze
from ..tensor import Tensor

Key = tuple[Any, ...]

NUMBERS: Final = frozenset({bool, int, float, complex})
"""Types of the Python numbers that calls are remembered with."""


def number_key(x1: Any, x2: Any) -> Key | None:
    """Key of a call with one tensor and one Python number, `None` for any other."""
    first = isinstance(x2, Tensor)
    number, x = (x1, x2) if first else (x2, x1)
    if type(number) not in NUMBERS or not isinstance(x, Tensor):
        return None
    return x.template, x.backend, number, kind_of(number), first


def ready_key(arguments: Sequence[Any], keywords: Mapping[str, Any], count: int) -> Key:
    """Key of a call whose first `count` arguments are tensors on one backend, or Python numbers after the first; else a
    built-in error.
    """
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
    return _with_options(key, arguments, keywords, count)


def sequence_key(arguments: Sequence[Any], keywords: Mapping[str, Any], count: int) -> Key:
    """Key of a call whose first argument is a list or tuple of tensors on one backend; else a built-in error."""
    tensors = arguments[0]
    if type(tensors) is not list and type(tensors) is not tuple:
        raise LookupError
    backend = tensors[0].backend
    key = [backend, len(tensors)]
    for x in tensors:
        if x.backend is not backend:
            raise LookupError
        key.append(x.template)
    return _with_options(key, arguments, keywords, 1)


def _with_options(key: list[Any], arguments: Sequence[Any], keywords: Mapping[str, Any], count: int) -> Key:
    if len(arguments) > count:
        for value in arguments[count:]:
            key += (value, kind_of(value))
    if keywords:
        for name, value in keywords.items():
            key += (name, value, kind_of(value))
    return tuple(key)


def hashable(
    arguments: tuple[Any, ...], keywords: dict[str, Any], count: int
) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """The arguments of a call with lists among the options as tuples; `None` where that does not make them hash."""
    given = arguments[count:]
    frozen, named = tuple(map(freeze, given)), {name: freeze(value) for name, value in keywords.items()}
    if frozen == given and named == keywords:
        return None
    try:
        hash((frozen, tuple(named.values())))
    except TypeError:
        return None
    return arguments[:count] + frozen, named
