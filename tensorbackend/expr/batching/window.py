"""Batching of ops that slide windows along all axes."""

from __future__ import annotations

from ...ops.creation.filled import full
from ...ops.elementwise.binary import add
from .registry import Call, Results, rule

_ALONE = {"window_dimensions": 1, "strides": 1, "padding": (0, 0), "window_dilations": 1}
"""For each option, the entry for the new axis: each window holds elements of one example."""


def _options(call: Call) -> dict[str, object]:
    return {name: (_ALONE[name], *value) for name, value in call.options.items() if name in _ALONE}


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
