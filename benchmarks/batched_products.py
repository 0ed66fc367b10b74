"""Compares products of batches with PyTorch and `jax.jit`: ten shapes, their values and gradients, and their memory.

Each row has the time of ours on an engine relative to the engine by hand, which is the minimum of calls in turns, and
the best of ours relative to the best by hand. `memory` is the predicted peak of the product relative to that of the
same product by `tb.dot` on matrices, and the peak measured on NumPy relative to the bytes of operands and result.

    make .venv-bench/.ready && .venv-bench/bin/python benchmarks/batched_products.py
"""

from __future__ import annotations

import math
import os
import time
import tracemalloc
from collections.abc import Callable
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads that wait for each other hide what a busy machine does
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

import jax
import jax.numpy as jnp
import numpy as np
import torch

import tensorbackend as tb


class Shapes(NamedTuple):
    """The shapes of the operands of a product."""

    left: tuple[int, ...]
    right: tuple[int, ...]


PRODUCTS = {
    "a layer on a batch": Shapes((256, 512), (512, 1024)),
    "a layer on a batch and time": Shapes((8, 64, 512), (512, 1024)),
    "a layer on batch, beam and time": Shapes((4, 4, 32, 256), (256, 512)),
    "weights from the left": Shapes((256, 256), (16, 256, 64)),
    "scores of heads": Shapes((8, 4, 128, 64), (8, 4, 64, 128)),
    "grouped heads": Shapes((4, 2, 4, 64, 64), (4, 2, 1, 64, 64)),
    "one matrix for each head": Shapes((16, 4, 64, 64), (1, 4, 64, 64)),
    "one matrix for each entry": Shapes((16, 4, 64, 64), (16, 1, 64, 64)),
    "an outer batch": Shapes((16, 1, 64, 64), (1, 16, 64, 64)),
    "a vector for each entry": Shapes((64, 128, 256), (256,)),
}
ROUNDS = 30


def seconds(calls: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """The minimum of some seconds of calls, which take turns, so that a busy machine slows all of them."""
    best = dict.fromkeys(calls, math.inf)
    for _ in range(ROUNDS):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def energy(product: Any) -> Any:
    """A number whose slopes need the product itself, of any library."""
    return (product * product).sum()


def _forward(left: np.ndarray, right: np.ndarray) -> dict[str, Callable[[], Any]]:
    """The product of each contender."""
    by_torch = [torch.tensor(left), torch.tensor(right)]
    by_jax = [jnp.asarray(left), jnp.asarray(right)]
    compiled = jax.jit(lambda x, w: jnp.matmul(x, w, precision="highest"))
    ours = {name: [tb.asarray(each, backend=name) for each in (left, right)] for name in ("numpy", "jax", "torch")}
    product = tb.jit(lambda x, w: x @ w)
    return {
        "torch": lambda: torch.matmul(*by_torch),
        "jax": lambda: compiled(*by_jax).block_until_ready(),
        "ours on numpy": lambda: ours["numpy"][0] @ ours["numpy"][1],
        "ours on torch": lambda: ours["torch"][0] @ ours["torch"][1],
        "ours on jax": lambda: product(*ours["jax"]).data.block_until_ready(),
    }


def _gradient(left: np.ndarray, right: np.ndarray) -> dict[str, Callable[[], Any]]:
    """The slopes by both operands of each contender."""
    by_torch = [torch.tensor(each, requires_grad=True) for each in (left, right)]
    by_jax = [jnp.asarray(left), jnp.asarray(right)]
    compiled = jax.jit(jax.grad(lambda x, w: energy(jnp.matmul(x, w, precision="highest")), (0, 1)))
    ours = {name: [tb.asarray(each, backend=name) for each in (left, right)] for name in ("numpy", "jax", "torch")}
    slopes = tb.jit(tb.grad(lambda x, w: energy(x @ w), argnums=(0, 1)))
    return {
        "torch": lambda: torch.autograd.grad(energy(torch.matmul(*by_torch)), by_torch),
        "jax": lambda: [each.block_until_ready() for each in compiled(*by_jax)],
        "ours on numpy": lambda: slopes(*ours["numpy"]),
        "ours on torch": lambda: slopes(*ours["torch"]),
        "ours on jax": lambda: [each.data.block_until_ready() for each in slopes(*ours["jax"])],
    }


def _memory(left: np.ndarray, right: np.ndarray) -> tuple[float, float]:
    """The predicted peak over that of `tb.dot` where it has the same operands, and the measured one over its bytes."""
    operands = tb.Template(left.shape, "float32"), tb.Template(right.shape, "float32")
    batched = tb.dry_run(lambda x, w: x @ w, *operands)
    result = (left @ right).nbytes
    needed = left.nbytes + right.nbytes + result
    if right.ndim <= 2:
        needed = tb.dry_run(lambda x, w: tb.dot(x, w, contract=([-1], [0])), *operands).peak.memory
    x, w = tb.asarray(left), tb.asarray(right)
    np.asarray(x @ w)
    tracemalloc.start()
    product = x @ w
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert product.shape == (left @ right).shape
    return batched.peak.memory / needed, peak / result


def main() -> None:
    """Print a line for each product."""
    torch.set_num_threads(1)
    draw = np.random.default_rng(0)
    print(f"{'product':32} {'':8} {'numpy':>6} {'torch':>6} {'jax':>6} {'best':>6}   memory")
    for name, shapes in PRODUCTS.items():
        left, right = (draw.standard_normal(shape).astype("float32") for shape in shapes)
        predicted, measured = _memory(left, right)
        for kind, make in (("forward", _forward), ("gradient", _gradient)):
            calls = make(left, right)
            values = [np.asarray(leaf) for leaf in _leaves(calls["ours on jax"]())]
            for other in ("torch", "ours on numpy", "ours on torch"):
                for ours, theirs in zip(values, _leaves(calls[other]()), strict=True):
                    np.testing.assert_allclose(
                        ours, np.asarray(theirs.detach() if other == "torch" else theirs), 1e-3, 1e-2
                    )
            times = seconds(calls)
            best = min(times["torch"], times["jax"])
            ratios = [times["ours on numpy"] / best, times["ours on torch"] / times["torch"]]
            ratios += [times["ours on jax"] / times["jax"], min(times[each] for each in times if "ours" in each) / best]
            line = f"{name:32} {kind:8} " + " ".join(f"{ratio:6.2f}" for ratio in ratios)
            print(line + (f"   {predicted:.2f} {measured:.2f}" if kind == "forward" else ""), flush=True)


def _leaves(result: Any) -> list[Any]:
    """The arrays of a result."""
    return list(result) if isinstance(result, list | tuple) else [result]


if __name__ == "__main__":
    main()
