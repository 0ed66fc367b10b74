"""Batching of what moves elements, and of what looks at all axes at once."""

from __future__ import annotations

from ...ops.creation.filled import full
from ...ops.elementwise.ternary import where
from ...ops.padding import pad
from ...ops.shape import reshape
from ...template import intern_template
from .registry import Call, Results, rule


@rule("transpose", "broadcast")
def _placed(call: Call) -> Results:
    return call.record([call.operands[0].x], options={"axes": (0, *(axis + 1 for axis in call.options["axes"]))})


@rule("scaled_gradient")
def _scaled_gradient(call: Call) -> Results:
    x, scale = call.operands
    return call.record([call.whole(x) if scale.mapped else x.x, call.aligned(scale, call.node.outs[0].ndim)])


@rule("concatenate")
def _concatenate(call: Call) -> Results:
    return call.record([call.whole(call.inputs[0])], options={"axis": call.options["axis"] + 1})


@rule("pad")
def _pad(call: Call) -> Results:
    x, value = call.operands
    padding = ((0, 0, 0), *call.options["padding"])
    if not value.mapped:
        return call.record([x.x, value.x], options={"padding": padding})
    inside = full(x.x.shape[x.mapped :], True, dtype="bool")
    kept = pad(inside, call.options["padding"], value=False)
    nothing = full((), False if x.x.dtype.kind == "bool" else 0, dtype=x.x.dtype)
    wide = pad(call.whole(x), padding, value=nothing)
    return where(kept, wide, reshape(value.x, (call.size, *(1,) * (wide.ndim - 1))))


@rule("put_slice")
def _put_slice(call: Call) -> Results:
    x, update = map(call.whole, call.inputs)
    return call.record([x, update], options={"starts": (0, *call.options["starts"])})


@rule("argmax", "argmin")
def _place_of_all(call: Call) -> Results:
    """Along all axes that an example has; along one axis as other ops."""
    if call.options["axis"] is not None:
        return None
    flat, template = reshape(call.operands[0].x, (call.size, -1)), call.node.outs[0]
    out = intern_template((call.size,), template.dtype, (None,))
    found = call.tensor([flat], out, {"axis": 1, "keepdims": False})
    return reshape(found, (call.size, *template.shape), names=(None, *template.names))
