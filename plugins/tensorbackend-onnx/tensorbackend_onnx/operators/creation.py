"""Operators that make tensors from nothing, and random numbers.

A random operator draws the same numbers in each run, by its seed: a model is a pure function.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import tensorbackend as tb
from tensorbackend import Tensor
from tensorbackend.dtypes import bool_
from tensorbackend.errors import ArgumentError, expected

from ..dtypes import dtype_of
from .registry import Attributes, Bool, Ints, Known, Node, Reading, operator, read
from .shape import host


@operator("Constant")
def constant(
    *,
    value: Tensor | None = None,
    value_float: float | None = None,
    value_floats: tuple[float, ...] | None = None,
    value_int: int | None = None,
    value_ints: tuple[int, ...] | None = None,
) -> Tensor:
    """A tensor that the file has."""
    if value is not None:
        return value
    if value_float is not None or value_floats is not None:
        return host(value_floats if value_float is None else value_float, tb.float32)
    if value_int is not None or value_ints is not None:
        return host(value_ints if value_int is None else value_int)
    raise ArgumentError(expected("a tensor of numbers as the value of a constant"))


@operator("ConstantOfShape")
def constant_of_shape(shape: Ints, *, value: Tensor | None = None, node: Node) -> Tensor:
    """A number everywhere, by default the float 0."""
    number, dtype = (0.0, tb.float32) if value is None else (value.reshape(()).item(), value.dtype)
    return tb.full(shape, number, dtype=dtype, backend=node.place(math.prod(shape)))


@operator("EyeLike")
def eye_like(x: Tensor, *, dtype: int | None = None, k: int = 0) -> Tensor:
    """1 on a diagonal, 0 elsewhere."""
    rows, columns = x.shape
    return tb.eye(rows, columns, k=k, dtype=x.dtype if dtype is None else dtype_of(dtype), like=x)


@operator("Range")
def range_(start: Known, limit: Known, delta: Known, *, stash_type: int = 1, node: Node) -> Tensor:
    """Numbers from `start` up to, but not including, `limit`."""
    kind = Reading.FLOAT if tb.isdtype(start.dtype, "real floating") else Reading.INT
    first, end, step = (read(value, kind) for value in (start, limit, delta))
    count = max(math.ceil((end - first) / step), 0)
    wide = start.dtype if kind is Reading.INT or start.dtype == tb.float64 else tb.float32
    places = tb.arange(count, dtype=wide, backend=node.place(count))
    numbers: Tensor = places * step + first
    return numbers.astype(start.dtype)


@dataclass(frozen=True, kw_only=True)
class Draw(Attributes):
    """The attributes of random numbers."""

    dtype: int | None = None
    seed: float | None = None

    def key(self, node: Node, shape: tuple[int, ...]) -> Tensor:
        """The random key of a node."""
        return tb.random.key(int(self.seed or 0), backend=node.place(math.prod(shape)))

    def kind(self, default: tb.DType) -> tb.DType:
        """The dtype of the numbers."""
        return default if self.dtype is None else dtype_of(self.dtype)


@operator("RandomNormal")
def random_normal(*, shape: tuple[int, ...], mean: float = 0.0, scale: float = 1.0, draw: Draw, node: Node) -> Tensor:
    """Normally distributed numbers."""
    return tb.random.normal(draw.key(node, shape), shape, draw.kind(tb.float32), mean=mean, deviation=scale)


@operator("RandomNormalLike")
def random_normal_like(x: Tensor, *, mean: float = 0.0, scale: float = 1.0, draw: Draw, node: Node) -> Tensor:
    """Normally distributed numbers in the shape of x."""
    return tb.random.normal(draw.key(node, x.shape), x.shape, draw.kind(x.dtype), mean=mean, deviation=scale)


@operator("RandomUniform")
def random_uniform(*, shape: tuple[int, ...], low: float = 0.0, high: float = 1.0, draw: Draw, node: Node) -> Tensor:
    """Uniformly distributed numbers."""
    return tb.random.uniform(draw.key(node, shape), shape, draw.kind(tb.float32), low, high)


@operator("RandomUniformLike")
def random_uniform_like(x: Tensor, *, low: float = 0.0, high: float = 1.0, draw: Draw, node: Node) -> Tensor:
    """Uniformly distributed numbers in the shape of x."""
    return tb.random.uniform(draw.key(node, x.shape), x.shape, draw.kind(x.dtype), low, high)


@operator("Bernoulli")
def bernoulli(x: Tensor, *, draw: Draw, node: Node) -> Tensor:
    """1 with the probability that x gives, else 0."""
    return tb.random.bernoulli(draw.key(node, x.shape), x, x.shape).astype(draw.kind(x.dtype))


@operator("Multinomial")
def multinomial(x: Tensor, *, sample_size: int = 1, draw: Draw, node: Node) -> Tensor:
    """Classes drawn by the logarithms of their probabilities."""
    drawn = tb.random.categorical(draw.key(node, x.shape), x[None], shape=(sample_size, x.shape[0]))
    return drawn.T.astype(draw.kind(tb.int32))


@operator("Dropout", attributes_before=12)
def dropout(
    x: Tensor, ratio: Known | None = None, training_mode: Bool | None = None, *, seed: int | None = None, node: Node
) -> Any:
    """In training, elements become 0 at random and the others larger; else the tensor itself."""
    rate = 0.5 if ratio is None or not training_mode else read(ratio, Reading.FLOAT)
    if not training_mode or rate == 0:
        return (x, tb.ones(x.shape, dtype=bool_ if node.opset >= 10 else x.dtype, like=x)) if node.wants(1) else x
    kept = tb.random.bernoulli(Draw(seed=seed).key(node, x.shape), 1 - rate, x.shape)
    return tb.where(kept, x / (1 - rate), tb.zeros_like(x)), kept
