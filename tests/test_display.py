"""What a tensor looks like, and that no more is read than is shown."""

from __future__ import annotations

import pytest

import tensorbackend as tb
from tensorbackend.backends.binary import BinaryBackend
from tensorbackend.dtypes import bfloat16, float16


@pytest.mark.parametrize("backend", ["binary", "numpy"])
def test_a_matrix_with_names(backend: str) -> None:
    x = tb.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], names=("batch", "feature"), backend=backend)
    assert repr(x) == f"f32[batch: 2][feature: 3] {backend}\n[[1.0, 2.0, 3.0],\n [4.0, 5.0, 6.0]]"


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (tb.tensor(7), "s64 numpy\n7"),
        (tb.tensor([True, False], names=("n",)), "pred[n: 2] numpy\n[True, False]"),
        (tb.tensor([0.1]), "f32[1] numpy\n[0.1]"),
        (tb.tensor([0.1], dtype=float16), "f16[1] numpy\n[0.1]"),
        (tb.tensor([0.1], dtype=bfloat16), "bf16[1] numpy\n[0.1]"),
        (tb.tensor([1 - 0.5j]), "c64[1] numpy\n[1.0-0.5j]"),
        (tb.zeros((2, 0)), "f32[2][0] numpy\n[[],\n []]"),
        (tb.template((2,), "f32", ("n",)), "f32[n: 2] template"),
    ],
)
def test_each_kind(x: tb.Tensor, text: str) -> None:
    assert repr(x) == text


def test_no_more_is_read_than_is_shown() -> None:
    asked: list[int] = []

    class Watched(BinaryBackend):
        name = "watched"

        def to_binary(self, x: tb.Tensor, limit: int, /) -> bytes:
            asked.append(limit)
            return super().to_binary(x, limit)

    x = tb.zeros((1000, 1000), names=("row", "column"), backend=Watched())
    assert repr(x).startswith("f32[row: 1000][column: 1000] watched\n[[0.0, 0.0,")
    assert repr(x).endswith("...]]")
    assert tb.inspect(x, limit=2).endswith("[[0.0, 0.0, ...]]")
    assert asked == [100, 100, 2]
