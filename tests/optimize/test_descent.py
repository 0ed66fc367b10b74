"""Gradient descent by hand: rates, schedules and momentum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend import optimize
from tensorbackend.errors import ArgumentError

G, X = tb.asarray([3.0, 4.0], dtype="f64"), tb.asarray([1.0, 2.0], dtype="f64")


def test_nesterovs_momentum_looks_ahead() -> None:
    momentum = optimize.sgd(0.5, momentum=0.5, nesterov=True)
    state = momentum.init(X)
    first, state = momentum.update(G, state)
    second, _ = momentum.update(2 * G, state)
    assert first.tolist() == [-0.5 * 1.5 * 3, -0.5 * 1.5 * 4]
    assert second.tolist() == [-0.5 * (2 + 0.5 * 2.5) * 3, -0.5 * (2 + 0.5 * 2.5) * 4]


def test_a_batch_of_steps() -> None:
    batch = tb.vmap(lambda g: optimize.sgd(0.5).update(g, optimize.sgd(0.5).init(g))[0])(tb.stack([G, G]))
    assert batch.tolist() == [[-1.5, -2.0]] * 2


def test_a_schedule_gets_the_number_of_earlier_steps() -> None:
    steps = optimize.sgd(optimize.exponential_decay(1.0, 2, 0.5))
    state = steps.init(X)
    _, state = steps.update(G, state)
    _, state = steps.update(G, state)
    assert steps.update(G, state)[0].tolist() == [-1.5, -2.0]


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: optimize.sgd(0.1, momentum=-0.5), "expected decay from 0 to below 1, got decay=-0.5"),
        (lambda: optimize.sgd(float("nan")), "expected a finite rate, got rate=nan"),
    ],
)
def test_mistakes(make: Callable[[], Any], text: str) -> None:
    with pytest.raises(ArgumentError, match=text):
        make()
