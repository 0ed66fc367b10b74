"""The cost of axes with lengths, relative to code written by hand with `where`: `python benchmarks/ragged.py`.

Not a test, as machines are noisy. Each figure is the minimum of several short runs, in which both sides take turns.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import tensorbackend as tb
from tensorbackend import ragged

SHAPE = (32, 500, 256)
"""Sizes of the axes: examples, frames, features."""


def ratio(ours: Callable[[], object], by_hand: Callable[[], object], repeats: int = 60) -> tuple[float, float]:
    """Return the least seconds of each side."""
    least = [float("inf"), float("inf")]
    sides = [(0, ours), (1, by_hand)]
    for _ in range(repeats):
        sides.reverse()  # so that neither side always finds the other's data in the cache
        for place, function in sides:
            start = perf_counter()
            function()
            least[place] = min(least[place], perf_counter() - start)
    return least[0], least[1]


def mean_by_hand(xp: Any, values: Any, lengths: Any) -> Any:
    """Return the mean of each example."""
    mask = (xp.arange(values.shape[1]) < lengths[:, None])[:, :, None]
    total = xp.where(mask, values, xp.float32(0)).sum(axis=1)
    return total / xp.maximum(lengths, 1).astype(xp.float32)[:, None]


def softmax_by_hand(xp: Any, values: Any, lengths: Any) -> Any:
    """Return the softmax of each example."""
    mask = (xp.arange(values.shape[1]) < lengths[:, None])[:, :, None]
    masked = xp.where(mask, values, xp.float32(-np.inf))
    powers = xp.exp(masked - masked.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def _ours(function: Any, x: ragged.Ragged) -> None:
    function(x).block_until_ready()


def _by_hand(function: Any, arguments: tuple[Any, ...], ready: Any) -> None:
    ready(function(*arguments))


def main() -> None:
    """Prints a line for each function and backend."""
    random = np.random.default_rng(0)
    values = random.normal(size=SHAPE).astype(np.float32)
    lengths = random.integers(1, SHAPE[1] + 1, SHAPE[0])
    functions = {
        "mean": (lambda x: ragged.mean(x, axis="time"), mean_by_hand),
        "softmax": (lambda x: ragged.softmax(x, axis="time").values, softmax_by_hand),
    }
    for backend, xp in (("numpy", np), ("jax", jnp)):
        with tb.default_backend(backend):
            x = ragged.with_lengths(tb.asarray(values, names=("batch", "time", "feature")), time=lengths)
        array, counts = x.values.data, x.lengths["time"].data  # the same memory for both sides
        for name, (ours, by_hand) in functions.items():
            forms: list[tuple[str, Any, Any]] = [
                ("eager", ours, lambda xp, *arguments, hand=by_hand: hand(xp, *arguments))
            ]
            if backend == "jax":
                compiled = jax.jit(lambda *arguments, hand=by_hand: hand(jnp, *arguments))
                forms.append(("compiled", tb.jit(ours), lambda xp, *arguments, run=compiled: run(*arguments)))
            for form, function, hand in forms:
                arguments = xp, array, counts
                ready: Any = jax.block_until_ready if backend == "jax" else lambda result: result
                seconds = ratio(partial(_ours, function, x), partial(_by_hand, hand, arguments, ready))
                print(
                    f"{name:<8} {backend:<6} {form:<9} {seconds[0] * 1e3:7.2f} ms, "
                    f"{seconds[0] / seconds[1]:.2f} times by hand"
                )


if __name__ == "__main__":
    main()
