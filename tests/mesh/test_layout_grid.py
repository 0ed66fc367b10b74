"""Meshes as data: what they hold, and what they refuse."""

from __future__ import annotations

import pickle
from types import SimpleNamespace
from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, ArgumentKindError


def test_a_mesh_is_known_by_its_axes_and_devices() -> None:
    mesh = tb.Mesh({"data": 4, "model": 2})
    assert (mesh.names, mesh.shape, mesh.size, mesh.devices) == (("data", "model"), (4, 2), 8, None)
    assert mesh == tb.Mesh({"data": 4, "model": 2})
    assert hash(mesh) == hash(tb.Mesh({"data": 4, "model": 2}))
    assert mesh != tb.Mesh({"model": 2, "data": 4})  # the order says which devices are neighbours
    assert mesh != tb.Mesh({"data": 4, "model": 2}, range(8))
    assert repr(tb.Mesh({"a": 2}, [3, 1])) == "Mesh({'a': 2}, devices=[3, 1])"


@pytest.mark.parametrize("mesh", [tb.Mesh({"a": 2, "b": 1}), tb.Mesh({"a": 2}, [5, 4])])
def test_a_mesh_pickles(mesh: tb.Mesh) -> None:
    assert pickle.loads(pickle.dumps(mesh)) == mesh


def test_a_mesh_does_not_change() -> None:
    with pytest.raises(AttributeError, match="immutable"):
        tb.Mesh({"a": 2}).devices = (1, 0)
    with pytest.raises(TypeError):
        tb.Mesh({"a": 2}).sizes["a"] = 3  # type: ignore[index] # a read-only mapping


def test_a_mesh_of_jax_gives_axes_and_devices() -> None:
    grid = numpy.empty((2, 1), object)
    grid[:, 0] = [SimpleNamespace(id=7), SimpleNamespace(id=3)]
    foreign = SimpleNamespace(axis_names=("x", "y"), devices=grid)
    assert tb.Mesh(foreign) == tb.Mesh({"x": 2, "y": 1}, [7, 3])
    with pytest.raises(ArgumentError, match="no devices together with a JAX mesh"):
        tb.Mesh(foreign, [1, 2])


@pytest.mark.parametrize(
    ("axes", "devices", "kind", "text"),
    [
        ({}, None, ArgumentError, "a mesh of at least one axis"),
        ({"a": 0}, None, ArgumentError, "an int of at least 1 as the size of 'a', got size=0"),
        ({"a": 2.0}, None, ArgumentError, "an int of at least 1 as the size of 'a'"),
        ({"": 2}, None, ArgumentKindError, "a non-empty str"),
        ({1: 2}, None, ArgumentKindError, "a non-empty str"),
        ({"a": 2}, [0], ArgumentError, "2 different devices"),
        ({"a": 2}, [1, 1], ArgumentError, "2 different devices"),
        ({"a": 2}, ["cpu:0", "cpu:1"], ArgumentKindError, "device numbers"),
        ("data", None, ArgumentKindError, "a dict of sizes by name"),
        ([("a", 2)], None, ArgumentKindError, "a dict of sizes by name"),
    ],
)
def test_what_makes_no_mesh(axes: Any, devices: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        tb.Mesh(axes, devices)
