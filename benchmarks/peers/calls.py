"""Single calls: the programs, their operands, and how NumPy, PyTorch, JAX and tensorbackend write them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

import tensorbackend as tb

from .measuring import Call, Contender, Dash

PROGRAMS = {
    "add": "x + y",
    "add a number": "x + 1.5",
    "exp": "exp(x)",
    "where": "where(mask, x, y)",
    "sum": "sum(x)",
    "mean of an axis": "mean(m, axis=1)",
    "max of an axis": "max(m, axis=1)",
    "cumulative sum": "cumsum(x)",
    "sort": "sort(x)",
    "matmul": "a @ b",
    "matmul of a batch": "s @ b, s a stack of 8 matrices",
    "concatenate": "concatenate([x, y])",
    "take": "m[indices]",
    "index": "m[0]",
    "slice": "x[1:5]",
    "reshape": "reshape(m, (-1,))",
    "transpose": "m.T",
    "softmax": "softmax(m, axis=1)",
    "layer": "tanh(a @ b + bias)",
    "layer of a batch": "tanh(s @ b + bias)",
}
VIEWS = ("index", "slice", "reshape", "transpose")
"""Programs that move no data, which take the same time for any size."""

Calls = Mapping[str, Call | Dash]


class Operands(NamedTuple):
    """The arguments of the programs: vectors, a matrix, square matrices for products, a bias, a mask, row indices, and
    a stack of matrices for products."""

    x: Any
    y: Any
    m: Any
    a: Any
    b: Any
    bias: Any
    mask: Any
    indices: Any
    s: Any

    def converted(self, convert: Callable[..., Any]) -> Operands:
        """Return the operands converted to another library."""
        return Operands(*map(convert, self))


NAMES = Operands(
    ("n",), ("n",), ("row", "column"), ("row", "inner"), ("inner", "column"), ("column",), ("n",), ("row",),
    ("batch", "row", "inner"),
)  # fmt: skip
"""The axis names of the operands, for libraries that support names."""


def operands(size: int, side: int, order: int) -> Operands:
    """Return float32 arrays from NumPy's random generator."""
    random = np.random.default_rng(0)

    def drawn(*shape: int) -> Any:
        return random.standard_normal(shape).astype(np.float32)

    x, y, m, a, b, bias = (
        drawn(*shape) for shape in ((size,), (size,), (side, side), (order, order), (order, order), (order,))
    )
    stack = drawn(8, order // 4, order)
    return Operands(x, y, m, a, b, bias, x > 0, random.integers(0, side, side), stack)


SIZES = {"small": operands(8, 8, 8), "large": operands(1_000_000, 1000, 512)}


def by_numpy(operands: Operands) -> Contender:
    """NumPy's functions, with a softmax written by hand."""
    x, y, m, a, b, bias, mask, indices, s = operands

    def softmax() -> Any:
        exponentials = np.exp(m - m.max(axis=1, keepdims=True))
        return exponentials / exponentials.sum(axis=1, keepdims=True)

    return Contender(
        "NumPy",
        {
            "add": lambda: x + y,
            "add a number": lambda: x + 1.5,
            "exp": lambda: np.exp(x),
            "where": lambda: np.where(mask, x, y),
            "sum": lambda: np.sum(x),
            "mean of an axis": lambda: np.mean(m, axis=1),
            "max of an axis": lambda: np.max(m, axis=1),
            "cumulative sum": lambda: np.cumsum(x),
            "sort": lambda: np.sort(x),
            "matmul": lambda: a @ b,
            "matmul of a batch": lambda: s @ b,
            "concatenate": lambda: np.concatenate([x, y]),
            "take": lambda: m[indices],
            "index": lambda: m[0],
            "slice": lambda: x[1:5],
            "reshape": lambda: np.reshape(m, (-1,)),
            "transpose": lambda: m.T,
            "softmax": softmax,
            "layer": lambda: np.tanh(a @ b + bias),
            "layer of a batch": lambda: np.tanh(s @ b + bias),
        },
    )


def by_torch(operands: Operands) -> Contender:
    """PyTorch's functions, called eagerly."""
    import torch

    torch.set_num_threads(1)
    x, y, m, a, b, bias, mask, indices, s = operands.converted(torch.from_numpy)
    return Contender(
        "PyTorch",
        {
            "add": lambda: x + y,
            "add a number": lambda: x + 1.5,
            "exp": lambda: torch.exp(x),
            "where": lambda: torch.where(mask, x, y),
            "sum": lambda: torch.sum(x),
            "mean of an axis": lambda: torch.mean(m, dim=1),
            "max of an axis": lambda: torch.amax(m, dim=1),
            "cumulative sum": lambda: torch.cumsum(x, dim=0),
            "sort": lambda: torch.sort(x).values,
            "matmul": lambda: a @ b,
            "matmul of a batch": lambda: s @ b,
            "concatenate": lambda: torch.cat([x, y]),
            "take": lambda: m[indices],
            "index": lambda: m[0],
            "slice": lambda: x[1:5],
            "reshape": lambda: torch.reshape(m, (-1,)),
            "transpose": lambda: m.T,
            "softmax": lambda: torch.softmax(m, dim=1),
            "layer": lambda: torch.tanh(a @ b + bias),
            "layer of a batch": lambda: torch.tanh(s @ b + bias),
        },
    )


def by_jax(operands: Operands) -> Contender:
    """The functions of `jax.numpy`, called eagerly."""
    import jax
    import jax.numpy as jnp

    x, y, m, a, b, bias, mask, indices, s = operands.converted(jnp.asarray)
    return Contender(
        "JAX",
        {
            "add": lambda: x + y,
            "add a number": lambda: x + 1.5,
            "exp": lambda: jnp.exp(x),
            "where": lambda: jnp.where(mask, x, y),
            "sum": lambda: jnp.sum(x),
            "mean of an axis": lambda: jnp.mean(m, axis=1),
            "max of an axis": lambda: jnp.max(m, axis=1),
            "cumulative sum": lambda: jnp.cumsum(x),
            "sort": lambda: jnp.sort(x),
            "matmul": lambda: a @ b,
            "matmul of a batch": lambda: s @ b,
            "concatenate": lambda: jnp.concatenate([x, y]),
            "take": lambda: m[indices],
            "index": lambda: m[0],
            "slice": lambda: x[1:5],
            "reshape": lambda: jnp.reshape(m, (-1,)),
            "transpose": lambda: m.T,
            "softmax": lambda: jax.nn.softmax(m, axis=1),
            "layer": lambda: jnp.tanh(a @ b + bias),
            "layer of a batch": lambda: jnp.tanh(s @ b + bias),
        },
        finish=jax.block_until_ready,
    )


def ours(operands: Operands, backend: str, name: str = "tensorbackend") -> Contender:
    """tensorbackend's functions, on tensors with axis names."""
    x, y, m, a, b, bias, mask, indices, s = (
        tb.asarray(array, names=names, backend=backend) for array, names in zip(operands, NAMES, strict=True)
    )
    return Contender(
        name,
        {
            "add": lambda: x + y,
            "add a number": lambda: x + 1.5,
            "exp": lambda: tb.exp(x),
            "where": lambda: tb.where(mask, x, y),
            "sum": lambda: tb.sum(x),
            "mean of an axis": lambda: tb.mean(m, axis="column"),
            "max of an axis": lambda: tb.max(m, axis="column"),
            "cumulative sum": lambda: tb.cumulative_sum(x, axis="n"),
            "sort": lambda: tb.sort(x, axis="n"),
            "matmul": lambda: a @ b,
            "matmul of a batch": lambda: s @ b,
            "concatenate": lambda: tb.concat([x, y], axis="n"),
            "take": lambda: m[indices],
            "index": lambda: m[0],
            "slice": lambda: x[1:5],
            "reshape": lambda: tb.reshape(m, (-1,)),
            "transpose": lambda: m.T,
            "softmax": lambda: tb.softmax(m, axis="column"),
            "layer": lambda: tb.tanh(a @ b + bias),
            "layer of a batch": lambda: tb.tanh(s @ b + bias),
        },
        finish=lambda result: result.block_until_ready(),
    )
