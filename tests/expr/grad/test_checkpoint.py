"""Checkpoints and their policies: gradients of any order, what is kept, and wrong policies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tensorbackend as tb

POLICIES: list[Any] = ["nothing", "products", ("exp",), lambda op, result: result.ndim == 2]


def layer(x: tb.Tensor, w: tb.Tensor) -> tb.Tensor:
    return tb.tanh(tb.exp(tb.sin(x @ w)) @ w)


def loss(layer: Callable[..., tb.Tensor], x: tb.Tensor) -> Callable[[tb.Tensor], tb.Tensor]:
    def run(w: tb.Tensor) -> tb.Tensor:
        h = x
        for _ in range(3):
            h = layer(h, w)
        return tb.sum(h * h)

    return run


@pytest.fixture
def operands() -> tuple[tb.Tensor, tb.Tensor]:
    generator = numpy.random.default_rng(1)
    return tb.asarray(generator.standard_normal((5, 4))), tb.asarray(generator.standard_normal((4, 4)) * 0.3)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("compiled", [False, True])
def test_gradients_are_those_without_a_checkpoint(
    operands: tuple[tb.Tensor, tb.Tensor], policy: Any, compiled: bool
) -> None:
    x, w = operands
    kept, plain = loss(tb.checkpoint(layer, policy=policy), x), loss(layer, x)

    def second(function: Any) -> Any:
        return tb.grad(lambda w: tb.sum(tb.square(tb.grad(function)(w))))

    for ours, exact in ((tb.grad(kept), tb.grad(plain)), (second(kept), second(plain))):
        run = tb.jit(ours) if compiled else ours
        numpy.testing.assert_allclose(run(w), exact(w), rtol=1e-10)
    scales = tb.asarray([1.0, 0.5], dtype="float64")
    batched = tb.vmap(lambda scale: tb.grad(kept)(w * scale))(scales)
    numpy.testing.assert_allclose(batched[1], tb.grad(plain)(w * 0.5), rtol=1e-10)


def test_what_a_policy_keeps_is_not_computed_again() -> None:
    costs = {}
    for name, kept in {
        "plain": layer,
        "nothing": tb.checkpoint(layer),
        "products": tb.checkpoint(layer, policy="products"),
        "exp": tb.checkpoint(policy=("exp",))(layer),
    }.items():
        x = tb.zeros((512, 64))
        costs[name] = tb.dry_run(loss(kept, x), "f32[64, 64]", gradient=True)
    assert costs["products"].flops == pytest.approx(costs["plain"].flops, rel=0.01)
    assert costs["nothing"].flops > 1.2 * costs["plain"].flops
    assert costs["plain"].flops < costs["exp"].flops <= costs["nothing"].flops
    memory = {name: run.peak.memory for name, run in costs.items()}
    assert memory["nothing"] < memory["exp"] < memory["plain"]
    assert memory["nothing"] < memory["products"] < memory["plain"]


@pytest.mark.parametrize("policy", ["everything", (1,)])
def test_wrong_policies(policy: Any) -> None:
    with pytest.raises(tb.errors.ArgumentError, match="checkpoint: expected 'nothing' or 'products', or a "):
        tb.checkpoint(layer, policy=policy)
