"""Reads and writes at index vectors, as in Nx: the last axis of `indices` runs over x's leading axes.

Indices are never negative. An index outside its axis raises `IndexRangeError` with `mode="error"`, is moved to the
nearest end with `"clip"`, and reads zero or writes nothing with `"fill"`. Errors: `ShapeError`, `NamesError`,
`DTypeError`, `ArgumentError` for another mode.

`batch` lists axes that x and the indices have in common, by name or by a position that is the same in both. Each entry
of these axes is then read or written separately. In the result of a read and in the updates the batch axes come first,
wherever they are in x and the indices. The index vectors run over the leading ones of x's other axes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from ...declarations.argument_errors import check_arguments
from ...dispatch import primitive
from ...dtypes import scalar_kind
from ...errors import AxisError, ShapeError, expected
from ...protocol.indexing import Mode
from ...rules.accuracy import SUM
from ...rules.axes import normalize_axes
from ...rules.broadcasting import result_type
from ...rules.contraction import check_pairs
from ...rules.indexing import check_indices, gather_shape, plan_scatter
from ...rules.plan import Plan
from ...template import Template, weak_template
from ...tensor import Tensor, TensorLike
from ..creation.filled import iota, rename
from ..creation.values import operand_tensor, operand_tensors
from ..elementwise.basic import astype
from ..elementwise.binary import minimum
from ..shape import broadcast_to, concatenate, permute_dims


@primitive.calls("gather")
def _gather(x: Template, indices: Template, /, *, mode: Mode = "error") -> Plan:
    check_indices(indices, mode)
    shape, names = gather_shape(x, indices)
    return Plan(Template(shape, x.dtype, names), (x.dtype, indices.dtype), {"mode": mode})


@check_arguments
def gather(x: TensorLike, indices: TensorLike, /, *, mode: Mode = "error", batch: Batch = None) -> Tensor:
    """Read the entries of x at index vectors along the last axis of `indices`.

    For x of shape (5, 6, 7) and indices of shape (2, 3, 2) the result has shape (2, 3, 7).

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

    >>> tb.indexed_put(tb.zeros(3), tb.asarray([[2], [0], [2]]), tb.asarray([1.0, 2.0, 3.0])).tolist()
    [2.0, 0.0, 3.0]
    """
    return write_updates(_indexed_put, x, indices, updates, mode, batch)


Batch: TypeAlias = int | str | Sequence[int | str] | None
"""Axes that x and the indices have in common, each by a name or a position in both; `None` for none."""

Positions: TypeAlias = tuple[int, ...]


class BatchPair(NamedTuple):
    """x and index vectors, each of which begins with its positions along the batch axes."""

    x: Tensor
    """The tensor with its batch axes in front."""
    vectors: Tensor
    order: tuple[int, ...]
    """For each axis of this `x`, its position in the original tensor."""

    def back(self, moved: Tensor) -> Tensor:
        """Move the axes of a tensor laid out like this `x` back to their original positions."""
        places: Positions = tuple(sorted(range(moved.ndim), key=self.order.__getitem__))
        return permute_dims(moved, places)


def positions(x: Tensor, vectors: Tensor, batch: Batch) -> tuple[Positions, Positions]:
    """The batch axes of x and of index vectors; raises `AxisError` for the vectors' last axis."""
    x_axes, vector_axes = normalize_axes(x.template, batch), normalize_axes(vectors.template, batch)
    if vectors.ndim - 1 in vector_axes:
        remedy = "the last axis of the indices runs over the axes of x"
        raise AxisError(
            expected("batch axes other than the last axis of the indices", remedy, indices=vectors.template)
        )
    return x_axes, vector_axes


def pair_batches(x: Tensor, vectors: Tensor, x_axes: Positions, vector_axes: Positions) -> BatchPair:
    """x with its batch axes in front, and index vectors that begin with the positions along these axes.

    x (4, 7, 5) and vectors (5, 3, 1) for its axis 0, with axis 2 of x and axis 0 of the vectors as the batch axes,
    become (5, 4, 7) and (5, 3, 2). Raises `ShapeError` and `NamesError` for batch axes that differ.
    """
    check_pairs(x.template, vectors.template, x_axes, vector_axes, contracted=False)
    order = (*x_axes, *(axis for axis in range(x.ndim) if axis not in x_axes))
    moved = permute_dims(vectors, (*vector_axes, *(axis for axis in range(vectors.ndim) if axis not in vector_axes)))
    names = tuple(moved.names[place] or x.names[axis] for place, axis in enumerate(x_axes))
    # Numbers that int64 cannot hold become one that is outside any axis.
    whole = astype(minimum(moved, 1 << 62) if moved.dtype.name == "uint64" else moved, "int64")
    named = rename(whole, *names, *moved.names[len(x_axes) :])
    shape = (*named.shape[:-1], 1)
    places = [iota(shape, axis=axis, dtype="int64", names=named.names, like=x) for axis in range(len(x_axes))]
    return BatchPair(permute_dims(x, order), concatenate([*places, named], axis=-1), order)


def write_batches(
    op: Callable[..., Tensor], x: Tensor, indices: Tensor, updates: Tensor, *, mode: Mode, batch: Batch
) -> Tensor:
    """Writes updates by an op, such as `indexed_add`, at index vectors for each entry of the batch axes."""
    pair = pair_batches(x, indices, *positions(x, indices, batch))
    return pair.back(op(pair.x, pair.vectors, updates, mode=mode))
