"""A mesh of eight virtual devices: calls beside those of JAX on arrays that are divided alike, as ratios in one run.

`python benchmarks/mesh.py`. Each round times both, in turn; a ratio is the median over rounds. Every 32 calls wait for
their results, as more collectives at once than threads may end in a time-out of XLA's.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8 " + os.environ.get("XLA_FLAGS", "")
os.environ.setdefault("NPROC", "32")  # both are read when JAX is first used

import jax
import jax.numpy as jnp
import numpy as np

import tensorbackend as tb

RULES = {"batch": "data", "hidden": "model"}
SHAPES = {(8, 2): 640, (64, 64): 640, (4096, 1024): 96}
"""Shapes of operands, and how many calls a round has."""

ROUNDS = 21
TOGETHER = 32


wait: Any = jax.block_until_ready


def seconds(call: Callable[[], Any], calls: int) -> float:
    """Seconds a call."""
    start = time.perf_counter()
    for number in range(1, calls + 1):
        found = call()
        if number % TOGETHER == 0:
            wait(found)
    wait(found)
    return (time.perf_counter() - start) / calls


def beside(ours: Callable[[], Any], theirs: Callable[[], Any], calls: int) -> tuple[float, float, float]:
    """Microseconds a call of each, and the ratio."""
    for call in (ours, theirs):
        seconds(call, TOGETHER)
    rounds = [(seconds(ours, calls), seconds(theirs, calls)) for _ in range(ROUNDS)]
    ratio = statistics.median(one / other for one, other in rounds)
    first, second = (1e6 * statistics.median(column) for column in zip(*rounds, strict=True))
    return first, second, ratio


def data_of(function: Callable[..., tb.Tensor], *tensors: tb.Tensor) -> Any:
    """The payload of what a function gives."""
    return function(*tensors).data


def main() -> None:
    """Prints a line for each comparison."""
    backend = tb.JaxBackend(mesh=tb.Mesh({"data": 4, "model": 2}), layout=RULES)
    print(f"{'on 4 x 2 devices':36} {'ours us':>10} {'JAX us':>10} {'ratio':>7}")
    for shape, calls in SHAPES.items():
        x = tb.asarray(np.ones(shape, np.float32), names=("batch", "hidden"), backend=backend)
        data = x.data
        print_line(f"x + x, {shape}", *beside(partial(data_of, tb.add, x, x), partial(jnp.add, data, data), calls))
        step, its = tb.jit(lambda x: tb.tanh(x * x)), jax.jit(lambda data: jnp.tanh(data * data))
        print_line(f"jitted tanh(x * x), {shape}", *beside(partial(data_of, step, x), partial(its, data), calls))


def print_line(what: str, ours: float, theirs: float, ratio: float) -> None:
    """One comparison."""
    print(f"{what:36} {ours:10.1f} {theirs:10.1f} {ratio:7.2f}")


if __name__ == "__main__":
    main()
