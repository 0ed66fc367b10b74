"""The calls and programs that `benchmarks/new_shapes.py` measures, in NumPy, tensorbackend, PyTorch and JAX."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from scipy.special import erf

import tensorbackend as tb

PRIME, LEAST = 31, 3
"""The number of sizes of an axis, a prime, and the smallest one; a round has as many calls."""
STEPS = 16
"""The number of rows that a buffer grows by."""

Arrays = tuple[Any, ...]


class Line(NamedTuple):
    """A measured call: the most that it may take, its operands, and how each library writes it."""

    most: float
    operands: Callable[[int, int, int], Arrays]
    by_numpy: Callable[..., Any]
    ours: Callable[..., Any]
    by_torch: Callable[..., Any]
    by_jax: Callable[..., Any]


def imported(name: str) -> Any:
    """Return a module, or `None` if it is not installed."""
    if find_spec(name.partition(".")[0]) is None:
        return None
    module = __import__(name, fromlist=["x"])
    if name == "torch":
        module.set_num_threads(1)
    return module


# Shapes


def shapes(half: int) -> Iterator[tuple[int, int, int]]:
    """Yield three sizes; any two of them never come again together, and each round has each size once.

    The two halves, 0 and 1, have no shape in common.
    """
    for turn in random.Random(0).sample(range(PRIME), PRIME)[half::2]:
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
