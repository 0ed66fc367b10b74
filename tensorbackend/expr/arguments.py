"""The arguments of a transformed function: which leaves are tensors, and which are options."""

from __future__ import annotations

from collections.abc import Sequence
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from ..caching.option_keys import kind_of
from ..dtypes import DType
from ..errors import ArgumentError, expected
from ..ops.creation.filled import asarray
from ..protocol import Backend
from ..select import common_backend
from ..tensor import Tensor
from .trees import LEAF, Tree, flatten


def is_array(leaf: object) -> bool:
    """Whether a leaf is another library's array."""
    return not isinstance(leaf, Tensor) and hasattr(leaf, "__array__") and hasattr(leaf, "dtype")


def as_tensors(leaves: Sequence[Any]) -> list[Any]:
    """The leaves with other libraries' arrays as tensors, on the backend of the tensors among the leaves."""
    if not any(map(is_array, leaves)):
        return list(leaves)
    tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
    home = common_backend(tensors)
    return [asarray(leaf, backend=home) if is_array(leaf) else leaf for leaf in leaves]


class StaticArgument:
    """A static argument: one leaf, even if its value is a container."""

    def __init__(self, value: Any) -> None:
        self.value = value


_NAN = object()
_IMMUTABLE = (type, FunctionType, BuiltinFunctionType, MethodType, ModuleType, DType, Backend)


def option_key(leaf: Any) -> tuple[object, object]:
    """The part of a compilation's key for an option. In it, NaN is equal to itself.

    Raises `ArgumentError` for an object that may change and is equal only to itself: the compilation would keep the
    attributes of the object at the time of the trace.
    """
    if type(leaf) is StaticArgument:
        return (leaf.value, StaticArgument), kind_of(leaf.value)
    if type(leaf) in (float, complex) and leaf != leaf:
        return _NAN, type(leaf)
    by_identity = getattr(type(leaf), "__hash__", None) is object.__hash__
    if by_identity and not isinstance(leaf, _IMMUTABLE) and getattr(leaf, "__dict__", None):
        remedy = (
            "make its class a dataclass, so that the tensors in it are arguments, or name the argument in "
            "static_argnames, where its attributes must not change during the trace"
        )
        raise ArgumentError(expected("an option that is compared by its value", remedy, option=leaf))
    return leaf, kind_of(leaf)


def is_tree(x0: Any) -> bool:
    """Whether unknowns are a tree of tensors or numbers, and not one tensor or what becomes one: a list of numbers.

    >>> is_tree({"slope": 0.0, "start": 1.0}), is_tree([[0.0, 1.0], [2.0, 3.0]])
    (True, False)
    """
    leaves, tree = flatten(x0)
    holds_tensors = any(isinstance(leaf, Tensor) or is_array(leaf) for leaf in leaves)
    return tree is not LEAF and (holds_tensors or (bool(leaves) and not _is_of_lists(tree)))


def _is_of_lists(tree: Tree) -> bool:
    """Whether there are no other containers than lists and tuples."""
    return tree is LEAF or (tree.kind in (list, tuple) and all(map(_is_of_lists, tree.children)))
