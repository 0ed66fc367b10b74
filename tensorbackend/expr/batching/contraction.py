"""Batching of products, which pair axes of their operands."""

from __future__ import annotations

from ...ops.shape import permute_dims
from ...template import intern_template
from .registry import Call, Results, rule

_Axes = tuple[int, ...]


def _shift_axes(axes: _Axes, mapped: bool) -> _Axes:
    return tuple(axis + 1 for axis in axes) if mapped else axes


@rule("dot")
def _dot(call: Call) -> Results:
    """The new axis is one more pair of batch axes, or a free axis if only one operand has it."""
    (x1, mapped1), (x2, mapped2) = call.operands
    options = {
        name: _shift_axes(axes, mapped1 if name.endswith("1") else mapped2) for name, axes in call.options.items()
    }
    if mapped1 and mapped2:
        options["batch1"], options["batch2"] = (0, *options["batch1"]), (0, *options["batch2"])
        return call.record([x1, x2], options=options)
    count = len(options["batch1"])
    place = count if mapped1 else count + x1.ndim - count - len(options["contract1"])
    template = call.node.outs[0]
    shape = (*template.shape[:place], call.size, *template.shape[place:])
    names = (*template.names[:place], None, *template.names[place:])
    product = call.tensor([x1, x2], intern_template(shape, template.dtype, names), options)
    order = (place, *(axis for axis in range(product.ndim) if axis != place))
    return product if place == 0 else permute_dims(product, order)


@rule("matmul")
def _matmul(call: Call) -> Results:
    """Batches the product of matrices, whose leading axes broadcast; for a vector, its parts run instead."""
    if any(operand.x.ndim - operand.mapped < 2 for operand in call.operands):
        return None
    return call.record([call.aligned(operand, call.node.outs[0].ndim) for operand in call.inputs])
