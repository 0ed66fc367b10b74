"""JAX's own gradient of functions that index."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tensorbackend as tb


@pytest.mark.parametrize("function", [tb.indexed_max, tb.indexed_min])
@pytest.mark.parametrize("updates", [[5.0, 7.0, 7.0, 1.0], [0.0, -0.0, 3.0, 3.0]])
def test_jax_differentiates_extremes_at_indices(function: Callable[..., tb.Tensor], updates: list[float]) -> None:
    import jax

    x, updates_of_x = (tb.tensor(row, dtype="f64", backend="jax") for row in ([1.0, 5.0, 0.0, 3.0], updates))
    places, weights = tb.tensor([[1], [1], [3], [0]], backend="jax"), tb.tensor([1.0, 2.0, 3.0, 4.0], backend="jax")

    def loss(x: tb.Tensor, updates: tb.Tensor) -> tb.Tensor:
        return tb.sum(function(x, places, updates) * weights)

    theirs: Any = jax.grad(lambda *operands: loss(*operands).data, argnums=(0, 1))(x, updates_of_x)
    ours = tb.grad(loss, argnums=(0, 1))(x, updates_of_x)
    assert [part.tolist() for part in theirs] == [part.tolist() for part in ours]


def test_jax_differentiates_the_greatest_of_segments() -> None:
    import jax

    x = tb.tensor([2.0, 2.0, 1.0, -1.0], backend="jax")
    segments = tb.tensor([0, 0, 0, 1], backend="jax")
    slopes = jax.grad(lambda x: tb.sum(tb.segment_max(x, segments, size=3)[:2]).data)(x)
    assert slopes.tolist() == [1.0, 0.0, 0.0, 1.0]
