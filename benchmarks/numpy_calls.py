"""What a call through `tensorbackend.numpy` costs over the library's own call: `python benchmarks/numpy_calls.py`.

The unit is `numpy.add` of 8 float32; at most 2 units more than the library's call is the bar. The calls take turns, and
each figure is the minimum of many short rounds. Arrays have 8 or 2 x 4 elements in NumPy's memory.

Then what loops of small calls take next to NumPy's own: at most 5 times as long is the bar.

Not a test, as machines are noisy.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Collection, Sequence
from timeit import Timer

import numpy

import tensorbackend as tb
import tensorbackend.numpy as np

BAR, ROUNDS, CALLS = 2.0, 300, 100

CALLS_BESIDE = {
    "add": ("np.add(x, x)", "tb.add(t, t)"),
    "add of a view": ("np.add(view, x)", "tb.add(t, t)"),
    "add of two views": ("np.add(view, view)", "tb.add(t, t)"),
    "add of a reshaped view": ("np.add(flat, x)", "tb.add(t, t)"),
    "add of new views": ("np.add(x[1:], x[:-1])", "tb.add(t[1:], t[:-1])"),
    "operator, new views": ("x[1:] + x[:-1]", "t[1:] + t[:-1]"),
    "new views of rows": ("m[1] + m[0]", "u[1] + u[0]"),
    "new views of columns": ("m[:, 1] + m[:, 0]", "u[:, 1] + u[:, 0]"),
    "new view of a view": ("view[1:] + view[:-1]", "t[1:] + t[:-1]"),
    "exp of a view": ("np.exp(view)", "tb.exp(t)"),
    "exp of a new view": ("np.exp(x[1:])", "tb.exp(t[1:])"),
    "exp of x.T": ("np.exp(m.T)", "tb.exp(u.T)"),
    "x.T, kept": ("np.exp(turned)", "tb.exp(v)"),
    "add of a new reshape": ("m.reshape(8) + x", "tb.reshape(u, (8,)) + t"),
    "sum of a view": ("np.sum(view)", "tb.sum(t)"),
    "sum of a new view": ("np.sum(x[1:])", "tb.sum(t[1:])"),
    "sum of x.T": ("np.sum(m.T, axis=0)", "tb.sum(u.T, axis=0)"),
    "view.sum, axis": ("turned.sum(axis=1)", "tb.sum(v, axis=1)"),
    "dot of x.T": ("np.dot(m, m.T)", "tb.matmul(u, u.T)"),
    "m @ x.T": ("m @ m.T", "u @ u.T"),
    "where of views": ("np.where(mask, view, view)", "tb.where(bits, t, t)"),
    "concatenate of new views": ("np.concatenate([x[1:], x[:1]])", "tb.concat([t[1:], t[:1]])"),
    "clip of a view": ("np.clip(view, 0.0, 1.0)", "tb.clip(t, 0.0, 1.0)"),
    "view[1:] = y": ("view[1:3] = pair", "t[1:3] = p"),
    "view += y": ("iadd(view, one)", "t[...] = t + o"),
    "exp": ("np.exp(x)", "tb.exp(t)"),
    "x * 2.0": ("x * 2.0", "t * 2.0"),
    "x < y": ("x < x", "t < t"),
    "sum": ("np.sum(x)", "tb.sum(t)"),
    "sum, axis": ("np.sum(m, axis=1)", "tb.sum(u, axis=1)"),
    "max, axis": ("np.max(m, axis=1)", "tb.max(u, axis=1)"),
    "mean": ("np.mean(x)", "tb.mean(t)"),
    "argmax": ("np.argmax(x)", "tb.argmax(t)"),
    "dot": ("np.dot(m, n)", "tb.matmul(u, w)"),
    "m @ n": ("m @ n", "u @ w"),
    "x[2:6]": ("x[2:6]", "t[2:6]"),
    "x[mask]": ("x[mask]", "t[bits]"),
    "reshape": ("np.reshape(x, (2, 4))", "tb.reshape(t, (2, 4))"),
    "x.reshape": ("x.reshape(2, 4)", "t.reshape((2, 4))"),
    "ravel": ("np.ravel(m)", "tb.reshape(u, (-1,))"),
    "transpose": ("np.transpose(m)", "tb.permute_dims(u, (1, 0))"),
    "x.T": ("m.T", "u.T"),
    "squeeze": ("np.squeeze(row)", "tb.squeeze(r, axis=0)"),
    "expand_dims": ("np.expand_dims(x, 0)", "tb.expand_dims(t, axis=0)"),
    "moveaxis": ("np.moveaxis(m, 0, 1)", "tb.moveaxis(u, 0, 1)"),
    "swapaxes": ("np.swapaxes(m, 0, 1)", "tb.permute_dims(u, (1, 0))"),
    "broadcast_to": ("np.broadcast_to(x, (2, 8))", "tb.broadcast_to(t, (2, 8))"),
    "cumsum": ("np.cumsum(x)", "tb.cumulative_sum(t, axis=0)"),
    "cumsum, axis": ("np.cumsum(m, axis=1)", "tb.cumulative_sum(u, axis=1)"),
    "concatenate": ("np.concatenate([x, x])", "tb.concat([t, t])"),
    "stack": ("np.stack([x, x])", "tb.stack([t, t])"),
    "where": ("np.where(mask, x, x)", "tb.where(bits, t, t)"),
    "where beside a number": ("np.where(mask, x, 0.0)", "tb.where(bits, t, 0.0)"),
    "where beside a bool": ("np.where(mask, mask, False)", "tb.where(bits, bits, False)"),
    "where, number first": ("np.where(mask, 0.0, x)", "tb.where(bits, 0.0, t)"),
    "clip": ("np.clip(x, 0.0, 1.0)", "tb.clip(t, 0.0, 1.0)"),
    "sort": ("np.sort(x)", "tb.sort(t)"),
    "argsort": ("np.argsort(x)", "tb.argsort(t)"),
    "take": ("np.take(x, i)", "tb.take(t, j, axis=0)"),
    "flip": ("np.flip(x)", "tb.flip(t)"),
    "roll": ("np.roll(x, 1)", "tb.roll(t, 1)"),
    "repeat": ("np.repeat(x, 2)", "tb.repeat(t, 2)"),
    "tile": ("np.tile(x, 2)", "tb.tile(t, (2,))"),
    "diff": ("np.diff(x)", "tb.diff(t)"),
    "outer": ("np.outer(x, x)", "tb.outer(t, t)"),
    "einsum": ("np.einsum('ij,jk->ik', m, n)", "tb.einsum('ij,jk->ik', u, w)"),
    "tril": ("np.tril(square)", "tb.tril(s)"),
    "zeros": ("np.zeros((2, 4))", "tb.zeros((2, 4), dtype=tb.float64)"),
    "zeros_like": ("np.zeros_like(x)", "tb.zeros_like(t)"),
    "x.astype": ("x.astype(np.float32)", "tb.astype(t, tb.float32)"),
    "norm": ("np.linalg.norm(x)", "tb.linalg.vector_norm(t)"),
    "x[1:3] = y": ("x[1:3] = pair", "t[1:3] = p"),
    "x += y": ("iadd(x, one)", "iadd(t, o)"),
}
"""A call by the namespace, and the library's own."""

