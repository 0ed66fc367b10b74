"""Loss scaling: factors, skipped steps, and training in float16."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import tensorbackend as tb


def test_the_factor_is_doubled_after_an_interval_and_halved_by_an_overflow() -> None:
    steps = tb.optimize.scale_loss(tb.optimize.sgd(1.0), initial=8.0, interval=2)
    x = tb.zeros(2)
    state = steps.init(x)
    gradients = [1.0, 1.0, 1.0, float("inf"), 1.0, float("nan"), 1.0, 1.0]
    factors, updates = [], []
    for gradient in gradients:
        update, state = steps.update(state.scale * tb.asarray([gradient, 0.5]), state, x)
        updates.append(update.tolist())
        factors.append(state.scale.item())
    assert factors == [8, 16, 16, 8, 8, 4, 4, 8]
    assert updates == [[-1, -0.5]] * 3 + [[0, 0], [-1, -0.5], [0, 0]] + [[-1, -0.5]] * 2


@pytest.mark.parametrize("compiled", [False, True])
def test_a_skipped_step_leaves_the_state_of_the_transformation(compiled: bool) -> None:
    adam = tb.optimize.adam(0.1)
    steps = tb.optimize.scale_loss(adam, initial=4.0)
    update = tb.jit(steps.update) if compiled else steps.update
    x = {"w": tb.ones(3)}
    state, plain = steps.init(x), adam.init(x)
    for place in range(6):
        gradient = {"w": tb.asarray([1.0, -2.0, 0.5]) * (place + 1)}
        if place % 2:
            broken = {"w": gradient["w"] * tb.asarray([1.0, float("inf"), 1.0])}
            updates, state = update(broken, state, x)
            assert updates["w"].tolist() == [0, 0, 0]
            continue
        updates, state = update({"w": gradient["w"] * state.scale}, state, x)
        expected, plain = adam.update(gradient, plain, x)
        numpy.testing.assert_allclose(updates["w"], expected["w"], rtol=1e-6)
    assert state.scale.item() == 0.5


def test_the_factor_stays_finite_and_above_0() -> None:
    steps = tb.optimize.scale_loss(tb.optimize.sgd(1.0), initial=2.0**126, interval=1)
    x = tb.zeros(1)
    state = steps.init(x)
    for _ in range(4):
        state = steps.update(tb.ones(1), state, x)[1]
        assert 2.0**125 < state.scale.item() < 2.0**128
    for _ in range(300):
        state = steps.update(tb.full((1,), float("nan")), state, x)[1]
    assert 0 < state.scale.item() < 1e-37


@pytest.mark.parametrize(
    ("options", "text"),
    [({"initial": 0.0}, "expected a factor above 0"), ({"interval": 0}, "expected an interval of at least 1 step")],
)
def test_wrong_options(options: Any, text: str) -> None:
    with pytest.raises(tb.errors.ArgumentError, match=f"scale_loss: {text}"):
        tb.optimize.scale_loss(tb.optimize.sgd(1.0), **options)


def test_gradients_below_the_smallest_float16() -> None:
    """A loss whose gradients are 0 in float16 without a factor."""
    target = tb.asarray(1e-6 * numpy.arange(1, 4), dtype="float32")

    def loss(x: tb.Tensor) -> tb.Tensor:
        difference = tb.astype(x - target, "float16") * 1e-3
        return tb.sum(tb.astype(difference, "float32"))

    def gradient_of(factor: Any) -> tb.Tensor:
        return tb.grad(lambda x: tb.astype(tb.astype(loss(x) * factor * 1e-6, "float16"), "float32"))(tb.zeros(3))

    assert not tb.any(gradient_of(1.0)).item()
    steps = tb.optimize.scale_loss(tb.optimize.sgd(1.0), initial=2.0**15)
    state = steps.init(tb.zeros(3))
    updates, _ = steps.update(gradient_of(state.scale), state, tb.zeros(3))
    numpy.testing.assert_allclose(updates, [-1e-9] * 3, rtol=1e-2)
