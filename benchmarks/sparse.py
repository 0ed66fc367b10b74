"""Measures sparse products: the five-point stencil on a 96x96 grid times a vector, relative to SciPy on NumPy and to
`jax.experimental.sparse` on JAX, and the time to find that matrix by tracing the stencil.

The two sides of a ratio take turns, so that a busy machine slows both. Run it from the root of the repository.
"""

from __future__ import annotations

import time
import timeit
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import sparse as jax_sparse
from jax_backend import ratio

import tensorbackend as tb

SIZE = 96


def stencil(x: tb.Tensor) -> tb.Tensor:
    """Return the sum of the four neighbours minus four times the entry; entries outside the grid are zero."""
    wide = tb.pad(x, ((1, 1), (1, 1)))
    return wide[2:, 1:-1] + wide[:-2, 1:-1] + wide[1:-1, 2:] + wide[1:-1, :-2] - 4 * x


def waited(function: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
    """Return a call that waits for its result."""
    return lambda: function(*arguments).block_until_ready()


def main() -> None:
    """Prints one line for each comparison."""
    seconds = min(timeit.repeat(lambda: tb.sparse.from_function(stencil, f"f64[{SIZE}, {SIZE}]"), number=1, repeat=5))
    print(f"from_function: {seconds * 1e3:.0f} ms")
    for dtype in ("float32", "float64"):
        ours = tb.sparse.from_function(stencil, tb.template((SIZE, SIZE), dtype))
        theirs = ours.to_scipy()
        array = np.random.default_rng(0).normal(size=SIZE * SIZE).astype(dtype)
        compare_with_scipy(dtype, ours, theirs, array)
        with jax.enable_x64(True):
            compare_with_jax(dtype, theirs, array)


def compare_with_scipy(dtype: str, ours: tb.sparse.SparseMatrix, theirs: Any, array: Any) -> None:
    """Compares eager calls by processor time, as the calling thread does all the work."""
    x = tb.asarray(array)
    np.testing.assert_allclose(np.asarray(ours @ x), theirs @ array, rtol=1e-5, atol=1e-5)
    over = ratio(lambda: ours @ x, lambda: theirs @ array, 50, clock=time.thread_time)[-1]
    print(f"NumPy {dtype}: {over:.2f} times SciPy")


def compare_with_jax(dtype: str, matrix: Any, array: Any) -> None:
    """Compares CSR and COO, compiled with the matrix as an argument, compiled around it, and eagerly."""
    x, y = tb.asarray(array, backend="jax"), jnp.asarray(array)
    rows, places = matrix.tocsr(), matrix.tocoo()
    indices = jnp.stack([jnp.asarray(places.row), jnp.asarray(places.col)], axis=1)
    compressed = [jnp.asarray(part) for part in (rows.data, rows.indices, rows.indptr)]
    pairs: dict[str, tuple[Any, Any]] = {
        "CSR over BCSR": (
            tb.sparse.from_scipy(rows, backend="jax"),
            jax_sparse.BCSR((compressed[0], compressed[1], compressed[2]), shape=rows.shape),
        ),
        "COO over BCOO": (
            tb.sparse.from_scipy(places, backend="jax"),
            jax_sparse.BCOO(
                (jnp.asarray(places.data), indices), shape=rows.shape, indices_sorted=True, unique_indices=True
            ),
        ),
    }
    for name, (ours, theirs) in pairs.items():
        compiled, other = tb.jit(lambda a, x: a @ x), jax.jit(lambda a, x: a @ x)
        around, beside = tb.jit(lambda x, a=ours: a @ x), jax.jit(lambda x, a=theirs: a @ x)
        ratios = [
            ratio(waited(compiled, ours, x), waited(other, theirs, y), 10)[-1],
            ratio(waited(around, x), waited(beside, y), 10)[-1],
            ratio(waited(lambda a=ours: a @ x), waited(lambda a=theirs: a @ y), 10)[-1],
        ]
        print(f"JAX {dtype}, {name}: {ratios[0]:.2f} compiled, {ratios[1]:.2f} around it, {ratios[2]:.2f} call by call")


if __name__ == "__main__":
    main()
