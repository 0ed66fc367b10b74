"""What got slower since the last line of docs/history.jsonl: `make bench-history`, or with `WRITE=1` to add a line.

Each program runs next to the same computation in NumPy, in alternating short rounds, and its figure is the ratio of the
minima: seconds would say more about the machine than about the library. A program that looks slower is measured longer
before that is said. The file has one line a day, so that a day can be measured again.

Not a test, as machines are noisy; the exit status is 1 if something got slower.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np

import tensorbackend as tb

FILE = Path(__file__).resolve().parents[1] / "docs" / "history.jsonl"

SLOWER = 1.12
"""The smallest change of a ratio that counts; between two runs on one machine, minima differ by less."""

SECONDS, SWEEPS, ROUND, AGAIN = 2.5, 5, 3e-4, 3
"""How long a program is measured, in how many parts, how long a round is at least, and how often what looks slower is
measured again."""

Call: TypeAlias = Callable[[], object]
Programs: TypeAlias = Mapping[str, tuple[Call, Call]]
"""NumPy's computation and ours, by the name of the program."""


def programs() -> Programs:
    """The programs: calls on a few elements, on many, on new shapes, and what is built on them."""
    generator = np.random.default_rng(0)
    row, matrix = np.ones(8, "f"), np.ones((8, 8), "f")
    x, m = tb.asarray(row, names=("n",)), tb.asarray(matrix, names=("row", "column"))
    other, mask, dry = m.rename("column", "out"), x > 0, tb.template((8,), "f32", ("n",))
    large = generator.normal(size=1_000_000).astype("f")
    some = large[:10_000].copy()
    few, wide, key = tb.asarray(some, names=("n",)), tb.asarray(large, names=("n",)), tb.random.key(0)
    chain = tb.jit(lambda x: tb.exp(x * 2.0 + 1.0) - x)
    shapes = [np.ones((1 + i % 50, 1 + i // 50), "f") for i in range(400)]
    tensors = [tb.asarray(array) for array in shapes]
    target, written = row.copy(), tb.asarray(row.copy())
    weight, batch = generator.normal(size=(32, 8)).astype("f"), generator.normal(size=(16, 32)).astype("f")
    w, b = tb.asarray(weight, names=("in", "out")), tb.asarray(batch, names=("batch", "in"))
    both = tb.value_and_grad(lambda w: tb.sum(tb.tanh(b @ w)))

    def softmax() -> Any:
        exponentials = np.exp(matrix - matrix.max(axis=1, keepdims=True))
        return exponentials / exponentials.sum(axis=1, keepdims=True)

    def by_hand() -> Any:
        values = np.tanh(batch @ weight)
        return values.sum(), batch.T @ (1 - values * values)

    def on_each_shape() -> None:
        for array in shapes:
            np.add(array, array)

    def on_each_shape_ours() -> None:
        for tensor in tensors:
            tb.add(tensor, tensor)

    def assign() -> None:
        target[3] = 1.0

    def assign_ours() -> None:
        written[3] = 1.0

    return {
        "add, 8 elements": (lambda: np.add(row, row), lambda: x + x),
        "multiply by a number": (lambda: row * 2, lambda: x * 2),
        "index": (lambda: matrix[0], lambda: m[0]),
        "sum, axis": (lambda: np.sum(matrix, axis=1), lambda: tb.sum(m, axis="column")),
        "product of 8 x 8": (lambda: matrix @ matrix, lambda: m @ other),
        "where": (lambda: np.where(row > 0, row, np.float32(0)), lambda: tb.where(mask, x, 0.0)),
        "concat": (lambda: np.concatenate([row, row]), lambda: tb.concat([x, x])),
        "zeros": (lambda: np.zeros((8, 8), "f"), lambda: tb.zeros((8, 8))),
        "softmax": (softmax, lambda: tb.softmax(m, axis="column")),
        "assign an element": (assign, assign_ours),
        "add, on 400 shapes": (on_each_shape, on_each_shape_ours),
        "add, dry run": (lambda: np.add(row, row), lambda: dry + dry),
        "value and gradient of a layer": (by_hand, lambda: both(w)),
        "add, 10^6 elements": (lambda: np.add(large, large), lambda: wide + wide),
        "sum, 10^6 elements": (lambda: np.sum(large), lambda: tb.sum(wide)),
        "compiled chain, 10^4 elements": (lambda: np.exp(some * 2 + 1) - some, lambda: chain(few)),
        "normal draws, 10^4": (
            lambda: generator.standard_normal(10_000, "f"),
            lambda: tb.random.normal(key, (10_000,)),
        ),
    }


class Pair:
    """A program while it is measured: the minimum time of each side, in rounds that alternate."""

    def __init__(self, base: Call, ours: Call, clock: Callable[[], float]) -> None:
        self.calls, self.clock, self.best = (base, ours), clock, [math.inf, math.inf]
        self.numbers = [self._number(call) for call in self.calls]

    def _number(self, call: Call) -> int:
        """How many calls make a round; the first calls, which plan, are no measure."""
        number = 1
        while min(self._took(call, number) for _ in range(3)) < ROUND:
            number *= 2
        return number

    def _took(self, call: Call, number: int) -> float:
        start = self.clock()
        for _ in range(number):
            call()
        return self.clock() - start

    def measure(self, seconds: float) -> None:
        """Measures for some time more."""
        end = self.clock() + seconds
        while self.clock() < end:
            for side, call in enumerate(self.calls):
                self.best[side] = min(self.best[side], self._took(call, self.numbers[side]) / self.numbers[side])

    @property
    def ratio(self) -> float:
        """The time of ours over that of the base."""
        return self.best[1] / self.best[0]


def measure(
    chosen: Programs,
    before: Mapping[str, float],
    *,
    seconds: float = SECONDS,
    clock: Callable[[], float] = perf_counter,
) -> dict[str, float]:
    """The ratio of each program, measured in sweeps over all of them; those that look slower are measured longer.

    So a while in which the machine was busy takes a part of the rounds of each program, and not all those of one.
    """
    pairs = {name: Pair(*calls, clock) for name, calls in chosen.items()}
    for _ in range(SWEEPS):
        for pair in pairs.values():
            pair.measure(seconds / SWEEPS)
    for _ in range(AGAIN):
        for name in slower({name: pair.ratio for name, pair in pairs.items()}, before):
            pairs[name].measure(seconds)
    return {name: pair.ratio for name, pair in pairs.items()}


def slower(now: Mapping[str, float], before: Mapping[str, float]) -> dict[str, float]:
    """The programs that got slower, each with the factor."""
    changes = {name: now[name] / before[name] for name in now if name in before}
    return {name: change for name, change in changes.items() if change > SLOWER}


def read(path: Path = FILE) -> list[dict[str, Any]]:
    """The lines of the file, the oldest first."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def today(ratios: Mapping[str, float]) -> dict[str, Any]:
    """A line of the file."""
    return {
        "day": datetime.now(UTC).date().isoformat(),
        "version": tb.__version__,
        "python": ".".join(platform.python_version_tuple()[:2]),
        "numpy": ".".join(np.__version__.split(".")[:2]),
        "processor": platform.machine(),
        "ratios": {name: float(f"{value:.3g}") for name, value in ratios.items()},
    }


def write(line: Mapping[str, Any], path: Path = FILE) -> None:
    """Adds a line, in place of one of the same day."""
    kept = [other for other in read(path) if other["day"] != line["day"]]
    path.write_text("".join(f"{json.dumps(one)}\n" for one in [*kept, line]))


def report(line: Mapping[str, Any], last: Mapping[str, Any] | None) -> int:
    """Prints each ratio next to the last one, and what got slower; the exit status."""
    before = {} if last is None else last["ratios"]
    width = max(map(len, line["ratios"]))
    print(f"{'times NumPy':{width}} {'then' if last is None else last['day']:>10} {'now':>8} {'change':>8}")
    for name, now in line["ratios"].items():
        then = before.get(name)
        change = "" if then is None else f"{now / then - 1:+.0%}"
        print(f"{name:{width}} {'' if then is None else f'{then:.3g}':>10} {now:8.3g} {change:>8}")
    if last is not None and any(last[key] != line[key] for key in ("python", "numpy", "processor")):
        print("the last line is of another Python, NumPy or processor: a change may be theirs")
    found = slower(line["ratios"], before)
    for name, factor in found.items():
        print(f"slower: {name}: {factor - 1:.0%} more than on {last['day'] if last else ''}")
    return 1 if found else 0


def main() -> int:
    """Measures, compares with the last line, and adds one if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--write", action="store_true", help="adds a line, in place of one of today")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for each program (default: %(default)s)")
    options = parser.parse_args()
    lines = read()
    last = lines[-1] if lines else None
    line = today(measure(programs(), {} if last is None else last["ratios"], seconds=options.seconds))
    status = report(line, last)
    if options.write:
        write(line)
    return status


if __name__ == "__main__":
    sys.exit(main())
