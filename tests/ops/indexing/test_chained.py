"""Assignments to new tensors, to which nothing refers, are errors on every Python, and others are none."""

from __future__ import annotations

import operator
import runpy
import weakref
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError

BACKENDS = ["binary", "numpy", "jax"]


def _by_two_keys(x: tb.Tensor) -> None:
    x[0][1] = 5


def _by_a_mask_of_a_slice(x: tb.Tensor) -> None:
    x[1:][x[1:] > -1] = 5


def _in_place(x: tb.Tensor) -> None:
    x[0][1] += 5


def _by_a_slice(x: tb.Tensor) -> None:
    x[0][0:1] = 5


def _by_the_name_of_an_axis(x: tb.Tensor) -> None:
    x.rename("a", "b").isel(a=0)[:] = 5


def _in_the_transpose(x: tb.Tensor) -> None:
    x.T[0] = 5


def _in_a_new_tensor(x: tb.Tensor) -> None:
    tb.zeros_like(x)[0] = 5


LOST = [
    _by_two_keys,
    _by_a_mask_of_a_slice,
    _in_place,
    _by_a_slice,
    _by_the_name_of_an_axis,
    _in_the_transpose,
    _in_a_new_tensor,
]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("assign", LOST)
def test_an_assignment_that_is_lost(assign: Callable[[tb.Tensor], None], backend: str) -> None:
    x = tb.zeros((2, 2), backend=backend)
    for _ in range(3):  # also once the interpreter has specialized the code
        with pytest.raises(ArgumentError, match=r"^setitem: .* write x\[0, 1\] = v for x\[0\]\[1\] = v"):
            assign(x)
    assert x.tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_every_other_assignment() -> None:
    """None is taken for one that is lost, wherever the tensor is held."""
    held = SimpleNamespace(x=tb.zeros((2, 2)), entries=[tb.zeros(2)], named={"a": tb.zeros(2)})

    def changed(x: tb.Tensor) -> tb.Tensor:
        x[0] = 1
        return x

    for _ in range(50):
        x = tb.zeros((2, 2))
        row = x[0]
        row[1] = 5
        x[0], row[0] = row, 1
        assert (x.tolist(), row.tolist()) == ([[0.0, 5.0], [0.0, 0.0]], [1.0, 5.0])
        held.x[0] = 1
        held.x[0] += 1
        held.entries[0][1] = 1
        held.named["a"][0] = 1
        assert [held.x.tolist()[0], held.entries[0].tolist(), held.named["a"].tolist()] == [[2, 2], [0, 1], [1, 0]]
        held.x[0] = 0
        operator.setitem(row, 0, 2)  # type: ignore[call-overload] # typeshed asks for a sequence
        row.__setitem__(1, 3)
        assert row.tolist() == [2.0, 3.0]
        tb.Tensor.__setitem__(row, 0, 4)
        tb.setitem(row, 1, 5)
        assert row.tolist() == [4.0, 5.0]
        (other := x[0])[1] = 2
        weakref.ref(row)()[0] = 6  # type: ignore[index] # the tensor lives
        weakref.proxy(row)[1] = 7
        assert (other.tolist(), row.tolist()) == ([0.0, 2.0], [6.0, 7.0])
        assert [each.tolist() for each in map(changed, x)] == [[1.0, 5.0], [1.0, 0.0]]
        names: dict[str, Any] = {"tb": tb}
        exec("x = tb.zeros(2)\nx[0] = 1", names)
        assert names["x"].tolist() == [1.0, 0.0]


class Holding:
    """Holds tensors in ways that a statement can name."""

    __slots__ = ("entries", "row", "t")

    def __init__(self) -> None:
        self.t = tb.zeros((2, 2))
        self.row = self.t[0]
        self.entries = numpy.empty(2, object)
        self.entries[:] = [tb.zeros(2), tb.zeros(2)]

    @property
    def T(self) -> tb.Tensor:
        return self.t

    def isel(self, a: int) -> tb.Tensor:
        return self.t

    def __getitem__(self, key: object) -> tb.Tensor:
        return self.t


def test_what_holds_a_tensor_elsewhere() -> None:
    """Names of tensors' attributes and methods mean something else for other objects."""
    held, row, named = Holding(), tb.zeros(2), {"a": [tb.zeros((2, 2))]}

    def get(x: tb.Tensor) -> tb.Tensor:
        return x

    held[0][0] = 1
    held.T[1] = 2
    held.isel(a=0)[0, 1] = 3
    assert held.t.tolist() == [[1, 3], [2, 2]]
    held.entries[1][0] = 4
    assert held.entries[1].tolist() == [4, 0]
    get(row)[0] = 5
    assert row.tolist() == [5, 0]
    named["a"][-1][0] = 6
    assert named["a"][0].tolist() == [[6, 6], [0, 0]]
    with pytest.raises(ArgumentError, match="setitem"):
        named["a"][-1][0][1] = 6
    with pytest.raises(ArgumentError, match="setitem"):
        held.t[0][0] = 1
    with pytest.raises(ArgumentError, match="setitem"):
        held.t[0:1][
            (
                0,
                0,
            )
        ] = 1
    with pytest.raises(ArgumentError, match="setitem"):
        (held.t.reshape(4))[1] = 1
    assert held.t.tolist() == [[1, 3], [2, 2]]


def test_targets_of_other_statements() -> None:
    x = tb.zeros((2, 2))
    with pytest.raises(ArgumentError, match="setitem"):
        for x[0][1] in [1.0]:
            pass
    with pytest.raises(ArgumentError, match="setitem"):
        y, x.T[0] = 1.0, 2.0
    with pytest.raises(ArgumentError, match="setitem"):
        y = x[0][1] = 2.0
    with pytest.raises(ArgumentError, match="setitem"), nullcontext(1.0) as x[0][1]:
        pass
    for x[0, 1] in [1.0]:
        pass
    assert (x.tolist(), y) == ([[0, 1], [0, 0]], 2.0)


def test_what_returns_the_tensor_that_it_takes() -> None:
    x = tb.zeros(3)
    x.T[0] = 1
    x.block_until_ready()[1] = 2
    tb.asarray(x)[2] = 3
    assert x.tolist() == [1, 2, 3]
    x.backend_transfer(x.backend)[0] = 4
    x.to_device(x.device)[1] = 5
    assert x.tolist() == [4, 5, 3]


def test_in_a_trace_and_in_a_module(tmp_path: Path) -> None:
    def lost(x: tb.Tensor) -> tb.Tensor:
        x[0][1] = 5
        return x

    for transformed in (tb.jit(lost), tb.grad(lambda x: tb.sum(lost(x))), tb.vmap(lost)):
        with pytest.raises(ArgumentError, match="setitem"):
            transformed(tb.zeros((2, 2, 2)))
    module = tmp_path / "module.py"
    module.write_text("import tensorbackend as tb\nx = tb.zeros((2, 2))\n\nif True:\n    x[0][1] = 5\n")
    with pytest.raises(ArgumentError, match="setitem"):
        runpy.run_path(str(module))


def test_code_without_source_refuses_nothing() -> None:
    names: dict[str, Any] = {"x": tb.zeros((2, 2))}
    exec("x[0][1] = 5\nx[0, 0] = 1", names)
    assert names["x"].tolist() == [[1.0, 0.0], [0.0, 0.0]]
