"""Texts, functions and integers in trees: they pass through gradients, compiled functions and optimisers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.errors import DTypeError, OperandError

BACKENDS = ["binary", "numpy", "jax"]


def model(backend: str) -> dict[str, Any]:
    weight = tb.asarray([1.0, 2.0], dtype="f64", names=("unit",), backend=backend)
    places = [tb.asarray([1, 0], backend=backend)]
    return {"weight": weight, "power": 3, "name": "relu", "function": tb.sin, "places": places, "on": True}


def loss(p: dict[str, Any], x: Any = 1.0) -> tb.Tensor:
    assert p["name"] == "relu"
    assert p["on"] is not False
    return tb.sum(p["function"](tb.take(p["weight"] * x, p["places"][0], axis=0)) ** p["power"])


W = numpy.array([1.0, 2.0])
GRADIENT = 3 * numpy.sin(W) ** 2 * numpy.cos(W)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("transform", [lambda f: f, tb.jit], ids=["eager", "jit"])
def test_a_gradient_has_what_has_none_in_its_place(transform: Callable[..., Any], backend: str) -> None:
    p = model(backend)
    value, gradient = transform(tb.value_and_grad(loss))(p)
    assert numpy.allclose(numpy.asarray(value), (numpy.sin(W) ** 3).sum())
    assert gradient["weight"].names == ("unit",)
    assert numpy.allclose(numpy.asarray(gradient["weight"]), GRADIENT)
    assert (gradient["name"], gradient["function"]) == ("relu", tb.sin)
    assert gradient["places"][0].tolist() == [0, 0]
    assert (int(gradient["power"]), bool(gradient["on"])) == (0, False)
    assert p["power"] == 3


def test_other_transforms_take_such_trees() -> None:
    p = model("numpy")
    value, back = tb.vjp(loss, p)
    (pulled,) = back(tb.ones_like(value))
    assert numpy.allclose(numpy.asarray(pulled["weight"]), GRADIENT)
    moved = {**p, "weight": tb.ones((2,), dtype="f64")}
    for _, tangent in (tb.jvp(loss, (p,), (moved,)), (None, tb.linearize(loss, p)[1](moved))):
        assert numpy.allclose(numpy.asarray(tangent), GRADIENT.sum())
    for transform in (tb.jacobian, tb.jacfwd):
        rows = transform(lambda p: p["function"](p["weight"]))(p)
        assert numpy.allclose(numpy.asarray(rows["weight"]), numpy.diag(numpy.cos(W)))
        assert rows["name"] == "relu"
    second = tb.hessian(lambda p: tb.sum(p["function"](p["weight"])))(p)
    assert numpy.allclose(numpy.asarray(second["weight"]["weight"]), -numpy.diag(numpy.sin(W)))


def test_an_integer_alone_has_no_gradient() -> None:
    for argument in (3, {"n": 3}, tb.asarray([1, 2]), [tb.asarray([1, 2]), "text"]):
        with pytest.raises(DTypeError, match="to be floating or complex for a gradient"):
            tb.grad(lambda x: tb.asarray(1.0))(argument)
    with pytest.raises(DTypeError, match="expected n to be floating or complex"):
        tb.grad(lambda x, n: x * n, argnums=(0, 1))(1.0, 2)


def test_a_text_alone_is_not_a_result() -> None:
    with pytest.raises(OperandError, match="expected a function that returns tensors"):
        tb.jit(lambda x: "relu")(tb.ones(1))
    assert tb.jit(lambda x: {"x": x, "name": "relu"})(tb.ones(1))["name"] == "relu"


@pytest.mark.parametrize("wrap", [lambda steps: steps, tb.optimize.scale_loss], ids=["alone", "scaled"])
@pytest.mark.parametrize("rule", [tb.optimize.sgd, tb.optimize.adamw])
def test_an_optimiser_moves_numbers_alone(rule: Callable[..., Any], wrap: Callable[..., Any]) -> None:
    steps = wrap(tb.optimize.chain(tb.optimize.clip_by_global_norm(1.0), rule(0.1)))
    p = model("numpy")
    state = steps.init(p)

    @tb.jit
    def step(p: Any, state: Any) -> Any:
        updates, state = steps.update(tb.grad(loss)(p), state, p)
        return tb.optimize.apply_updates(p, updates), state

    alone = {"weight": p["weight"]}
    alone_state = steps.init(alone)
    for _ in range(2):
        p, state = step(p, state)
        gradient = tb.grad(lambda q: loss({**model("numpy"), **q}))(alone)
        updates, alone_state = steps.update(gradient, alone_state, alone)
        alone = tb.optimize.apply_updates(alone, updates)
    assert numpy.allclose(numpy.asarray(p["weight"]), numpy.asarray(alone["weight"]))
    assert (p["name"], int(p["power"]), p["places"][0].tolist()) == ("relu", 3, [1, 0])
