"""Strides and flags are NumPy's on every backend, and read-only arrays refuse writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tensorbackend as tb
import tensorbackend.numpy as np


@pytest.mark.parametrize("backend", ["numpy", "jax", "binary"])
def test_a_reshape_that_needs_a_copy_is_one(backend: str) -> None:
    with tb.default_backend(backend):
        x = np.arange(6.0).reshape(2, 3)
        for copied in (x.T.ravel(), x[:, 1:].reshape(-1), x.ravel("F"), np.ascontiguousarray(x.T), np.rot90(x).ravel()):
            copied[...] = 9
        assert x.tolist() == [[0, 1, 2], [3, 4, 5]]
        x.T.ravel("F")[0] = x.ravel("K")[1] = 7
        assert x.tolist() == [[7, 7, 2], [3, 4, 5]]
        with pytest.raises(ValueError, match="creating a copy"):
            x.T.reshape(-1, copy=False)
        with pytest.raises(AttributeError, match="needs no copy"):
            x.T.shape = (6,)


def test_orders_in_memory() -> None:
    columns = np.zeros((2, 3), order="F")
    columns[0, 1] = 5
    assert columns.strides == (8, 16)
    assert columns.base is None
    assert columns[1:].base is columns
    assert columns.tolist() == [[0, 5, 0], [0, 0, 0]]
    assert np.asfortranarray(columns) is columns
    assert np.array(columns).flags.f_contiguous
    assert columns.copy().flags.c_contiguous
    assert np.zeros_like(columns).flags.fnc
    assert columns.ravel().tolist() == [0, 5, 0, 0, 0, 0]
    assert columns.ravel("K").tolist() == [0, 0, 5, 0, 0, 0]


LOCKED: dict[str, Callable[[Any], Any]] = {
    "x[0] = 1": lambda x: x.__setitem__(0, 1.0),
    "x += 1": lambda x: x.__iadd__(1),
    "x.sort()": lambda x: x.sort(),
    "x.fill(2)": lambda x: x.fill(2),
    "x[x > 1] = 0": lambda x: x.__setitem__(x > 1, 0),
    "np.add(x, 1, out=x)": lambda x: np.add(x, 1, out=x),
    "np.add.at(x, 0, 1)": lambda x: np.add.at(x, 0, 1),
    "np.copyto(x, 1)": lambda x: np.copyto(x, 1),
    "x[1:][0] = 1": lambda x: x[1:].__setitem__(0, 1.0),
    "x.flat = 1": lambda x: setattr(x, "flat", 1),
    "x.resize(1)": lambda x: x.resize(1, refcheck=False),
}


@pytest.mark.parametrize("write", LOCKED)
@pytest.mark.parametrize("which", ["root", "view", "key", "column"])
@pytest.mark.parametrize("backend", ["numpy", "jax", "binary"])
def test_a_read_only_array_refuses_each_write(backend: str, which: str, write: str) -> None:
    with tb.default_backend(backend):
        whole = np.array([[1.0, 2.0, 3.0]])
        columns = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]], order="F")
        x = {"root": np.array([1.0, 2.0, 3.0]), "view": whole.reshape(3), "key": whole[0], "column": columns[:, 1]}[
            which
        ]
        x.flags.writeable = False
        assert not x.flags["WRITEABLE"]
        for _ in range(2):
            with pytest.raises(ValueError, match=r"may be written to|not a view"):
                LOCKED[write](x)
        assert x.tolist() == [1, 2, 3]
        x.setflags(write=True)
        x[0] = 5
        assert x.tolist() == [5, 2, 3]


def test_a_view_of_a_read_only_array_stays_read_only() -> None:
    x = np.broadcast_to(np.arange(3.0), (2, 3))
    assert not x[0].flags.writeable
    assert not x.T.flags.writeable
    y = np.zeros(3)
    y.flags.writeable = False
    part = y[1:]
    with pytest.raises(ValueError, match="cannot set WRITEABLE"):
        part.flags.writeable = True
    assert numpy.asarray(x).tolist() == [[0, 1, 2]] * 2
