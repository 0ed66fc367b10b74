"""The time of random numbers with the package and without, next to NumPy's own: `python benchmarks/draws.py`."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy
import tensorbackend as tb
from tensorbackend.backends.numpy_backend import NumpyBackend

COUNT = 10**6


def main() -> None:
    """Prints a table of minima, in milliseconds; the sides are measured alternately."""
    key, rng = tb.random.key(0), numpy.random.default_rng(0)
    programs: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "random.bits": (lambda: tb.random.bits(key, (COUNT,)), lambda: rng.integers(0, 2**32, COUNT, "uint32")),
        "random.uniform": (lambda: tb.random.uniform(key, (COUNT,)), lambda: rng.random(COUNT, "float32")),
        "random.normal": (lambda: tb.random.normal(key, (COUNT,)), lambda: rng.standard_normal(COUNT, "float32")),
        "random.randint": (lambda: tb.random.randint(key, (COUNT,), 0, 100), lambda: rng.integers(0, 100, COUNT)),
    }
    backend = NumpyBackend()
    native = backend.native
    print("| | with the package | without | NumPy's generator |", "| --- | --- | --- | --- |", sep="\n")
    for name, (ours, theirs) in programs.items():
        least = [float("inf")] * 3
        for _ in range(20):
            for place, (program, used) in enumerate([(ours, native), (ours, None), (theirs, None)]):
                backend.native = used
                begin = time.perf_counter()
                program()
                least[place] = min(least[place], time.perf_counter() - begin)
        print(f"| `{name}` |", " | ".join(f"{1e3 * seconds:.1f}" for seconds in least), "|")
    backend.native = native


if __name__ == "__main__":
    main()
