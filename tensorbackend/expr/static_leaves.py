"""Leaves of trees that a trace keeps as they are, without a gradient: texts, functions, dtypes and integers."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from ..dtypes import DType, as_dtype, scalar_kind
from ..tensor import Tensor
from .tree_containers import LEAF, Tree, register_tree_node


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
