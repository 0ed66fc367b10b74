"""The cost of shapes that never came before: single calls, programs whose sizes change, and `tb.jit`.

    python benchmarks/new_shapes.py [word ...]

With words, measures only the lines that contain one of them. Not a test, as machines are noisy.

Each call gets operands of a shape that is new to its op, and returns a result of one, as in a loop over texts of
different lengths: `asarray` makes the operands before the clock starts, and they live until the round ends. Reductions
to a number and the weights of a layer keep their shapes, as they do in such a loop. The shapes of each round are spread
over the same sizes, so that NumPy takes equally long in each. All sides take turns, and the minimum of the rounds
counts. Processor time is measured, so that other programs on the machine do not count. The unit is the time of
`numpy.add` of 8 float32. A number with "named" is for operands with axis names, which have the same bar.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np
from new_shapes_calls import (
    LENGTHS,
    NAMES,
    PRIME,
    WEIGHTS,
    Arrays,
    Line,
    Network,
    drawn,
    imported,
    lengths,
    lines,
    named,
    programs,
    shapes,
)

import tensorbackend as tb

SECONDS = 1.0
"""How long a line is measured, unless its shapes end before."""


class Side(NamedTuple):
    """A library: how it makes its operands from arrays, and what it computes from them."""

    convert: Callable[[Any], Any]
    call: Callable[..., Any]
    read: Callable[[Any], Any] = np.asarray
    calls: int = 10**6
    rounds: int = 10**6


def converter(make: Callable[[Any], Any]) -> Callable[[Arrays], Arrays]:
    """Return the function that converts arrays to another library and returns ints unchanged."""
    return lambda arrays: tuple(make(x) if isinstance(x, np.ndarray) else x for x in arrays)


def sides_of(line: Line) -> dict[str, Side]:
    """Return NumPy, ours and the peers that are installed."""
    sides = {"numpy": Side(lambda arrays: arrays, line.by_numpy), "ours": Side(converter(tb.asarray), line.ours)}
    if torch := imported("torch"):
        sides["torch"] = Side(converter(torch.from_numpy), line.by_torch)
    if jax := imported("jax"):
        finished = jax.block_until_ready
        sides["jax"] = Side(
            converter(imported("jax.numpy").asarray), lambda *operands: finished(line.by_jax(*operands)), calls=2,
            rounds=3,
        )  # fmt: skip
    return sides


def measured(sides: Mapping[str, Side], draws: Iterator[Arrays], calls: int) -> dict[str, float]:
    """Return the seconds of one call on each side, and of the unit: minima of rounds in which they take turns.

    The first call of each side is compared with the first side's, and not timed.
    """
    first = next(draws)
    expected: Any = None
    for side in sides.values():
        result = side.read(side.call(*side.convert(first)))
        expected = result if expected is None else expected
        if not np.allclose(result, expected, atol=1e-4):
            raise ValueError(f"expected results that agree, got {result!r} and {expected!r}")
    least = dict.fromkeys(("unit", *sides), float("inf"))
    eight = np.ones(8, np.float32)
    end = perf_counter() + SECONDS
    order, number = list(sides), 0
    gc.collect()
    gc.disable()
    try:
        while perf_counter() < end or number < 5:
            arrays = [draw for _, draw in zip(range(calls), draws, strict=False)]
            if len(arrays) < calls:
                break
            least["unit"] = min(least["unit"], timed(np.add, [(eight, eight)] * 100))
            for name in order:
                side = sides[name]
                if number < side.rounds:
                    operands = list(map(side.convert, arrays[: side.calls]))
                    least[name] = min(least[name], timed(side.call, operands))
            order.append(order.pop(0))
            number += 1
    finally:
        gc.enable()
    return least


def timed(call: Callable[..., Any], operands: Sequence[Arrays]) -> float:
    """Return the seconds of one call."""
    start = process_time()
    for each in operands:
        call(*each)
    return (process_time() - start) / len(operands)


def single_calls(wanted: Callable[[str], bool]) -> None:
    """Prints what each single call takes over NumPy's own time, in units."""
    print("new shape: time over NumPy's own, in units of numpy.add of 8 float32")
    for name, line in lines().items():
        if wanted(name):
            sides = sides_of(line)
            least = measured(sides, (line.operands(*shape) for shape in shapes(0)), PRIME)
            plain, unit = least["numpy"], least["unit"]
            over = {side: (least[side] - plain) / unit for side in sides if side != "numpy"}
            if NAMES.get(name) != ():  # which has operands; they get other shapes, as kernels serve all names
                sides = {"numpy": sides["numpy"], "named": Side(named(name), line.ours)}
                again = measured(sides, (line.operands(*shape) for shape in shapes(1)), PRIME)
                over["named"] = (again["named"] - again["numpy"]) / again["unit"]
            worst = max(over[side] for side in ("ours", "named") if side in over)
            text = ", ".join(f"{side} {shown(units)}" for side, units in over.items())
            print(
                f"{name:<28} numpy {plain * 1e6:6.2f} us, ours {least['ours'] * 1e6:7.2f} us; units: {text} "
                f"(at most {line.most:g}{mark(worst, line.most)})",
                flush=True,
            )


