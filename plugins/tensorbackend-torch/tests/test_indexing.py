"""`x[...]`, which uses PyTorch's own indexing, against the NumPy backend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorbackend as tb
from tensorbackend.errors import IndexRangeError

X = np.arange(60).reshape(3, 4, 5)
MASK = np.array([True, False, True])
PLACES = np.array([0, -1, 2])

KEYS: list[Any] = [
    0,
    -1,
    (1, 2, 3),
    slice(None, None, -1),
    (slice(2, None, -2), 1),
    (slice(0, 2), ..., slice(1, None, 2)),
    (None, 1, ..., None),
    MASK,
    (slice(None), slice(None, None, -1), np.array([0, 4, 4])),
    (MASK, slice(None), PLACES[:2]),
    X > 30,
    PLACES,
    (PLACES, PLACES),
    (PLACES, 1),
    (PLACES, slice(None), PLACES),
    (0, slice(None), PLACES),
    np.array([[1, 0], [2, 2]]),
]


def on(backend: str, part: Any) -> Any:
    """A part of a key with tensors of a backend for arrays."""
    return tb.asarray(part, backend=backend) if isinstance(part, np.ndarray) else part


@pytest.mark.parametrize("dtype", ["float32", "int64", "uint16", "bool", "complex64", "bfloat16"])
def test_keys(dtype: str) -> None:
    for key in KEYS:
        selected = []
        for backend in ("numpy", "torch"):
            x = tb.astype(tb.asarray(X, backend=backend), dtype)
            parts = tuple(on(backend, part) for part in key) if isinstance(key, tuple) else on(backend, key)
            selected += [x[parts] for _ in range(2)]
        assert all(x.tolist() == selected[0].tolist() and x.template == selected[0].template for x in selected), key


@pytest.mark.parametrize("dtype", ["int8", "uint8", "uint16", "uint32", "uint64"])
def test_indices_of_any_width(dtype: str) -> None:
    x = tb.asarray([1.5, 2.5, 3.5], backend="torch")
    places = tb.asarray([2, 0, 1], dtype=dtype, backend="torch")
    assert x[places].tolist() == tb.take(x, places, axis=0).tolist() == [3.5, 1.5, 2.5]


@pytest.mark.parametrize("key", [3, -4, np.array([0, 3]), np.array([-4])])
def test_an_index_outside(key: Any) -> None:
    x = tb.asarray([1.5, 2.5, 3.5], backend="torch")
    for _ in range(2):
        assert x[on("torch", np.abs(key) * 0)].tolist() is not None  # one of the same structure that is inside
        with pytest.raises(IndexRangeError):
            x[on("torch", key)]


@pytest.mark.parametrize("huge", [1 << 31, 1 << 62, (1 << 63) - 1, 1 << 63, 1 << 70, -(1 << 63), -(1 << 70)])
def test_huge_steps_and_bounds_of_slices(huge: int) -> None:
    values = np.arange(6.0)
    x = tb.asarray(values, backend="torch")
    for key in (slice(None, None, huge), slice(1, None, huge), slice(None, huge), slice(huge, None), slice(4, 2, huge)):
        for _ in range(2):  # the second time by the warm call
            assert x[key].tolist() == values[key].tolist()
            assert x.reshape((2, 3))[:, key].tolist() == values.reshape(2, 3)[:, key].tolist()
        assert tb.jit(lambda x, key=key: x[key])(x).tolist() == values[key].tolist()
