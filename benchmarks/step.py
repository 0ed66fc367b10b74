"""Measures `tb.jit` of a training step on NumPy, relative to the same step by hand: two layers, with the gradient.

The two sides of a ratio take turns, so that a busy machine slows both. Run it from the root of the repository.
"""

from __future__ import annotations

import timeit
from typing import Any

import numpy as np

import tensorbackend as tb

FEATURES, HIDDEN, CLASSES, RATE = 64, 128, 10, 0.1
BATCHES = {8: 1.3, 512: 1.05}
"""Batch sizes, and the ratio that each may have at most."""


def loss(
    first: tb.Tensor, shift: tb.Tensor, second: tb.Tensor, last: tb.Tensor, x: tb.Tensor, y: tb.Tensor
) -> tb.Tensor:
    """The mean squared error of two layers."""
    hidden = tb.tanh(x @ first + shift)
    return tb.mean(tb.square(hidden @ second + last - y))


def step(*tensors: tb.Tensor) -> tuple[tb.Tensor, ...]:
    """Return the loss, and the parameters after one step down its gradient."""
    value, gradient = tb.value_and_grad(loss, (0, 1, 2, 3))(*tensors)
    return value, *(parameter - RATE * slope for parameter, slope in zip(tensors, gradient, strict=False))


def by_hand(first: Any, shift: Any, second: Any, last: Any, x: Any, y: Any) -> tuple[Any, ...]:
    """The same step written by hand in NumPy."""
    rate = np.float32(RATE)
    hidden = np.tanh(x @ first + shift)
    error = hidden @ second + last - y
    value = np.mean(np.square(error))
    down = error * np.float32(2 / error.size)
    inner = (down @ second.T) * (1 - hidden * hidden)
    return (
        value,
        first - rate * (x.T @ inner),
        shift - rate * inner.sum(0),
        second - rate * (hidden.T @ down),
        last - rate * down.sum(0),
    )


def measured(batch: int, rounds: int = 200) -> tuple[float, float]:
    """Return the seconds of a step, compiled and by hand: each the minimum of many short runs that take turns."""
    random = np.random.default_rng(0)

    def drawn(*shape: int) -> Any:
        return (random.standard_normal(shape) * 0.1).astype(np.float32)

    arrays = [
        drawn(*shape)
        for shape in (
            (FEATURES, HIDDEN), (HIDDEN,), (HIDDEN, CLASSES), (CLASSES,), (batch, FEATURES), (batch, CLASSES),
        )
    ]  # fmt: skip
    tensors, compiled = [tb.asarray(array, backend="numpy") for array in arrays], tb.jit(step)
    for result, expected in zip(compiled(*tensors), by_hand(*arrays), strict=True):
        assert np.allclose(np.asarray(result), expected, atol=1e-6)
    calls = max(1, 200 // batch)
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(timeit.timeit(lambda: compiled(*tensors), number=calls) / calls)
        theirs.append(timeit.timeit(lambda: by_hand(*arrays), number=calls) / calls)
    return min(ours), min(theirs)


def main() -> None:
    """Prints a line for each batch size."""
    for batch, most in BATCHES.items():
        ours, theirs = measured(batch)
        print(
            f"two layers with gradient, batch {batch:>3}, numpy: {ours * 1e6:8.1f} us, by hand {theirs * 1e6:8.1f} us, "
            f"ratio {ours / theirs:.2f} (at most {most})"
        )


if __name__ == "__main__":
    main()
