"""Batching of convolution: the examples are side by side along the batch axis or the channels, or are groups."""

from __future__ import annotations

from ...ops.shape import permute_dims, reshape
from ...rules.convolution import Correlation
from ...template import intern_template
from ...tensor import Tensor
from .registry import Call, Results, rule


def _merge_axes(x: Tensor, axis: int, groups: int = 1) -> Tensor:
    """x with its first axis merged into another axis (counted without the first), inside each group of that axis."""
    _, *shape = x.shape
    apart = reshape(x, (x.shape[0], *shape[:axis], groups, shape[axis] // groups, *shape[axis + 1 :]))
    order = [*range(1, axis + 2), 0, *range(axis + 2, apart.ndim)]
    shape[axis] *= x.shape[0]
    return reshape(permute_dims(apart, tuple(order)), tuple(shape))


def _split_axes(x: Tensor, axis: int, size: int, groups: int = 1) -> Tensor:
    """The inverse of `_merge_axes`."""
    shape = list(x.shape)
    shape[axis] //= size
    apart = reshape(x, (*shape[:axis], groups, size, shape[axis] // groups, *shape[axis + 1 :]))
    order = [axis + 1, *(other_axis for other_axis in range(apart.ndim) if other_axis != axis + 1)]
    return reshape(permute_dims(apart, tuple(order)), (size, *shape))


@rule("conv")
def _conv(call: Call) -> Results:
    x, kernel = call.operands
    template, options = call.node.outs[0], call.options
    if not call.size:
        return None
    correlation: Correlation = options["correlation"]
    axis, groups, batches = 1, correlation.groups, correlation.batch_groups
    changed: dict[str, object] = {}
    if not kernel.mapped:
        axis, inputs = 0, [_merge_axes(x.x, 0, batches), kernel.x]
        groups = 1
    elif not x.mapped:
        inputs = [x.x, _merge_axes(kernel.x, 0, groups)]
    else:  # each example becomes a group, of the channels or of the batch
        inputs = [_merge_axes(x.x, 0 if batches > 1 else 1), _merge_axes(kernel.x, 0)]
        features, batches = (1, call.size * groups) if batches > 1 else (call.size * groups, 1)
        changed["correlation"] = correlation._replace(feature_groups=features, batch_groups=batches)
        groups = 1
    shape = list(template.shape)
    shape[axis] *= call.size
    out = intern_template(tuple(shape), template.dtype, (None,) * len(shape))
    return _split_axes(call.tensor(inputs, out, changed), axis, call.size, groups)
