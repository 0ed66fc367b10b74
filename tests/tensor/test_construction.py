"""A backend that returns more or fewer bytes than it was asked for is told so, wherever its bytes are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.backends.binary import BinaryBackend
from tensorbackend.errors import ContractError

WAYS: dict[str, Callable[[tb.Tensor], Any]] = {
    "tolist": lambda x: x.tolist(),
    "item": lambda x: x[0].item(),
    "to_binary": lambda x: x.to_binary(2),
    "repr": repr,
    "numpy": numpy.asarray,
    "transfer": lambda x: x.backend_copy("numpy"),
    "to_batched": lambda x: list(tb.to_batched(x, 2)),
}


class CountsBytes(BinaryBackend):
    """A backend whose `to_binary` takes the limit for a number of bytes."""

    name = "counts_bytes"
    dispatch_priority = 1

    def to_binary(self, x: tb.Tensor, limit: int, /) -> bytes:
        return super().to_binary(x, x.size)[:limit]


class ReturnsAll(BinaryBackend):
    """A backend whose `to_binary` ignores the limit."""

    name = "returns_all"
    dispatch_priority = 1

    def to_binary(self, x: tb.Tensor, limit: int, /) -> bytes:
        return super().to_binary(x, x.size)


@pytest.mark.parametrize("way", WAYS)
def test_too_few_bytes(way: str) -> None:
    x = tb.tensor([1.0, 2.0, 3.0], backend=CountsBytes)
    pattern = "expected (4|8|12) bytes from to_binary of the backend 'counts_bytes', got bytes=[123]; its limit counts "
    with pytest.raises(ContractError, match=pattern):
        WAYS[way](x)


def test_too_many_bytes() -> None:
    with pytest.raises(ContractError, match=r"expected 8 bytes from to_binary .*, got bytes=12; .* 2 of float32"):
        tb.tensor([1.0, 2.0, 3.0], backend=ReturnsAll).to_binary(2)


@pytest.mark.parametrize("dtype", ["int4", "bool", "complex64"])
def test_each_width_is_counted_by_elements(dtype: str) -> None:
    x = tb.ones((3,), dtype=dtype, backend=ReturnsAll)
    assert len(x.to_binary()) == 3 * x.dtype.itemsize
