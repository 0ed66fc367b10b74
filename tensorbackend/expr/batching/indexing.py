"""Batching of reads and writes by index: if x and the indices have the new axis, an index gets one more component."""

from __future__ import annotations

from ...dtypes import iinfo
from ...ops.creation.filled import iota
from ...ops.elementwise.basic import astype
from ...ops.indexing.scatter import gather
from ...ops.shape import broadcast_to, concatenate, expand_dims, permute_dims, reshape
from ...template import intern_template
from ...tensor import Tensor
from .registry import Call, Results, rule


def _prepend_example(indices: Tensor) -> Tensor:
    """Index vectors (batch, ..., k) with the number of the example prepended to each: (batch, ..., k + 1)."""
    size = indices.shape[0]
    if size and iinfo(indices.dtype).max < size - 1:
        indices = astype(indices, "int64")
    indices = indices.rename(*(None,) * indices.ndim)
    numbers = reshape(iota((size,), dtype=indices.dtype), (size, *(1,) * (indices.ndim - 1)))
    return concatenate([broadcast_to(numbers, (*indices.shape[:-1], 1)), indices], axis=-1)


def _move_to_front(x: Tensor, axis: int) -> Tensor:
    return permute_dims(x, (axis, *(other_axis for other_axis in range(x.ndim) if other_axis != axis)))


@rule("take")
def _take(call: Call) -> Results:
    (x, mapped_x), (indices, mapped_indices) = call.operands
    axis = call.options["axis"]
    if not mapped_indices:
        return call.record([x, indices], options={"axis": axis + 1})
    template = call.node.outs[0]
    if not mapped_x:  # the new axis comes with those of the indices
        shape = (*template.shape[:axis], call.size, *template.shape[axis:])
        out = intern_template(shape, template.dtype, (None,) * len(shape))
        return _move_to_front(call.tensor([x, indices], out), axis)
    rows = permute_dims(x, (0, axis + 1, *(other_axis for other_axis in range(1, x.ndim) if other_axis != axis + 1)))
    gathered = gather(
        rows.rename(*(None,) * rows.ndim), _prepend_example(expand_dims(indices, axis=-1)), mode=call.options["mode"]
    )
    # The result has the axes of the indices, then those of x before the one that is read along, then those after it.
    count = indices.ndim
    before, after = range(count, count + axis), range(count + axis, gathered.ndim)
    return permute_dims(gathered, (0, *before, *range(1, count), *after))


@rule("take_along_axis", "add_along_axis")
def _take_along_axis(call: Call) -> Results:
    return call.record(list(map(call.whole, call.inputs)), options={"axis": call.options["axis"] + 1})


@rule("gather")
def _gather(call: Call) -> Results:
    (x, mapped), (indices, _) = call.operands
    if not mapped:
        return call.record([x, indices])
    return call.record([x, _prepend_example(call.whole(call.inputs[1]))])


@rule("indexed_add", "indexed_put")
def _write(call: Call) -> Results:
    x, indices, updates = map(call.whole, call.inputs)
    return call.record([x, _prepend_example(indices), updates])


@rule("grid_sample")
def _grid_sample(call: Call) -> Results:
    """The new axis is a batch axis, of size 1 in an operand that all examples share."""
    grid, points = (x if mapped else expand_dims(x, axis=0) for x, mapped in call.operands)
    return call.record([grid, points], options={"axes": tuple(axis + 1 for axis in call.options["axes"])})


@rule("put_slice")
def _put_slice(call: Call) -> Results:
    x, update = map(call.whole, call.inputs)
    return call.record([x, update], options={"starts": (0, *call.options["starts"])})
