"""Nested containers of tensors: lists, tuples, named tuples, dicts, dataclasses and `None`, and their leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple


class Tree(NamedTuple):
    """How leaves are nested; it hashes, and equal trees have leaves in equal places."""

    kind: type | None = None
    """The container's class; `None` for a leaf."""
    keys: tuple[Any, ...] = ()
    """What stands between the brackets, or the names of the fields."""
    children: tuple[Tree, ...] = ()

    @property
    def size(self) -> int:
        """The number of leaves."""
        return 1 if self.kind is None else sum(child.size for child in self.children)


LEAF = Tree()


def _parts(value: object) -> tuple[tuple[Any, ...], tuple[Any, ...]] | None:
    """Keys and children of a container, `None` for a leaf."""
    if value is None:
        return (), ()
    if isinstance(value, dict):
        return tuple(value), tuple(value.values())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return tuple(value._fields), tuple(value)
    if isinstance(value, (list, tuple)):
        return tuple(range(len(value))), tuple(value)
    if is_dataclass(value) and not isinstance(value, type):
        names = tuple(field.name for field in fields(value))
        return names, tuple(getattr(value, name) for name in names)
    return None


def flatten(value: Any) -> tuple[list[Any], Tree]:
    """The leaves of nested containers, from left to right, and how they are nested.

    >>> leaves, tree = flatten({"a": 1, "b": (2, None)})
    >>> leaves, unflatten(tree, [10, 20])
    ([1, 2], {'a': 10, 'b': (20, None)})
    """
    leaves: list[Any] = []
    return leaves, _flattened(value, leaves)


def _flattened(value: Any, leaves: list[Any]) -> Tree:
    parts = _parts(value)
    if parts is None:
        leaves.append(value)
        return LEAF
    keys, children = parts
    return Tree(type(value), keys, tuple(_flattened(child, leaves) for child in children))


def unflatten(tree: Tree, leaves: Iterable[Any]) -> Any:
    """Containers nested as a tree says around leaves."""
    return _nested(tree, iter(leaves))


def _nested(tree: Tree, leaves: Iterator[Any]) -> Any:
    kind = tree.kind
    if kind is None:
        return next(leaves)
    children = [_nested(child, leaves) for child in tree.children]
    if kind is type(None):
        return None
    if issubclass(kind, dict):
        return kind(zip(tree.keys, children, strict=True))
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return kind(*children)
    if issubclass(kind, (list, tuple)):
        return kind(children)
    # A dataclass, frozen or with a constructor of its own.
    made = object.__new__(kind)
    for name, child in zip(tree.keys, children, strict=True):
        object.__setattr__(made, name, child)
    return made


def tree_map(function: Callable[..., Any], value: Any, *others: Any) -> Any:
    """A function applied to every leaf, with those of trees of the same form beside it.

    >>> tree_map(lambda x, y: x + y, {"a": 1, "b": [2]}, {"a": 10, "b": [20]})
    {'a': 11, 'b': [22]}
    """
    leaves, tree = flatten(value)
    rows = [leaves, *(flatten(other)[0] for other in others)]
    return unflatten(tree, [function(*row) for row in zip(*rows, strict=True)])


def paths(tree: Tree, root: str = "") -> list[str]:
    """Where each leaf is, as Python writes it, for error messages.

    >>> paths(flatten({"a": 1, "b": (2, 3)})[1], "x")
    ["x['a']", "x['b'][0]", "x['b'][1]"]
    """
    if tree.kind is None:
        return [root]
    attribute = is_dataclass(tree.kind) or hasattr(tree.kind, "_fields")
    return [
        path
        for key, child in zip(tree.keys, tree.children, strict=True)
        for path in paths(child, f"{root}.{key}" if attribute else f"{root}[{key!r}]")
    ]
