"""Leaves, nesting and paths of trees, next to JAX's."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError


class Pair(NamedTuple):
    left: Any
    right: Any


VALUES: list[Any] = [{"b": 1, "a": [2, None, (3,)]}, Pair(1, {"x": 2}), [], 5, {"text": "relu", "f": len}]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_leaves_are_those_of_jax_and_are_put_back(value: Any) -> None:
    leaves, tree = tb.tree_flatten(value)
    assert leaves == tb.tree_leaves(value) == jax.tree.leaves(value)
    assert tb.tree_unflatten(tree, leaves) == value
    assert tb.tree_unflatten(tree, range(len(leaves))) == jax.tree.unflatten(
        jax.tree.structure(value), range(len(leaves))
    )
    assert hash(tree) == hash(tb.tree_flatten(value)[1])


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_paths_are_those_of_jax(value: Any) -> None:
    def plain(path: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(getattr(key, "key", getattr(key, "idx", getattr(key, "name", None))) for key in path)

    expected = jax.tree_util.tree_map_with_path(lambda path, x, y: (plain(path), x, y), value, value)
    assert tb.tree_map_with_path(lambda path, x, y: (path, x, y), value, value) == expected


def test_wrong_leaves_and_trees_are_refused() -> None:
    tree = tb.tree_flatten([1, 2])[1]
    with pytest.raises(ArgumentError, match="its 2 leaves, got tree='Tree', leaves=3"):
        tb.tree_unflatten(tree, [1, 2, 3])
    with pytest.raises(ArgumentError, match="a tree of tree_flatten"):
        tb.tree_unflatten([1, 2], [3, 4])  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="nested like the first tree"):
        tb.tree_map_with_path(lambda path, x, y: x, [1], (1,))
