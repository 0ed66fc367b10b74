"""Containers of tensors: which classes they are, how their instances are taken apart and rebuilt, and their nesting.

Containers are `None`, instances of classes that `register_tree_node` registered, and lists, tuples, named tuples,
dictionaries and dataclasses with their subclasses. The leaves of a dictionary are in the order of its sorted keys, as
in JAX, so that equal dictionaries are equal trees regardless of insertion order.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

from ..caching.option_keys import holds_entries, remember
from ..declarations.argument_errors import check_arguments_early
from ..dtypes import DType
from ..errors import ArgumentError, expected
from ..registration import SuppliedFunction
from ..template import Template
from ..tensor import Deallocated, Tensor

T = TypeVar("T")


class Tree(NamedTuple):
    """The nesting of leaves; it is hashable, and equal trees have leaves in equal places."""

    kind: type | None = None
    """The container's class; `None` for a leaf."""
    keys: tuple[Any, ...] = ()
    """The key, position or field name of each child."""
    children: tuple[Tree, ...] = ()
    data: Hashable = None
    """Further data of the container: the factory of a `defaultdict`, the static data of a registered class."""

    @property
    def size(self) -> int:
        """The number of leaves."""
        return 1 if self.kind is None else sum(child.size for child in self.children)

    @property
    def is_tensor(self) -> bool:
        """Whether it is one leaf, alone or as the only part of an instance of a registered class."""
        return self.kind is None or (self.kind in registered and self.children == (LEAF,))

    def step(self, key: Any) -> str:
        """How Python writes the access to one of the container's parts, such as `[0]` or `.name`."""
        if self.kind in registered or not (is_dataclass(self.kind) or hasattr(self.kind, "_fields")):
            return f"[{key!r}]"
        return f".{key}"


LEAF = Tree()


class _SortedKeys(tuple[Any, ...]):
    """The keys of a dictionary in the order of its leaves; they keep the insertion order."""

    insertion_order: tuple[Any, ...]


class _Node(NamedTuple):
    """The registry's entry for a class."""

    flatten: Callable[[Any], tuple[Iterable[Any], Hashable]]
    unflatten: Callable[[Any, tuple[Any, ...]], Any]


registered: Final[dict[type | None, _Node]] = {}
"""The classes that `register_tree_node` registered, with their functions."""

registering: SuppliedFunction[Callable[[type, _Node], None]] = SuppliedFunction(lambda kind, node: None)
"""Is called for every class when it is registered."""

_TAKEN: Final = (Tensor, Deallocated, Template, DType, OrderedDict, defaultdict)
"""Classes that cannot be registered, as they are containers or leaves already; nor can those of Python and NumPy."""


@check_arguments_early
def register_tree_node(
    kind: type[T],
    flatten: Callable[[T], tuple[Iterable[Any], Hashable]],
    unflatten: Callable[[Any, tuple[Any, ...]], T],
) -> type[T]:
    """Register a class whose instances contain tensors, for every function that takes nested tensors.

    JAX's own functions accept them too. The functions are those of `jax.tree_util.register_pytree_node`, so
    that one pair serves both. Dataclasses, named tuples and subclasses of dictionaries and lists need no registration,
    unless they have parts that are not tensors.

    Parameters
    ----------
    kind : type
        The class. Its subclasses must be registered separately.
    flatten : function of an instance
        Returns the parts, which may themselves be nested, and the static data. The static data is compared and hashed:
        two instances with different data are nested differently, and `jit` compiles for each.
    unflatten : function of the static data and the parts
        Returns an instance. The parts may be any objects, not only tensors.

    Returns
    -------
    type
        The class.

    Raises
    ------
    ArgumentError
        For a class that is registered with other functions, or that needs no registration.

    Examples
    --------
    >>> class Scaled:
    ...     def __init__(self, weight, power):
    ...         self.weight, self.power = weight, power
    >>> kind = tb.register_tree_node(
    ...     Scaled, lambda x: ((x.weight,), x.power), lambda power, parts: Scaled(*parts, power)
    ... )
    >>> tb.tree_map(lambda x: x + 1, Scaled(1.0, 2)).weight
    2.0
    """
    node = _Node(flatten, unflatten)
    if not isinstance(kind, type) or kind in _TAKEN or kind.__module__ in ("builtins", "numpy"):
        remedy = "register a class of your own"
        raise ArgumentError(expected("a class that is not a container, a number or a tensor", remedy, kind=kind))
    if registered.setdefault(kind, node) != node:
        raise ArgumentError(expected("a class that is registered once", "register a subclass", kind=kind))
    _containers.pop(kind, None)
    registering.call(kind, node)
    return kind


