"""Operators that read and write at indices, which count from the end if negative."""

from __future__ import annotations

from collections.abc import Callable

import tensorbackend as tb
from tensorbackend import Tensor, nn
from tensorbackend.dtypes import bool_
from tensorbackend.errors import ArgumentError, expected

from .registry import Data, Int, Node, operator


@operator("Gather")
def gather(x: Tensor, indices: Tensor, *, axis: int = 0, node: Node) -> Tensor:
    """Entries along an axis; those of an embedding that stand for padding carry no gradient, as in PyTorch."""
    entries = tb.take(x, indices, axis=axis)
    if node.origin is not None and node.origin.op == "embedding" and len(node.origin.arguments) > 2:
        padding = tb.expand_dims(indices == int(node.origin.arguments[2]), axis=-1)
        entries = tb.where(padding, tb.stop_gradient(entries), entries)
    return entries


@operator("GatherElements")
def gather_elements(x: Tensor, indices: Tensor, *, axis: int = 0) -> Tensor:
    """Entries along an axis, with indices of their own for each place on the other axes."""
    axis %= max(x.ndim, 1)
    used = tuple(slice(None) if position == axis else slice(size) for position, size in enumerate(indices.shape))
    return tb.take_along_axis(tb.getitem(x, used), indices, axis=axis)


@operator("GatherND")
def gather_nd(x: Tensor, indices: Tensor, *, batch_dims: int = 0) -> Tensor:
    """Entries at index vectors, after some axes that both have."""
    vectors = from_start(indices, x.shape[batch_dims:])
    return tb.gather(x, vectors, batch=tuple(range(batch_dims)) or None)


def from_start(indices: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Index vectors that count from the start of the axes."""
    sizes = tb.tensor(list(shape[: indices.shape[-1]]), dtype=indices.dtype, backend="binary")
    return tb.where(indices < 0, indices + sizes, indices)


@operator("OneHot")
def one_hot(indices: Tensor, depth: Int, values: Tensor, *, axis: int = -1) -> Tensor:
    """The second value at each index along a new axis, the first elsewhere."""
    whole = indices.astype(tb.int64)
    chosen = nn.one_hot(tb.where(whole < 0, whole + depth, whole), depth, axis=axis, dtype=bool_)
    return tb.where(chosen, values[1], values[0])


@operator("Compress")
def compress(x: Tensor, condition: Data, *, axis: int | None = None) -> Tensor:
    """The entries for which the condition holds, of as many as it has."""
    x = x if axis is not None else tb.reshape(x, (-1,))
    x = tb.slice_along_axis(x, 0, min(condition.shape[0], x.shape[axis or 0]), axis=axis or 0)
    return tb.compress(condition, x, axis=axis or 0)


@operator("NonZero")
def non_zero(x: Data) -> Tensor:
    """The indices of elements that are not 0: a row for each axis."""
    return tb.stack(tb.nonzero(x if x.ndim else tb.reshape(x, (1,))))[: x.ndim]


@operator("Unique")
def unique(x: Data, *, axis: int | None = None, sorted: int = 1) -> tuple[Tensor, ...]:
    """The different elements or entries, their first positions, the inverse indices and the counts."""
    values, first, inverse, counts = tb.unique_all(x, axis=axis)
    inverse = tb.reshape(inverse, (-1,))
    if not sorted:
        order = tb.argsort(first)
        values = tb.take(values, order, axis=axis or 0)
        first, counts = (tb.take(numbers, order) for numbers in (first, counts))
        inverse = tb.take(tb.argsort(order), inverse)
    return values, *(numbers.astype(tb.int64) for numbers in (first, inverse, counts))


WRITES: dict[str, Callable[..., Tensor]] = {
    "none": tb.indexed_put,
    "add": tb.indexed_add,
    "max": tb.indexed_max,
    "min": tb.indexed_min,
    "mul": tb.indexed_prod,
}
"""How updates at the same place come together."""


def written(x: Tensor, vectors: Tensor, updates: Tensor, reduction: str) -> Tensor:
    """The tensor with updates at index vectors."""
    if reduction not in WRITES:
        raise ArgumentError(expected(f"a reduction among {[*WRITES]}", reduction=reduction))
    return WRITES[reduction](x, vectors, updates)


@operator("ScatterND")
def scatter_nd(x: Tensor, indices: Tensor, updates: Tensor, *, reduction: str = "none") -> Tensor:
    """The tensor with updates at index vectors."""
    return written(x, from_start(indices, x.shape), updates, reduction)


@operator("Scatter", "ScatterElements")
def scatter_elements(x: Tensor, indices: Tensor, updates: Tensor, *, axis: int = 0, reduction: str = "none") -> Tensor:
    """The tensor with updates along an axis, with indices of their own for each place on the other axes."""
    axis %= max(x.ndim, 1)
    places = indices.astype(tb.int64)
    along = tb.where(places < 0, places + x.shape[axis], places)
    vectors = [along if a == axis else tb.iota(indices.shape, axis=a, like=along) for a in range(x.ndim)]
    return written(x, tb.stack(vectors, axis=-1), updates, reduction)


@operator("TensorScatter")
def tensor_scatter(
    cache: Tensor, update: Tensor, starts: Tensor | None = None, *, axis: int = -2, mode: str = "linear"
) -> Tensor:
    """A cache with an update along its time axis, from a place of its own for each example on."""
    axis %= cache.ndim
    steps = tb.reshape(tb.arange(update.shape[axis], like=update), (-1, *(1,) * (cache.ndim - 1 - axis)))
    first = 0 if starts is None else tb.reshape(starts.astype(tb.int64), (-1, *(1,) * (cache.ndim - 1)))
    places = steps + first
    if mode == "circular":
        places = tb.remainder(places, cache.shape[axis])
    return scatter_elements(cache, tb.broadcast_to(places, update.shape), update, axis=axis)
