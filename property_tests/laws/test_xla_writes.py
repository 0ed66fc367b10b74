"""Writes that read what they overwrite, after ops whose results XLA keeps in another shape: compiled on JAX, and their
compiled gradients, as eagerly on NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.testing import profile

SIZES = st.sampled_from((2, 3, 4, 5, 8, 16, 17, 31, 64, 100, 5000))

Step = Callable[[tb.Tensor], tb.Tensor]


def positions(x: tb.Tensor, factor: int) -> tb.Tensor:
    """Positions along the last axis in another order, some of them twice where the factor divides the size."""
    return tb.asarray([place * factor % x.shape[-1] for place in range(x.shape[-1])], backend=x.backend)


BEFORE: dict[str, Step] = {
    "nothing": lambda x: x,
    "cumulative_sum": lambda x: tb.cumulative_sum(x, axis=-1),
    "cumulative_max": lambda x: tb.cumulative_max(x, axis=-1),
    "take": lambda x: tb.take(x, positions(x, 7), axis=-1),
    "index": lambda x: x[..., positions(x, 3)],
    "flip": lambda x: tb.flip(x, axis=-1),
    "sort": lambda x: tb.sort(x, axis=-1),
    "window_sum": lambda x: tb.window_sum(x, (*(1,) * (x.ndim - 1), 2), strides=1, padding="same"),
    "reshape": lambda x: tb.reshape(tb.reshape(x, (-1, 1)) * 2, x.shape),
    "roll": lambda x: tb.roll(x, 1, axis=-1),
}
"""What makes the tensor that is written to."""


def shifted(y: tb.Tensor) -> tb.Tensor:
    y = tb.tensor(y)
    y[..., 1:] = y[..., :-1] + 1
    return y


def shifted_back(y: tb.Tensor) -> tb.Tensor:
    y = tb.tensor(y)
    y[..., :-1] = y[..., 1:] * 2
    return y


def shifted_rows(y: tb.Tensor) -> tb.Tensor:
    y = tb.tensor(y)
    y[1:] = y[:-1] + 1
    return y


def strided(y: tb.Tensor) -> tb.Tensor:
    y = tb.tensor(y)
    y[..., 1::2] = y[..., : y.shape[-1] // 2] + 1
    return y


def turned(y: tb.Tensor) -> tb.Tensor:
    y = tb.tensor(y)
    y[...] = tb.flip(y, axis=-1) + 1
    return y


def added(y: tb.Tensor) -> tb.Tensor:
    y = tb.tensor(y)
    y[..., 1:] += y[..., :-1]
    return y


def put(y: tb.Tensor) -> tb.Tensor:
    return tb.put_slice(y, y[..., :-1] - 1, starts=(*(0,) * (y.ndim - 1), 1))


def put_somewhere(y: tb.Tensor) -> tb.Tensor:
    """The start is data."""
    start = tb.astype(tb.sum(y * 0), "int32") + 1
    return tb.put_slice(y, y[..., :-1] - 1, starts=(*(0,) * (y.ndim - 1), start))


def put_at_positions(y: tb.Tensor) -> tb.Tensor:
    y = tb.tensor(y)
    y[..., positions(y, 1)] = tb.flip(y, axis=-1)
    return y


def one_row(op: Callable[..., tb.Tensor]) -> Step:
    """Change the first row by itself, moved by one element."""

    def change(y: tb.Tensor) -> tb.Tensor:
        rows = tb.reshape(y, (-1, y.shape[-1]))
        moved = tb.pad(rows[:1, :-1] + 1, ((0, 0), (1, 0)))
        return op(rows, tb.asarray([[0]], backend=y.backend), moved)

    return change


WRITES: dict[str, Step] = {
    "shifted": shifted,
    "shifted back": shifted_back,
    "shifted rows": shifted_rows,
    "every second": strided,
    "turned": turned,
    "added": added,
    "put_slice": put,
    "put_slice at data": put_somewhere,
    "positions": put_at_positions,
    "indexed_put of a row": one_row(tb.indexed_put),
    "indexed_add of a row": one_row(tb.indexed_add),
    "indexed_max of a row": one_row(tb.indexed_max),
}


@pytest.mark.parametrize("write", WRITES)
def test_a_write_reads_what_was_there_before(write: str) -> None:
    @profile(4)
    @given(st.sampled_from(sorted(BEFORE)), SIZES, st.sampled_from((0, 0, 1, 3)), st.integers(0, 1 << 16))
    @example("cumulative_sum", 8, 0, 1)
    @example("take", 16, 0, 0)
    def holds(before: str, size: int, rows: int, seed: int) -> None:
        values = np.random.default_rng(seed).integers(-9, 10, (rows, size) if rows else (size,)).astype("float32")

        def program(x: tb.Tensor) -> tb.Tensor:
            return WRITES[write](BEFORE[before](x))

        def loss(x: tb.Tensor) -> tb.Tensor:
            y = program(x)
            return tb.sum(y * tb.reshape(tb.iota(y.size, dtype="float32", backend=x.backend), y.shape))

        for function in (program, tb.grad(loss)) if seed % 2 else (program,):
            wanted = np.asarray(function(tb.asarray(values, backend="numpy")))
            found = tb.jit(function)(tb.asarray(values, backend="jax"))
            np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-5, atol=1e-4)

    holds()


def test_a_loop_that_writes_its_own_rows() -> None:
    """Each iteration reads the row that the last one wrote."""

    @profile(4)
    @given(SIZES, st.integers(2, 5))
    def holds(size: int, count: int) -> None:
        def program(x: tb.Tensor) -> Any:
            def body(i: tb.Tensor, table: tb.Tensor) -> tb.Tensor:
                return tb.put_slice(table, tb.flip(table[i][None], axis=-1) + 1, starts=(i + 1, 0))

            return tb.fori_loop(0, count - 1, body, x)

        values = np.arange(count * size, dtype="float32").reshape(count, size)
        wanted = np.asarray(program(tb.asarray(values, backend="numpy")))
        found = tb.jit(program)(tb.asarray(values, backend="jax"))
        np.testing.assert_array_equal(np.asarray(found), wanted)

    holds()
