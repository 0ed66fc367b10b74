"""The overhead budget of the core, as ratios measured in one run: `make bench`.

Not a test, as machines are noisy. Each figure is the best of several repeats.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import timeit
from collections.abc import Callable
from typing import Any

import numpy as np

import tensorbackend as tb


def best(function: Callable[[], object], number: int, repeats: int = 9) -> float:
    """Return the seconds of one call, the minimum of several repeats."""
    return min(timeit.repeat(function, number=number, repeat=repeats)) / number


def by_hand(x: np.ndarray[Any, np.dtype[np.float32]]) -> np.ndarray[Any, np.dtype[np.float32]]:
    """A softmax along the last axis in NumPy."""
    exponentials: Any = np.exp(x - x.max(axis=1, keepdims=True))
    quotients: np.ndarray[Any, np.dtype[np.float32]] = exponentials / exponentials.sum(axis=1, keepdims=True)
    return quotients


def main() -> None:
    """Prints one line for each figure."""
    array = np.ones(8, np.float32)
    x = tb.asarray(array, names=("n",))
    dry = tb.template((8,), "f32", ("n",))
    plain = best(lambda: np.add(array, array), 50_000)
    print(f"numpy.add of 8 float32          {plain * 1e6:8.3f} µs")
    for text, function in (("x + x on NumpyBackend", lambda: x + x), ("x + x on TemplateBackend", lambda: dry + dry)):
        seconds = best(function, 50_000)
        print(f"{text:<31} {seconds * 1e6:8.3f} µs, {seconds / plain:.2f} times numpy.add")

    large = np.ones(1_000_000, np.float32)
    wide = tb.asarray(large, names=("n",))
    plain, ours = best(lambda: np.add(large, large), 50), best(lambda: wide + wide, 50)
    print(f"x + x of 10^6 float32           {ours * 1e3:8.3f} ms, {ours / plain:.2f} times numpy.add")

    square, mask = tb.asarray(np.ones((8, 8), np.float32), names=("row", "column")), x > 0
    other, data = square.rename("column", "out"), np.ones((8, 8), np.float32)
    flags = np.asarray(mask)
    for text, function, by_numpy in (
        ("x * 2", lambda: x * 2, lambda: array * 2),
        ("2 * x", lambda: 2 * x, lambda: 2 * array),
        ("x[0]", lambda: square[0], lambda: data[0]),
        ("x @ y", lambda: square @ other, lambda: data @ data),
        ("sum, axis=[0, 1]", lambda: tb.sum(square, axis=[0, 1]), lambda: np.sum(data, axis=(0, 1))),
        ("where beside a number", lambda: tb.where(mask, x, 0.0), lambda: np.where(flags, array, np.float32(0))),
        ("concat", lambda: tb.concat([x, x]), lambda: np.concatenate([array, array])),
        ("zeros", lambda: tb.zeros((8, 8)), lambda: np.zeros((8, 8), np.float32)),
        ("softmax", lambda: tb.softmax(square, axis="column"), lambda: by_hand(data)),
    ):
        plain, ours = best(by_numpy, 5_000), best(function, 5_000)
        print(f"{text + ' of a few elements':<38} {ours * 1e6:8.2f} µs, {ours / plain:.1f} times NumPy")

    random = np.random.default_rng(0)
    numbers, whole = random.normal(size=1_000_000).astype(np.float32), random.integers(-99, 99, (512, 512))
    for text, function, by_numpy in (
        ("sort of 10^6 float32", lambda: tb.sort(tb.asarray(numbers)), lambda: np.sort(numbers, kind="stable")),
        ("argsort", lambda: tb.argsort(tb.asarray(numbers)), lambda: np.argsort(numbers, kind="stable")),
        ("unique_values", lambda: tb.unique_values(tb.asarray(numbers)), lambda: np.unique(numbers)),
        ("matmul of 512x512 int64", lambda: tb.asarray(whole) @ tb.asarray(whole), lambda: whole @ whole),
    ):
        plain, ours = best(by_numpy, 1, 3), best(function, 1, 3)
        print(f"{text:<38} {ours * 1e3:8.2f} ms, {ours / plain:.2f} times NumPy")

    with tb.default_backend("binary"):
        vector = tb.tensor([math.sin(i) for i in range(100_000)], dtype="f32")
        million = tb.full(1_000_000, 0.5, dtype="f32")
        matrix = tb.tensor([[math.sin(i * j) for j in range(128)] for i in range(128)], dtype="f32")
        square = tb.reshape(million, (1000, 1000))
    for text, function in (
        ("binary add of 10^5", lambda: vector + vector),
        ("binary sum of 10^6", lambda: tb.sum(million)),
        ("binary dot of 128x128", lambda: matrix @ matrix),
        ("binary transpose of 1000x1000", lambda: square.T),
        ("binary exp of 10^5", lambda: tb.exp(vector)),
    ):
        print(f"{text:<31} {best(function, 1, 5) * 1e3:8.1f} ms")

    code = "import time; start = time.perf_counter(); import tensorbackend; print(time.perf_counter() - start)"
    # The first import must be able to write compiled files, so drop the variable that forbids it.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    seconds = min(float(subprocess.check_output([sys.executable, "-c", code], env=environment)) for _ in range(9))
    print(f"import tensorbackend            {seconds * 1e3:8.1f} ms")


if __name__ == "__main__":
    main()
