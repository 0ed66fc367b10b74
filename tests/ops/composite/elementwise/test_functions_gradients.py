"""Functions that change only the gradient: it stops at one, and is scaled by the other."""

from __future__ import annotations

from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.errors import ShapeError
from tensorbackend.tensor import Tensor


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_stopped_and_scaled_gradients(backend: str) -> None:
    x = tb.asarray(3.0, backend=backend)
    assert tb.stop_gradient(x).item() == tb.scaled_gradient(x, 2.0).item() == 3.0
    assert tb.grad(lambda x: x * tb.stop_gradient(x) + tb.scaled_gradient(x, -2.0))(x).item() == 1.0
    graph = tb.trace(lambda x: tb.stop_gradient(tb.scaled_gradient(x, 2.0)))("f32")
    assert [node.op for node in graph.nodes] == ["parameter", "constant", "scaled_gradient", "stop_gradient"]


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_the_scale_of_a_gradient_may_be_a_tensor(backend: str) -> None:
    def slope(x: Tensor, scale: Any) -> Tensor:
        gradient: Tensor = tb.grad(lambda x: tb.sum(tb.scaled_gradient(x, scale) * 3))(x)
        return gradient

    x, scale = tb.asarray([1.0, 2.0], backend=backend), tb.asarray([2.0, -1.0], backend=backend)
    for transform in (lambda f: f, tb.jit, tb.vmap):
        assert transform(slope)(x, scale).tolist() == [6.0, -3.0]
    # A batch of scales for one x, and then the gradient of the batch.
    every = tb.vmap(lambda scale, x: tb.scaled_gradient(x, scale), in_axes=(0, None))
    assert tb.grad(lambda x: tb.sum(every(scale, x)))(x).tolist() == [1.0, 1.0]
    assert every(scale, x).tolist() == [[1.0, 2.0]] * 2
    assert tb.grad(lambda s: tb.sum(slope(x, s)))(scale).tolist() == [3.0, 3.0]
    with pytest.raises(ShapeError, match=r"scaled_gradient: expected a scale that broadcasts to f32\[2\], got scale="):
        tb.scaled_gradient(x, tb.ones((3, 1), backend=backend))


def test_the_gradient_of_jax_stops_too() -> None:
    import jax

    x = tb.asarray(3.0, backend="jax")
    gradient = jax.grad(lambda x: (x * tb.stop_gradient(x) + tb.scaled_gradient(x, -2.0)).data)(x)
    assert gradient.item() == 1.0
