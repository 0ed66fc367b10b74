"""Public functions of trees: their leaves, their nesting, and a function of leaves and of the way to each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..declarations.argument_errors import check_arguments
from ..errors import ArgumentError, expected
from .tree_containers import Tree
from .trees import flatten, paired_leaves, unflatten

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
    >>> import tensorbackend as tb
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
    >>> import tensorbackend as tb
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
    >>> import tensorbackend as tb
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
    value : nested containers
        As in `tree_map`.
    *others : nested containers
        Trees of the same structure.

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
