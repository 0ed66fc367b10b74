"""Reads and writes at indices in the ways that ONNX's operators lack, as functions of ops that it has.

Indices outside an axis, which are ignored with `mode="fill"`, go to one more entry at its end.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tensorbackend as tb
from tensorbackend import Tensor
from tensorbackend.dtypes import value_range
from tensorbackend.expr.node import Node
from tensorbackend.sizes import maximum

from .parts import parts


def within(node: Node, places: Tensor, size: int) -> Tensor:
    """Positions along an axis with one entry more, to which those outside go, or with "clip" to the nearest end."""
    wide = places.astype(tb.int64)
    if node.options["mode"] == "clip":
        return tb.clip(wide, 0, maximum(size - 1, 0))
    return tb.where(tb.logical_and(wide >= 0, wide < size), wide, size)


@parts("take", "take_along_axis")
def take(node: Node, x: Tensor, places: Tensor) -> Tensor:
    """Entries along an axis, zeros outside; with "take_along_axis" each has indices of its own."""
    axis: Any = node.options["axis"]
    x = x.rename(*(None,) * x.ndim)
    read: Callable[..., Tensor] = tb.take if node.op == "take" else tb.take_along_axis
    return read(tb.pad(x, {axis: (0, 1)}), within(node, places, x.shape[axis]), axis=axis, mode="clip")


def numbers(node: Node, x: Tensor, vectors: Tensor) -> tuple[Tensor, Tensor, tuple[int, ...]]:
    """x as rows with one more at the end, the row that each index vector names, and the shape of a row."""
    depth = vectors.shape[-1]
    places, rest = x.shape[:depth], x.shape[depth:]
    rows = tb.reshape(x, (math.prod(places), *rest), names=(None,) * (1 + len(rest)))
    inside = tb.ones(vectors.shape[:-1], dtype=tb.dtypes.bool_)
    number = tb.zeros(vectors.shape[:-1], dtype=tb.int64)
    wide = vectors.astype(tb.int64)
    for axis, size in enumerate(places):
        place = tb.reshape(
            tb.slice_along_axis(wide, axis, 1, axis=-1), wide.shape[:-1], names=(None,) * (wide.ndim - 1)
        )
        if node.options["mode"] == "clip":
            place = tb.clip(place, 0, maximum(size - 1, 0))
        else:
            inside = tb.logical_and(inside, tb.logical_and(place >= 0, place < size))
        number = number + place * math.prod(places[axis + 1 :])
    return tb.pad(rows, {0: (0, 1)}), tb.where(inside, number, math.prod(places)), rest


@parts("gather")
def gather(node: Node, x: Tensor, vectors: Tensor) -> Tensor:
    """Entries at index vectors, zeros outside."""
    rows, number, _ = numbers(node, x, vectors)
    return tb.take(rows, number, axis=0, mode="clip")


@parts("indexed_add", "indexed_put")
def indexed(node: Node, x: Tensor, vectors: Tensor, updates: Tensor) -> Tensor:
    """x with updates at index vectors, those outside ignored; complex numbers by their parts."""
    if x.dtype.kind == "complex":
        pairs = ((tb.real(x), tb.real(updates)), (tb.imag(x), tb.imag(updates)))
        return tb.complex(*(indexed(node, part, vectors, update) for part, update in pairs))
    rows, number, rest = numbers(node, x, vectors)
    count = math.prod(number.shape)
    if not count or not x.size:
        return x
    bare = tb.reshape(updates, (count, *rest), names=(None,) * (1 + len(rest)))
    write = tb.indexed_add if node.op == "indexed_add" else tb.indexed_put
    written = write(rows, tb.reshape(number, (count, 1)), bare, mode="clip")
    return tb.reshape(tb.slice_along_axis(written, 0, rows.shape[0] - 1, axis=0), x.shape)


@parts("window_sum", "window_product", "window_max", "window_min")
def window(node: Node, x: Tensor) -> Tensor:
    """Windows along any axes: reductions of patches."""
    windows: Any = node.options["windows"]
    sizes, strides, padding, dilations = windows
    identity: Any = {"window_sum": 0, "window_product": 1}.get(node.op)
    if identity is None:
        identity = value_range(x.dtype)[node.op == "window_min"]
    padded = tb.pad(x, padding, value=tb.full((), identity, dtype=x.dtype, like=x))
    patches = tb.unfold(padded, sizes, strides=strides, dilations=dilations)
    reduce: Any = {"window_sum": tb.sum, "window_product": tb.prod, "window_max": tb.max, "window_min": tb.min}[node.op]
    reduced: Tensor = reduce(patches, axis=tuple(range(x.ndim, patches.ndim)))
    return reduced.astype(x.dtype)
