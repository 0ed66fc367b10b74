"""The cost of shapes that never came before: single calls, programs whose sizes change, and `tb.jit`.

    python benchmarks/new_shapes.py [word ...]

With words, measures only the lines that contain one of them. Not a test, as machines are noisy.

Each call gets operands of a shape that its op has not met, and gives a result of one, as in a loop over texts of
different lengths: `asarray` makes the operands before the clock starts, and they live until the round ends. Reductions
to a number and the weights of a layer keep their shapes, as they do in such a loop. The shapes of each round are spread
over the same sizes, so that NumPy takes equally long in each. All sides take turns, and the minimum of the rounds
counts. Processor time is measured, so that other programs on the machine do not count. The unit is the time of
`numpy.add` of 8 float32. A number with "named" is for operands with axis names, which have the same bar.
"""

from __future__ import annotations

import gc
import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np
from scipy.special import erf

import tensorbackend as tb

SECONDS = 1.0
"""How long a line is measured, unless its shapes end before."""
PRIME, LEAST = 31, 3
"""The number of sizes of an axis, a prime, and the smallest one; a round has as many calls."""
STEPS = 16
"""The number of rows that a buffer grows by."""

Arrays = tuple[Any, ...]


class Side(NamedTuple):
    """A library: how it makes its operands from arrays, and what it computes from them."""

    convert: Callable[[Any], Any]
    call: Callable[..., Any]
    read: Callable[[Any], Any] = np.asarray
    calls: int = 10**6
    rounds: int = 10**6


class Line(NamedTuple):
    """A measured call: the most that it may take, its operands, and how each library writes it."""

    most: float
    operands: Callable[[int, int, int], Arrays]
    by_numpy: Callable[..., Any]
    ours: Callable[..., Any]
    by_torch: Callable[..., Any]
    by_jax: Callable[..., Any]


# Shapes


def shapes() -> Iterator[tuple[int, int, int]]:
    """Yield three sizes; any two of them never come again together, and each round has each size once."""
    for turn in random.Random(0).sample(range(PRIME), PRIME):
        for row in range(PRIME):
            column = (12 * row + turn) % PRIME
            yield row + LEAST, column + LEAST, (row + column) % PRIME + LEAST


def lengths(least: int, most: int, calls: int) -> Iterator[int]:
    """Yield lengths that never come again; those of a round, `calls` of them, are spread over all."""
    step = (most - least) // calls
    for start in random.Random(0).sample(range(least, least + step), step):
        yield from range(start, start + calls * step, step)


GENERATOR = np.random.default_rng(0)


def drawn(*shape: int) -> Any:
    """Return random float32 numbers."""
    return GENERATOR.standard_normal(shape).astype(np.float32)


# Single calls


def matrices(count: int) -> Callable[[int, int, int], Arrays]:
    """Operands of one shape with two axes."""
    return lambda rows, columns, inner: tuple(drawn(rows, columns) for _ in range(count))


def stacked(rows: int, columns: int, inner: int) -> Arrays:
    """An operand with a short first axis, so that its reductions have a new shape as well."""
    return (drawn(4, rows, columns),)


def factors(rows: int, columns: int, inner: int) -> Arrays:
    """Two factors of a matrix product."""
    return drawn(rows, columns), drawn(columns, inner)


def masked(rows: int, columns: int, inner: int) -> Arrays:
    return drawn(rows, columns) > 0, drawn(rows, columns), drawn(rows, columns)


def sizes(rows: int, columns: int, inner: int) -> Arrays:
    return rows, columns


def softmax(x: Any) -> Any:
    exponentials = np.exp(x - x.max(axis=0, keepdims=True))
    return exponentials / exponentials.sum(axis=0, keepdims=True)


def logsumexp(x: Any) -> Any:
    largest = x.max(axis=0, keepdims=True)
    return np.log(np.exp(x - largest).sum(axis=0)) + largest[0]


def gelu(x: Any) -> Any:
    return x * np.float32(0.5) * (np.float32(1) + erf(x * np.float32(0.5**0.5)))


