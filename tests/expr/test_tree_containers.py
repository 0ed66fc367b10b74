"""Containers of each class: taken apart and rebuilt, registered by users, and the same on JAX."""

from __future__ import annotations

import enum
from collections import Counter, OrderedDict, defaultdict
from typing import Any, NamedTuple

import jax
import numpy
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError
from tensorbackend.expr.trees import flatten, paths, tree_map, unflatten


class Pair(NamedTuple):
    left: Any
    right: Any


class Settings(dict[str, Any]):
    def __init__(self, path: str) -> None:
        super().__init__(path=path)


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Stack:
    """A class of a user, which is a container only because it is registered."""

    def __init__(self, parts: list[Any], label: str) -> None:
        self.parts, self.label = parts, label


tb.register_tree_node(Stack, lambda x: (x.parts, x.label), lambda label, parts: Stack(list(parts), label))


def make(**entries: Any) -> Settings:
    """Return settings with other entries than the constructor makes."""
    settings = Settings("here")
    settings.clear()
    settings.update(entries)
    return settings


VALUES: list[Any] = [
    {"b": 1, "a": 2},
    {"b": [1, (2, None)], "a": {}},
    Counter("aab"),
    OrderedDict(b=1, a=2),
    defaultdict(list, {"b": 1, "a": 2}),
    make(b=1, a=2),
    {Color.RED: 1, Color.BLUE: 2},
    {1: 1, "a": 2, None: 3, (1, "b"): 4},
    Pair(1, {"x": 2}),
    [1, [2, [3]]],
    None,
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_what_is_taken_apart_is_rebuilt(value: Any) -> None:
    leaves, tree = flatten(value)
    again = unflatten(tree, leaves)
    assert again == value
    assert type(again) is type(value)
    if isinstance(value, dict):
        assert list(again) == list(value)
    doubled = tree_map(lambda x: 2 * x, value)
    assert flatten(doubled) == ([2 * x for x in leaves], tree)
    assert hash(flatten(doubled)[1]) == hash(tree)


@pytest.mark.parametrize(
    "value", [container for container in VALUES if isinstance(container, dict)], ids=lambda value: type(value).__name__
)
def test_the_order_of_a_dictionary_does_not_matter(value: dict[Any, Any]) -> None:
    turned: Any = type(value).__new__(type(value))
    if isinstance(value, defaultdict):
        turned.default_factory = value.default_factory
    for key in reversed(value):
        turned[key] = value[key]
    if isinstance(value, OrderedDict):
        with pytest.raises(ArgumentError, match=r"a OrderedDict of 'b', 'a', got returned=a OrderedDict of 'a', 'b'"):
            tree_map(lambda x, y: x, value, turned)
        return
    assert flatten(turned) == flatten(value)
    assert tree_map(lambda x, y: x if x == y else None, value, turned) == value


def test_a_defaultdict_keeps_its_factory() -> None:
    lists: defaultdict[str, Any] = defaultdict(list, a=1)
    copied = tree_map(lambda x: x, lists)
    assert copied["new"] == []
    with pytest.raises(ArgumentError, match=r"a defaultdict of 'a' with <class 'list'>, got .* with <class 'int'>"):
        tree_map(lambda x, y: x, lists, defaultdict(int, a=1))


X, Y = tb.asarray([1.0, 2.0]), tb.asarray([10.0, 20.0])


def test_a_class_of_the_user() -> None:
    x = {"stack": Stack([X, (Y,)], "one")}
    leaves, tree = flatten(x)
    assert paths(tree, "x") == ["x['stack'][0]", "x['stack'][1][0]"]
    assert len(leaves) == 2
    jitted = tb.jit(lambda x: Stack([x["stack"].parts[0] + 1], x["stack"].label + "!"))
    stack = jitted(x)
    assert (stack.label, stack.parts[0].tolist()) == ("one!", [2.0, 3.0])
    assert jitted({"stack": Stack([X, (Y,)], "two")}).label == "two!"
    gradient = tb.grad(lambda x: tb.sum(x["stack"].parts[0] * Y))(x)
    assert gradient["stack"].parts[0].tolist() == Y.tolist()
    with pytest.raises(ArgumentError, match=r"a Stack of 2 with 'one', got returned=a Stack of 2 with 'two'"):
        tb.tree_map(lambda x, y: x, x, {"stack": Stack([X, (Y,)], "two")})
    refused: dict[Any, str] = {
        Stack: "registered once",
        list: "not a container",
        tb.Tensor: "or a tensor",
        int: "a number",
        numpy.ndarray: "register a class of your own",
        tb.Template: "or a tensor",
        3: "a class",
    }
    for kind, text in refused.items():
        with pytest.raises(ArgumentError, match=text):
            tb.register_tree_node(kind, lambda x: ((), None), lambda data, parts: None)


def test_jax_sees_the_same_trees() -> None:
    tb.get_backend("jax")

    class Later(Stack):
        pass

    tb.register_tree_node(Later, lambda x: (x.parts, x.label), lambda label, parts: Later(list(parts), label))
    for value in (
        *VALUES[:2],
        VALUES[3],
        VALUES[4],
        *VALUES[8:],
        Stack([1, 2], "a"),
        {"b": Later([1, [2]], "b"), "a": 3},
    ):
        assert jax.tree.leaves(value) == flatten(value)[0]
    assert jax.tree.map(lambda x: x + 1, Later([1], "c")).parts == [2]
    jitted = jax.jit(lambda x: x.parts[0] * 2)
    assert jitted(Stack([tb.tensor([1.0], backend="jax")], "d")).tolist() == [2.0]