LOOPS: dict[str, str] = {
    "zeros(3)": "np.zeros(3)",
    "empty(3)": "np.empty(3)",
    "arange(3)": "np.arange(3)",
    "array of arrays": "np.array([x, x, x])",
    "array of rows": "np.array([[1.0, 2.0], [3.0, 4.0]])",
    "array of numbers": "np.array([1.0, 2.0, 3.0])",
    "sqrt of a number": "np.sqrt(2.0)",
    "rows of a matrix": "for row in m: pass",
    "elements of a line": "for each in x: pass",
    "x.flat": "for each in m.flat: pass",
    "ndenumerate": "for each in np.ndenumerate(m): pass",
    "nditer": "for each in np.nditer(m): pass",
    "vectorize": "doubled(x)",
    "add.at": "np.add.at(x, i, 1.0)",
    "x[i] = v": "x[1] = 2.0",
    "x[i]": "x[1]",
}
"""Statements that both run."""
LOOPS_BAR = 5.0


def names() -> dict[str, object]:
    """Return what the calls use."""
    x, m = np.ones(8), np.ones((2, 4))
    made: dict[str, object] = {
        "np": np, "tb": tb, "x": x, "m": m, "n": np.ones((4, 2)), "row": np.ones((1, 8)), "mask": np.arange(8) > 3,
        "i": np.asarray([1, 2, 5]), "square": np.ones((4, 4)), "view": np.ones(9)[1:], "flat": m.reshape(8),
        "turned": m.T,
        "pair": np.ones(2), "one": np.ones(8), "base": m,
    }  # fmt: skip
    tensors = {
        "t": "x",
        "u": "m",
        "w": "n",
        "r": "row",
        "bits": "mask",
        "j": "i",
        "s": "square",
        "p": "pair",
        "o": "one",
        "v": "turned",
    }
    return made | {short: made[name].tensor for short, name in tensors.items()}  # type: ignore[attr-defined]


