"""The cost of a profile: a call before, during and after one, in one run.

    python benchmarks/profile.py

Not a test, as machines are noisy. Each figure is the minimum of many short runs. There are two ratios for calls without
a profile: times after a profile over those before, and two measurements before it, which shows the noise.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import tensorbackend as tb

CALLS, TURNS = 200, 300


def microseconds(call: Callable[[], Any]) -> float:
    """Return the microseconds of one call, measured over several calls."""
    start = time.perf_counter()
    for _ in range(CALLS):
        call()
    return (time.perf_counter() - start) / CALLS * 1e6


def main() -> None:
    x, y = tb.ones(8, names=("n",)), tb.ones(8, names=("n",))
    step = tb.jit(lambda x: tb.exp(-x) * 2)
    calls: dict[str, Callable[[], Any]] = {
        "x + y": lambda: x + y,
        "tb.sum(x)": lambda: tb.sum(x),
        "tb.softmax(x)": lambda: tb.softmax(x, axis=0),
        "x[2:4]": lambda: x[2:4],
        "tb.jit(f)(x)": lambda: step(x),
    }
    print("call            off     after / before   noise   on, µs more")
    for name, call in calls.items():
        for _ in range(50):
            call()
        before, again = (min(microseconds(call) for _ in range(TURNS)) for _ in range(2))
        with tb.profile():
            inside = min(microseconds(call) for _ in range(TURNS))
        after = min(microseconds(call) for _ in range(TURNS))
        least = min(before, again)
        print(f"{name:14} {least:5.2f}   {after / least:14.3f}   {again / before:5.3f}   {inside - least:11.2f}")


if __name__ == "__main__":
    main()
