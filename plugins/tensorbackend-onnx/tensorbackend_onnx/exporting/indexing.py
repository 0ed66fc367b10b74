"""Ops that read and write at indices: by ONNX's operators, and in the ways that these lack by ops that it has.

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
from tensorbackend.ops.composite.indexing.positions import flat_positions
from tensorbackend.sizes import maximum

from .elementwise import converted
from .parts import parts
from .writer import Name, Writer, alike, option, rows


def at_places(write: Callable[..., Name]) -> Callable[..., Any]:
    """Write an op by one of ONNX's, which gets indices in int64, with the mode "clip" within the axes.

    ONNX ignores no index, and its index vectors have at least one component: else the op is written by its parts.
    """

    def checked(w: Writer, node: Node, x: Name, places: Name, *updates: Name) -> Any:
        own, vectors = node.operands[0].template, node.operands[1].template
        axis: Any = node.options.get("axis")
        if option(node, "mode") == "fill" or (axis is None and not (own.ndim and vectors.shape[-1] and own.size)):
            return NotImplemented
        wide = converted(w, node, places, tb.int64, 1)
        if option(node, "mode") == "clip":
            sizes = own.shape[: vectors.shape[-1]] if axis is None else (own.shape[axis],)
            whole = w.ints(sizes) if len(sizes) > 1 else w.op("Squeeze", w.ints(sizes), w.ints([0]))
            last = w.op("Sub", whole, w.scalar(1, tb.int64))
            wide = w.op("Max", w.op("Min", wide, last), w.scalar(0, tb.int64))
        return write(w, node, x, wide, *updates)

    return checked


def take_along_axis(w: Writer, node: Node, x: Name, places: Name) -> Name:
    """Entries with indices of their own, each of which may broadcast with the other."""
    axis, own, out = option(node, "axis"), node.operands[0].template.shape, node.outs[0].shape
    whole = tuple(size if position == axis else out[position] for position, size in enumerate(own))
    x = x if alike(whole, own) else w.op("Expand", x, w.ints(whole))
    places = places if alike(node.operands[1].template.shape, out) else w.op("Expand", places, w.ints(out))
    return w.op("GatherElements", x, places, axis=axis)


OPERATORS: dict[str, Callable[..., Name]] = {
    "gather": lambda w, node, x, places: w.op("GatherND", x, places),
    "indexed_add": lambda w, node, x, places, updates: w.op("ScatterND", x, places, updates, reduction="add"),
    "indexed_put": lambda w, node, x, places, updates: w.op("ScatterND", x, places, updates, reduction="none"),
    "take": lambda w, node, x, places: w.op("Gather", x, places, axis=option(node, "axis")),
    "take_along_axis": take_along_axis,
}

rows({op: at_places(write) for op, write in OPERATORS.items()})


def within(node: Node, places: Tensor, size: int) -> Tensor:
    """Positions along an axis with one entry more, to which those outside go, or with "clip" to the nearest end."""
    wide = places.astype(tb.int64)
    if node.options["mode"] == "clip":
        return tb.clip(wide, 0, maximum(size - 1, 0))
    return tb.where(tb.logical_and(wide >= 0, wide < size), wide, size)


@parts("take", "take_along_axis")
def take(node: Node, x: Tensor, places: Tensor) -> Tensor:
    """Entries along an axis, zeros outside; with "take_along_axis" each has indices of its own."""
    axis = option(node, "axis")
    x = x.rename(*(None,) * x.ndim)
    read: Callable[..., Tensor] = tb.take if node.op == "take" else tb.take_along_axis
    return read(tb.pad(x, {axis: (0, 1)}), within(node, places, x.shape[axis]), axis=axis, mode="clip")


def numbers(node: Node, x: Tensor, vectors: Tensor) -> tuple[Tensor, Tensor, tuple[int, ...]]:
    """x as rows with one more at the end, the row that each index vector names, and the shape of a row."""
    depth = vectors.shape[-1]
    places, rest = x.shape[:depth], x.shape[depth:]
    rows = tb.reshape(x, (math.prod(places), *rest), names=(None,) * (1 + len(rest)))
    columns = tb.unstack(vectors.astype(tb.int64), axis=-1)
    number = tb.broadcast_to(flat_positions(columns, places, option(node, "mode")), vectors.shape[:-1])
    return tb.pad(rows, {0: (0, 1)}), tb.rename(number, *(None,) * number.ndim), rest


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
