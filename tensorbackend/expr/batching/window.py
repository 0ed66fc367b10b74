"""Batching of windows and convolution."""

from __future__ import annotations

from ...ops.creation.filled import full
from ...ops.elementwise.binary import add
from ...ops.shape import permute_dims, reshape
from ...template import intern_template
from ...tensor import Tensor
from .registry import Call, Results, rule

_ALONE = {"window_dimensions": 1, "strides": 1, "padding": (0, 0), "window_dilations": 1}
"""For each option what makes windows of one example."""


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
    found = call.tensor([call.whole(x), call.whole(source), start], options=_options(call))
    return add(found, call.aligned(initial, found.ndim - 1)) if initial.mapped else found


# Convolution: the new axis joins the batch, the channels of the result, or the groups.


def _joined(x: Tensor, axis: int, groups: int = 1) -> Tensor:
    """x with its first axis in another one (counted without it), inside the groups of that."""
    _, *shape = x.shape
    apart = reshape(x, (x.shape[0], *shape[:axis], groups, shape[axis] // groups, *shape[axis + 1 :]))
    order = [*range(1, axis + 2), 0, *range(axis + 2, apart.ndim)]
    shape[axis] *= x.shape[0]
    return reshape(permute_dims(apart, tuple(order)), tuple(shape))


def _parted(x: Tensor, axis: int, size: int, groups: int = 1) -> Tensor:
    """The inverse of `_joined`."""
    shape = list(x.shape)
    shape[axis] //= size
    apart = reshape(x, (*shape[:axis], groups, size, shape[axis] // groups, *shape[axis + 1 :]))
    order = [axis + 1, *(each for each in range(apart.ndim) if each != axis + 1)]
    return reshape(permute_dims(apart, tuple(order)), (size, *shape))


@rule("conv")
def _conv(call: Call) -> Results:
    x, kernel = call.operands
    template, options = call.node.outs[0], call.options
    if not call.size:
        return None
    features, batches = options["feature_groups"], options["batch_groups"]
    axis, groups = 1, features * batches
    changed: dict[str, object] = {}
    if not kernel.mapped:
        axis, inputs = 0, [_joined(x.x, 0, batches), kernel.x]
        groups = 1
    elif not x.mapped:
        inputs = [x.x, _joined(kernel.x, 0, groups)]
    else:  # each example is a group, of channels or of the batch
        inputs = [_joined(x.x, 0 if batches > 1 else 1), _joined(kernel.x, 0)]
        name = "batch_groups" if batches > 1 else "feature_groups"
        changed[name], groups = call.size * groups, 1
    shape = list(template.shape)
    shape[axis] *= call.size
    out = intern_template(tuple(shape), template.dtype, (None,) * len(shape))
    return _parted(call.tensor(inputs, out, changed), axis, call.size, groups)
