"""Ops that read and write at indices."""

from __future__ import annotations

from typing import Any

import tensorbackend as tb
from tensorbackend.expr.node import Node

from .elementwise import converted
from .writer import Name, Writer, alike, writes


def indices(w: Writer, node: Node, x: Name, sizes: tuple[int, ...], position: int = 1) -> Any:
    """Indices in int64; where the mode is "clip", within the axes."""
    wide = converted(w, node, x, tb.int64, position)
    if node.options["mode"] == "error":
        return wide
    if node.options["mode"] == "clip":
        whole = w.ints(sizes) if len(sizes) > 1 else w.op("Squeeze", w.ints(sizes), w.ints([0]))
        last = w.op("Sub", whole, w.scalar(1, tb.int64))
        return w.op("Max", w.op("Min", wide, last), w.scalar(0, tb.int64))
    raise AssertionError(node.options["mode"])  # `by_parts` says so before


def by_parts(node: Node) -> bool:
    """Whether `places` writes an op: ONNX ignores no index, and its index vectors have at least one component."""
    x, vectors = node.operands[0].template, node.operands[1].template
    vector = node.op in ("gather", "indexed_add", "indexed_put")
    return node.options["mode"] == "fill" or (vector and (not x.ndim or not vectors.shape[-1] or not x.size))


@writes("take")
def take(w: Writer, node: Node, x: Name, places: Name) -> Any:
    if by_parts(node):
        return NotImplemented
    axis: Any = node.options["axis"]
    return w.op("Gather", x, indices(w, node, places, (node.operands[0].template.shape[axis],)), axis=axis)


@writes("take_along_axis")
def take_along_axis(w: Writer, node: Node, x: Name, places: Name) -> Any:
    if by_parts(node):
        return NotImplemented
    axis: Any = node.options["axis"]
    own, out = node.operands[0].template.shape, node.outs[0].shape
    places = indices(w, node, places, (own[axis],))
    whole = [size if position == axis else out[position] for position, size in enumerate(own)]
    x = x if alike(tuple(whole), own) else w.op("Expand", x, w.ints(whole))
    places = places if alike(node.operands[1].template.shape, out) else w.op("Expand", places, w.ints(out))
    return w.op("GatherElements", x, places, axis=axis)


@writes("gather")
def gather(w: Writer, node: Node, x: Name, places: Name) -> Any:
    if by_parts(node):
        return NotImplemented
    depth = node.operands[1].template.shape[-1]
    return w.op("GatherND", x, indices(w, node, places, node.operands[0].template.shape[:depth]))


@writes("indexed_add", "indexed_put")
def indexed(w: Writer, node: Node, x: Name, places: Name, updates: Name) -> Any:
    if by_parts(node):
        return NotImplemented
    depth = node.operands[1].template.shape[-1]
    places = indices(w, node, places, node.operands[0].template.shape[:depth])
    return w.op("ScatterND", x, places, updates, reduction="add" if node.op == "indexed_add" else "none")
