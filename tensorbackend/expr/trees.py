"""Nested containers of tensors and their leaves: flattens containers, rebuilds, maps and compares them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Protocol, TypeVar, overload

from ..declarations.argument_errors import check_arguments
from ..errors import ArgumentError, expected
from ..tensor import Tensor
from .tree_containers import LEAF, Tree, container_of_class, container_of_tree, registered


class _Dataclass(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Any]]


Nested = TypeVar("Nested", bound="Tensor | Sequence[Any] | Mapping[Any, Any] | _Dataclass | None")
"""A tensor, or an object that holds tensors, whose type a function of nested tensors may return again. Numbers are
excluded, as they become tensors."""


def parts_by_key(value: Any) -> dict[Any, Any] | None:
    """The parts of a container by key, `None` for a leaf."""
    kind = type(value)
    container = container_of_class(kind)
    if container is None:
        return None
    keys, children, _ = container.parts(value)
    return dict(zip(keys, children, strict=True))


def flatten(value: Any) -> tuple[list[Any], Tree]:
    """The leaves of nested containers, and their nesting.

    Raises `ArgumentError` for a container that holds itself.

    >>> leaves, tree = flatten({"b": (2, None), "a": 1})
    >>> leaves, unflatten(tree, [10, 20])
    ([1, 2], {'b': (20, None), 'a': 10})
    """
    leaves: list[Any] = []
    try:
        return leaves, _flatten(value, leaves)
    except RecursionError:
        expectation = "containers nested at most a few hundred levels deep, none inside itself"
        raise ArgumentError(expected(expectation, kind=type(value).__name__)) from None


def _flatten(value: Any, leaves: list[Any]) -> Tree:
    kind = type(value)
    container = container_of_class(kind)
    if container is None:
        leaves.append(value)
        return LEAF
    keys, children, data = container.parts(value)
    nested = []
    for child in children:
        if type(child) is Tensor:
            leaves.append(child)
            nested.append(LEAF)
        else:
            nested.append(_flatten(child, leaves))
    parts: Any = kind, keys, tuple(nested), data
    return tuple.__new__(Tree, parts)  # in a third of the time of the class's own constructor


def are_in_registered(tree: Tree) -> list[bool]:
    """For each leaf, whether it is a part of an instance of a registered class, which defines its parts."""
    if tree.kind is None:
        return [False]
    is_registered = tree.kind in registered
    return [
        is_registered if child.kind is None else flag for child in tree.children for flag in are_in_registered(child)
    ]


def unflatten(tree: Tree, leaves: Iterable[Any]) -> Any:
    """Containers nested as a tree says, which hold the leaves."""
    return _nest(tree, iter(leaves))


def _nest(tree: Tree, leaves: Iterator[Any]) -> Any:
    if tree.kind is None:
        return next(leaves)
    children = [next(leaves) if child is LEAF else _nest(child, leaves) for child in tree.children]
    return container_of_tree(tree).rebuilt(tree, tuple(children))


@overload
def tree_map(function: Callable[..., Tensor], value: Nested, *others: Any) -> Nested: ...
@overload
def tree_map(function: Callable[..., Any], value: Any, *others: Any) -> Any: ...
@check_arguments
def tree_map(function: Callable[..., Any], value: Any, *others: Any) -> Any:
    """Apply a function to every leaf of nested containers, together with the leaves of others with the same nesting.

    Parameters
    ----------
    function : function of leaves
        Takes one leaf of each tree.
    value : nested containers
        Lists, tuples, dictionaries, dataclasses, `None` and instances of classes registered by `register_tree_node`.
    *others : nested containers
        Trees of the same structure. The entries of dictionaries are paired by key, whatever their order.

    Returns
    -------
    nested containers
        The results of the function, nested like `value`.

    Raises
    ------
    ArgumentError
        For trees with different nesting; the message says where they first differ.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> tb.tree_map(lambda x, y: x - y, {"a": 1, "b": [2]}, {"b": [20], "a": 10})
    {'a': -9, 'b': [-18]}
    """
    rows, tree = paired_leaves(value, *others)
    return unflatten(tree, [function(*row) for row in zip(*rows, strict=True)])


def paired_leaves(value: Any, *others: Any) -> tuple[list[list[Any]], Tree]:
    """The leaves of each of some trees that are nested alike, and the nesting of the first."""
    leaves, tree = flatten(value)
    rows = [leaves]
    for position, other in enumerate(others, 1):
        rows.append(leaves_like(tree, other, f"trees[{position}]", "to be nested like the first tree"))
    return rows, tree


def paths(tree: Tree, root: str = "") -> list[str]:
    """The path to each leaf, as Python writes it, for error messages.

    >>> paths(flatten({"a": 1, "b": (2, 3)})[1], "x")
    ["x['a']", "x['b'][0]", "x['b'][1]"]
    """
    if tree.kind is None:
        return [root]
    return [
        path
        for key, child in zip(tree.keys, tree.children, strict=True)
        for path in paths(child, f"{root}{tree.step(key)}")
    ]


# Comparison


def leaves_like(tree: Tree, value: Any, root: str, expectation: str) -> list[Any]:
    """The leaves of a value; raises `ArgumentError` for the first place where it is not nested as the tree says."""
    leaves, value_tree = flatten(value)
    difference = None if value_tree == tree else first_difference(tree, value_tree, root)
    if difference is not None:
        path, before, after = difference
        remedy = "keep every value in its place, in the same kind of container"
        raise ArgumentError(expected(f"{path} {expectation}, {before}", remedy, returned=_PlainText(after)))
    return leaves


class _PlainText(str):
    """A text that is shown in an error without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


def first_difference(one: Tree, other: Tree, root: str) -> tuple[str, str, str] | None:
    """Where two trees first differ, and what each has there; `None` if they are equal."""
    if one.kind is not other.kind or one.keys != other.keys or one.data != other.data:
        return root, describe(one), describe(other)
    for key, child, beside in zip(one.keys, one.children, other.children, strict=True):
        difference = first_difference(child, beside, f"{root}{one.step(key)}")
        if difference is not None:
            return difference
    return None


def describe(tree: Tree) -> str:
    """A container in a few words."""
    if tree.kind is None:
        return "a tensor"
    if tree.kind is type(None):
        return "None"
    name, of = tree.kind.__name__, str(len(tree.keys))
    if issubclass(tree.kind, dict):
        of = ", ".join(map(repr, tree.keys)) or "nothing"
    return f"a {name} of {of}" if tree.data is None else f"a {name} of {of} with {tree.data!r}"
