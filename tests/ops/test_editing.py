"""Entries deleted and inserted, compared with NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, ShapeError
from tensorbackend.ops.editing import _MOST_SLICED_RUNS

DATA = np.arange(12.0).reshape(3, 4)


@pytest.mark.parametrize("positions", [0, -1, [1, 2], [2, 2], [], slice(None, None, 2), np.int64(1)])
@pytest.mark.parametrize("axis", [0, 1])
def test_entries_left_out(axis: int, positions: Any) -> None:
    x = tb.asarray(DATA, names=("row", "n"))
    got = tb.delete(x, positions, axis=("row", "n")[axis])
    assert (got.tolist(), got.names) == (np.delete(DATA, positions, axis).tolist(), ("row", "n"))
    assert tb.jit(lambda x: tb.delete(x, positions, axis=axis))(x).tolist() == got.tolist()


@pytest.mark.parametrize("positions", [[0], [-1], [1, 3], [2, 2, 0], [4]])
def test_entries_put_between(positions: list[int]) -> None:
    values = 100 + np.arange(3.0 * len(positions)).reshape(3, -1)
    x = tb.asarray(DATA, names=("row", "n"))
    for added in (values, np.float64(7)):
        got = tb.insert(x, positions, tb.asarray(added), axis="n")
        assert (got.tolist(), got.names) == (np.insert(DATA, positions, added, 1).tolist(), ("row", "n"))


@pytest.mark.parametrize("count", [0, 1, 3, _MOST_SLICED_RUNS, 40])
@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_any_number_of_positions(count: int, backend: str) -> None:
    random = np.random.default_rng(count)
    for shape, axis in (((1,), 0), ((30,), 0), ((2, 30), 1), ((30, 2), 0), ((3, 4, 2), 1), ((0, 3), 1)):
        values = random.normal(size=shape).astype("float32")
        x = tb.asarray(values, names=tuple("abc"[: len(shape)]), backend=backend)
        gone = random.integers(-shape[axis], shape[axis], count)
        deleted = tb.delete(x, gone.tolist(), axis=axis)
        np.testing.assert_array_equal(np.asarray(deleted), np.delete(values, gone, axis))
        places = random.integers(-shape[axis], shape[axis] + 1, count)
        new = random.normal(size=(*shape[:axis], count, *shape[axis + 1 :])).astype("float32")
        inserted = tb.insert(x, places.tolist(), tb.asarray(new, backend=backend), axis=axis)
        np.testing.assert_array_equal(np.asarray(inserted), np.insert(values, places, new, axis))
        assert deleted.names == inserted.names == x.names


def test_inserted_values_decide_the_dtype_too() -> None:
    for places, new in (([], []), ([1], [0.5])):
        assert tb.insert(tb.asarray([1, 2]), places, tb.asarray(new, dtype="float32")).dtype is tb.float32


def test_gradients_go_to_the_entries_that_stay() -> None:
    x = tb.asarray([1.0, 2.0, 3.0])
    assert tb.grad(lambda x: tb.sum(tb.delete(x, 1) ** 2))(x).tolist() == [2.0, 0.0, 6.0]
    assert tb.grad(lambda v: tb.sum(tb.insert(x, [0, 3], v) ** 2))(tb.asarray([5.0, 6.0])).tolist() == [10.0, 12.0]


def test_what_is_refused() -> None:
    x = tb.asarray([1.0, 2.0, 3.0])
    with pytest.raises(ArgumentError, match=r"^delete: expected positions from -3 to 2"):
        tb.delete(x, 3)
    with pytest.raises(ArgumentError, match=r"^insert: expected positions from -3 to 3"):
        tb.insert(x, 4, 0)
    with pytest.raises(ShapeError, match="insert"):
        tb.insert(x, [0, 1], tb.zeros(3))
    with pytest.raises(ArgumentError, match="delete"):
        tb.delete(x, [0.5])  # type: ignore[list-item] # the error under test


def test_delete_at_positions_that_are_traced() -> None:
    x = tb.iota((3, 4), names=("a", "b"))
    left = tb.vmap(lambda row, position: tb.delete(row, position))(x, tb.asarray([0, 3, -2]))
    assert left.names == ("a", "b")
    assert left.tolist() == [np.delete(row, at).tolist() for row, at in zip(np.asarray(x), [0, 3, -2], strict=True)]
    with pytest.raises(ArgumentError, match="delete: expected one position of the axis"):
        tb.jit(lambda x, positions: tb.delete(x, positions, axis=0))(x, tb.asarray([0, 1]))
