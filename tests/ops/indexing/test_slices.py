"""Blocks written at starts that are given by position or by the names of axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import AxisError, ShapeError


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
@pytest.mark.parametrize("start", [1, -2, np.int64(1), np.asarray(1)])
def test_starts_by_the_names_of_axes(start: Any, backend: str) -> None:
    x = tb.iota((2, 4, 3), names=("batch", "time", "unit"), backend=backend)
    update = -tb.ones((2, 2, 3), dtype="int64", backend=backend)
    wanted = np.asarray(x).copy()
    first = int(start) % 4
    wanted[:, first : first + 2] = -1
    written = tb.put_slice(x, update, starts={"time": start})
    assert written.names == x.names
    assert np.array_equal(np.asarray(written), wanted)
    every = tb.jit(lambda x, update: tb.put_slice(x, update, starts={"unit": 0, "time": 1, "batch": 0}))
    wanted = np.asarray(x).copy()
    wanted[:, 1:3] = -1
    assert np.array_equal(np.asarray(every(x, update)), wanted)


def test_wrong_names_of_starts() -> None:
    x = tb.zeros((2, 4), names=("batch", "time"))
    with pytest.raises(
        AxisError, match=r"put_slice: expected an axis name of f32\[batch: 2\]\[time: 4\], got axis='t'"
    ):
        tb.put_slice(x, tb.ones((2, 1)), starts={"t": 1})
    with pytest.raises(ShapeError, match="put_slice: "):
        tb.put_slice(x, tb.ones((2, 1)), starts={"time": 4})
