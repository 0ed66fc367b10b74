"""A batch of reductions: those that find a place."""

from __future__ import annotations

from ...ops.shape import reshape
from ...template import intern_template
from .registry import Call, Results, rule


@rule("argmax", "argmin")
def _place_of_all(call: Call) -> Results:
    """Along all axes that an example has; along one axis as other ops."""
    if call.options["axis"] is not None:
        return None
    flat, template = reshape(call.operands[0].x, (call.size, -1)), call.node.outs[0]
    out = intern_template((call.size,), template.dtype, (None,))
    places = call.tensor([flat], out, {"axis": 1, "keepdims": False})
    return reshape(places, (call.size, *template.shape), names=(None, *template.names))
