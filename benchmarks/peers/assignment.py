"""Assignment to elements, slices and masked places of an array; JAX has functions that return a changed copy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import tensorbackend as tb

from .measuring import Call, Contender

PROGRAMS = {
    "element": "x[3] = 1.0",
    "slice": "x[1:5] = v",
    "entry": "m[0, 3] = 1.0",
    "entry plus one": "m[0, 3] = m[0, 3] + 1",
    "index array": "x[indices] = 1.0",
    "mask": "x[mask] = 1.0",
    "positive": "x[x > 0] = 0.0",
}
SIZES = {"small": 10, "large": 1_000_000}
TEXTS = {"small": "10 elements", "large": "10^6 elements"}


class Operands(NamedTuple):
    """A vector, a matrix, the new elements of a slice, three indices, and a mask of one element in 16."""

    x: Any
    m: Any
    v: Any
    indices: Any
    mask: Any


def operands(size: int) -> Operands:
    """Return arrays; the large matrix is square."""
    random = np.random.default_rng(0)
    x = random.standard_normal(size).astype(np.float32)
    rows = 2 if size == SIZES["small"] else 1000
    mask = np.arange(size) % 16 == 2
    return Operands(x, x.reshape(rows, -1).copy(), np.arange(4, dtype=np.float32), np.asarray([7, 2, 5]), mask)


def contenders(size: str) -> list[Contender]:
    """Return all contenders for a size. Each has operands of its own, as assignment changes them."""
    count = SIZES[size]
    return [
        assigning("NumPy", operands(count)),
        by_torch(operands(count)),
        by_jax(operands(count)),
        ours("numpy", "NumPy", operands(count)),
        ours("torch", "PyTorch", operands(count)),
        ours("jax", "JAX", operands(count)),
    ]


def assigning(name: str, of: Operands, finish: Callable[[Any], object] = id) -> Contender:
    """A library whose arrays have assignment; each program returns the array."""

    def fresh(of_x: Any = of.x) -> Any:
        return of_x * 1  # an array of its own, so that programs do not see each other's elements

    def element() -> Call:
        x = fresh()

        def call() -> Any:
            x[3] = 1.0
            return x

        return call

    def of_slice() -> Call:
        x, v = fresh(), of.v

        def call() -> Any:
            x[1:5] = v
            return x

        return call

    def entry() -> Call:
        m = fresh(of.m)

        def call() -> Any:
            m[0, 3] = 1.0
            return m

        return call

    def entry_plus_one() -> Call:
        m = fresh(of.m)

        def call() -> Any:
            m[0, 3] = m[0, 3] + 1
            return m

        return call

    def index_array() -> Call:
        x, indices = fresh(), of.indices

        def call() -> Any:
            x[indices] = 1.0
            return x

        return call

    def mask() -> Call:
        x, places = fresh(), of.mask

        def call() -> Any:
            x[places] = 1.0
            return x

        return call

    def positive() -> Call:
        x = fresh()

        def call() -> Any:
            x[x > 0] = 0.0
            return x

        return call

    calls = (element(), of_slice(), entry(), entry_plus_one(), index_array(), mask(), positive())
    return Contender(name, dict(zip(PROGRAMS, calls, strict=True)), finish=finish)


def by_torch(arrays: Operands) -> Contender:
    import torch

    torch.set_num_threads(1)
    return assigning("PyTorch", Operands(*map(torch.from_numpy, arrays)))


def ours(backend: str, title: str, arrays: Operands) -> Contender:
    tensors = Operands(*(tb.tensor(array, backend=backend) for array in arrays))
    return assigning(f"ours on {title}", tensors, finish=lambda result: result.block_until_ready())


def by_jax(arrays: Operands) -> Contender:
    """`x.at[...].set` returns a changed copy, and the variable gets it."""
    import jax
    import jax.numpy as jnp

    of = Operands(*map(jnp.asarray, arrays))
    variables = dict.fromkeys(PROGRAMS, of.x) | {"entry": of.m, "entry plus one": of.m}

    def keeping(name: str, change: Callable[[Any], Any]) -> Call:
        def call() -> Any:
            variables[name] = change(variables[name])
            return variables[name]

        return call

    return Contender(
        "JAX",
        {
            "element": keeping("element", lambda x: x.at[3].set(1.0)),
            "slice": keeping("slice", lambda x: x.at[1:5].set(of.v)),
            "entry": keeping("entry", lambda m: m.at[0, 3].set(1.0)),
            "entry plus one": keeping("entry plus one", lambda m: m.at[0, 3].set(m[0, 3] + 1)),
            "index array": keeping("index array", lambda x: x.at[of.indices].set(1.0)),
            "mask": keeping("mask", lambda x: x.at[of.mask].set(1.0)),
            "positive": keeping("positive", lambda x: x.at[x > 0].set(0.0)),
        },
        finish=jax.block_until_ready,
    )  # fmt: skip
