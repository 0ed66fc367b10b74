"""The precision of products, as PyTorch is told it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import tensorbackend as tb
import torch

from tensorbackend_torch import library

X = tb.asarray([[1.0, 2.0], [3.0, 4.0]], backend="torch")

PRODUCTS: dict[str, Callable[[tb.Tensor], tb.Tensor]] = {
    "matmul": lambda x: x @ x,
    "dot": lambda x: tb.tensordot(x, x, axes=1),
    "conv": lambda x: tb.conv(tb.reshape(x, (1, 1, 2, 2)), tb.reshape(x, (1, 1, 2, 2))),
    "gradient": lambda x: tb.grad(lambda x: tb.sum(x @ x))(x),
}


@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize("compiled", [False, True])
def test_products_set_the_precision_and_restore_it(name: str, compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    function = tb.jit(PRODUCTS[name]) if compiled else PRODUCTS[name]
    expected = function(X).tolist()
    said: list[str] = []
    monkeypatch.setattr(library.torch, "set_float32_matmul_precision", said.append)
    function(X)
    assert said == []
    for precision, theirs in (("default", "medium"), ("high", "high")):
        with tb.precision(precision):
            result = function(X)
        assert result.tolist() == expected
        assert said[::2] == [theirs] * (len(said) // 2)
        assert said[1::2] == ["highest"] * (len(said) // 2)
        assert said
        said.clear()
    assert torch.get_float32_matmul_precision() == "highest"


def test_the_setting_of_the_process_is_left_alone() -> None:
    torch.set_float32_matmul_precision("high")
    try:
        with tb.precision("default"):
            X @ X
        assert torch.get_float32_matmul_precision() == "high"
    finally:
        torch.set_float32_matmul_precision("highest")