def least(timers: Sequence[Timer]) -> list[float]:
    """Return the least seconds of a call of each, which take turns."""
    found = [float("inf")] * len(timers)
    for timer in timers:
        timer.timeit(CALLS)
    for _ in range(ROUNDS):
        found = [min(best, timer.timeit(CALLS)) for best, timer in zip(found, timers, strict=True)]
    return [seconds / CALLS for seconds in found]


def calls(chosen: Collection[str]) -> None:
    """Print what calls take over the library's own."""
    scope = names() | {"a": numpy.ones(8, numpy.float32), "iadd": operator.iadd, "numpy": numpy}
    above = 0
    for name in chosen:
        timers = [Timer(code, globals=scope) for code in ("numpy.add(a, a)", *CALLS_BESIDE[name])]
        base, ours, library = least(timers)
        more = (ours - library) / base
        above += more > BAR
        mark = " above the bar" if more > BAR else ""
        print(
            f"{name:<24} {ours * 1e6:7.2f} µs, the library's {library * 1e6:6.2f}: {more:+5.1f} units{mark}", flush=True
        )
    print(f"{len(chosen)} calls, {above} above {BAR:g} units")


def loops(chosen: Collection[str]) -> None:
    """Print how many times as long as NumPy's statements take."""
    scopes = []
    for namespace in (numpy, np):
        made = {"x": namespace.ones(8), "m": namespace.ones((2, 4)), "i": namespace.asarray([1, 2, 5])}
        scopes.append({**made, "np": namespace, "doubled": namespace.vectorize(lambda x: 2.0 * x)})
    above = 0
    for name in chosen:
        theirs, ours = least([Timer(LOOPS[name], globals=scope) for scope in scopes])
        above += ours / theirs > LOOPS_BAR
        mark = " above the bar" if ours / theirs > LOOPS_BAR else ""
        print(
            f"{name:<24} {ours * 1e6:7.2f} µs, NumPy's {theirs * 1e6:6.2f}: {ours / theirs:5.1f} times{mark}",
            flush=True,
        )
    print(f"{len(chosen)} loops, {above} above {LOOPS_BAR:g} times")


def main() -> None:
    chosen = sys.argv[1:] or [*CALLS_BESIDE, *LOOPS]
    calls([name for name in chosen if name in CALLS_BESIDE])
    loops([name for name in chosen if name in LOOPS])


if __name__ == "__main__":
    main()
