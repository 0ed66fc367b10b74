"""How the rules of a layout divide the axes of a tensor."""

from __future__ import annotations

from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, ArgumentKindError
from tensorbackend.mesh import Layout
from tensorbackend.template import Template

MESH = tb.Mesh({"data": 4, "model": 2})


def shown(rules: Any, shape: tuple[int, ...], names: tuple[str | None, ...]) -> tuple[str, tuple[str, ...]]:
    sharding = Layout(MESH, rules).of(Template(shape, "f32", names))
    return str(sharding), sharding.notes


def test_names_lie_where_their_rules_say() -> None:
    rules = {"batch": "data", "hidden": "model"}
    assert shown(rules, (16, 6), ("batch", "hidden")) == ("f32[batch: 16 / data][hidden: 6 / model]", ())
    assert shown(rules, (6, 16), ("hidden", "batch")) == ("f32[hidden: 6 / model][batch: 16 / data]", ())


def test_names_without_a_rule_and_axes_without_a_name_are_whole() -> None:
    assert shown({"batch": "data"}, (8, 8), ("time", None)) == ("f32[time: 8][8]", ())
    assert shown({"batch": None}, (8,), ("batch",)) == ("f32[batch: 8]", ())


def test_an_axis_lies_on_several_mesh_axes() -> None:
    layout = Layout(MESH, {"batch": ("data", "model")})
    sharding = layout.of(Template((16, 3), "f32", ("batch", "feature")))
    assert str(sharding) == "f32[batch: 16 / data model][feature: 3]"
    assert sharding.shard_shape == (2, 3)
    assert not sharding.is_replicated


def test_a_size_that_the_mesh_does_not_divide_is_whole_and_said() -> None:
    text, notes = shown({"batch": "data"}, (6,), ("batch",))
    assert (text, notes) == ("f32[batch: 6]", ("batch is not divided over data: 4 does not divide 6",))
    # Of several mesh axes, a tensor keeps those that divide the size that is left.
    text, notes = shown({"batch": ("data", "model")}, (4,), ("batch",))
    assert (text, notes) == ("f32[batch: 4 / data]", ("batch is not divided over model: 2 does not divide 1",))
    assert shown({"batch": ("data", "model")}, (6,), ("batch",))[0] == "f32[batch: 6 / model]"


def test_an_empty_tensor_is_whole() -> None:
    assert shown({"batch": "data"}, (8, 0), ("batch", "time")) == ("f32[batch: 8][time: 0]", ())


def test_a_mesh_axis_that_two_rules_want_is_the_first_rules() -> None:
    # The order of the rules decides, not the order of the axes.
    for names in (("hidden", "head"), ("head", "hidden")):
        text, notes = shown({"head": "model", "hidden": "model"}, (8, 8), names)
        assert "head: 8 / model" in text
        assert "[hidden: 8]" in text
        assert notes == ("hidden is not divided over model: head is",)
    # If the first rule does not divide its axis, the second rule gets the mesh axis.
    assert (
        shown({"head": "model", "hidden": "model"}, (3, 8), ("head", "hidden"))[0] == "f32[head: 3][hidden: 8 / model]"
    )


@pytest.mark.parametrize(
    ("rules", "kind", "text"),
    [
        ({"batch": "rows"}, ArgumentError, "the axes of the mesh are data, model"),
        ({"batch": ("data", "data")}, ArgumentError, "each mesh axis once for 'batch'"),
        ({"batch": 0}, ArgumentKindError, "one mesh axis, several or None for 'batch'"),
        ({0: "data"}, ArgumentKindError, "names of axes in a layout"),
        ("batch", ArgumentKindError, "a dict from names of axes to axes of the mesh"),
        (3, ArgumentKindError, "a dict from names of axes to axes of the mesh"),
    ],
)
def test_what_makes_no_layout(rules: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        Layout(MESH, rules)
