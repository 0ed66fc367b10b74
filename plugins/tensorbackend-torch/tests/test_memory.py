"""Memory that runs out: the error of every other backend."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import tensorbackend as tb
from tensorbackend.errors import OutOfMemoryError

MANY = 1 << 45

ALLOCATIONS: list[Callable[[], tb.Tensor]] = [
    lambda: tb.zeros((MANY,), backend="torch"),
    lambda: tb.arange(MANY, dtype="f32", backend="torch"),
    lambda: tb.multiply(tb.ones((1 << 23, 1), backend="torch"), tb.ones((1, 1 << 22), backend="torch")),
    lambda: tb.jit(lambda x: x[:, None] * x[None])(tb.ones((1 << 23,), backend="torch")),
    lambda: tb.tile(tb.ones(2, backend="torch"), (MANY,)),
]


@pytest.mark.parametrize("allocate", ALLOCATIONS, ids=["zeros", "arange", "multiply", "jit", "tile"])
def test_one_error(allocate: Callable[[], tb.Tensor]) -> None:
    for _ in range(2):  # the second time by the warm call
        with pytest.raises(OutOfMemoryError, match="expected enough memory, got bytes="):
            allocate()


def test_the_text_of_every_other_backend() -> None:
    texts = set()
    for backend in ("numpy", "torch"):
        with pytest.raises(MemoryError) as raised:
            tb.zeros((MANY,), backend=backend)
        texts.add(str(raised.value))
    assert len(texts) == 1
