"""Averages of parameters over steps, and gradients accumulated over steps."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError


def test_half_precision_parameters_have_a_wide_average() -> None:
    averages = tb.optimize.moving_average(0.999)
    x = tb.ones(2, dtype="f16", names=("n",))
    state = averages.init(x)
    for _ in range(3):
        mean, state = averages.update(x, state)
    assert mean.template is x.template
    assert state.average.dtype is tb.float32
    assert mean.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_parts_of_a_batch_give_the_steps_of_the_batch(backend: str) -> None:
    data = numpy.linspace(-1, 2, 12).astype("f4")
    whole, parts = tb.optimize.adam(0.1), tb.optimize.accumulate(tb.optimize.adam(0.1), 3)
    x: Any = {"w": tb.asarray([0.5], backend=backend), "name": "layer"}
    y, state, other = x, whole.init(x), parts.init(x)

    def gradient(x: Any, batch: Any) -> Any:
        return tb.grad(lambda x: tb.mean((x["w"] - tb.asarray(batch, backend=backend)) ** 2))(x)

    update = tb.jit(parts.update)
    for start in range(0, 12, 6):
        updates, state = whole.update(gradient(x, data[start : start + 6]), state, x)
        x = tb.optimize.apply_updates(x, updates)
        for part in range(start, start + 6, 2):
            updates, other = update(gradient(y, data[part : part + 2]), other, y)
            y = tb.optimize.apply_updates(y, updates)
    assert numpy.allclose(x["w"].tolist(), y["w"].tolist(), rtol=1e-5)
    assert other.steps.item() == 0
    with pytest.raises(ArgumentError, match="accumulate: expected at least 1 step, got steps=0"):
        tb.optimize.accumulate(tb.optimize.sgd(0.1), 0)
