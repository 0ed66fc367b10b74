"""Reductions, running sums, sorting and what normalises."""

from __future__ import annotations

from typing import Any

import tensorbackend as tb
from tensorbackend.dtypes import bool_
from tensorbackend.expr.node import Node

from .elementwise import converted, dtype
from .writer import Name, Writer, option, writes

REDUCTIONS = {
    "logsumexp": "ReduceLogSumExp",
    "mean": "ReduceMean",
    "product": "ReduceProd",
    "reduce_max": "ReduceMax",
    "reduce_min": "ReduceMin",
    "sum": "ReduceSum",
}


def reduced(w: Writer, node: Node, x: Name, operator: str = "") -> Name:
    """A reduction over the axes of a node; over none it is the tensor itself."""
    axes: Any = node.options.get("axes", node.options.get("axis"))
    axes = range(node.operands[0].template.ndim) if axes is None else axes
    keepdims = int(bool(option(node, "keepdims")))
    return w.op(operator or REDUCTIONS[node.op], x, w.ints(axes), keepdims=keepdims, noop_with_empty_axes=1)


@writes("sum", "product")
def sums(w: Writer, node: Node, x: Name) -> Any:
    return reduced(w, node, converted(w, node, x, node.outs[0].dtype))


@writes("reduce_max", "reduce_min")
def extremes(w: Writer, node: Node, x: Name) -> Name:
    if dtype(node) != bool_:
        return reduced(w, node, x)
    return w.cast(reduced(w, node, w.cast(x, tb.int32)), bool_)


@writes("all", "any")
def all_or_any(w: Writer, node: Node, x: Name) -> Name:
    flags = converted(w, node, x, bool_)
    counted = w.op("Not", flags) if node.op == "all" else flags
    found = w.cast(reduced(w, node, w.cast(counted, tb.int32), "ReduceSum"), bool_)
    return w.op("Not", found) if node.op == "all" else found


@writes("logsumexp", "mean", uniform=True)
def composite(w: Writer, node: Node, x: Name, *others: Name) -> Any:
    return NotImplemented if any(other is not None for other in others) else reduced(w, node, x)


@writes("argmax", "argmin")
def place_of_extreme(w: Writer, node: Node, x: Name) -> Name:
    axis, keepdims = option(node, "axis"), bool(option(node, "keepdims"))
    operator, last = "ArgMax" if node.op == "argmax" else "ArgMin", int(option(node, "tie_break") == "high")
    x = w.cast(x, tb.int32) if dtype(node) == bool_ else x
    if axis is not None:
        return w.op(operator, x, axis=axis, keepdims=int(keepdims), select_last_index=last)
    place = w.op(operator, w.op("Reshape", x, w.ints([-1])), axis=0, keepdims=0, select_last_index=last)
    return w.op("Reshape", place, w.ints(node.outs[0].shape)) if keepdims else place


@writes("sort", "argsort")
def sort(w: Writer, node: Node, x: Name) -> Name:
    axis = option(node, "axis")
    count = w.ints([node.operands[0].template.shape[axis]])
    values, places = w.several("TopK", 2, x, count, axis=axis, largest=int(bool(option(node, "descending"))))
    return values if node.op == "sort" else places


@writes("top_k")
def top_k(w: Writer, node: Node, x: Name) -> list[Name]:
    return w.several("TopK", 2, x, w.ints([option(node, "k")]), axis=node.options.get("axis", -1))


@writes("cumulative_sum")
def cumulative_sum(w: Writer, node: Node, x: Name) -> Any:
    if option(node, "include_initial"):
        return NotImplemented
    wide = converted(w, node, x, node.outs[0].dtype)
    return w.op("CumSum", wide, w.scalar(option(node, "axis"), tb.int64), reverse=int(bool(option(node, "reverse"))))


@writes("softmax", "log_softmax", uniform=True)
def softmax(w: Writer, node: Node, x: Name) -> Any:
    operator, axes = "Softmax" if node.op == "softmax" else "LogSoftmax", option(node, "axis")
    return w.op(operator, x, axis=axes[0]) if len(axes) == 1 else NotImplemented


@writes("standardise", uniform=True)
def standardise(w: Writer, node: Node, x: Name) -> Any:
    axes, own = option(node, "axis"), node.operands[0].template
    if tuple(axes) != tuple(range(own.ndim - len(axes), own.ndim)) or not axes:
        return NotImplemented
    ones = w.op("Expand", w.scalar(1, own.dtype), w.ints(own.shape[axes[0] :]))
    return w.op("LayerNormalization", x, ones, axis=axes[0], epsilon=float(option(node, "epsilon")))
