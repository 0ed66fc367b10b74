"""Gradients of PyTorch's modules where a derivative is a matter of choice: as PyTorch's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
import tensorbackend as tb
import torch
from torch.nn import functional

from tensorbackend_onnx import from_torch

POINTS = [-6.0, -3.0, -2.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.0, 3.0, 6.0, 20.0]
OTHERS = torch.tensor([-6.0, -3.0, 2.0, -1.0, 0.5, 0.0, -0.0, 0.5, -1.0, 2.0, 3.5, 6.0, 0.0])
FIRST_ZERO = torch.tensor([[0.0], [1.0]])

FUNCTIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "celu": functional.celu,
    "clamp": lambda x: x.clamp(0, 1),
    "clamp to tensors": lambda x: torch.clamp(x, OTHERS, OTHERS + 1),
    "clamp to a row": lambda x: torch.clamp(x[None] * torch.ones(2, 1), min=OTHERS),
    "clamp from below": lambda x: x.clamp(min=0),
    "clamp from above": lambda x: x.clamp(max=1),
    "clamp in place": lambda x: (x * 1).clamp_(-1, 2),
    "clamp_max": lambda x: torch.clamp_max(x, 1),
    "clamp_max by a tensor": lambda x: torch.clamp_max(x, OTHERS),
    "clamp_min": lambda x: torch.clamp_min(x, 0),
    "clamp_min in place": lambda x: (x * 1).clamp_min_(0.5),
    "clip": lambda x: torch.clip(x, -1, 1),
    "elu": functional.elu,
    "gelu": functional.gelu,
    "hardshrink": functional.hardshrink,
    "hardsigmoid": functional.hardsigmoid,
    "hardswish": functional.hardswish,
    "hardtanh": functional.hardtanh,
    "hardtanh in place": lambda x: functional.hardtanh_(x * 1, -0.5, 3.0),
    "l1_loss": lambda x: functional.l1_loss(x, OTHERS, reduction="none"),
    "largest of all": lambda x: x.abs().amax(0),
    "largest of pairs": lambda x: functional.max_pool1d(x.reshape(1, 1, -1).round(), 2),
    "leaky_relu": functional.leaky_relu,
    "maximum": lambda x: torch.maximum(x, OTHERS),
    "minimum": lambda x: torch.minimum(x, OTHERS),
    "norm of rows": lambda x: (x * FIRST_ZERO).norm(dim=0),
    "norm of zeros": lambda x: (x * 0).norm(),
    "normalize": lambda x: functional.normalize(x * FIRST_ZERO * 0, dim=1),
    "prelu": lambda x: functional.prelu(x, torch.tensor([0.25])),
    "relu": functional.relu,
    "relu in place": lambda x: (x * 1).relu_(),
    "relu6": functional.relu6,
    "smooth_l1_loss": lambda x: functional.smooth_l1_loss(x, torch.zeros(13), reduction="none"),
    "softshrink": functional.softshrink,
    "threshold": lambda x: functional.threshold(x, 0.5, 2.0),
}


class All(torch.nn.Module):
    """All functions, so that they are exported at once."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(function(x) for function in FUNCTIONS.values())


@pytest.fixture(scope="module")
def imported() -> Any:
    return from_torch(All(), torch.tensor(POINTS))


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_the_gradient_at_kinks_is_pytorchs(imported: Any, name: str, compiled: bool) -> None:
    x = torch.tensor(POINTS, requires_grad=True)
    FUNCTIONS[name](x).sum().backward()  # type: ignore[no-untyped-call] # PyTorch's
    place = [*FUNCTIONS].index(name)
    gradient = tb.grad(lambda x: tb.sum(imported.apply({}, x)[place]))
    found = (tb.jit(gradient) if compiled else gradient)(tb.asarray(POINTS))
    assert x.grad is not None
    numpy.testing.assert_allclose(numpy.asarray(found), x.grad.numpy(), rtol=1e-4, atol=1e-6)


def test_bounds_that_are_parameters_have_gradients() -> None:
    class Clamp(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.low = torch.nn.Parameter(torch.tensor([[0.0], [0.5]]))
            self.high = torch.nn.Parameter(torch.tensor([1.0, 0.25, 2.0]))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.clamp(x, self.low, self.high)

    module, x = Clamp(), torch.tensor([[-1.0, 0.1, 3.0], [0.6, 0.7, 0.5]])
    module(x).square().sum().backward()
    function = from_torch(module, x)
    found = tb.grad(lambda p: tb.sum(function.apply(p, tb.asarray(x.numpy())) ** 2))(function.parameters)
    for name, parameter in module.named_parameters():
        assert parameter.grad is not None
        numpy.testing.assert_allclose(numpy.asarray(found[name]), parameter.grad.numpy(), rtol=1e-6)


@pytest.mark.parametrize("padding", [None, 0, 3])
def test_padding_of_an_embedding_has_no_gradient(padding: int | None) -> None:
    module, places = torch.nn.Embedding(5, 2, padding_idx=padding), torch.tensor([[0, 3, 4], [3, 1, 0]])
    module(places).square().sum().backward()
    function = from_torch(module, places)
    found = tb.grad(lambda p: tb.sum(function.apply(p, tb.asarray(places.numpy())) ** 2))(function.parameters)
    assert module.weight.grad is not None
    numpy.testing.assert_allclose(numpy.asarray(found["weight"]), module.weight.grad.numpy(), rtol=1e-6)
