"""Transformations of gradients, against optax where it is installed, and schedules."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend import optimize
from tensorbackend.errors import ArgumentError

STEPS: dict[str, Any] = {
    "sgd": lambda o: o.sgd(0.1),
    "momentum": lambda o: o.sgd(0.1, momentum=0.9),
    "nesterov": lambda o: o.sgd(0.1, momentum=0.9, nesterov=True),
    "adam": lambda o: o.adam(0.1),
    "clipped": lambda o: o.chain(o.clip_by_global_norm(0.5), o.adam(0.1)),
}


def loss(x: Any) -> Any:
    return tb.sum(x["a"] ** 2) + tb.sum((x["b"][0] - 1.0) ** 2) / 2


@pytest.mark.parametrize("name", [*STEPS, "adamw", "schedule"])
@pytest.mark.parametrize("backend", ["numpy", "binary", "jax"])
def test_steps_lead_to_the_minimum(backend: str, name: str) -> None:
    if name == "adamw":
        steps = optimize.adamw(0.1, decay=1e-4)
    elif name == "schedule":
        steps = optimize.adam(optimize.warmup(optimize.cosine_decay(0.2, 150), 10))
    else:
        steps = STEPS[name](optimize)
    x = {"a": tb.asarray([0.7, -0.4], names=("n",), backend=backend), "b": (tb.asarray(0.2, backend=backend),)}
    state = steps.init(x)

    @tb.jit
    def step(x: Any, state: Any) -> Any:
        updates, state = steps.update(tb.grad(loss)(x), state, x)
        return optimize.apply_updates(x, updates), state

    # Compiled, and as the body of a compiled loop.
    x, state = step(x, state)
    x, state = tb.jit(lambda x, state: tb.fori_loop(0, 180, lambda i, carry: step(*carry), (x, state)))(x, state)
    assert float(loss(x)) < 1e-2
    assert (x["a"].names, x["a"].dtype, x["a"].backend.name) == (("n",), tb.float32, backend)


@pytest.mark.parametrize("backend", ["binary", "jax"])
def test_they_run_call_by_call_where_the_tensors_are(backend: str) -> None:
    x = {"a": tb.asarray([3.0], backend=backend), "b": tb.asarray([[4.0]], backend=backend)}
    assert optimize.global_norm(x).item() == 5.0
    assert optimize.global_norm([x["a"], 4.0]).backend.name == backend
    assert optimize.global_norm(()).item() == 0.0
    steps = optimize.chain(optimize.clip_by_global_norm(1.0), optimize.sgd(0.5, momentum=0.9))
    updates, _ = steps.update(x, steps.init(x), x)
    numpy.testing.assert_allclose(numpy.asarray(updates["b"]), [[-0.4]], rtol=1e-6)
    assert optimize.apply_updates(x, {"a": 1.0, "b": 2})["a"].tolist() == [4.0]


@pytest.mark.parametrize("name", STEPS)
def test_they_are_the_steps_of_optax(name: str) -> None:
    if importlib.util.find_spec("optax") is None:
        return  # clients/requirements.txt has it
    import optax

    ours, theirs = STEPS[name](optimize), STEPS[name](optax)
    x = tb.asarray([0.7, -0.4], backend="jax")
    state, other = ours.init(x), theirs.init(x.data)
    for scale in (1.0, -2.0, 0.5):
        updates, state = ours.update(x * scale, state, x)
        expected_updates, other = theirs.update(x.data * scale, other, x.data)
        # optax computes 1 - 0.999**n in float32, which leaves four digits.
        numpy.testing.assert_allclose(numpy.asarray(updates), numpy.asarray(expected_updates), rtol=3e-5)


def test_by_hand() -> None:
    g, x = tb.asarray([3.0, 4.0], dtype="f64"), tb.asarray([1.0, 2.0], dtype="f64")
    momentum = optimize.sgd(0.5, momentum=0.5, nesterov=True)
    state = momentum.init(x)
    first, state = momentum.update(g, state)
    second, _ = momentum.update(2 * g, state)
    assert first.tolist() == [-0.5 * 1.5 * 3, -0.5 * 1.5 * 4]
    assert second.tolist() == [-0.5 * (2 + 0.5 * 2.5) * 3, -0.5 * (2 + 0.5 * 2.5) * 4]
    adam = optimize.scale_by_adam(b1=0.5, b2=0.75, epsilon=0.0)
    state = adam.init(x)
    _, state = adam.update(g, state)
    update, state = adam.update(2 * g, state)
    mean = (0.25 * 3 + 0.5 * 6) / 0.75
    square = (0.1875 * 9 + 0.25 * 36) / 0.4375
    assert update[0].item() == pytest.approx(mean / square**0.5)
    assert state.steps.item() == 2
    assert optimize.clip_by_global_norm(5.0).update(g, ())[0].tolist() == [3.0, 4.0]
    assert optimize.clip_by_global_norm(1.0).update(g * 0, ())[0].tolist() == [0.0, 0.0]
    batch = tb.vmap(lambda g: optimize.sgd(0.5).update(g, optimize.sgd(0.5).init(g))[0])(tb.stack([g, g]))
    assert batch.tolist() == [[-1.5, -2.0]] * 2
    rate = optimize.exponential_decay(1.0, 2, 0.5)
    steps = optimize.sgd(rate)
    state = steps.init(x)
    _, state = steps.update(g, state)
    _, state = steps.update(g, state)
    assert steps.update(g, state)[0].tolist() == [-1.5, -2.0]


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: optimize.adam(0.1, b1=1.0), "expected b1 from 0 to below 1, got b1=1.0"),
        (lambda: optimize.sgd(0.1, momentum=-0.5), "expected decay from 0 to below 1, got decay=-0.5"),
        (lambda: optimize.sgd(float("nan")), "expected a finite rate, got rate=nan"),
        (lambda: optimize.clip_by_global_norm(0.0), "expected a norm above 0, got most=0.0"),
        (lambda: optimize.cosine_decay(0.1, 0), "expected 1 step or more, got steps=0"),
    ],
)
def test_mistakes(make: Any, text: str) -> None:
    with pytest.raises(ArgumentError, match=text):
        make()