def shown(number: float) -> str:
    return f"{number:.0f}" if number >= 100 else f"{number:.1f}" if number >= 10 else f"{number:.2f}"


def mark(value: float, most: float) -> str:
    return "" if value <= most else ": over"


def whole_programs(wanted: Callable[[str], bool]) -> None:
    """Prints the ratio of each program to NumPy by hand, and the dry run of three layers."""
    print("programs whose sizes change: ratio to NumPy by hand")
    for name, line in programs().items():
        if wanted(name):
            least_length, most_length, calls = LENGTHS[name]
            draws = (line.operands(n, n, n) for n in lengths(least_length, most_length, calls))
            sides = sides_of(line)
            least = measured(sides, draws, calls)
            text = ", ".join(f"{side} {shown(least[side] / least['numpy'])}" for side in sides if side != "numpy")
            over = mark(least["ours"] / least["numpy"], line.most)
            print(f"{name:<28} numpy {least['numpy'] * 1e6:6.1f} us; ratio: {text} (at most {line.most:g}{over})")
    if wanted("three layers, dry run"):
        network = Network(tb.tanh, lambda x: tb.softmax(x, axis=1))
        weights = [tb.template(array.shape, "float32") for array in WEIGHTS]
        dry = Side(
            lambda arrays: arrays, lambda n: network(tb.template((n, 16), "float32"), *weights),
            read=lambda result: result.shape[1],
        )  # fmt: skip
        least = measured({"ours": dry}, ((n,) for n in lengths(4, 1024, 16)), 16)
        units = least["ours"] / least["unit"]
        print(
            f"{'three layers, dry run':<28} ours {least['ours'] * 1e6:.1f} us, {units:.0f} units "
            f"(at most 80{mark(units, 80)})"
        )


def compiled(wanted: Callable[[str], bool]) -> None:
    """Prints the ratio of a compiled call at a new size to a warm one, from the third size on."""
    print("tb.jit on NumPy, from the third size on: ratio of a call at a new size to a warm one")
    network = Network(tb.tanh, lambda x: tb.softmax(x, axis=1))
    weights = tuple(map(tb.asarray, WEIGHTS))

    def loss(weights: Any, x: tb.Tensor) -> tb.Tensor:
        return tb.mean(tb.square(network(x, *weights)))

    for name, function, most in (
        ("three layers", lambda weights, x: network(x, *weights), 3),
        ("their gradient", tb.value_and_grad(loss), 5),
    ):
        if not wanted(f"jit {name}"):
            continue
        step, calls = tb.jit(function), 8
        sizes_left = lengths(4, 132, calls)
        for n in (next(sizes_left), next(sizes_left)):
            step(weights, tb.asarray(drawn(n, 16)))
        fresh, warm, end, rounds = float("inf"), float("inf"), perf_counter() + 2 * SECONDS, 0
        while (perf_counter() < end or rounds < 5) and rounds < 15:
            operands = [(weights, tb.asarray(drawn(next(sizes_left), 16))) for _ in range(calls)]
            gc.collect()
            gc.disable()
            fresh = min(fresh, timed(step, operands))
            for _ in range(3):
                warm = min(warm, timed(step, operands))
            gc.enable()
            rounds += 1
        ratio = fresh / warm
        print(
            f"{'jit ' + name:<28} new {fresh * 1e6:8.1f} us, warm {warm * 1e6:6.1f} us, ratio {ratio:.2f} "
            f"(at most {most}{mark(ratio, most)})"
        )


def main(words: list[str]) -> None:
    """Prints a line for each measurement."""

    def wanted(name: str) -> bool:
        return not words or any(word in name for word in words)

    single_calls(wanted)
    whole_programs(wanted)
    compiled(wanted)


if __name__ == "__main__":
    main(sys.argv[1:])
