"""What got slower since the last line of docs/history.jsonl: `make bench-history`, or with `WRITE=1` to add a line.

Each program runs next to the same computation in NumPy, in alternating short rounds, and its figure is the ratio of the
minima: seconds would say more about the machine than about the library. A program that looks slower is measured again,
and the smaller ratio counts. The file has one line a day, so that a day can be measured again.

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
from itertools import cycle
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np

import tensorbackend as tb

FILE = Path(__file__).resolve().parents[1] / "docs" / "history.jsonl"

SLOWER = 1.12
"""The smallest change of a ratio that counts; between two runs on one machine, minima differ by less."""

SECONDS, ROUND, AGAIN = 2.5, 5e-4, 2
"""How long a program is measured, how long a round is at least, and how often what looks slower is measured again."""

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
    wide, key = tb.asarray(large, names=("n",)), tb.random.key(0)
    chain = tb.jit(lambda x: tb.exp(x * 2.0 + 1.0) - x)
    shapes = [np.ones((1 + i % 50, 1 + i // 50), "f") for i in range(2_000)]
    arrays, tensors = cycle(shapes), cycle([tb.asarray(array) for array in shapes])
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

    def on_new_shape() -> Any:
        array = next(arrays)
        return np.add(array, array)

    def of_new_shape() -> Any:
        tensor = next(tensors)
        return tb.add(tensor, tensor)

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
        "add, one of 2,000 shapes": (on_new_shape, of_new_shape),
        "add, dry run": (lambda: np.add(row, row), lambda: dry + dry),
        "value and gradient of a layer": (by_hand, lambda: both(w)),
        "add, 10^6 elements": (lambda: np.add(large, large), lambda: wide + wide),
        "sum, 10^6 elements": (lambda: np.sum(large), lambda: tb.sum(wide)),
        "compiled chain, 10^6 elements": (lambda: np.exp(large * 2 + 1) - large, lambda: chain(wide)),
        "normal draws, 10^5": (
            lambda: generator.standard_normal(100_000, "f"),
            lambda: tb.random.normal(key, (100_000,)),
        ),
    }


def ratio(base: Call, ours: Call, *, seconds: float = SECONDS, clock: Callable[[], float] = perf_counter) -> float:
    """The time of ours over that of the base: minima of rounds that alternate."""

    def took(call: Call, number: int) -> float:
        start = clock()
        for _ in range(number):
            call()
        return clock() - start

    numbers = []
    for call in (base, ours):
        number = 1
        while took(call, number) < ROUND:
            number *= 2
        numbers.append(number)
    best, end = [math.inf, math.inf], clock() + seconds
    while clock() < end:
        for side, call in enumerate((base, ours)):
            best[side] = min(best[side], took(call, numbers[side]) / numbers[side])
    return best[1] / best[0]


def measure(chosen: Programs, before: Mapping[str, float], **how: Any) -> dict[str, float]:
    """The ratio of each program; those that look slower than before are measured again."""
    ratios = {}
    for name, (base, ours) in chosen.items():
        found = ratio(base, ours, **how)
        for _ in range(AGAIN):
            if found > SLOWER * before.get(name, math.inf):
                found = min(found, ratio(base, ours, **how))
        ratios[name] = found
    return ratios


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
