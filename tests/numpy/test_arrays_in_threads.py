"""Threads that write rows of one array, as NumPy programs do: no row is lost, whatever else they read meanwhile."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy
import pytest

import tensorbackend as tb
import tensorbackend.numpy as np

RUNS = int(os.environ.get("TENSORBACKEND_THREAD_RUNS", "2"))
ROWS = {"numpy": (300, 2000), "jax": (40, 50), "binary": (30, 5)}


def whole(out: Any, x: Any, i: int) -> None:
    out[i] = np.sqrt(x[i]) + 1


def added(out: Any, x: Any, i: int) -> None:
    out[i] += np.sqrt(x[i]) + 1


def through_a_view(out: Any, x: Any, i: int) -> None:
    row = out[i]
    row[...] = np.sqrt(x[i]) + 1


def through_a_reshape(out: Any, x: Any, i: int) -> None:
    row = out.reshape(-1)[i * x.shape[1] : (i + 1) * x.shape[1]]
    row += np.sqrt(x[i])
    row += 1


def as_out(out: Any, x: Any, i: int) -> None:
    np.add(np.sqrt(x[i]), 1.0, out=out[i])


def by_index(out: Any, x: Any, i: int) -> None:
    out[[i]] = np.sqrt(x[i]) + 1


def by_number(out: Any, x: Any, i: int) -> None:
    row = np.sqrt(x[i]) + 1
    for j in range(0, x.shape[1], 100):
        out[i, j : j + 100] = row[j : j + 100]
    out[i, 0] = row[0]


def while_read(out: Any, x: Any, i: int) -> None:
    seen = out.tensor
    out[i] = np.sqrt(x[i]) + 1
    assert seen.shape == out.shape


def by_updates_at_places(out: Any, x: Any, i: int) -> None:
    np.add.at(out, (i, slice(None)), np.sqrt(x[i]))
    np.add.at(out, (i, slice(None)), 1)


WRITES = [
    by_updates_at_places,
    whole,
    added,
    through_a_view,
    through_a_reshape,
    as_out,
    by_index,
    by_number,
    while_read,
]


@pytest.mark.parametrize("backend", ROWS)
@pytest.mark.parametrize("write", WRITES)
def test_threads_that_write_rows_lose_none(write: Callable[[Any, Any, int], None], backend: str) -> None:
    shape = ROWS[backend]
    data = numpy.random.default_rng(0).random(shape)

    def on_backend(out: Any, x: Any, i: int) -> None:
        with tb.default_backend(backend):  # each thread has its own
            write(out, x, i)

    for _ in range(RUNS):
        with tb.default_backend(backend):
            x, out = np.array(data), np.zeros(shape)
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda i: on_backend(out, x, i), range(shape[0])))  # noqa: B023 # used at once
        numpy.testing.assert_allclose(numpy.asarray(out), numpy.sqrt(data) + 1, rtol=1e-6)


@pytest.mark.parametrize("backend", ROWS)
def test_threads_that_write_rows_of_a_tensor_lose_none(backend: str) -> None:
    shape = ROWS[backend]
    for _ in range(RUNS):
        out = tb.zeros(shape, backend=backend)

        def write(i: int, out: tb.Tensor = out) -> None:
            out[i] = float(i)

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(write, range(shape[0])))
        assert [row[0] for row in out.tolist()] == [float(i) for i in range(shape[0])]
