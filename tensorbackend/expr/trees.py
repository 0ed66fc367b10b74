"""Nested containers of tensors and their leaves: flattens containers, compares them and rebuilds them.

Containers are `None`, instances of classes that `register_tree_node` registered, and lists, tuples, named tuples,
dictionaries and dataclasses with their subclasses. The leaves of a dictionary are in the order of its sorted keys, as
in JAX, so that equal dictionaries are equal trees regardless of insertion order.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any, ClassVar, Final, NamedTuple, Protocol, TypeVar, overload

from ..caching.option_keys import holds_entries, remember
from ..declarations.argument_errors import check_arguments, check_arguments_early
from ..dtypes import DType
from ..errors import ArgumentError, expected
from ..registration import SuppliedFunction
from ..template import Template
from ..tensor import Deallocated, Tensor

T = TypeVar("T")


class _Dataclass(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Any]]


Nested = TypeVar("Nested", bound="Tensor | Sequence[Any] | Mapping[Any, Any] | _Dataclass | None")
"""A tensor, or an object that holds tensors, whose type a function of nested tensors may return again. Numbers are
excluded, as they become tensors."""


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
    """Register the instances of a class as containers of tensors, for every function that takes nested

    tensors. JAX's own functions accept them too. The functions are those of `jax.tree_util.register_pytree_node`, so
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
    >>> import tensorbackend as tb
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


def _container(kind: type) -> _Container | None:
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
    container = _container(tree.kind)
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


def parts_by_key(value: Any) -> dict[Any, Any] | None:
    """The parts of a container by key, `None` for a leaf."""
    kind = type(value)
    container = _container(kind)
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
    container = _container(kind)
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
