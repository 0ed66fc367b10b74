"""A mesh of eight virtual devices: calls beside those of JAX on arrays that are divided alike, as ratios in one run.

`python benchmarks/mesh.py`. Each round times both, in turn; a ratio is the median over rounds. Every 32 calls wait for
their results, as more collectives at once than threads may end in a time-out of XLA's. The last lines are the time of
the calling thread alone for a training step, which is what Python costs: the devices' own threads do the work. They are
of several processes, of which the worst counts: where the devices' threads take the caller's cores, each step finds the
caches of the processor empty, so one device shows Python's own cost. `python benchmarks/mesh.py step` is one of these
processes.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
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
PROCESSES = 5
MOST = 20.0
"""The microseconds that a jitted step may cost over JAX's own."""


wait: Any = jax.block_until_ready


def seconds(call: Callable[[], Any], calls: int) -> float:
    """Seconds a call."""
    start = time.perf_counter()
    for number in range(1, calls + 1):
        result = call()
        if number % TOGETHER == 0:
            wait(result)
    wait(result)
    return (time.perf_counter() - start) / calls


def beside(ours: Callable[[], Any], theirs: Callable[[], Any], calls: int) -> tuple[float, float, float]:
    """Microseconds a call of each, and the ratio."""
    for call in (ours, theirs):
        seconds(call, TOGETHER)
    rounds = [(seconds(ours, calls), seconds(theirs, calls)) for _ in range(ROUNDS)]
    ratio = statistics.median(one / other for one, other in rounds)
    first, second = (1e6 * statistics.median(column) for column in zip(*rounds, strict=True))
    return first, second, ratio


def calling(ours: Callable[[], Any], theirs: Callable[[], Any]) -> tuple[float, float]:
    """Microseconds that the calling thread is busy a call of each, call by call in turn: the least of the rounds."""
    least = [float("inf")] * 2
    for _ in range(4 * ROUNDS):
        total = [0.0] * 2
        for _ in range(TOGETHER):
            for which, call in enumerate((ours, theirs)):
                start = time.thread_time()
                result = call()
                total[which] += time.thread_time() - start
                wait(result)  # with more steps at once their collectives may wait for each other
        least = [*map(min, least, total)]
    first, second = (1e6 * total / TOGETHER for total in least)
    return first, second


def step(model: Any, inputs: tb.Tensor, targets: tb.Tensor) -> Any:
    """A step of a network of two layers."""

    def loss(model: Any) -> tb.Tensor:
        hidden = tb.maximum(tb.dot(inputs, model["up"], contract=(["feature"], ["feature"])), 0.0)
        return tb.mean(tb.square(tb.dot(hidden, model["down"], contract=(["hidden"], ["hidden"])) - targets))

    value, gradient = tb.value_and_grad(loss)(model)
    return value, tb.tree_map(lambda p, g: p - 0.1 * g, model, gradient)


def by_hand(model: Any, inputs: Any, targets: Any) -> Any:
    """The same of arrays, to be compiled with the shardings of its results."""

    def loss(model: Any) -> Any:
        return jnp.mean(jnp.square(jnp.maximum(inputs @ model["up"], 0.0) @ model["down"] - targets))

    value, gradient = jax.value_and_grad(loss)(model)
    return value, jax.tree.map(lambda p, g: p - 0.1 * g, model, gradient)


def steps(backend: Any) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """A compiled step of ours and of JAX on the same numbers, divided alike."""
    sizes = {"batch": 64, "feature": 32, "hidden": 64, "out": 16}
    names = {"up": ("feature", "hidden"), "down": ("hidden", "out"), "inputs": ("batch", "feature")}
    tensors = {
        key: tb.random.normal(tb.random.key(0, backend=backend), tuple(map(sizes.get, axes)), names=axes)  # type: ignore[arg-type] # all have sizes
        for key, axes in {**names, "targets": ("batch", "out")}.items()
    }
    arrays = {key: x.data for key, x in tensors.items()}
    model, weights = ({key: operands[key] for key in ("up", "down")} for operands in (tensors, arrays))
    put = {key: backend.whole(x.template) for key, x in tensors.items()}
    shardings = (backend.committed, {key: put[key] for key in weights})
    ours, theirs = tb.jit(step), jax.jit(by_hand, out_shardings=shardings)
    return (
        lambda: ours(model, tensors["inputs"], tensors["targets"])[0].data,
        lambda: theirs(weights, arrays["inputs"], arrays["targets"])[0],
    )


def data_of(function: Callable[..., tb.Tensor], *tensors: tb.Tensor) -> Any:
    """The payload of a function's result."""
    return function(*tensors).data


def main() -> None:
    """Prints a line for each comparison."""
    backend = tb.JaxBackend(mesh=tb.Mesh({"data": 4, "model": 2}), layout=RULES)
    print(f"{'on 4 x 2 devices':36} {'ours us':>10} {'JAX us':>10} {'ratio':>7}")
    for shape, calls in SHAPES.items():
        x = tb.asarray(np.ones(shape, np.float32), names=("batch", "hidden"), backend=backend)
        data = x.data
        print_line(f"x + x, {shape}", *beside(partial(data_of, tb.add, x, x), partial(jnp.add, data, data), calls))
        function, its = tb.jit(lambda x: tb.tanh(x * x)), jax.jit(lambda data: jnp.tanh(data * data))
        print_line(f"jitted tanh(x * x), {shape}", *beside(partial(data_of, function, x), partial(its, data), calls))
    runs = [step_alone() for _ in range(PROCESSES)]
    for place, what in enumerate(("1 device", "4 x 2")):
        _, ours, theirs = max((run[2 * place] - run[2 * place + 1], *run[2 * place : 2 * place + 2]) for run in runs)
        print(f"{f'calling thread, jitted step, {what}':36} {ours:10.1f} {theirs:10.1f} {ours - theirs:+7.1f}")
    print(f"the worst of {PROCESSES} processes, at most {MOST:+.1f}")


def step_alone() -> list[float]:
    """The figures of a jitted step, of a process of its own."""
    command = [sys.executable, __file__, "step"]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [*map(float, printed.split())]


def print_step() -> None:
    """Microseconds that the calling thread is busy for a step of ours and of JAX: on one device, then on eight."""
    figures: list[float] = []
    for sizes in ({"data": 1, "model": 1}, {"data": 4, "model": 2}):
        figures += calling(*steps(tb.JaxBackend(mesh=tb.Mesh(sizes), layout=RULES)))
    print(*figures)


def print_line(what: str, ours: float, theirs: float, ratio: float) -> None:
    """One comparison."""
    print(f"{what:36} {ours:10.1f} {theirs:10.1f} {ratio:7.2f}")


if __name__ == "__main__":
    print_step() if sys.argv[1:] == ["step"] else main()
