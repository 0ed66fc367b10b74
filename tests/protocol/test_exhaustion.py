"""Memory that runs out: one error on every backend."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import BackendError, OutOfMemoryError
from tensorbackend.protocol.exhaustion import out_of_memory

MANY = 1 << 45


def read(x: tb.Tensor) -> object:
    """Computes a tensor that JAX may compute only here."""
    return x.block_until_ready()


ALLOCATIONS: list[Callable[[str], tb.Tensor]] = [
    lambda backend: tb.zeros((MANY,), backend=backend),
    lambda backend: tb.full((MANY,), 2.5, backend=backend),
    lambda backend: tb.multiply(tb.ones((1 << 23, 1), backend=backend), tb.ones((1, 1 << 22), backend=backend)),
    lambda backend: tb.jit(lambda x: x[:, None] * x[None])(tb.ones((1 << 23,), backend=backend)),
    lambda backend: tb.tile(tb.ones(2, backend=backend), (MANY,)),
]


@pytest.mark.parametrize("backend", ["numpy", "jax"])
@pytest.mark.parametrize("allocate", ALLOCATIONS, ids=["zeros", "full", "multiply", "jit", "tile"])
def test_one_error(allocate: Callable[[str], tb.Tensor], backend: str) -> None:
    for _ in range(2):  # the second time by the warm call
        with pytest.raises(MemoryError) as raised:
            read(allocate(backend))
        assert isinstance(raised.value, OutOfMemoryError)
        assert isinstance(raised.value, BackendError)
        assert "expected enough memory, got bytes=" in str(raised.value)
        assert raised.value.__cause__ is not None


@pytest.mark.parametrize("name", ["zeros", "full", "tile"])
def test_the_reference_says_how_large_the_result_is(name: str) -> None:
    number = tb.ones(2, backend="binary")
    allocate: dict[str, tuple[Callable[[], object], int]] = {
        "zeros": (lambda: tb.zeros((MANY,), backend="binary"), 4 * MANY),
        "full": (lambda: tb.full((MANY,), 2.5, dtype="f64", backend="binary"), 8 * MANY),
        "tile": (lambda: tb.tile(number, (MANY,)), 8 * MANY),
    }
    for _ in range(2):  # the second time by the warm call
        with pytest.raises(OutOfMemoryError, match=f"{name}: expected enough memory, got bytes={allocate[name][1]};"):
            allocate[name][0]()


def test_one_text() -> None:
    texts = set()
    for backend in ("numpy", "jax", "binary"):
        with pytest.raises(OutOfMemoryError) as raised:
            tb.zeros((MANY,), backend=backend)
        texts.add(str(raised.value))
    assert texts == {f"zeros: expected enough memory, got bytes={4 * MANY}; make tensors smaller, or free some"}


def test_the_bytes_in_the_errors_of_libraries() -> None:
    with pytest.raises(MemoryError) as raised:
        np.zeros(MANY, "f8")
    asked = {
        8 * MANY: raised.value,
        140737488355328: RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 140737488355328 bytes."),
        1234567: MemoryError("Out of memory allocating 1,234,567 bytes (allocated so far: 0 bytes)."),
        2560 << 20: RuntimeError("CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has 79 GiB"),
        7: RuntimeError("can't allocate memory: you tried to allocate 7 bytes. Error code 12 (Cannot allocate memory)"),
    }
    for count, error in asked.items():
        assert f"got bytes={count};" in str(out_of_memory(error))
    assert "got" not in str(out_of_memory(MemoryError()))
