"""Batching of elementwise ops for which broadcasting is not enough."""

from __future__ import annotations

from .registry import Call, Results, rule


@rule("scaled_gradient")
def _scaled_gradient(call: Call) -> Results:
    x, scale = call.operands
    return call.record([call.whole(x) if scale.mapped else x.x, call.aligned(scale, call.node.outs[0].ndim)])
