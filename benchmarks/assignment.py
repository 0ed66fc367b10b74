"""Assignment to tensors, as ratios to NumPy's of one run: `make bench`.

Not a test, as machines are noisy. All sides of a line take turns, so that a busy machine slows each, and a figure is
the minimum of many short rounds. PyTorch and JAX are compared where they are installed. The unit is `numpy.add` of 8
float32.
"""

from __future__ import annotations

from collections.abc import Mapping
from timeit import Timer
from typing import Any

import numpy as np

import tensorbackend as tb
import tensorbackend.numpy as tnp

SMALL, LARGE = 10, 1_000_000
TURN = 0.003
"""The seconds of a turn."""

LINES = {
    "x[3] = 1.0": "x.at[3].set(1.0)",
    "x[1:5] = v": "x.at[1:5].set(v)",
    "x[1:5] = x[2:6]": "x.at[1:5].set(x[2:6])",
    "X[i, j] = 1.0": "X.at[i, j].set(1.0)",
    "x[index] = 1.0": "x.at[index].set(1.0)",
    "x[index] = w": "x.at[index].set(w)",
    "x[mask] = 1.0": "x.at[mask].set(1.0)",
    "X[i, j]": "X[i, j]",
    "X[i, j] = X[i, j] + 1": "X.at[i, j].set(X[i, j] + 1)",
    "x += y": "x + y",
}
"""A line in NumPy, PyTorch and here, by tensors and by arrays, and in JAX, whose arrays have no assignment."""

BARS = {"x[1:5] = x[2:6]": None, "X[i, j]": None, "x += y": None}
"""Lines without a bar; the others take at most 3 units
more than NumPy on a few elements, and 1.3 times that on many."""


def sides(size: int) -> dict[str, dict[str, Any]]:
    """The variables of the lines, by library."""
    x = np.ones(size, np.float32)
    arrays = {
        "x": x,
        "y": x.copy(),
        "X": np.ones((size // 5, 5), np.float32),
        "v": np.ones(4, np.float32),
        "w": np.ones(2, np.float32),
        "index": np.array([1, 4]),
        "mask": np.arange(size) % 3 == 0,
    }
    made = {
        "NumPy": arrays,
        "ours": {name: tb.tensor(array) for name, array in arrays.items()},
        "tensorbackend.numpy": {name: tnp.array(array) for name, array in arrays.items()},
    }
    try:
        import torch
    except ModuleNotFoundError:
        pass
    else:
        made["PyTorch"] = {name: torch.tensor(array) for name, array in arrays.items()}
    try:
        import jax
    except ModuleNotFoundError:
        pass
    else:
        made["JAX"] = {name: jax.numpy.asarray(array) for name, array in arrays.items()}
    return {library: {**variables, "i": 1, "j": 3} for library, variables in made.items()}


def fastest(timers: Mapping[str, Timer], rounds: int) -> dict[str, float]:
    """The seconds of each statement: the minimum of some turns, each of several runs."""
    numbers = {}
    for name, timer in timers.items():
        timer.timeit(3)  # the first runs plan, and may compile
        numbers[name] = max(1, int(TURN / max(timer.timeit(3) / 3, 1e-8)))
    best = dict.fromkeys(timers, float("inf"))
    for _ in range(rounds):
        for name, timer in timers.items():
            best[name] = min(best[name], timer.timeit(numbers[name]) / numbers[name])
    return best


def lines() -> None:
    """Prints the lines on a few elements and on many."""
    small = np.ones(8, np.float32)
    timed: dict[tuple[str, int], dict[str, float]] = {}
    for size in (SMALL, LARGE):
        variables = sides(size)
        for line, in_jax in LINES.items():
            written = {"JAX": in_jax, "PyTorch": line.replace("= x[2:6]", "= x[2:6].clone()")}
            timers = {
                library: Timer("global x\n" + written.get(library, line), globals=names)
                for library, names in variables.items()
            }
            timers["unit"] = Timer("numpy.add(a, a)", globals={"numpy": np, "a": small})
            timed[line, size] = fastest(timers, 9)
    for line in LINES:
        few, many = timed[line, SMALL], timed[line, LARGE]
        for library in ("ours", "tensorbackend.numpy"):
            units, more = [(seconds[library] - seconds["NumPy"]) / seconds["unit"] for seconds in (few, many)]
            times = [seconds[library] / seconds["NumPy"] for seconds in (few, many)]
            if line == "x[mask] = 1.0":
                bar = f"{times[1]:.2f} times NumPy at 10^6 (bar 1.2)"
            elif line == "X[i, j] = X[i, j] + 1":
                bar = f"{times[0]:.1f} and {times[1]:.1f} times NumPy (bar 20)"
            elif line in BARS:
                bar = f"{units:.1f} units over NumPy"
            else:
                bar = f"{units:.1f} units over NumPy (bar 3), {more:.1f} at 10^6 (bar 3.9)"
            name = line if library == "ours" else f"    {library}"
            print(f"{name:<23} {few[library] * 1e6:7.2f} and {many[library] * 1e6:8.2f} µs: {bar}")
        for library in few.keys() - {"ours", "tensorbackend.numpy", "unit"}:
            print(f"    {library:<18} {few[library] * 1e6:7.2f} and {many[library] * 1e6:7.2f} µs")


def loops(turns: int = 300) -> None:
    """Prints what an iteration of a loop takes that writes one element each time."""
    timers = {}
    for size in (1_000, LARGE):
        function = tb.jit(lambda x: tb.fori_loop(0, turns, lambda turn, carry: tb.put_at(carry, turn, 0.5), x))
        timers[str(size)] = Timer("function(x)", globals={"function": function, "x": tb.zeros(size) + 1})
    seconds = fastest(timers, 15)
    few, many = seconds["1000"] / turns, seconds[str(LARGE)] / turns
    text = f"{few * 1e6:.2f} µs at 10^3, {many * 1e6:.2f} µs at 10^6: {many / few:.2f} times (bar 1.5)"
    print(f"an iteration of fori_loop with put_at: {text}")


if __name__ == "__main__":
    lines()
    loops()
