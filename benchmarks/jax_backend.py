"""Measures the overhead of tensorbackend on JAX: eager ops and a jitted network, each relative to jax.numpy.

Each figure is the median of ratios. The two sides take turns, so that a busy machine slows both.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp

import tensorbackend as tb

BATCH = 512
SIZES = [("pixel", 784), ("hidden", 512), ("code", 256), ("digit", 10)]


backend: Any = tb.get_backend("jax")


def ratio(
    ours: Callable[[], object],
    theirs: Callable[[], object],
    calls: int,
    rounds: int = 31,
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[float, ...]:
    """Return the seconds of a call of each side, and the median of the ratios of all rounds."""
    ours()
    theirs()
    times: list[tuple[float, float]] = []
    for _ in range(rounds):
        pair = []
        for function in (ours, theirs):
            start = clock()
            for _ in range(calls):
                result = function()
            backend.jax.block_until_ready(result)
            pair.append((clock() - start) / calls)
        times.append((pair[0], pair[1]))
    columns = list(zip(*times, strict=True))
    return (*map(statistics.median, columns), statistics.median(a / b for a, b in times))


def main() -> None:
    """Prints a line for each measurement."""
    x = tb.ones((8,), names=("n",), backend=backend)
    array = x.data
    pairs: list[tuple[str, str, Callable[[], object], Callable[[], object]]] = [
        ("x + x", "jnp.add", lambda: x + x, lambda: jnp.add(array, array)),
        ("x + x", "array + array", lambda: x + x, lambda: array + array),
        ("mean", "jnp.mean", lambda: tb.mean(x), lambda: jnp.mean(array)),
        ("vector_norm", "jnp.linalg.norm", lambda: tb.linalg.vector_norm(x), lambda: jnp.linalg.norm(array)),
        ("tile", "jnp.tile", lambda: tb.tile(x, (2,)), lambda: jnp.tile(array, 2)),
    ]
    for name, other, ours, others in pairs:
        mine, theirs, over = ratio(ours, others, 1000)
        print(f"{name}, 8 float32, eager: {mine * 1e6:.2f} us, {other} {theirs * 1e6:.2f} us, ratio {over:.2f}")

    key = tb.random.key(0, backend=backend)
    parameters = []
    for (before, rows), (after, columns) in pairwise(SIZES):
        weight = tb.random.normal(key, (rows, columns), names=(before, after)) / rows**0.5
        parameters.append((weight, tb.zeros((columns,), names=(after,), backend=backend)))
    batch = tb.random.normal(key, (BATCH, SIZES[0][1]), names=("batch", "pixel"))

    def named(parameters: Any, x: Any) -> Any:
        for weight, bias in parameters[:-1]:
            x = tb.maximum(x @ weight + bias, 0.0)
        return x @ parameters[-1][0] + parameters[-1][1]

    def plain(parameters: Any, x: Any) -> Any:
        for weight, bias in parameters[:-1]:
            x = jnp.maximum(x @ weight + bias, 0.0)
        return x @ parameters[-1][0] + parameters[-1][1]

    arrays = jax.tree.map(lambda leaf: leaf, [(weight.data, bias.data) for weight, bias in parameters])
    jitted, jitted_plain = jax.jit(named), jax.jit(plain)
    mine, theirs, over = ratio(lambda: jitted(parameters, batch), lambda: jitted_plain(arrays, batch.data), 5)
    print(
        f"three layers, batch {BATCH}, jitted: {mine * 1e3:.2f} ms, jax.numpy {theirs * 1e3:.2f} ms, ratio {over:.3f}"
    )

    def gradient(function: Callable[..., Any], end: Callable[[Any], Any]) -> Callable[..., Any]:
        return jax.jit(jax.grad(lambda parameters, x: end(function(parameters, x))))

    derived = gradient(named, lambda y: tb.mean(y * y).data)
    derived_plain = gradient(plain, lambda y: jnp.mean(y * y))
    mine, theirs, over = ratio(lambda: derived(parameters, batch), lambda: derived_plain(arrays, batch.data), 5)
    print(f"its gradient, jitted: {mine * 1e3:.2f} ms, jax.numpy {theirs * 1e3:.2f} ms, ratio {over:.3f}")


if __name__ == "__main__":
    main()
