"""Gradient rules: each is declared once and held to its contract, and what they give at ties and kinks."""

from __future__ import annotations

import math
from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.errors import ContractError, GradientError
from tensorbackend.expr.grad import registry, rules
from tensorbackend.expr.grad.registry import Gradient
from tensorbackend.tensor import Tensor

X = tb.tensor([1.0, 2.0, 3.0], names=("n",))


def close(x: Tensor, reference: Any) -> bool:
    return bool(numpy.allclose(numpy.asarray(x), reference))


def test_a_rule_of_ones_own_is_held_to_its_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.gradients, "sin", Gradient(lambda cotangent, out, x: (cotangent * 7,)))
    assert close(tb.grad(lambda x: tb.sum(tb.sin(x)))(X), [7.0, 7.0, 7.0])
    registry.gradients["sin"] = Gradient(lambda cotangent, out, x: (tb.sum(cotangent),))
    tb.clear_caches()  # which a rule that is declared does
    with pytest.raises(ContractError, match=r"rule of sin to return a cotangent like f32\[n: 3\], got given=f32;"):
        tb.grad(lambda x: tb.sum(tb.sin(x)))(X)
    registry.gradients["sin"] = Gradient(lambda cotangent, out, x: (None, None))
    with pytest.raises(ContractError, match=r"rule of sin to return 1 cotangents, got given=2"):
        tb.grad(lambda x: tb.sum(tb.sin(x)))(X)
    del registry.gradients["sin"]
    with pytest.raises(GradientError, match=r"got op='sin'; no rule is declared for it"):
        tb.grad(lambda x: tb.sum(tb.sin(x)))(X)
    monkeypatch.undo()
    assert close(tb.grad(lambda x: tb.sum(tb.sin(x)))(X), numpy.cos([1, 2, 3]))


def test_a_rule_is_declared_once() -> None:
    assert rules.elementwise.__name__.endswith("grad.elementwise")
    with pytest.raises(TypeError, match="the gradient of 'sin' is declared twice"):
        registry.zero_gradient("sin")


def test_ties_and_kinks() -> None:
    equal = tb.asarray([1.0, 1.0, 0.0])
    assert close(tb.grad(tb.max)(equal), [0.5, 0.5, 0.0])
    assert [x.item() for x in tb.grad(tb.maximum, (0, 1))(1.0, 1.0)] == [0.5, 0.5]
    assert [x.item() for x in tb.grad(tb.clip, (0, 1, 2))(1.0, 1.0, 3.0)] == [0.5, 0.5, 0.0]
    assert tb.grad(tb.abs)(0.0).item() == 0.0
    assert [x.item() for x in tb.grad(tb.hypot, (0, 1))(0.0, 0.0)] == [0.0, 0.0]
    assert close(tb.grad(tb.std)(tb.ones(2)), [0.0, 0.0])
    assert close(tb.grad(tb.linalg.vector_norm)(tb.zeros(2)), [0.0, 0.0])
    assert close(tb.grad(tb.prod)(tb.asarray([0.0, 2.0, 3.0])), [6.0, 0.0, 0.0])
    assert close(tb.grad(tb.prod)(tb.asarray([0.0, 0.0, 3.0])), [0.0, 0.0, 0.0])
    assert [x.item() for x in tb.grad(tb.pow, (0, 1))(0.0, 2.0)] == [0.0, 0.0]
    assert tb.grad(lambda x: x**0)(0.0).item() == 0.0
    assert close(tb.grad(tb.logsumexp)(tb.asarray([-math.inf, 0.0])), [0.0, 1.0])
    put = lambda v: tb.sum(tb.indexed_put(tb.zeros(3), tb.asarray([[1], [1]]), v))  # noqa: E731
    assert close(tb.grad(put)(tb.ones(2)), [0.0, 1.0])