def lines() -> dict[str, Line]:
    """The single calls; those of libraries that are not installed are never called."""
    torch, jax = imported("torch"), imported("jax")
    jnp = imported("jax.numpy")
    return {
        "x + y": Line(6, matrices(2), np.add, tb.add, lambda x, y: x + y, lambda x, y: x + y),
        "x * 2.5": Line(6, matrices(1), lambda x: x * 2.5, lambda x: x * 2.5, lambda x: x * 2.5, lambda x: x * 2.5),
        "exp(x)": Line(6, matrices(1), np.exp, tb.exp, lambda x: torch.exp(x), lambda x: jnp.exp(x)),
        "where(mask, x, y)": Line(6, masked, np.where, tb.where, lambda *all: torch.where(*all),
                                  lambda *all: jnp.where(*all)),
        "sum(x)": Line(9, matrices(1), np.sum, tb.sum, lambda x: torch.sum(x), lambda x: jnp.sum(x)),
        "sum(x, axis=0)": Line(9, stacked, lambda x: np.sum(x, axis=0), lambda x: tb.sum(x, axis=0),
                               lambda x: torch.sum(x, dim=0), lambda x: jnp.sum(x, axis=0)),
        "x @ y": Line(9, factors, np.matmul, tb.matmul, lambda x, y: x @ y, lambda x, y: x @ y),
        "concatenate([x, y], axis=1)": Line(9, matrices(2), lambda x, y: np.concatenate([x, y], axis=1),
                                            lambda x, y: tb.concatenate([x, y], axis=1),
                                            lambda x, y: torch.cat([x, y], dim=1),
                                            lambda x, y: jnp.concatenate([x, y], axis=1)),
        "x.astype(int32)": Line(9, matrices(1), lambda x: x.astype(np.int32), lambda x: x.astype(tb.int32),
                                lambda x: x.to(torch.int32), lambda x: x.astype(jnp.int32)),
        "zeros(shape)": Line(9, sizes, lambda *shape: np.zeros(shape, np.float32),
                             lambda *shape: tb.zeros(shape, dtype="float32"), lambda *shape: torch.zeros(shape),
                             lambda *shape: jnp.zeros(shape)),
        "reshape(x, (m, 1, n))": Line(16, matrices(1), lambda x: np.reshape(x, (x.shape[0], 1, x.shape[1])),
                                      lambda x: tb.reshape(x, (x.shape[0], 1, x.shape[1])),
                                      lambda x: torch.reshape(x, (x.shape[0], 1, x.shape[1])),
                                      lambda x: jnp.reshape(x, (x.shape[0], 1, x.shape[1]))),
        "broadcast_to(x, (2, m, n))": Line(16, matrices(1), lambda x: np.broadcast_to(x, (2, *x.shape)),
                                           lambda x: tb.broadcast_to(x, (2, *x.shape)),
                                           lambda x: torch.broadcast_to(x, (2, *x.shape)),
                                           lambda x: jnp.broadcast_to(x, (2, *x.shape))),
        "max(x, axis=0)": Line(16, stacked, lambda x: np.max(x, axis=0), lambda x: tb.max(x, axis=0),
                               lambda x: torch.amax(x, dim=0), lambda x: jnp.max(x, axis=0)),
        "softmax(x, axis=0)": Line(25, stacked, softmax, lambda x: tb.softmax(x, axis=0),
                                   lambda x: torch.softmax(x, dim=0), lambda x: jax.nn.softmax(x, axis=0)),
        "mean(x, axis=0)": Line(25, stacked, lambda x: np.mean(x, axis=0), lambda x: tb.mean(x, axis=0),
                                lambda x: torch.mean(x, dim=0), lambda x: jnp.mean(x, axis=0)),
        "var(x, axis=0)": Line(25, stacked, lambda x: np.var(x, axis=0), lambda x: tb.var(x, axis=0),
                               lambda x: torch.var(x, dim=0, correction=0), lambda x: jnp.var(x, axis=0)),
        "logsumexp(x, axis=0)": Line(60, stacked, logsumexp, lambda x: tb.logsumexp(x, axis=0),
                                     lambda x: torch.logsumexp(x, dim=0), lambda x: jax.nn.logsumexp(x, axis=0)),
        "nn.gelu(x)": Line(110, matrices(1), gelu, tb.nn.gelu, lambda x: torch.nn.functional.gelu(x),
                           lambda x: jax.nn.gelu(x, approximate=False)),
        "einsum('ij,jk->ik', x, y)": Line(120, factors, lambda x, y: np.einsum("ij,jk->ik", x, y),
                                          lambda x, y: tb.einsum("ij,jk->ik", x, y),
                                          lambda x, y: torch.einsum("ij,jk->ik", x, y),
                                          lambda x, y: jnp.einsum("ij,jk->ik", x, y)),
        "stack([x, y])": Line(120, matrices(2), lambda x, y: np.stack([x, y]), lambda x, y: tb.stack([x, y]),
                              lambda x, y: torch.stack([x, y]), lambda x, y: jnp.stack([x, y])),
    }  # fmt: skip


NAMES = {
    "x @ y": (("row", "inner"), ("inner", "column")),
    "einsum('ij,jk->ik', x, y)": (("row", "inner"), ("inner", "column")),
    "zeros(shape)": (),
}
"""Axis names of the operands of a call; for other calls those of its operands' last axes."""


def named(name: str) -> Callable[[Arrays], Arrays]:
    """Return the function that makes tensors with axis names of a call's operands."""

    def tensors(arrays: Arrays) -> Arrays:
        given = NAMES.get(name, [("layer", "row", "column")[-x.ndim :] for x in arrays])
        return tuple(tb.asarray(x, names=names) for x, names in zip(arrays, given, strict=True))

    return tensors


# Programs


