"""Readers and builders of nested containers agree with `flatten` and `unflatten`, and readers refuse other nestings."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

import tensorbackend as tb
from tensorbackend.expr.known_trees import Otherwise, builder_of, reader_of
from tensorbackend.expr.trees import flatten, unflatten


@dataclass(frozen=True)
class Layer:
    weight: Any
    bias: Any


class Pair(NamedTuple):
    left: Any
    right: Any


VALUES: list[Any] = [
    (1, 2),
    [],
    {},
    {"b": 1, "a": {"d": [2, 3], "c": (4,)}},
    Layer({"x": 1}, [2, 3]),
    ((Layer(1, 2), 3), {"key": 4}),
    [[[[5]]]],
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_what_is_read_is_what_flatten_gives(value: Any) -> None:
    expected, tree = flatten(value)
    read = reader_of(tree)
    assert read is not None
    leaves: list[Any] = []
    read(value, leaves)
    assert leaves == expected


@pytest.mark.parametrize("value", [*VALUES, Pair(1, {"b": 2, "a": (3, None)}), OrderedDict(b=1, a=2), Counter(c=3), 7])
def test_what_is_built_is_what_unflatten_gives(value: Any) -> None:
    leaves, tree = flatten(value)
    built = builder_of(tree)(leaves)
    assert built == unflatten(tree, leaves) == value
    assert type(built) is type(value)
    if isinstance(value, dict):
        assert list(built) == list(value)


@pytest.mark.parametrize(
    ("value", "other"),
    [
        ((1, 2), (1, 2, 3)),
        ((1, 2), [1, 2]),
        ((1, 2), Pair(1, 2)),
        ({"a": 1}, {"b": 1}),
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"a": 1}, defaultdict(int, a=1)),
        (Layer(1, 2), (1, 2)),
        ([(1,)], [1]),
    ],
)
def test_another_nesting_is_refused(value: Any, other: Any) -> None:
    read = reader_of(flatten(value)[1])
    assert read is not None
    with pytest.raises((Otherwise, KeyError)):
        read(other, [])


@pytest.mark.parametrize("value", [Pair(1, 2), [OrderedDict(a=1)], (None,)])
def test_flatten_alone_reads_other_classes(value: Any) -> None:
    assert reader_of(flatten(value)[1]) is None


def test_calls_with_several_nestings_in_turn() -> None:
    @tb.jit
    def total(*values: Any, **more: Any) -> Any:
        leaves, _ = flatten((values, more))
        return {"sum": sum(leaves[1:], leaves[0]), "all": leaves}

    x = tb.asarray([1.0, 2.0])
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        (({"a": x, "b": [x]},), {}),
        ((Layer(x, (x, x)),), {"scale": x}),
        (({"b": [x], "a": x},), {}),
        ((Pair(x, x),), {}),
        (({"a": x, "b": [2.0]},), {}),
        ((Layer({"a": x}, x),), {}),
    ]
    for _ in range(3):
        for values, more in calls:
            found = total(*values, **more)
            leaves = flatten((values, more))[0]
            assert found["sum"].tolist() == sum(leaves[1:], leaves[0]).tolist()
            assert len(found["all"]) == len(leaves)
    assert total.cache_info().misses == 5  # of dictionaries the order does not count


def test_a_dataclass_that_is_registered_later_is_read_as_it_says() -> None:
    @dataclass
    class Named:
        weight: Any
        name: Any

    @tb.jit
    def doubled(given: Any) -> Any:
        return given.weight * 2

    x = tb.asarray([3.0])
    for _ in range(3):
        assert doubled(Named(x, x)).tolist() == [6.0]
    tb.register_tree_node(Named, lambda given: ((given.weight,), given.name), lambda name, parts: Named(parts[0], name))
    assert doubled(Named(x, "other")).tolist() == [6.0]
