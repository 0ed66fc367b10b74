"""Reductions, running sums, sorting and what normalises."""

from __future__ import annotations

from typing import Any

import numpy
import tensorbackend as tb
from tensorbackend.dtypes import bool_
from tensorbackend.expr.node import Node

from .elementwise import dtype
from .writer import Name, Writer, writes

SUMS = {"sum": "ReduceSum", "product": "ReduceProd"}
EXTREMES = {"reduce_max": "ReduceMax", "reduce_min": "ReduceMin"}
COMPOSITES = {"mean": "ReduceMean", "logsumexp": "ReduceLogSumExp"}


def reduced(w: Writer, operator: str, node: Node, x: Name) -> Name:
    """A reduction over the axes of a node; over none it is the tensor itself."""
    axes: Any = node.options.get("axes", node.options.get("axis"))
    axes = tuple(range(node.operands[0].template.ndim)) if axes is None else axes
    return w.op(operator, x, w.ints(axes), keepdims=int(bool(node.options["keepdims"])), noop_with_empty_axes=1)


@writes(*SUMS)
def sums(w: Writer, node: Node, x: Name) -> Any:
    wide = x if dtype(node) == node.outs[0].dtype else w.cast(x, node.outs[0].dtype)
    return reduced(w, SUMS[node.op], node, wide)


@writes(*EXTREMES)
def extremes(w: Writer, node: Node, x: Name) -> Name:
    if dtype(node) != bool_:
        return reduced(w, EXTREMES[node.op], node, x)
    return w.cast(reduced(w, EXTREMES[node.op], node, w.cast(x, tb.int32)), bool_)


@writes("all", "any")
def all_or_any(w: Writer, node: Node, x: Name) -> Name:
    flags = x if dtype(node) == bool_ else w.cast(x, bool_)
    counted = w.op("Not", flags) if node.op == "all" else flags
    found = w.cast(reduced(w, "ReduceSum", node, w.cast(counted, tb.int32)), bool_)
    return w.op("Not", found) if node.op == "all" else found


@writes(*COMPOSITES, uniform=True)
def composite(w: Writer, node: Node, x: Name, *others: Name) -> Any:
    if any(other is not None for other in others) or dtype(node) != node.outs[0].dtype:
        return NotImplemented
    return reduced(w, COMPOSITES[node.op], node, x)


@writes("argmax", "argmin")
def place_of_extreme(w: Writer, node: Node, x: Name) -> Name:
    axis, keepdims = node.options["axis"], bool(node.options["keepdims"])
    operator, last = "ArgMax" if node.op == "argmax" else "ArgMin", int(node.options["tie_break"] == "high")
    x = w.cast(x, tb.int32) if dtype(node) == bool_ else x
    if axis is not None:
        return w.op(operator, x, axis=axis, keepdims=int(keepdims), select_last_index=last)
    place = w.op(operator, w.op("Reshape", x, w.ints([-1])), axis=0, keepdims=0, select_last_index=last)
    return w.op("Reshape", place, w.ints(node.outs[0].shape)) if keepdims else place


@writes("sort", "argsort")
def sort(w: Writer, node: Node, x: Name) -> Name:
    axis: Any = node.options["axis"]
    count = w.ints([node.operands[0].template.shape[axis]])
    values, places = w.several("TopK", 2, x, count, axis=axis, largest=int(bool(node.options["descending"])))
    return values if node.op == "sort" else places


@writes("top_k")
def top_k(w: Writer, node: Node, x: Name) -> list[Name]:
    k: Any = node.options["k"]
    return w.several("TopK", 2, x, w.ints([k]), axis=node.options.get("axis", -1))


@writes("cumulative_sum")
def cumulative_sum(w: Writer, node: Node, x: Name) -> Any:
    if node.options["include_initial"]:
        return NotImplemented
    wide = x if dtype(node) == node.outs[0].dtype else w.cast(x, node.outs[0].dtype)
    axis = w.constant(numpy.asarray(node.options["axis"], "int64"))
    return w.op("CumSum", wide, axis, reverse=int(bool(node.options["reverse"])))


@writes("softmax", "log_softmax", uniform=True)
def softmax(w: Writer, node: Node, x: Name) -> Any:
    axes: Any = node.options["axis"]
    if len(axes) != 1 or dtype(node) != node.outs[0].dtype:
        return NotImplemented
    return w.op("Softmax" if node.op == "softmax" else "LogSoftmax", x, axis=axes[0])


@writes("standardise", uniform=True)
def standardise(w: Writer, node: Node, x: Name) -> Any:
    axes: Any = node.options["axis"]
    own = node.operands[0].template
    if tuple(axes) != tuple(range(own.ndim - len(axes), own.ndim)) or not axes:
        return NotImplemented
    number = w.scalar(1, own.dtype)
    ones = w.op("Expand", number, w.ints(own.shape[axes[0] :]))
    return w.op("LayerNormalization", x, ones, axis=axes[0], epsilon=float(node.options["epsilon"]))  # type: ignore[arg-type]
