"""The time of small warm calls with the package and without, next to NumPy's own: `python benchmarks/calls.py`."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorbackend as tb
from tensorbackend.ops.indexing.getitem import getitem

CALLS, ROUNDS = 4000, 40


def rows() -> dict[str, tuple[Any, Callable[[Any], Callable[[], object]], Callable[[], object]]]:
    """An op, a call of it, and NumPy's call, by what the table shows."""
    a, square = np.ones(8, "float32"), np.ones((8, 8), "float32")
    x, matrix = tb.asarray(a), tb.asarray(square)
    return {
        "add(x, x)": (tb.add, lambda op: lambda: op(x, x), lambda: np.add(a, a)),
        "multiply(x, 2.0)": (tb.multiply, lambda op: lambda: op(x, 2.0), lambda: np.multiply(a, 2.0)),
        "exp(x)": (tb.exp, lambda op: lambda: op(x), lambda: np.exp(a)),
        "sum(A, axis=0)": (tb.sum, lambda op: lambda: op(matrix, axis=0), lambda: square.sum(axis=0)),
        "matmul(A, A)": (tb.matmul, lambda op: lambda: op(matrix, matrix), lambda: np.matmul(square, square)),
        "A[0]": (getitem, lambda op: lambda: op(matrix, 0), lambda: square[0]),
        "x[1:5]": (getitem, lambda op: lambda: op(x, slice(1, 5)), lambda: a[1:5]),
        "reshape(A, (64,))": (tb.reshape, lambda op: lambda: op(matrix, (64,)), lambda: square.reshape((64,))),
        "stack([x, x])": (tb.stack, lambda op: lambda: op([x, x]), lambda: np.stack([a, a])),
    }


def main() -> None:
    """Prints a table of minima, in nanoseconds of the processor; the sides are measured alternately."""
    print("| | with the package | without | NumPy | of NumPy's time |", "| --- | --- | --- | --- | --- |", sep="\n")
    for name, (op, call, theirs) in rows().items():
        generated = op.__call__.__self__  # the function before which the package's call stands
        sides = [call(op), call(generated), theirs]
        least = [float("inf")] * 3
        for _ in range(ROUNDS):
            for place, side in enumerate(sides):
                begin = time.process_time_ns()
                for _ in range(CALLS):
                    side()
                least[place] = min(least[place], (time.process_time_ns() - begin) / CALLS)
        native, python, numpy = least
        print(f"| `{name}` | {native:.0f} | {python:.0f} | {numpy:.0f} | {native / numpy:.2f}, {python / numpy:.2f} |")


if __name__ == "__main__":
    main()
