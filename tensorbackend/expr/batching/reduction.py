"""Batching of reductions that return an index."""

from __future__ import annotations

from math import prod

from ...ops.shape import reshape
from ...template import intern_template
from .registry import Call, Results, rule


@rule("argmax", "argmin")
def _place_of_all(call: Call) -> Results:
    """The index among all elements of an example; along one axis, they are batched as other ops are."""
    if call.options["axis"] is not None:
        return None
    x, template = call.operands[0].x, call.node.outs[0]
    flat = reshape(x, (call.size, prod(x.shape[1:])))
    out = intern_template((call.size,), template.dtype, (None,))
    places = call.tensor([flat], out, {"axis": 1, "keepdims": False})
    return reshape(places, (call.size, *template.shape), names=(None, *template.names))
