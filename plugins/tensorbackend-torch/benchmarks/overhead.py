"""Ours compared with PyTorch's on the same calls, in one run: `python overhead.py [small|large] [NAME ...]`.

For each call the microseconds of PyTorch and of tensorbackend and their ratio; at the end the geometric mean. The two
alternate and the shortest time of each counts, so that a busy machine disturbs both equally.
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
import torch

SECONDS = 0.4
"""How long the two of a call alternate."""


class Case(NamedTuple):
    """One call, both ways."""

    name: str
    theirs: Callable[[], Any]
    ours: Callable[[], Any]


def cases(small: bool) -> Iterator[Case]:
    """The calls, on a few elements or on 10^6."""
    generator = numpy.random.default_rng(0)
    count, side, order = (8, 8, 8) if small else (1_000_000, 1000, 256)
    drawn = generator.standard_normal(count).astype("float32")
    a, b = torch.from_numpy(drawn), torch.from_numpy(generator.random(count, "float32") + 0.5)
    m = torch.from_numpy(generator.standard_normal((side, side)).astype("float32"))
    s = torch.from_numpy(generator.standard_normal((order, order)).astype("float32"))
    p = s @ s.T + order * torch.eye(order)
    whole, c = torch.from_numpy(generator.integers(-50, 50, count)), torch.complex(a, b)
    mask, places = a > 0, torch.from_numpy(generator.integers(0, side, side))
    row = m[0].clone()
    x, y, matrix, square, definite, integers, flags, indices, z, line = (
        tb.asarray(array) for array in (a, b, m, s, p, whole, mask, places, c, row)
    )
    named = tb.asarray(m, names=("row", "column"))
    yield Case("add", lambda: a + b, lambda: x + y)
    yield Case("add a number", lambda: a + 1.0, lambda: x + 1.0)
    yield Case("multiply by a row", lambda: m * row, lambda: matrix * line)
    yield Case("divide", lambda: a / b, lambda: x / y)
    yield Case("power", lambda: b**a, lambda: y**x)
    yield Case("square", lambda: torch.square(a), lambda: tb.square(x))
    yield Case("exp", lambda: torch.exp(a), lambda: tb.exp(x))
    yield Case("log", lambda: torch.log(b), lambda: tb.log(y))
    yield Case("sin", lambda: torch.sin(a), lambda: tb.sin(x))
    yield Case("tanh", lambda: torch.tanh(a), lambda: tb.tanh(x))
    yield Case("sqrt", lambda: torch.sqrt(b), lambda: tb.sqrt(y))
    yield Case("abs", lambda: torch.abs(a), lambda: tb.abs(x))
    yield Case("negative", lambda: -a, lambda: -x)
    yield Case("less", lambda: a < b, lambda: x < y)
    yield Case("where", lambda: torch.where(mask, a, b), lambda: tb.where(flags, x, y))
    yield Case("clip", lambda: torch.clip(a, -1, 1), lambda: tb.clip(x, -1, 1))
    yield Case("maximum", lambda: torch.maximum(a, b), lambda: tb.maximum(x, y))
    yield Case("floor_divide int", lambda: whole // 7, lambda: integers // 7)
    yield Case("remainder int", lambda: whole % 7, lambda: integers % 7)
    yield Case("add int", lambda: whole + whole, lambda: integers + integers)
    yield Case("astype float64", lambda: a.to(torch.float64), lambda: tb.astype(x, "f64"))
    yield Case("astype int32", lambda: a.to(torch.int32), lambda: tb.astype(x, "s32"))
    yield Case("sum", lambda: a.sum(), lambda: tb.sum(x))
    yield Case("sum of an axis", lambda: m.sum(1), lambda: tb.sum(named, axis="column"))
    yield Case("mean of an axis", lambda: m.mean(1), lambda: tb.mean(named, axis="column"))
    yield Case("var of an axis", lambda: m.var(1, correction=0), lambda: tb.var(named, axis="column"))
    yield Case("max of an axis", lambda: m.amax(1), lambda: tb.max(named, axis="column"))
    yield Case("argmax of an axis", lambda: m.argmax(1), lambda: tb.argmax(named, axis="column"))
    yield Case("any", lambda: mask.any(), lambda: tb.any(flags))
    yield Case("cumulative_sum", lambda: a.cumsum(0), lambda: tb.cumulative_sum(x))
    yield Case("matmul", lambda: s @ s, lambda: square @ square)
    yield Case("matrix by vector", lambda: m @ row, lambda: matrix @ line)
    yield Case("tensordot", lambda: torch.tensordot(s, s, 1), lambda: tb.tensordot(square, square, axes=1))
    yield Case("reshape", lambda: m.reshape(-1), lambda: tb.reshape(matrix, (-1,)))
    yield Case("transpose", lambda: m.T, lambda: matrix.T)
    yield Case("expand_dims", lambda: a[None], lambda: tb.expand_dims(x, axis=0))
    yield Case("concat", lambda: torch.cat([a, b]), lambda: tb.concat([x, y]))
    yield Case("stack", lambda: torch.stack([a, b]), lambda: tb.stack([x, y]))
    yield Case("x[0]", lambda: m[0], lambda: matrix[0])
    yield Case("x[1:]", lambda: a[1:], lambda: x[1:])
    yield Case("x[:, 1]", lambda: m[:, 1], lambda: matrix[:, 1])
    yield Case("x[mask]", lambda: a[mask], lambda: x[flags])
    yield Case("x[indices]", lambda: row[places], lambda: line[indices])
    yield Case("take", lambda: m.index_select(0, places), lambda: tb.take(matrix, indices, axis=0))
    yield Case("nonzero", lambda: mask.nonzero(as_tuple=True), lambda: tb.nonzero(flags))
    yield Case("sort", lambda: torch.sort(a), lambda: tb.sort(x))
    yield Case("argsort", lambda: torch.argsort(a, stable=True), lambda: tb.argsort(x))
    yield Case("pad", lambda: torch.nn.functional.pad(a, (2, 2)), lambda: tb.pad(x, ((2, 2),)))
    yield Case("roll", lambda: torch.roll(a, 3), lambda: tb.roll(x, 3))
    yield Case("flip", lambda: torch.flip(a, (0,)), lambda: tb.flip(x))
    yield Case("tril", lambda: torch.tril(m), lambda: tb.tril(matrix))
    yield Case("zeros", lambda: torch.zeros(side, side), lambda: tb.zeros((side, side)))
    yield Case("arange", lambda: torch.arange(count), lambda: tb.arange(count))
    yield Case("linspace", lambda: torch.linspace(0, 1, count), lambda: tb.linspace(0, 1, count))
    yield Case("eye", lambda: torch.eye(order), lambda: tb.eye(order))
    yield Case("outer", lambda: torch.outer(row, row), lambda: tb.outer(line, line))
    yield Case("cholesky", lambda: torch.linalg.cholesky(p), lambda: tb.linalg.cholesky(definite))
    yield Case("solve", lambda: torch.linalg.solve(p, s), lambda: tb.linalg.solve(definite, square))
    yield Case("inv", lambda: torch.linalg.inv(p), lambda: tb.linalg.inv(definite))
    yield Case("qr", lambda: torch.linalg.qr(s), lambda: tb.linalg.qr(square))
    yield Case("svd", lambda: torch.linalg.svd(s), lambda: tb.linalg.svd(square))
    yield Case("eigh", lambda: torch.linalg.eigh(p), lambda: tb.linalg.eigh(definite))
    yield Case("det", lambda: torch.linalg.det(p), lambda: tb.linalg.det(definite))
    yield Case("vector_norm", lambda: torch.linalg.vector_norm(a), lambda: tb.linalg.vector_norm(x))
    yield Case("fft", lambda: torch.fft.fft(c), lambda: tb.fft.fft(z))
    yield Case("rfft", lambda: torch.fft.rfft(a), lambda: tb.fft.rfft(x))
    yield Case("multiply complex", lambda: c * c, lambda: z * z)
    yield Case("exp complex", lambda: torch.exp(c), lambda: tb.exp(z))
    yield Case("abs complex", lambda: torch.abs(c), lambda: tb.abs(z))
    yield Case("softmax", lambda: torch.softmax(m, -1), lambda: tb.softmax(named, axis="column"))
    yield Case("logsumexp", lambda: torch.logsumexp(m, -1), lambda: tb.logsumexp(named, axis="column"))
    yield Case("asarray", lambda: torch.asarray(a), lambda: tb.asarray(a))
    yield Case("asarray of NumPy's", lambda: torch.asarray(drawn), lambda: tb.asarray(drawn))
    yield Case("item", lambda: a[0].item(), lambda: x[0].item())


def shortest_times(first: Callable[[], Any], second: Callable[[], Any]) -> tuple[float, float]:
    """The shortest time of each of two functions that alternate, in microseconds."""
    for function in (first, second):
        for _ in range(4):
            function()
    start = time.perf_counter()
    second()
    number = max(1, int(1e-3 / max(time.perf_counter() - start, 1e-7)))
    times = [math.inf, math.inf]
    end, turns = time.perf_counter() + SECONDS, 0
    while time.perf_counter() < end or turns < 3:
        turns += 1
        for place, function in enumerate((first, second)):
            start = time.perf_counter()
            for _ in range(number):
                function()
            times[place] = min(times[place], (time.perf_counter() - start) / number * 1e6)
    return times[0], times[1]


def main(arguments: list[str]) -> None:
    """Prints a line for each call, and the geometric mean of the ratios for each size."""
    tb.set_default_backend("torch")
    case_names = [argument for argument in arguments if argument not in ("small", "large")]
    for size in ("small", "large"):
        if size not in arguments and {"small", "large"}.intersection(arguments):
            continue
        ratios: list[tuple[float, str]] = []
        for case in cases(size == "small"):
            if case_names and case.name not in case_names:
                continue
            theirs, ours = shortest_times(case.theirs, case.ours)
            ratios.append((ours / theirs, case.name))
            print(f"{size:6} {case.name:20} {theirs:12.2f} {ours:12.2f} {ours / theirs:8.2f}", flush=True)
        mean = math.exp(sum(math.log(ratio) for ratio, _ in ratios) / len(ratios))
        worst = ", ".join(f"{name} {ratio:.1f}" for ratio, name in sorted(ratios, reverse=True)[:12])
        print(f"{size}: geometric mean {mean:.2f} of {len(ratios)} calls; the worst: {worst}")


if __name__ == "__main__":
    main(sys.argv[1:])
