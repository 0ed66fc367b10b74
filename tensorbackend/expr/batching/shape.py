"""Batching of ops that move, join or pad elements."""

from __future__ import annotations

from ...ops.creation.filled import full
from ...ops.elementwise.basic import where
from ...ops.padding import pad
from ...ops.shape import reshape
from .registry import Call, Results, rule


@rule("transpose", "broadcast")
def _transpose(call: Call) -> Results:
    return call.record([call.operands[0].x], options={"axes": (0, *(axis + 1 for axis in call.options["axes"]))})


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
