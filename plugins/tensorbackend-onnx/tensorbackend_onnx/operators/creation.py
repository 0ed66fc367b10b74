"""Operators that make tensors from nothing, and random numbers.

A random operator draws the same numbers in each run, by its seed: a model is a pure function.
"""

from __future__ import annotations

import math
from typing import Any

import tensorbackend as tb
from tensorbackend import Tensor
from tensorbackend.dtypes import bool_
from tensorbackend.errors import ArgumentError, expected

from ..dtypes import dtype_of
from .registry import Bool, Given, Ints, Known, Maybe, Node, Reading, operator, read
from .shape import host


@operator("Constant")
def constant(*, given: Given) -> Tensor:
    """A tensor that the file has."""
    floats, ints = (given.value_float, given.value_floats), (given.value_int, given.value_ints)
    found = [host(x, dtype) for xs, dtype in ((floats, tb.float32), (ints, tb.int64)) for x in xs if x is not None]
    if given.value is None and not found:
        raise ArgumentError(expected("a tensor of numbers as the value of a constant"))
    return found[0] if given.value is None else given.value


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


def key(seed: float | None, node: Node, shape: tuple[int, ...]) -> Tensor:
    """The random key of a node."""
    return tb.random.key(int(seed or 0), backend=node.place(math.prod(shape)))


def of_draw(x: Maybe, given: Given, node: Node) -> tuple[Tensor, tuple[int, ...], tb.DType]:
    """The random key of a node, the shape that it has or that of x, and the dtype."""
    shape, dtype = (given.shape, tb.float32) if x is None else (x.shape, x.dtype)
    return key(given.seed, node, shape), shape, dtype if given.dtype is None else dtype_of(given.dtype)


@operator("RandomNormal", "RandomNormalLike")
def random_normal(x: Maybe = None, *, given: Given, node: Node) -> Tensor:
    """Normally distributed numbers."""
    return tb.random.normal(*of_draw(x, given, node), mean=given.mean, deviation=given.scale)


@operator("RandomUniform", "RandomUniformLike")
def random_uniform(x: Maybe = None, *, given: Given, node: Node) -> Tensor:
    """Uniformly distributed numbers."""
    return tb.random.uniform(*of_draw(x, given, node), given.low, given.high)


@operator("Multinomial")
def multinomial(x: Tensor, *, given: Given, node: Node) -> Tensor:
    """Classes drawn by the logarithms of their probabilities."""
    shape = (given.sample_size, x.shape[0])
    drawn = tb.random.categorical(key(given.seed, node, x.shape), x[None], shape=shape)
    return drawn.T.astype(dtype_of(given.dtype))


@operator("Dropout", attributes_before=12)
def dropout(
    x: Tensor, ratio: Known | None = None, training_mode: Bool | None = None, *, seed: int | None = None, node: Node
) -> Any:
    """In training, elements become 0 at random and the others larger; else the tensor itself."""
    rate = 0.5 if ratio is None or not training_mode else read(ratio, Reading.FLOAT)
    if not training_mode or rate == 0:
        return (x, tb.ones(x.shape, dtype=bool_ if node.opset >= 10 else x.dtype, like=x)) if node.wants(1) else x
    kept = tb.random.bernoulli(key(seed, node, x.shape), 1 - rate, x.shape)
    return tb.where(kept, x / (1 - rate), tb.zeros_like(x)), kept
