"""Compares the processor time of programs on the Dask backend with that of the same programs in plain dask.array.

    python benchmarks/overhead.py

A tensor has 100 blocks of 1 MB. Both versions compute in this thread, alternately, so that other load affects both
equally. Their tasks do the same work; they differ in how graphs are built, and in what the call of a task costs. The
minimum of several runs counts.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from typing import Any

import dask
import dask.array as da
import numpy
import tensorbackend as tb

from tensorbackend_dask import DaskBackend

BLOCKS = 100
ROWS, COLUMNS = 1000, 250
"""The shape of a block: 1 MB of float32."""

Program = Callable[[], Any]


def programs() -> dict[str, tuple[Program, Program]]:
    """Returns each program by its name, in tensorbackend and in plain dask.array; both compute their result."""
    random = numpy.random.default_rng(0)
    a, b = (random.random((BLOCKS * ROWS, COLUMNS), dtype=numpy.float32) for _ in range(2))
    row = random.random(COLUMNS, dtype=numpy.float32)
    dx, dy = (da.from_array(array, chunks=(ROWS, -1), name=False) for array in (a, b))
    backend = DaskBackend(chunks={"time": ROWS})
    x, y = (tb.asarray(array, names=("time", "column"), backend=backend) for array in (a, b))
    r, dr = tb.asarray(row, names=("column",), backend=backend), row

    def ours(function: Callable[[], tb.Tensor]) -> Program:
        return lambda: numpy.asarray(function())

    def plain(function: Callable[[], Any]) -> Program:
        return lambda: function().compute()

    return {
        "max(x + y)": (ours(lambda: tb.max(x + y)), plain(lambda: (dx + dy).max())),
        "sum(x, time)": (ours(lambda: tb.sum(x, axis="time")), plain(lambda: dx.sum(axis=0))),
        "sum(x * 2 + y)": (ours(lambda: tb.sum(x * 2 + y)), plain(lambda: (dx * numpy.float32(2) + dy).sum())),
        "sum(exp(x), column)": (
            ours(lambda: tb.sum(tb.exp(x), axis="column")),
            plain(lambda: da.exp(dx).sum(axis=1)),
        ),
        "mean(x - row, time)": (ours(lambda: tb.mean(x - r, axis="time")), plain(lambda: (dx - dr).mean(axis=0))),
        "var(x, time)": (ours(lambda: tb.var(x, axis="time")), plain(lambda: dx.var(axis=0))),
        "argmax(x, time)": (ours(lambda: tb.argmax(x, axis="time")), plain(lambda: dx.argmax(axis=0))),
        "x.T @ y": (
            ours(lambda: tb.dot(x, y.rename("time", "other"), contract="time")),
            plain(lambda: dx.T @ dy),
        ),
        "any(x[100:-100] > 2)": (ours(lambda: tb.any(x[100:-100] > 2)), plain(lambda: (dx[100:-100] > 2).any())),
        "max(cumulative_sum)": (
            ours(lambda: tb.max(tb.cumulative_sum(x, axis="time"))),
            plain(lambda: dx.cumsum(axis=0).max()),
        ),
        "max(concatenate)": (
            ours(lambda: tb.max(tb.concatenate([x, y], axis="time"))),
            plain(lambda: da.concatenate([dx, dy]).max()),
        ),
        "max(sort(x, column))": (ours(lambda: tb.max(tb.sort(x, axis="column"))), plain(lambda: sorted_(dx).max())),
    }


def sorted_(x: Any) -> Any:
    """Sorts the rows, for which dask.array has no function."""
    return x.map_blocks(numpy.sort, dtype=x.dtype, meta=x._meta)


def processor_time(program: Program) -> float:
    """Returns the processor time of one run, in seconds."""
    begun = time.process_time()
    program()
    return time.process_time() - begun


def main() -> None:
    """Prints a table and the geometric mean."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    ratios = []
    with dask.config.set(scheduler="synchronous"):
        for name, (ours, plain) in programs().items():
            close = numpy.allclose(ours(), plain(), rtol=1e-3)  # sums of float32 in another order
            pairs = [(processor_time(ours), processor_time(plain)) for _ in range(rounds)]
            mine, other = (min(seconds) for seconds in zip(*pairs, strict=True))
            ratios.append(mine / other)
            assert close, name
            print(f"{name:22} {1e3 * mine:8.1f} ms {1e3 * other:8.1f} ms {mine / other:6.2f}")
    print(f"geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}, maximum {max(ratios):.2f}")


if __name__ == "__main__":
    main()
