"""Reads and writes at index vectors, as in Nx: the last axis of `indices` runs over x's leading axes.

Indices are never negative. An index outside its axis raises `IndexRangeError` with `mode="error"`, is moved to the
nearest end with `"clip"`, and reads zero or writes nothing with `"fill"`. Errors: `ShapeError`, `NamesError`,
`DTypeError`, `ArgumentError` for another mode.

`batch` lists axes that x and the indices have in common, by name or by a position that is the same in both. Each entry
of these axes is then read or written separately. In the result of a read and in the updates the batch axes come first,
wherever they are in x and the indices. The index vectors run over the leading ones of x's other axes.
"""

from __future__ import annotations

from collections.abc import Callable

from ...declarations.argument_errors import check_arguments
from ...dispatch import primitive
from ...dtypes import scalar_kind
from ...errors import ShapeError
from ...protocol.indexing import Mode
from ...rules.accuracy import SUM
from ...rules.broadcasting import result_type
from ...rules.indexing import check_indices, gather_shape, plan_scatter
from ...rules.plan import Plan
from ...template import Template, weak_template
from ...tensor import Tensor, TensorLike
from ..creation.values import operand_tensor, operand_tensors
from ..elementwise.conversion import astype
from ..shape import broadcast_to
from .batches import Batch, pair_batches, positions, write_batches


@primitive.calls("gather")
def _gather(x: Template, indices: Template, /, *, mode: Mode = "error") -> Plan:
    check_indices(indices, mode)
    shape, names = gather_shape(x, indices)
    return Plan(Template(shape, x.dtype, names), (x.dtype, indices.dtype), {"mode": mode})


@check_arguments
def gather(x: TensorLike, indices: TensorLike, /, *, mode: Mode = "error", batch: Batch = None) -> Tensor:
    """Read the entries of x at index vectors along the last axis of `indices`.

    For x of shape (5, 6, 7) and indices of shape (2, 3, 2) the result has shape (2, 3, 7).

    >>> import tensorbackend as tb
    >>> tb.gather(tb.asarray([[1, 2], [3, 4]]), tb.asarray([[1, 0], [0, 0]])).tolist()
    [3, 1]
    >>> x = tb.asarray([[1, 2, 3], [4, 5, 6]], names=("row", "column"))
    >>> tb.gather(x, tb.asarray([[2], [0]], names=("row", None)), batch="row")
    s64[row: 2] numpy [3, 4]
    """
    if batch is None:
        return _gather(x, indices, mode=mode)
    x, indices = operand_tensors(x, indices)
    check_indices(indices.template, mode)
    pair = pair_batches(x, indices, *positions(x, indices, batch))
    return _gather(pair.x, pair.vectors, mode=mode)


def _spread(x: TensorLike, indices: TensorLike, updates: TensorLike) -> list[Tensor]:
    """The operands with one number as updates of the shape that they need; a Python number takes the dtype of x."""
    kind = scalar_kind(updates)
    x, indices, number = operand_tensors(x, indices, updates)
    dtype = result_type([x.template, number.template if kind is None else weak_template(kind)])
    shape, _ = gather_shape(x.template, indices.template)
    return [x, indices, broadcast_to(astype(number, dtype), shape)]


def write_updates(
    op: Callable[..., Tensor], x: TensorLike, indices: TensorLike, updates: TensorLike, mode: Mode, batch: Batch
) -> Tensor:
    """The result of an op of x, index vectors and updates, where one number may stand for all updates."""
    if batch is not None:
        return write_batches(op, *operand_tensors(x, indices, updates), mode=mode, batch=batch)
    if scalar_kind(updates) is None:
        try:
            return op(x, indices, updates, mode=mode)
        except ShapeError:
            if operand_tensor(updates).ndim:
                raise
    return op(*_spread(x, indices, updates), mode=mode)


@primitive.calls("indexed_add").within(SUM)
def _indexed_add(x: Template, indices: Template, updates: Template, /, *, mode: Mode = "error") -> Plan:
    return plan_scatter(x, indices, updates, mode, "numeric")


@check_arguments
def indexed_add(
    x: TensorLike, indices: TensorLike, updates: TensorLike, /, *, mode: Mode = "error", batch: Batch = None
) -> Tensor:
    """Add updates to x at index vectors as in `gather`. If an index occurs twice, both updates are added.

    The updates have the shape of the result of `gather`, or are one number. Floats are added in order, in float32 or
    wider.

    >>> import tensorbackend as tb
    >>> tb.indexed_add(tb.zeros(3), tb.asarray([[2], [0], [2]]), tb.asarray([1.0, 2.0, 3.0])).tolist()
    [2.0, 0.0, 4.0]
    >>> tb.indexed_add(tb.zeros((2, 3)), tb.asarray([[2], [0]]), tb.asarray([1.0, 2.0]), batch=0).tolist()
    [[0.0, 0.0, 1.0], [2.0, 0.0, 0.0]]
    """
    return write_updates(_indexed_add, x, indices, updates, mode, batch)


@primitive.calls("indexed_put")
def _indexed_put(x: Template, indices: Template, updates: Template, /, *, mode: Mode = "error") -> Plan:
    return plan_scatter(x, indices, updates, mode, "any")


@check_arguments
def indexed_put(
    x: TensorLike, indices: TensorLike, updates: TensorLike, /, *, mode: Mode = "error", batch: Batch = None
) -> Tensor:
    """Write updates to x at index vectors as in `gather`. If an index occurs twice, the last update is kept.

    The updates have the shape of the result of `gather`, or are one number.

    >>> import tensorbackend as tb
    >>> tb.indexed_put(tb.zeros(3), tb.asarray([[2], [0], [2]]), tb.asarray([1.0, 2.0, 3.0])).tolist()
    [2.0, 0.0, 3.0]
    """
    return write_updates(_indexed_put, x, indices, updates, mode, batch)
