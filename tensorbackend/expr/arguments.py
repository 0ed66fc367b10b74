"""The arguments of a transformed function: which leaves are tensors, and which are options."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from inspect import Parameter, signature
from operator import index
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from ..caching.option_keys import kind_of
from ..dtypes import DType
from ..errors import ArgumentError, expected
from ..ops.creation.filled import asarray
from ..protocol import Backend
from ..select import home_of
from ..tensor import Tensor
from .tree_containers import LEAF, Tree
from .trees import flatten


def is_array(leaf: object) -> bool:
    """Whether a leaf is another library's array."""
    return not isinstance(leaf, Tensor) and hasattr(leaf, "__array__") and hasattr(leaf, "dtype")


def as_tensors(leaves: Sequence[Any]) -> list[Any]:
    """The leaves with other libraries' arrays as tensors, on the backend of the tensors among the leaves."""
    if not any(map(is_array, leaves)):
        return list(leaves)
    home = home_of(leaves)
    return [asarray(leaf, backend=home) if is_array(leaf) else leaf for leaf in leaves]


def is_tensor(leaf: object) -> bool:
    """Whether a leaf is a tensor."""
    return isinstance(leaf, Tensor)


def split(
    leaves: Sequence[Any], chosen: Callable[[Any], bool] = is_tensor
) -> tuple[list[Any], Callable[[Iterable[Any]], list[Any]]]:
    """The tensors or other chosen ones among leaves, and a function of others that puts these in their places.

    The function does not keep the chosen leaves.
    """
    rest = [_CHOSEN if chosen(leaf) else leaf for leaf in leaves]

    def fill(others: Iterable[Any]) -> list[Any]:
        following = iter(others)
        return [next(following) if leaf is _CHOSEN else leaf for leaf in rest]

    return [leaf for leaf in leaves if chosen(leaf)], fill


_CHOSEN = object()
"""Stands for a chosen leaf among leaves."""


class StaticArgument:
    """A static argument: one leaf, even if its value is a container."""

    def __init__(self, value: Any) -> None:
        self.value = value


def static_places(
    function: Callable[..., Any], argnums: int | Sequence[int], argnames: str | Sequence[str]
) -> tuple[frozenset[int], frozenset[str]]:
    """The positions and the names of static arguments: a position adds its name, and a name its position.

    Raises `ArgumentError` for an argument that the function does not have.
    """
    numbers = [index(argnums)] if not isinstance(argnums, Sequence) else [index(number) for number in argnums]
    names = {argnames} if isinstance(argnames, str) else set(argnames)
    if not numbers and not names:
        return frozenset(), frozenset()
    try:
        parameters = list(signature(function).parameters.values())
    except ValueError:
        raise ArgumentError(expected("a function with a signature for static arguments", function=function)) from None
    positional = [
        parameter.name
        for parameter in parameters
        if parameter.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    ]
    if not any(parameter.kind is Parameter.VAR_POSITIONAL for parameter in parameters):
        for number in numbers:
            if not -len(positional) <= number < len(positional):
                expectation = f"static_argnums from {-len(positional)} to {len(positional) - 1}"
                raise ArgumentError(expected(expectation, static_argnums=argnums))
        numbers = [number % len(positional) for number in numbers]
    elif any(number < 0 for number in numbers):
        raise ArgumentError(
            expected(
                "static_argnums of at least 0, as the function takes any number of arguments", static_argnums=argnums
            )
        )
    if not any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters):
        unknown = names - {parameter.name for parameter in parameters}
        if unknown:
            remedy = f"the parameters are {', '.join(parameter.name for parameter in parameters)}"
            raise ArgumentError(
                expected("static_argnames that are parameters", remedy, static_argnames=sorted(unknown))
            )
    names |= {positional[number] for number in numbers if number < len(positional)}
    return frozenset([*numbers, *(i for i, name in enumerate(positional) if name in names)]), frozenset(names)


_NAN = object()
_IMMUTABLE = (type, FunctionType, BuiltinFunctionType, MethodType, ModuleType, DType, Backend)


def option_key(leaf: Any) -> tuple[object, object]:
    """The part of a compilation's key for an option. In it, NaN is equal to itself.

    Raises `ArgumentError` for an object that may change and is equal only to itself, as the compilation would keep the
    attributes of the object at the time of the trace, and for a generator or another iterator, which the trace would
    use up.
    """
    given = leaf.value if type(leaf) is StaticArgument else leaf
    if isinstance(given, Iterator):
        remedy = "pass a list or a tuple of its values"
        raise ArgumentError(expected("an option with the same values at each call", remedy, option=given))
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
