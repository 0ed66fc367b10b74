"""Memos of calls, and their keys.

A key is made of templates, which are interned, and of options. An option is stored in a key together with its class, as
1, True and 1.0 are equal. If that is not sufficient, as for tuples and floats, `option_key` makes the part of the key.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from math import copysign
from struct import pack
from typing import Any, Final, TypeVar

from .memos import clear_all, remembers

Class = TypeVar("Class", bound=type)

MEMO_LIMIT: Final = 4096
"""The most entries of a memo. A further entry replaces the oldest one."""

MOST_OPERANDS: Final = 64
"""The most operands of a call whose key lists them. A key of more takes as much time and memory as what it saves."""

NUMBERS: Final = frozenset({bool, int, float, complex})
"""Types of the Python numbers that may be operands next to tensors."""

_DISTINCT: Final[set[type]] = {str, type(None)}
"""Classes of options that are their own part of a key, as they equal no option of another class."""

ATOMS: Final[set[type]] = {bool, int, *_DISTINCT}
"""Classes of options that are their own part of a key next to their class."""

_FROZEN: Final[set[type]] = {*ATOMS, *NUMBERS}
"""Classes of options that `freeze` returns unchanged."""

_SAME_IN_TUPLES: Final = frozenset({int, str, type(None)})
"""Classes of elements whose tuples are the same option if they are equal. Not bool, as (True,) equals (1,)."""


def atom(option: Class) -> Class:
    """Marks a class of options that hash, and equal no option of another class: a key holds them themselves."""
    for classes in (_DISTINCT, ATOMS, _FROZEN):
        classes.add(option)
    return option


def remember(memo: dict[Any, Any], key: object, value: object) -> None:
    """Adds a value to a bounded memo, which drops its oldest entry if it is full."""
    if len(memo) >= MEMO_LIMIT:
        # Another thread may change the memo meanwhile; it is bounded all the same.
        with suppress(KeyError, RuntimeError, StopIteration):
            del memo[next(iter(memo))]
    memo[key] = value


def holds_entries(name: str, *memos: dict[Any, Any]) -> None:
    """Shows memos that `remember` bounds under a name in `tb.caches()`."""
    remembers(name, lambda: sum(map(len, memos)), lambda: clear_all(memos), lambda: MEMO_LIMIT * len(memos))


def freeze(value: object) -> object:
    """An option that can key a memo: lists as tuples, a mapping as a tuple of its items under the mark `None`.

    >>> freeze([[1, 2], 3]), freeze({"time": [0, 1]})
    (((1, 2), 3), (None, ('time', (0, 1))))
    """
    if value.__class__ in _FROZEN:  # most options; to ask whether one is a mapping takes ten times as long
        return value
    if isinstance(value, list | tuple):
        return tuple(map(freeze, value))
    return (None, *((key, freeze(part)) for key, part in value.items())) if isinstance(value, Mapping) else value


def kind_of(value: object) -> object:
    """A key that distinguishes equal options: 1, 1.0 and True; 0.0 and -0.0; also inside tuples.

    For a tuple of ints, strings and `None`, nested or not, it is `tuple` (the common case).
    """
    kind = type(value)
    if kind in _SAME_IN_TUPLES:
        return kind
    if kind is tuple:
        parts: tuple[object, ...] = value  # type: ignore[assignment] # a tuple
        for part in parts:
            if type(part) not in _SAME_IN_TUPLES and (type(part) is not tuple or kind_of(part) is not tuple):
                return tuple(map(kind_of, parts))
        return kind
    if kind is float:
        return kind, copysign(1.0, value)  # type: ignore[arg-type] # a float
    return (kind, repr(value)) if kind is complex else kind


def options_key(options: Mapping[str, object]) -> tuple[object, ...]:
    """The part of a key for the options of a callback, which are hashable: their values, and what distinguishes them.

    >>> options_key({"axis": 1}) == options_key({"axis": True})
    False
    """
    return (*options.items(), *map(kind_of, options.values()))


def is_same(option: object, other: object) -> bool:
    """Whether two options are the same, as the key of one finds the entry of the other; NaN is the same as NaN."""
    return bool(kind_of(option) == kind_of(other) and (option == other or (option != option and other != other)))


def option_key(value: Any) -> Any:
    """The part of a key for an option; values that are equal but not the same option get different parts.

    Lists become tuples; floats keep the sign of zero, and a NaN is represented by its bits. Raises `KeyError` for
    values that do not equal themselves, such as a tuple with NaN, as no look-up finds them. An option that does not
    hash makes the look-up raise `TypeError`. Callers take the full path after either error.

    >>> option_key((0, 1)), option_key(0.0) == option_key(-0.0), option_key((1,)) == option_key((True,))
    ((0, 1), False, False)
    >>> option_key(float("nan")) == option_key(float("nan"))
    True
    """
    if value.__class__ is tuple:
        for part in value:
            if part.__class__ not in _SAME_IN_TUPLES:
                break
        else:
            return value
    elif value.__class__ in _DISTINCT:
        return value
    elif value.__class__ is float:
        return (value, (float, copysign(1.0, value))) if value == value else (float, pack("d", value))
    try:
        frozen = freeze(value)
        if frozen == frozen:
            return frozen, kind_of(frozen)
    except (ValueError, RecursionError):  # from an array, which has no truth value, or a list that holds itself
        pass
    raise KeyError
