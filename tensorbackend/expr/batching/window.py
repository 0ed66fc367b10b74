"""Batching of ops that slide windows along all axes."""

from __future__ import annotations

from ...ops.creation.filled import full
from ...ops.elementwise.binary import add
from ...rules.window import Windows
from .registry import Call, Results, rule


def _options(call: Call) -> dict[str, object]:
    """The windows with windows of one element along the new axis: each holds elements of one example."""
    sizes, strides, padding, dilations = call.options["windows"]
    return {"windows": Windows((1, *sizes), (1, *strides), ((0, 0), *padding), (1, *dilations))}


@rule("window_sum", "window_product", "window_max", "window_min")
def _windows(call: Call) -> Results:
    return call.record([call.operands[0].x], options=_options(call))


@rule("window_reduce")
def _window_reduce(call: Call) -> Results:
    x, initial = call.operands
    return None if initial.mapped else call.record([x.x, initial.x], options=_options(call))


@rule("window_scatter_max", "window_scatter_min")
def _window_scatter(call: Call) -> Results:
    x, source, initial = call.operands
    start = full((), 0, dtype=initial.x.dtype) if initial.mapped else initial.x
    scattered = call.tensor([call.whole(x), call.whole(source), start], options=_options(call))
    return add(scattered, call.aligned(initial, scattered.ndim - 1)) if initial.mapped else scattered
