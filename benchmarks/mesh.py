"""A mesh of eight virtual devices: calls compared with JAX on arrays with the same shardings, as ratios in one run.

`python benchmarks/mesh.py`. Each round times both in turn; a ratio is the median over the rounds. Every 32 calls wait
for their results, as XLA's collectives may time out if more of them run than there are threads. The last lines are the
time of the calling thread alone for a training step: the overhead of Python, as the devices' threads do the work. These
figures are the worst of several processes. If the devices' threads take the caller's cores, each step finds the CPU's
caches empty, so the figures on one device show the overhead of Python best. `python benchmarks/mesh.py step` is one of
these processes.
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
os.environ.setdefault("NPROC", "32")  # JAX reads both variables when it is first used

import jax
import jax.numpy as jnp
import numpy as np

import tensorbackend as tb

RULES = {"batch": "data", "hidden": "model"}
SHAPES = {(8, 2): 640, (64, 64): 640, (4096, 1024): 96}
"""Shapes of operands, and the number of calls in a round."""

ROUNDS = 21
TOGETHER = 32
PROCESSES = 5
MOST = 20.0
"""The microseconds that a jitted step may take more than JAX's own."""


wait: Any = jax.block_until_ready


def seconds(call: Callable[[], Any], calls: int) -> float:
    """Return the seconds of one call."""
    start = time.perf_counter()
    for number in range(1, calls + 1):
        result = call()
        if number % TOGETHER == 0:
            wait(result)
    wait(result)
    return (time.perf_counter() - start) / calls


def beside(ours: Callable[[], Any], theirs: Callable[[], Any], calls: int) -> tuple[float, float, float]:
    """Return the microseconds of a call of each side, and the ratio."""
    for call in (ours, theirs):
        seconds(call, TOGETHER)
    rounds = [(seconds(ours, calls), seconds(theirs, calls)) for _ in range(ROUNDS)]
    ratio = statistics.median(one / other for one, other in rounds)
    first, second = (1e6 * statistics.median(column) for column in zip(*rounds, strict=True))
    return first, second, ratio


def calling(ours: Callable[[], Any], theirs: Callable[[], Any]) -> tuple[float, float]:
    """Return the microseconds of the calling thread per call of each side, which take turns; the best round counts."""
    least = [float("inf")] * 2
    for _ in range(4 * ROUNDS):
        total = [0.0] * 2
        for _ in range(TOGETHER):
            for which, call in enumerate((ours, theirs)):
                start = time.thread_time()
                result = call()
                total[which] += time.thread_time() - start
                wait(result)  # the collectives of several steps at once may wait for each other
        least = [*map(min, least, total)]
    first, second = (1e6 * total / TOGETHER for total in least)
    return first, second


def step(model: Any, inputs: tb.Tensor, targets: tb.Tensor) -> Any:
    """A training step of a network of two layers."""

    def loss(model: Any) -> tb.Tensor:
        hidden = tb.maximum(tb.dot(inputs, model["up"], contract=(["feature"], ["feature"])), 0.0)
        return tb.mean(tb.square(tb.dot(hidden, model["down"], contract=(["hidden"], ["hidden"])) - targets))

    value, gradient = tb.value_and_grad(loss)(model)
    return value, tb.tree_map(lambda p, g: p - 0.1 * g, model, gradient)


def by_hand(model: Any, inputs: Any, targets: Any) -> Any:
    """The same step on arrays, to be compiled with the shardings of its results."""

    def loss(model: Any) -> Any:
        return jnp.mean(jnp.square(jnp.maximum(inputs @ model["up"], 0.0) @ model["down"] - targets))

    value, gradient = jax.value_and_grad(loss)(model)
    return value, jax.tree.map(lambda p, g: p - 0.1 * g, model, gradient)


def steps(backend: Any) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Return a compiled step of ours and of JAX, on the same numbers with the same shardings."""
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
    """Return the payload of a function's result."""
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
    """Return the figures of a jitted step, measured in a separate process."""
    command = [sys.executable, __file__, "step"]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [*map(float, printed.split())]


def print_step() -> None:
    """Prints the microseconds of the calling thread for a step of ours and of JAX, on one device and on eight."""
    figures: list[float] = []
    for sizes in ({"data": 1, "model": 1}, {"data": 4, "model": 2}):
        figures += calling(*steps(tb.JaxBackend(mesh=tb.Mesh(sizes), layout=RULES)))
    print(*figures)


def print_line(what: str, ours: float, theirs: float, ratio: float) -> None:
    """Prints one comparison."""
    print(f"{what:36} {ours:10.1f} {theirs:10.1f} {ratio:7.2f}")


if __name__ == "__main__":
    print_step() if sys.argv[1:] == ["step"] else main()