def for_each_registered(listener: Callable[[type, _Node], None]) -> None:
    """Calls a function for every class that is registered, now or later."""
    registering.supply(listener)
    for kind, node in list(registered.items()):
        assert kind is not None  # a class
        listener(kind, node)


class _Container(NamedTuple):
    """How the instances of a class are flattened and rebuilt."""

    parts: Callable[[Any], tuple[tuple[Any, ...], tuple[Any, ...], Hashable]]
    """The keys, the children and the static data of an instance."""
    rebuilt: Callable[[Tree, tuple[Any, ...]], Any]
    """An instance with given children, for a tree that says how it is nested."""


_containers: dict[type, _Container | None] = {}
holds_entries("classes of containers", _containers)


def container_of_class(kind: type) -> _Container | None:
    """How instances of a class are flattened, `None` for leaves; cached for the next instance."""
    try:
        return _containers[kind]
    except KeyError:
        container = _container_of(kind)
        remember(_containers, kind, container)
        return container


def _container_of(kind: Any) -> _Container | None:
    node = registered.get(kind)
    if node is not None:
        return _Container(
            partial(_parts_of_registered, node), lambda tree, children: node.unflatten(tree.data, children)
        )
    if kind is type(None):
        return _Container(lambda value: ((), (), None), lambda tree, children: None)
    if issubclass(kind, dict):
        return _Container(_dict_parts, _plain_dict if kind is dict else _dict_like)
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return _Container(_parts_of_named_tuple, lambda tree, children: kind._make(children))
    if issubclass(kind, list | tuple):
        return _Container(_sequence_parts, lambda tree, children: kind(children))
    if not issubclass(kind, type) and is_dataclass(kind):
        names = tuple([field.name for field in fields(kind)])
        return _Container(lambda value: (names, tuple([getattr(value, name) for name in names]), None), _dataclass)
    return None


def container_of_tree(tree: Tree) -> _Container:
    """How the container of a tree is flattened and rebuilt; the tree must not be a leaf."""
    assert tree.kind is not None  # callers have checked that
    container = container_of_class(tree.kind)
    assert container is not None  # it was one when it was flattened
    return container


def _parts_of_registered(node: _Node, value: Any) -> tuple[tuple[Any, ...], tuple[Any, ...], Hashable]:
    children, data = node.flatten(value)
    children = tuple(children)
    return tuple(range(len(children))), children, data


def _parts_of_named_tuple(value: Any) -> tuple[tuple[Any, ...], tuple[Any, ...], Hashable]:
    return tuple(value._fields), tuple(value), None


def _sequence_parts(value: Any) -> tuple[tuple[Any, ...], tuple[Any, ...], Hashable]:
    return tuple(range(len(value))), tuple(value), None


def _dict_parts(value: dict[Any, Any]) -> tuple[tuple[Any, ...], tuple[Any, ...], Hashable]:
    data = value.default_factory if isinstance(value, defaultdict) else None
    keys = tuple(value) if isinstance(value, OrderedDict) else _sort_keys(value)
    return keys, tuple([value[key] for key in keys]), data


def _plain_dict(tree: Tree, children: tuple[Any, ...]) -> dict[Any, Any]:
    entries = dict(zip(tree.keys, children, strict=True))
    insertion_order = getattr(tree.keys, "insertion_order", None)
    return entries if insertion_order is None else {key: entries[key] for key in insertion_order}


def _dict_like(tree: Tree, children: tuple[Any, ...]) -> Any:
    """An instance of a subclass, without the class's own constructor: that of `Counter` would count."""
    kind: Any = tree.kind
    instance = kind.__new__(kind)
    if issubclass(kind, defaultdict):
        instance.default_factory = tree.data
    for key, child in _plain_dict(tree, children).items():
        instance[key] = child
    return instance


def _dataclass(tree: Tree, children: tuple[Any, ...]) -> Any:
    """An instance of a dataclass, made without its constructor: the class may be frozen, or define its own."""
    kind: Any = tree.kind
    instance: Any = object.__new__(kind)
    for name, child in zip(tree.keys, children, strict=True):
        object.__setattr__(instance, name, child)
    return instance


def _sort_keys(value: dict[Any, Any]) -> tuple[Any, ...]:
    """The keys of a dictionary in an order that does not depend on insertion order."""
    insertion_order = tuple(value)
    if len(insertion_order) < 2:
        return insertion_order
    try:
        ordered = tuple(sorted(insertion_order))
    except TypeError:  # keys of several kinds, or of one without an order
        ordered = tuple(sorted(insertion_order, key=lambda key: (type(key).__qualname__, repr(key))))
    if ordered == insertion_order:
        return insertion_order
    keys = _SortedKeys(ordered)
    keys.insertion_order = insertion_order
    return keys
