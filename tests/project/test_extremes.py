"""Sizes, axes and Python numbers that no library can hold raise one error on every backend, before any data is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.errors import OutOfRangeError, ShapeError, TensorBackendError

BACKENDS = ["template", "binary", "numpy", "jax"]
HUGE = 10**5000
"""An int that Python refuses to convert to text, as it has more than 4,300 digits."""

on_every_backend = pytest.mark.parametrize("backend", BACKENDS)


@on_every_backend
def test_tensors_of_too_many_bytes(backend: str) -> None:
    one = tb.ones((1,), dtype="f32", backend=backend)
    calls: list[Callable[[], Any]] = [
        lambda: tb.zeros((1 << 62,), backend=backend),
        lambda: tb.zeros((1 << 40, 1 << 40), dtype="u8", backend=backend),
        lambda: tb.zeros((0, 1 << 62), backend=backend),
        lambda: tb.zeros((1 << 40, 0, 1 << 40), backend=backend),
        lambda: tb.broadcast_to(one, (1 << 61, 1)),
        lambda: tb.pad(one, [(0, 1 << 61)]),
        lambda: tb.tile(one, (1 << 61,)),
        lambda: tb.eye(1 << 32, backend=backend),
        lambda: tb.iota(HUGE, backend=backend),
    ]
    for call in calls:
        with pytest.raises(ShapeError, match=r"expected a tensor of less than 2\*\*63 bytes, got shape="):
            call()


def test_the_largest_tensors() -> None:
    assert tb.template(((1 << 60) - 1,), "f64").nbytes == (1 << 63) - 8
    with pytest.raises(ShapeError):
        tb.astype(tb.template(((1 << 60) - 1,), "f64"), "c128")
    with pytest.raises(ShapeError, match=r"bytes, got shape=\(0, .*\), dtype=float64; the other axes count"):
        tb.template((0, 1 << 60), "f64")


@on_every_backend
def test_empty_tensors_with_large_axes(backend: str) -> None:
    x = tb.zeros((0, 1 << 40), backend=backend)
    assert (x + x).shape == tb.exp(x).shape == (0, 1 << 40)
    assert tb.sum(x, axis=1).shape == (0,)
    assert tb.reshape(x, (1 << 40, 0)).shape == x.T.shape == (1 << 40, 0)
    assert tb.concatenate([x, x]).shape == (0, 1 << 40)


@on_every_backend
def test_axes(backend: str) -> None:
    x = tb.ones((1,) * 64, backend=backend)
    assert tb.sum(x + x).template is tb.Template((), "f32")
    calls: list[Callable[[], Any]] = [
        lambda: tb.zeros((1,) * 65, backend=backend),
        lambda: x[None],
        lambda: tb.expand_dims(x, 0),
    ]
    for call in calls:
        with pytest.raises(ShapeError, match="expected a tensor of at most 64 axes, got axes=65"):
            call()


@on_every_backend
def test_ints_that_python_does_not_write(backend: str) -> None:
    x = tb.zeros((2,), backend=backend)
    calls: list[Callable[[], Any]] = [
        lambda: x + HUGE,
        lambda: x[HUGE],
        lambda: tb.sum(x, axis=HUGE),
        lambda: tb.sum(x, axis=(0, -HUGE)),
        lambda: tb.full((2,), HUGE, backend=backend),
        lambda: tb.tensor([[1, HUGE]], backend=backend),
        lambda: tb.reshape(x, (HUGE,)),
        lambda: tb.top_k(x, HUGE),
        lambda: tb.random.key(HUGE, backend=backend),
        lambda: tb.trace(lambda x: x)(f"f32[{'9' * 5000}]"),
    ]
    for call in calls:
        with pytest.raises(TensorBackendError) as raised:
            call()
        assert len(str(raised.value)) < 400
    with pytest.raises(OutOfRangeError, match="value=<int of 16610 bits>"):
        tb.full((2,), HUGE, backend=backend)
