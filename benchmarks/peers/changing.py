"""Programs whose shapes change: each call has operands of a shape that did not come before.

The programs of `benchmarks/new_shapes.py` that each library writes in the same way. Operands are made before the clock
starts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

import tensorbackend as tb

from .measuring import Contender, Fresh

PROGRAMS = {
    "add": "x + y",
    "sum of an axis": "sum(x, axis=0)",
    "matmul": "x @ y",
    "matmul of a batch": "x @ y, x a stack of 4 matrices",
    "softmax": "softmax(x, axis=0)",
    "concatenate": "concatenate([x, y])",
    "reshape": "reshape(x, (m, 1, n))",
    "sum of a part": "sum(u[:k] * v[:k])",
    "buffer": "concatenate([x, row])",
    "attention": "softmax(words[:k] @ query) @ words[:k]",
    "network": "three layers on a new batch: softmax(tanh(tanh(x @ w + b) @ v + c) @ u)",
}
SIZES = "3 to 33 rows and columns, up to 1000 words"
PRIME, LEAST, WORDS, FEATURES = 31, 3, 1000, 16
RANDOM = np.random.default_rng(0)


def drawn(*shape: int) -> Any:
    """Return random float32 numbers."""
    return RANDOM.standard_normal(shape).astype(np.float32)


class Constants(NamedTuple):
    """The arrays whose shapes stay."""

    first: Any
    second: Any
    words: Any
    query: Any
    row: Any
    w: Any
    b: Any
    v: Any
    c: Any
    u: Any


CONSTANTS = Constants(
    drawn(WORDS + 1), drawn(WORDS + 1), drawn(WORDS + 1, FEATURES), drawn(FEATURES), drawn(1, FEATURES),
    drawn(FEATURES, 32), drawn(32), drawn(32, 32), drawn(32), drawn(32, 4),
)  # fmt: skip


class Functions(NamedTuple):
    """What a library calls the functions that the programs use."""

    convert: Callable[[Any], Any]
    total: Callable[[Any], Any]
    total_of_rows: Callable[[Any], Any]
    softmax: Callable[[Any, int], Any]
    concatenate: Callable[[list[Any]], Any]
    reshape: Callable[[Any, tuple[int, ...]], Any]
    tanh: Callable[[Any], Any]


def matrices(turn: int) -> Iterator[tuple[int, int]]:
    """Yield numbers of rows and columns that come once in 961 calls; those of neighbouring calls differ much."""
    yield LEAST, LEAST
    while True:
        for row in range(PRIME):
            yield row + LEAST, (12 * row + turn) % PRIME + LEAST
        turn += 1


def lengths(turn: int) -> Iterator[int]:
    """Yield lengths from 1 to 1000, each once in 1000 calls, in an order that jumps."""
    yield 618
    at = 617 * PRIME * (turn + 1) % WORDS
    while True:
        at = (at + 617) % WORDS
        yield at + 1


def programs(library: Functions, turn: int = 1) -> Mapping[str, Fresh]:
    """Return the programs in a library's functions; after the first call the shapes depend on `turn`."""
    convert = library.convert
    first, second, words, query, row, w, b, v, c, u = map(convert, CONSTANTS)

    def one(sizes: Iterator[tuple[int, int]]) -> Callable[[], tuple[Any, ...]]:
        return lambda: (convert(drawn_once(*next(sizes))),)

    def two(sizes: Iterator[tuple[int, int]]) -> Callable[[], tuple[Any, ...]]:
        def make() -> tuple[Any, ...]:
            rows, columns = next(sizes)
            return convert(drawn_once(rows, columns)), convert(drawn_once(rows, columns))

        return make

    def factors(sizes: Iterator[tuple[int, int]]) -> Callable[[], tuple[Any, ...]]:
        def make() -> tuple[Any, ...]:
            rows, columns = next(sizes)
            return convert(drawn_once(rows, columns)), convert(drawn_once(columns, (rows + columns) % PRIME + LEAST))

        return make

    def stacks(sizes: Iterator[tuple[int, int]]) -> Callable[[], tuple[Any, ...]]:
        def make() -> tuple[Any, ...]:
            rows, columns = next(sizes)
            stack = drawn_once(4 * rows, columns).reshape(4, rows, columns)
            return convert(stack), convert(drawn_once(columns, (rows + columns) % PRIME + LEAST))

        return make

    def wide(sizes: Iterator[int]) -> Callable[[], tuple[Any, ...]]:
        return lambda: (convert(drawn_once(next(sizes), FEATURES)),)

    def part(sizes: Iterator[int]) -> Callable[[], tuple[Any, ...]]:
        return lambda: (next(sizes),)

    def attention(k: int) -> Any:
        seen = words[:k]
        return library.softmax(seen @ query, 0) @ seen

    return {
        "add": Fresh(two(matrices(turn)), lambda x, y: x + y),
        "sum of an axis": Fresh(one(matrices(turn)), library.total_of_rows),
        "matmul": Fresh(factors(matrices(turn)), lambda x, y: x @ y),
        "matmul of a batch": Fresh(stacks(matrices(turn)), lambda x, y: x @ y),
        "softmax": Fresh(one(matrices(turn)), lambda x: library.softmax(x, 0)),
        "concatenate": Fresh(two(matrices(turn)), lambda x, y: library.concatenate([x, y])),
        "reshape": Fresh(one(matrices(turn)), lambda x: library.reshape(x, (x.shape[0], 1, x.shape[1]))),
        "sum of a part": Fresh(part(lengths(turn)), lambda k: library.total(first[:k] * second[:k])),
        "buffer": Fresh(wide(lengths(turn)), lambda x: library.concatenate([x, row])),
        "attention": Fresh(part(lengths(turn)), attention),
        "network": Fresh(
            wide(lengths(turn)), lambda x: library.softmax(library.tanh(library.tanh(x @ w + b) @ v + c) @ u, 1)
        ),
    }


