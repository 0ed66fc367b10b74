"""Index vectors for each entry of batch axes, which x and the indices have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from ...errors import AxisError, expected
from ...protocol.indexing import Mode
from ...rules.axes import normalize_axes
from ...rules.contraction import check_pairs
from ...tensor import Tensor
from ..creation.filled import iota, rename
from ..elementwise.binary import minimum
from ..elementwise.conversion import astype
from ..shape import concatenate, permute_dims

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
