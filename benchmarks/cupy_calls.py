"""Calls on CuPy beside the same calls of CuPy itself, in one run: `python benchmarks/cupy_calls.py`.

For each call the microseconds of CuPy and of tensorbackend and their ratio, on 8 and on 10^6 elements; the geometric
means last. The two alternate, each waits for the device, and the shortest time of each counts.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

os.environ.setdefault("TENSORBACKEND_CHECK", "0")

import numpy

import tensorbackend as tb
from tensorbackend.errors import BackendError

SECONDS = 0.2
"""How long the two of a call alternate."""
CALLS = 20
"""How many calls are timed together, as the wait for the device takes longer than a call."""


class Case(NamedTuple):
    """One call, both ways."""

    name: str
    theirs: Callable[[], Any]
    ours: Callable[[], Any]


def cases(cupy: Any, count: int) -> Iterator[Case]:
    """The calls, on vectors of so many elements and on square matrices of about as many."""
    side = max(2, math.isqrt(count))
    generator = numpy.random.default_rng(0)
    a = cupy.asarray(generator.standard_normal(count, "float32"))
    b = cupy.asarray(generator.random(count, "float32") + 0.5)
    m = cupy.asarray(generator.standard_normal((side, side), "float32"))
    places = cupy.asarray(generator.integers(0, side, side))
    c = a + 1j * b
    x, y, matrix, indices, z = (tb.from_dlpack(array, backend="cupy") for array in (a, b, m, places, c))
    for name in ("exp", "tanh", "sqrt", "abs", "log"):
        ours, theirs, operand, array = getattr(tb, name), getattr(cupy, name), y, b
        yield Case(name, lambda f=theirs, v=array: f(v), lambda f=ours, v=operand: f(v))  # type: ignore[misc]
    yield Case("log of complex numbers", lambda: cupy.log(c), lambda: tb.log(z))
    yield Case("add", lambda: a + b, lambda: x + y)
    yield Case("add a number", lambda: a + 1.0, lambda: x + 1.0)
    yield Case("divide", lambda: a / b, lambda: x / y)
    yield Case("where", lambda: cupy.where(a > 0, a, b), lambda: tb.where(x > 0, x, y))
    yield Case("astype", lambda: a.astype("float64"), lambda: tb.astype(x, "float64"))
    yield Case("sum", lambda: a.sum(), lambda: tb.sum(x))
    yield Case("sum over an axis", lambda: m.sum(axis=0), lambda: tb.sum(matrix, axis=0))
    yield Case("max over an axis", lambda: m.max(axis=1), lambda: tb.max(matrix, axis=1))
    yield Case("cumulative_sum", lambda: cupy.cumsum(a), lambda: tb.cumulative_sum(x))
    yield Case("sort", lambda: cupy.sort(a), lambda: tb.sort(x))
    yield Case("reshape", lambda: m.reshape(-1), lambda: tb.reshape(matrix, (-1,)))
    yield Case("transpose", lambda: m.T, lambda: matrix.T)
    yield Case("concatenate", lambda: cupy.concatenate([a, b]), lambda: tb.concatenate([x, y]))
    yield Case("slice", lambda: m[1:], lambda: matrix[1:])
    yield Case("index by an array", lambda: m[places], lambda: matrix[indices])
    yield Case("matmul", lambda: m @ m, lambda: matrix @ matrix)


def measure(case: Case, wait: Callable[[], None]) -> tuple[float, float]:
    """The shortest times of a call, theirs and ours, in microseconds."""
    case.theirs(), case.ours()  # compiles kernels, which may take seconds
    best = [math.inf, math.inf]
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        for number, call in enumerate((case.theirs, case.ours)):
            wait()
            start = time.perf_counter()
            for _ in range(CALLS):
                call()
            wait()
            best[number] = min(best[number], (time.perf_counter() - start) / CALLS)
    return best[0] * 1e6, best[1] * 1e6


def main() -> int:
    """Prints the table; returns 1 where CuPy cannot be used."""
    try:
        tb.get_backend("cupy")
    except BackendError as error:
        print(error)
        return 1
    import cupy  # type: ignore[import-not-found]

    for count in (8, 1_000_000):
        ratios = []
        print(f"{count} elements{'':22}CuPy us   ours us   ratio")
        for case in cases(cupy, count):
            theirs, ours = measure(case, cupy.cuda.Device().synchronize)
            ratios.append(ours / theirs)
            print(f"{case.name:34}{theirs:8.1f}{ours:10.1f}{ours / theirs:8.2f}")
        print(f"{'geometric mean':52}{math.exp(math.fsum(map(math.log, ratios)) / len(ratios)):8.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
