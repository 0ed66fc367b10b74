"""Assignments to tensors that nothing refers to are errors, and others are none."""

from __future__ import annotations

import operator
import sys
import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError
from tensorbackend.ops.indexing import chained

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


@pytest.mark.parametrize("backend", ["numpy"])
@pytest.mark.parametrize("assign", LOST)
def test_an_assignment_that_is_lost(assign: Callable[[tb.Tensor], None], backend: str) -> None:
    x = tb.zeros((2, 2), backend=backend)
    if chained.references is id:  # this Python does not tell: nothing happens
        assign(x)
    else:
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


def test_a_tensor_that_only_a_container_holds() -> None:
    """What assigns for another object, as a proxy written in C does, is not taken for an assignment that is lost."""

    seen = []

    class Holder(list[tb.Tensor]):
        def __setitem__(self, key: Any, value: Any) -> None:
            seen.append(chained.is_lost(self[0], sys._getframe(1)))

    Holder([tb.zeros(2)])[0] = tb.zeros(2)
    assert seen == [False]
