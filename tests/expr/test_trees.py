"""Nested containers: where trees differ, and pairing by key."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError


@dataclass(frozen=True)
class Layer:
    weight: Any
    bias: Any = field(default=None, init=False)


def test_trees_that_differ() -> None:
    value = {"layers": [Layer(1), Layer(2)], "scale": 3}
    for other, text in (
        (
            {"layers": [Layer(1), Layer((2, 3))], "scale": 3},
            r"\['layers'\]\[1\].weight to be .* a tensor, got",
        ),
        ({"layers": [Layer(1)], "scale": 3}, r"trees\[1\]\['layers'\] to be nested .* a list of 2, got .*a list of 1;"),
        ({"layers": [Layer(1), Layer(2)]}, r"a dict of 'layers', 'scale', got returned=a dict of 'layers';"),
        ([1], r"trees\[1\] to be .*, got returned=a list of 1;"),
        (1, r"got returned=a tensor;"),
    ):
        with pytest.raises(ArgumentError, match=text):
            tb.tree_map(lambda x, y: x, value, other)
    with pytest.raises(ArgumentError, match=r"trees\[2\]"):
        tb.tree_map(lambda *leaves: leaves, value, value, 1)


def test_a_container_inside_itself() -> None:
    value: list[Any] = [1]
    value.append(value)
    with pytest.raises(ArgumentError, match="none inside itself, got kind='list'"):
        tb.tree_map(lambda x: x, value)
    with pytest.raises(ArgumentError, match="none inside itself, got kind='tuple'"):
        tb.jit(lambda x: tb.sum(x[0]))(value)


def test_parameters_that_were_loaded_in_another_order(tmp_path: Any) -> None:
    old = {"weight": tb.asarray([1.0, 2.0]), "bias": tb.asarray([3.0, 4.0])}
    tb.save(tmp_path / "old.safetensors", {"bias": old["bias"], "weight": old["weight"]})
    step = tb.tree_map(lambda x, y: x - y, old, tb.load(tmp_path / "old.safetensors"))
    assert {name: x.tolist() for name, x in step.items()} == {"weight": [0.0, 0.0], "bias": [0.0, 0.0]}
    assert list(step) == ["weight", "bias"]


X, Y = tb.asarray([1.0, 2.0]), tb.asarray([10.0, 20.0])


def difference(p: dict[str, Any], power: float = 1, **more: Any) -> Any:
    return (p["x"] - p["y"]) * power + sum(more.values())


@pytest.mark.parametrize("p", [{"x": X, "y": Y}, {"y": Y, "x": X}])
def test_every_function_pairs_by_key(p: dict[str, Any]) -> None:
    graph = tb.trace(difference)({"y": Y, "x": X}, 2, b=X, a=Y)
    assert graph(p, 2, a=Y, b=X).tolist() == [-7.0, -14.0]
    jitted = tb.jit(difference)
    assert jitted({"y": Y, "x": X}).tolist() == jitted(p).tolist() == [-9.0, -18.0]
    renamed, pull = tb.vjp(lambda p: {"b": p["x"], "a": p["y"]}, p)
    for cotangent in ({"a": X, "b": Y}, {"b": Y, "a": X}):
        (back,) = (pull(cotangent),)
        back = back[0] if isinstance(back, tuple) else back
        assert (back["x"].tolist(), back["y"].tolist()) == (Y.tolist(), X.tolist())
    assert list(renamed) == ["b", "a"]
    _, tangent = tb.jvp(difference, (p,), ({"y": X, "x": Y},))
    assert tangent.tolist() == [9.0, 18.0]
    gradient = tb.grad(lambda p: tb.sum(difference(p)))(p)
    assert (list(gradient), gradient["x"].tolist()) == (list(p), [1.0, 1.0])
    assert tb.vmap(difference, in_axes=({"y": 0, "x": None},))({"x": X[0], "y": Y}).tolist() == [-9.0, -19.0]


def test_a_graph_keeps_its_options() -> None:
    graph = tb.trace(difference)({"x": X, "y": Y}, 2)
    for other in (3, 2.0, True):
        with pytest.raises(ArgumentError, match=r"arguments\[1\] as it was traced, 2, got given=.*; trace again"):
            graph({"x": X, "y": Y}, other)
    with pytest.raises(
        ArgumentError, match=r"arguments\[0\] to be nested like the traced call, a dict of 'x', 'y', got"
    ):
        graph({"x": X, "z": Y}, 2)
    with pytest.raises(ArgumentError, match=r"keywords to be nested like the traced call"):
        graph({"x": X, "y": Y}, 2, more=X)
    assert graph(X, Y).tolist() == [-18.0, -36.0]  # one argument for each parameter
    nan = tb.trace(difference)({"x": X, "y": Y}, float("nan"))
    assert nan({"x": X, "y": Y}, float("nan")).template is X.template