SOURCE = drawn((WORDS + 1) * FEATURES)


def drawn_once(rows: int, columns: int) -> Any:
    """Return an array of a shape, a copy of the same elements for every library."""
    return SOURCE[: rows * columns].reshape(rows, columns).copy()


def contenders() -> list[Contender]:
    """Return all contenders; on JAX ours compiles each shape as JAX does, and is left out as it takes so long."""
    return [by_numpy(), by_torch(), by_jax(), ours("numpy", "NumPy"), ours("torch", "PyTorch")]


def by_numpy() -> Contender:
    def softmax(x: Any, axis: int) -> Any:
        exponentials = np.exp(x - x.max(axis=axis, keepdims=True))
        return exponentials / exponentials.sum(axis=axis, keepdims=True)

    functions = Functions(
        np.asarray, np.sum, lambda x: np.sum(x, axis=0), softmax, np.concatenate, np.reshape, np.tanh
    )  # fmt: skip
    return Contender("NumPy", programs(functions))


def by_torch() -> Contender:
    import torch

    torch.set_num_threads(1)
    functions = Functions(
        torch.from_numpy, torch.sum, lambda x: torch.sum(x, dim=0), lambda x, axis: torch.softmax(x, dim=axis),
        torch.cat, torch.reshape, torch.tanh,
    )  # fmt: skip
    return Contender("PyTorch", programs(functions))


def by_jax() -> Contender:
    import jax
    import jax.numpy as jnp

    functions = Functions(
        jnp.asarray, jnp.sum, lambda x: jnp.sum(x, axis=0), lambda x, axis: jax.nn.softmax(x, axis=axis),
        jnp.concatenate, jnp.reshape, jnp.tanh,
    )  # fmt: skip
    return Contender("JAX", programs(functions), finish=jax.block_until_ready)


def ours(backend: str, title: str) -> Contender:
    """Ours; each backend gets other shapes, as the dispatcher remembers what it decided for any backend."""
    turn = 1 if backend == "numpy" else 16
    functions = Functions(
        lambda array: tb.asarray(array, backend=backend), tb.sum, lambda x: tb.sum(x, axis=0),
        lambda x, axis: tb.softmax(x, axis=axis), tb.concatenate, tb.reshape, tb.tanh,
    )  # fmt: skip
    return Contender(f"ours on {title}", programs(functions, turn), finish=lambda result: result.block_until_ready())
