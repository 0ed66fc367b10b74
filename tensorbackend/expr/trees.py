"""Nested containers and their leaves, some of them static: flattens containers, rebuilds, maps and compares them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, ClassVar, Protocol, TypeVar, overload

from ..declarations.argument_errors import check_arguments
from ..dtypes import DType, as_dtype, scalar_kind
from ..errors import ArgumentError, expected
from ..tensor import Tensor
from .tree_containers import LEAF, Tree, container_of_class, container_of_tree, register_tree_node, registered


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
        raise ArgumentError(expected(f"{path} {expectation}, {before}", remedy, returned=PlainText(after)))
    return leaves


class PlainText(str):
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


def is_static(leaf: object) -> bool:
    """Whether a leaf is neither a tensor nor a number, and passes through transforms: a text, a function, a dtype."""
    return isinstance(leaf, str | bytes | DType | Enum) or (callable(leaf) and not isinstance(leaf, Tensor))


def is_inexact(leaf: Any) -> bool:
    """Whether a leaf is a floating or complex tensor or number; also for one of an unknown kind, for its error."""
    kind = scalar_kind(leaf)
    if kind is not None:
        return kind in ("float", "complex")
    if isinstance(leaf, Tensor):
        return leaf.dtype.is_inexact
    if hasattr(leaf, "__array__") and hasattr(leaf, "dtype"):
        return as_dtype(leaf.dtype).is_inexact
    return not is_static(leaf)


class Kept:
    """A container of static data alone, which stands in a result's tree for a text or a function."""


register_tree_node(Kept, lambda kept: ((), None), lambda leaf, parts: leaf)


def keep_static(leaves: Sequence[Any], tree: Tree) -> tuple[Sequence[Any], Tree]:
    """The leaves of a container without static ones, and its tree, which has these; both as they are for a leaf."""
    if tree.kind is None or not any(map(is_static, leaves)):
        return leaves, tree
    rest = iter(leaves)

    def keep(tree: Tree) -> Tree:
        if tree.kind is None:
            leaf = next(rest)
            return Tree(Kept, data=leaf) if is_static(leaf) else LEAF
        return tree._replace(children=tuple([keep(child) for child in tree.children]))

    return [leaf for leaf in leaves if not is_static(leaf)], keep(tree)


Path = tuple[Any, ...]
"""The keys, positions and names of fields from the root to a leaf."""


@check_arguments
def tree_flatten(value: Any, /) -> tuple[list[Any], Tree]:
    """The leaves of nested containers, and how they are nested.

    Parameters
    ----------
    value : nested containers
        Lists, tuples, dictionaries, dataclasses, `None` and instances of classes registered by `register_tree_node`.

    Returns
    -------
    leaves : list
        Whatever is no container, in the order of positions, of fields, and of sorted keys.
    tree : Tree
        The nesting, which `tree_unflatten` takes. It is hashable, and equal for values that are nested alike.

    Raises
    ------
    ArgumentError
        For a container that holds itself.

    Examples
    --------
    >>> leaves, tree = tb.tree_flatten({"b": (2, None), "a": 1})
    >>> leaves, tree.size
    ([1, 2], 2)
    >>> tb.tree_unflatten(tree, [10, 20])
    {'b': (20, None), 'a': 10}
    """
    return flatten(value)


@check_arguments
def tree_leaves(value: Any, /) -> list[Any]:
    """The leaves of nested containers, such as all tensors of a model.

    Parameters
    ----------
    value : nested containers
        As in `tree_flatten`.

    Returns
    -------
    list
        The leaves, in the order of positions, of fields, and of sorted keys.

    Raises
    ------
    ArgumentError
        For a container that holds itself.

    Examples
    --------
    >>> parameters = {"weight": tb.ones((3, 2)), "bias": tb.zeros(2)}
    >>> sum(x.size for x in tb.tree_leaves(parameters))
    8
    """
    return flatten(value)[0]


@check_arguments
def tree_unflatten(tree: Tree, leaves: Iterable[Any], /) -> Any:
    """Containers nested as a tree says, which hold some leaves.

    Parameters
    ----------
    tree : Tree
        The nesting, as `tree_flatten` returns it.
    leaves : iterable
        As many leaves as the tree has, of any kind.

    Returns
    -------
    nested containers
        The leaves in their places.

    Raises
    ------
    ArgumentError
        For another number of leaves.

    Examples
    --------
    >>> leaves, tree = tb.tree_flatten([1, {"x": 2}])
    >>> tb.tree_unflatten(tree, [3, 4])
    [3, {'x': 4}]
    """
    given = list(leaves)
    if not isinstance(tree, Tree) or len(given) != tree.size:
        size = tree.size if isinstance(tree, Tree) else "some"
        raise ArgumentError(
            expected(f"a tree of tree_flatten(), and its {size} leaves", tree=type(tree).__name__, leaves=len(given))
        )
    return unflatten(tree, given)


@check_arguments
def tree_map_with_path(function: Callable[..., Any], value: Any, *others: Any) -> Any:
    """Apply a function to every leaf of nested containers, together with the path to it.

    Parameters
    ----------
    function : function of a path and leaves
        Takes the path, a tuple of keys, positions and names of fields, and one leaf of each tree.
    value, *others
        As for `tree_map`.

    Returns
    -------
    nested containers
        The results, nested like `value`.

    Raises
    ------
    ArgumentError
        As for `tree_map`.

    Examples
    --------
    >>> tb.tree_map_with_path(lambda path, x: path, {"layers": [1, 2], "bias": 3})
    {'layers': [('layers', 0), ('layers', 1)], 'bias': ('bias',)}
    """
    rows, tree = paired_leaves(value, *others)
    return unflatten(tree, [function(*row) for row in zip(_keys(tree, ()), *rows, strict=True)])


def _keys(tree: Tree, before: Path) -> Iterator[Path]:
    """The path to each leaf."""
    if tree.kind is None:
        yield before
    for key, child in zip(tree.keys, tree.children, strict=True):
        yield from _keys(child, (*before, key))
