"""Each call of a compiled function gives what the plain function gives, whatever the calls before it were.

The code for a warm call assumes much about its arguments. So the calls differ in little: the nesting in one container,
or one leaf's dtype, names, backend, or type of number.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from dataclasses import dataclass
from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

import tensorbackend as tb


@dataclass
class Layer:
    weight: Any
    bias: Any


class Pair(NamedTuple):
    left: Any
    right: Any


KINDS: list[list[Any]] = [
    [
        tb.asarray([1.0, 2.0]),
        tb.asarray([3.0, 4.0]),
        tb.asarray([1.0, 2.0], names=("n",)),
        tb.asarray([1.0, 2.0], dtype="float64"),
        tb.asarray([1, 2]),
        tb.asarray([1.0, 2.0], backend="binary"),
        tb.asarray(1.0),
    ],
    [1, True, 1.0, 1 + 0j],
    [2.5, 2.75],
    [0.0, -0.0, float("nan"), False],
    ["a", "b", None],
    [tb.float32, tb.exp],
]
"""Leaves that can replace each other."""

KEYS = st.permutations(["a", "b", "c"])


def containers(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Containers of two or three parts."""
    few = st.lists(parts, min_size=2, max_size=3)

    def filled(kind: Any) -> st.SearchStrategy[Any]:
        return st.builds(lambda keys, values: kind(zip(keys, values, strict=False)), KEYS, few)

    return st.one_of(
        few,
        few.map(tuple),
        filled(dict),
        filled(OrderedDict),
        filled(lambda items: defaultdict(int, items)),
        st.builds(Layer, parts, parts),
        st.builds(Pair, parts, parts),
        st.sampled_from([[], (), {}]),
    )


PLACES = st.recursive(st.integers(0, 2), containers, max_leaves=6)
"""Nestings of leaf numbers."""

CALLS = st.tuples(st.lists(PLACES, max_size=2), st.dictionaries(st.sampled_from(["x", "y"]), PLACES, max_size=1))
FILLINGS = st.tuples(st.lists(st.sampled_from(KINDS), min_size=3, max_size=3), st.integers(0, 2)).flatmap(
    lambda drawn: st.lists(
        st.sampled_from(drawn[0][drawn[1]]).map(
            lambda leaf: [leaf if place == drawn[1] else kind[0] for place, kind in enumerate(drawn[0])]
        ),
        min_size=2,
        max_size=4,
    )
)
"""Several choices of leaves for the numbers. The choices differ in one place, and there only within one kind."""


def varied(data: st.DataObject, places: Any) -> Any:
    """Return a call's nesting with a part added or removed in one of its containers."""
    parts = [*places.values()] if isinstance(places, dict) else places
    if isinstance(places, dict | list | tuple) and not hasattr(places, "_fields"):
        inside: list[Any] = [part for part in parts if isinstance(part, dict | list | tuple)]
        deeper: bool = data.draw(st.booleans())
        if inside and deeper:
            chosen: Any = data.draw(st.sampled_from(inside))
            exchanged = [varied(data, part) if part is chosen else part for part in parts]
        else:
            exchanged = [*parts, 0] if data.draw(st.booleans()) else parts[:-1]
        if not isinstance(places, dict):
            return type(places)(exchanged)
        container = places.copy()
        container.clear()
        container.update(zip([*places, "z"], exchanged, strict=False))
        return container
    return places


def function(*arguments: Any, **keywords: Any) -> Any:
    """Return the arguments with a tensor for each leaf; the tensor tells one option from another."""

    def told(leaf: Any) -> tb.Tensor:
        return leaf * 2 if isinstance(leaf, tb.Tensor) else tb.asarray(sum(map(ord, repr((type(leaf), leaf)))))

    return tb.tree_map(told, {"keywords": keywords, "arguments": (*arguments, tb.asarray(0))})


def same(actual: Any, reference: Any) -> bool:
    """Return whether two results have the same nesting, the same order of dictionary keys, and equal leaves."""
    if type(actual) is not type(reference):
        return False
    if isinstance(reference, tb.Tensor):
        return bool(actual.template is reference.template and actual.tolist() == reference.tolist())
    if reference is None:
        return True
    if isinstance(reference, dict) and list(actual) != list(reference):
        return False
    parts = [
        [*side.values()] if isinstance(side, dict) else [*vars(side).values()] if isinstance(side, Layer) else [*side]
        for side in (actual, reference)
    ]
    return len(parts[0]) == len(parts[1]) and all(map(same, *parts))


@settings(deadline=None)  # a call compiles
@given(CALLS, FILLINGS, st.data())
def test_any_calls_in_any_order(call: Any, fillings: list[Any], data: st.DataObject) -> None:
    compiled = tb.jit(function, cache_size=data.draw(st.sampled_from([1, 2, 256])))
    which = data.draw(st.integers(0, 1))
    calls = [call, tuple(varied(data, part) if index == which else part for index, part in enumerate(call))]
    for _ in range(data.draw(st.integers(1, 5))):
        (places, named), leaves = data.draw(st.sampled_from(calls)), data.draw(st.sampled_from(fillings))
        arguments, keywords = tb.tree_map(lambda place, leaves=leaves: leaves[place], (tuple(places), named))
        arguments = *arguments, KINDS[0][0]  # the code of calls without a tensor is not written
        for _ in range(3):  # compiled, found, and found twice in a row
            assert same(compiled(*arguments, **keywords), function(*arguments, **keywords)), (arguments, keywords)
    assert compiled.cache_info().currsize <= compiled.cache_info().maxsize