@dataclass(frozen=True)
class Network:
    """Three layers, in the functions of one library."""

    tanh: Callable[[Any], Any]
    softmax: Callable[[Any], Any]

    def __call__(self, x: Any, w: Any, b: Any, v: Any, c: Any, u: Any) -> Any:
        """Return the probabilities of each row's classes."""
        return self.softmax(self.tanh(self.tanh(x @ w + b) @ v + c) @ u)


def by_rows(x: Any) -> Any:
    """A softmax of each row, in NumPy."""
    exponentials = np.exp(x - x.max(axis=1, keepdims=True))
    return exponentials / exponentials.sum(axis=1, keepdims=True)


WEIGHTS = tuple(drawn(*shape) for shape in ((16, 32), (32,), (32, 32), (32,), (32, 4)))
TEXT, VALUES, WORDS, QUERY = drawn(1100), drawn(1100), drawn(1100, 16), drawn(16)
ROWS = tuple(drawn(1, 4) for _ in range(STEPS))


def grown(concatenate: Callable[..., Any]) -> Callable[..., Any]:
    """A buffer that grows by one row at a time."""

    def grow(buffer: Any, *rows: Any) -> Any:
        for row in rows:
            buffer = concatenate([buffer, row])
        return buffer

    return grow


def attention(softmax: Callable[[Any], Any]) -> Callable[..., Any]:
    """Attention of one query over the first `count` words."""

    def attend(words: Any, query: Any, count: int) -> Any:
        seen = words[:count]
        return softmax(seen @ query * 0.25) @ seen

    return attend


def over_all(x: Any) -> Any:
    """A softmax of a vector, in NumPy."""
    exponentials = np.exp(x - x.max())
    return exponentials / exponentials.sum()


def programs() -> dict[str, Line]:
    """The programs whose sizes change."""
    torch, jax = imported("torch"), imported("jax")
    jnp = imported("jax.numpy")
    return {
        "three layers, new batch": Line(
            2, lambda n, *rest: (drawn(n, 16), *WEIGHTS), Network(np.tanh, by_rows),
            Network(tb.tanh, lambda x: tb.softmax(x, axis=1)),
            Network(lambda x: torch.tanh(x), lambda x: torch.softmax(x, dim=1)),
            Network(lambda x: jnp.tanh(x), lambda x: jax.nn.softmax(x, axis=1)),
        ),
        "sum(x[:k] * v[:k])": Line(
            3, lambda k, *rest: (TEXT, VALUES, k), lambda x, v, k: np.sum(x[:k] * v[:k]),
            lambda x, v, k: tb.sum(x[:k] * v[:k]), lambda x, v, k: torch.sum(x[:k] * v[:k]),
            lambda x, v, k: jnp.sum(x[:k] * v[:k]),
        ),
        "growing buffer, 16 rows": Line(
            4, lambda n, *rest: (drawn(n * STEPS, 4), *ROWS), grown(np.concatenate), grown(tb.concatenate),
            grown(lambda parts: torch.cat(parts)), grown(lambda parts: jnp.concatenate(parts)),
        ),
        "attention over k words": Line(
            2, lambda k, *rest: (WORDS, QUERY, k), attention(over_all), attention(lambda x: tb.softmax(x, axis=0)),
            attention(lambda x: torch.softmax(x, dim=0)), attention(lambda x: jax.nn.softmax(x)),
        ),
    }  # fmt: skip


LENGTHS = {
    "three layers, new batch": (4, 132, 4),
    "sum(x[:k] * v[:k])": (16, 1024, 16),
    "growing buffer, 16 rows": (1, 61, 1),
    "attention over k words": (16, 1024, 16),
}
"""The least and the most length of each program, and its calls in a round."""


# Measuring


def imported(name: str) -> Any:
    """Return a module, or `None` if it is not installed."""
    if find_spec(name.partition(".")[0]) is None:
        return None
    module = __import__(name, fromlist=["x"])
    if name == "torch":
        module.set_num_threads(1)
    return module


def converter(make: Callable[[Any], Any]) -> Callable[[Arrays], Arrays]:
    """Return the function that converts arrays to another library and leaves ints as they are."""
    return lambda arrays: tuple(make(x) if isinstance(x, np.ndarray) else x for x in arrays)


def sides_of(line: Line, with_names: Callable[[Arrays], Arrays] | None = None) -> dict[str, Side]:
    """Return NumPy, ours and the peers that are installed; ours also on operands with names, if they can have any."""
    sides = {"numpy": Side(lambda arrays: arrays, line.by_numpy), "ours": Side(converter(tb.asarray), line.ours)}
    if with_names is not None:
        sides["named"] = Side(with_names, line.ours)
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
            sides = sides_of(line, named(name) if NAMES.get(name) != () else None)
            least = measured(sides, (line.operands(*shape) for shape in shapes()), PRIME)
            plain, unit = least["numpy"], least["unit"]
            over = {side: (least[side] - plain) / unit for side in sides if side != "numpy"}
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
