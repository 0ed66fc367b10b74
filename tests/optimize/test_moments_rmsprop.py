"""RMSProp and Lion: compiled steps, narrow dtypes, complex numbers, masks of decay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
@pytest.mark.parametrize("rule", [tb.optimize.rmsprop, tb.optimize.lion, tb.optimize.adafactor])
def test_steps_lead_to_the_minimum(rule: Callable[..., Any], backend: str) -> None:
    steps = rule(tb.optimize.exponential_decay(0.2, 10, 0.5))
    x = {"a": tb.asarray([0.7, -0.4], names=("n",), backend=backend)}
    state = steps.init(x)

    def step(x: Any, state: Any) -> Any:
        updates, state = steps.update(tb.grad(lambda x: tb.sum(x["a"] ** 2))(x), state, x)
        return tb.optimize.apply_updates(x, updates), state

    x, state = tb.jit(lambda x, state: tb.fori_loop(0, 60, lambda i, carry: step(*carry), (x, state)))(x, state)
    assert numpy.abs(x["a"].tolist()).max() < 0.35 if rule is tb.optimize.adafactor else 0.05
    assert x["a"].names == ("n",)


def test_states_are_wide_and_updates_are_rounded_once() -> None:
    for rule in (tb.optimize.rmsprop, tb.optimize.lion):
        steps, x = rule(0.5), tb.asarray([1e-4, 300.0], dtype="f16")
        updates, state = steps.update(x, steps.init(x), x)
        assert updates.dtype is tb.float16
        assert all(leaf.dtype is tb.float32 for leaf in tb.tree_leaves(state))
        assert numpy.isfinite(updates.tolist()).all()


def test_a_complex_gradient_is_divided_by_its_size() -> None:
    direction = tb.optimize.scale_by_rms(decay=0.0, epsilon=0.0)
    x = tb.asarray([3 + 4j])
    updates, state = direction.update(x, direction.init(x))
    assert numpy.allclose(updates.tolist(), [0.6 + 0.8j])
    assert state.second.dtype is tb.float32


def test_a_mask_says_which_parameters_decay() -> None:
    parameters: dict[str, Any] = {"matrix": tb.ones((1, 1)), "bias": tb.ones(1), "name": "layer"}
    matrices = lambda tree: tb.tree_map_with_path(lambda path, x: path[-1] == "matrix", tree)  # noqa: E731
    for mask in (matrices, {"matrix": True, "bias": False, "name": False}):
        steps = tb.optimize.lion(0.5, decay=0.5, mask=mask)
        gradients: dict[str, Any] = {"matrix": tb.zeros((1, 1)), "bias": tb.zeros(1), "name": "layer"}
        updates, _ = steps.update(gradients, steps.init(parameters), parameters)
        assert (updates["matrix"].tolist(), updates["bias"].tolist(), updates["name"]) == ([[-0.25]], [0.0], "layer")
    with pytest.raises(ArgumentError, match="nested like the first tree"):
        tb.optimize.add_decayed_weights(0.5, mask={"bias": True}).update(gradients, (), parameters)
    for steps in (tb.optimize.adamw(0.1, decay=0.1), tb.optimize.add_decayed_weights(0.5)):
        with pytest.raises(ArgumentError, match=r"expected the parameters, .*; write update\(gradients, state, param"):
            steps.update(tb.ones(1), steps.init(tb.ones(1)))


def test_decays_are_checked() -> None:
    with pytest.raises(ArgumentError, match=r"scale_by_rms: expected decay from 0 to below 1, got decay=1\.0"):
        tb.optimize.scale_by_rms(decay=1.0)
    with pytest.raises(ArgumentError, match=r"lion: expected b2 from 0"):
        tb.optimize.lion(0.1, b2=-1.0)


@pytest.mark.parametrize("decay", [0.5, 0.9])
def test_centred_steps_are_finite_for_gradients_that_do_not_vary(decay: float) -> None:
    """Mean squares less squares of means are 0 then, but for rounding errors of either sign."""
    gradients = tb.asarray(numpy.random.default_rng(0).random(2000).astype("float32") * 100)
    steps = tb.optimize.scale_by_rms(decay=decay, centered=True)
    state = steps.init(gradients)
    for _ in range(150):
        updates, state = steps.update(gradients, state, gradients)
        assert tb.all(tb.isfinite(updates)).item()
