"""Containers whose nesting is known: their leaves are read, and put back, in a few steps.

`flatten` asks each container for its class and sorts the keys of dictionaries. Arguments of a compiled function are
mostly nested as they were in the last call, which a reader takes for granted and checks on the way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import is_dataclass
from operator import attrgetter, itemgetter
from typing import Any, TypeAlias

from .trees import Tree, container_of_tree, is_registered

Reader: TypeAlias = Callable[[Any, list[Any]], None]
"""Appends the leaves of a value; raises `Otherwise`, or an error of a look-up, where the value is nested otherwise."""

Builder: TypeAlias = Callable[[list[Any]], Any]
"""The containers around a list of leaves."""


class Otherwise(LookupError):
    """A value is not nested as a reader expects."""


def reader_of(tree: Tree) -> Reader | None:
    """A reader of the values that are nested as a tree says; `None` where a class in it is read by `flatten` alone.

    >>> from tensorbackend.expr.trees import flatten
    >>> read, leaves = reader_of(flatten({"b": (2, 3), "a": 1})[1]), []
    >>> read({"a": 10, "b": (20, 30)}, leaves)
    >>> leaves
    [10, 20, 30]
    """
    kind: Any = tree.kind
    count = len(tree.keys)
    parts: Callable[[Any], Any]
    if kind is dict:
        parts = _several(itemgetter, tree.keys)
    elif kind in (tuple, list):
        parts = tuple
    elif not is_registered(kind) and not issubclass(kind, dict | list | tuple) and is_dataclass(kind):
        parts = _several(attrgetter, tree.keys)
    else:
        return None
    sized = kind in (dict, tuple, list)
    below: list[Reader | None] = []
    for child in tree.children:
        reader = None if child.kind is None else reader_of(child)
        if child.kind is not None and reader is None:
            return None
        below.append(reader)

    def read_leaves(value: Any, leaves: list[Any]) -> None:
        if value.__class__ is not kind or (len(value) != count if sized else is_registered(kind)):
            raise Otherwise
        leaves += parts(value)

    def read(value: Any, leaves: list[Any]) -> None:
        if value.__class__ is not kind or (len(value) != count if sized else is_registered(kind)):
            raise Otherwise
        for part, reader in zip(parts(value), below, strict=True):
            if reader is None:
                leaves.append(part)
            else:
                reader(part, leaves)

    return read if any(below) else read_leaves


def _several(getter: Callable[..., Callable[[Any], Any]], keys: tuple[Any, ...]) -> Callable[[Any], Any]:
    """A getter of several parts, which gives a tuple whatever their number is."""
    if not keys:
        return lambda value: ()
    one = getter(*keys)
    return one if len(keys) > 1 else lambda value: (one(value),)


def builder_of(tree: Tree, start: int = 0) -> Builder:
    """A builder of the containers that a tree says, from a list in which its leaves begin at `start`.

    >>> from tensorbackend.expr.trees import flatten
    >>> builder_of(flatten({"b": (2, None), "a": 1})[1])([10, 20])
    {'b': (20, None), 'a': 10}
    """
    if tree.kind is None:
        return itemgetter(start)
    kind: Any = tree.kind
    rebuilt = container_of_tree(tree).rebuilt
    if all(child.kind is None for child in tree.children):
        leaves = slice(start, start + len(tree.children))
        if kind in (tuple, list):
            return lambda values: kind(values[leaves])
        if kind is dict:
            filled = getattr(tree.keys, "given", tree.keys)
            take = _several(itemgetter, tuple([start + tree.keys.index(key) for key in filled]))
            return lambda values: dict(zip(filled, take(values), strict=True))
        return lambda values: rebuilt(tree, tuple(values[leaves]))
    below = []
    for child in tree.children:
        below.append(builder_of(child, start))
        start += child.size
    if kind is tuple:
        return lambda values: tuple([build(values) for build in below])
    return lambda values: rebuilt(tree, tuple([build(values) for build in below]))
