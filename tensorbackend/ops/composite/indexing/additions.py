"""Writes along one axis, with separate indices for each position on the other axes, where `take_along_axis` reads."""

from __future__ import annotations

from ....annotations import Axis
from ....declarations.argument_errors import check_arguments
from ....dispatch import composite
from ....errors import ShapeError, expected
from ....protocol.indexing import Mode
from ....rules.accuracy import SUM
from ....rules.axes import normalize_axis
from ....rules.broadcasting import check_dtype, result_type
from ....rules.indexing import plan_take_along
from ....template import Template, merge_names
from ....tensor import Tensor, TensorLike
from ...creation.filled import iota
from ...creation.values import operand_tensors
from ...elementwise.conversion import astype
from ...indexing.scatter import indexed_add
from ..shape.arranging import stack
from .positions import to_int64


def _updates(out: Template, x: Template, indices: Template, updates: Template, /, **options: object) -> int:
    """The cost: one addition for each update."""
    return updates.size


@composite.calls("add_along_axis").within(SUM).costing(_updates).reaching("written")
def _add_along_axis(x: Tensor, indices: Tensor, updates: Tensor, /, *, axis: Axis = -1, mode: Mode = "error") -> Tensor:
    """See `add_along_axis`; the operands have one dtype."""
    along = normalize_axis(x.template, axis)
    vectors = [
        to_int64(indices) if position == along else iota(indices.shape, axis=position, dtype="int64")
        for position in range(x.ndim)
    ]
    return indexed_add(x, stack(vectors, axis=-1), updates, mode=mode)


add_along_axis_at = _add_along_axis
"""`add_along_axis` for operands that are already checked and cast to one dtype."""


@check_arguments
def add_along_axis(
    x: TensorLike, indices: TensorLike, updates: TensorLike, /, *, axis: Axis = -1, mode: Mode = "error"
) -> Tensor:
    """Add updates to x along one axis, with separate indices for each position on the other axes.

    It writes where `take_along_axis` reads. If an index occurs twice, both updates are added. Floats are added in
    order, in float32 or wider.

    Parameters
    ----------
    x
        A numeric tensor of any shape with axes.
    indices
        Integers, with the sizes of x except along the axis. They are never negative.
    updates
        Numbers with the shape of the indices.
    axis
        The axis, by position or by name.
    mode
        How to treat an index outside the axis: "error" raises, "clip" moves it to the nearest end, "fill" adds nothing.

    Returns
    -------
    Tensor
        A tensor with the shape and names of x, in the common dtype of x and the updates.

    Raises
    ------
    ShapeError, NamesError
        For indices or updates whose shape or names do not match x.
    DTypeError
        For indices that are not integers, and if x and the updates are bools.
    IndexRangeError
        For an index outside the axis with `mode="error"`.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> tb.add_along_axis(tb.zeros((2, 3)), tb.asarray([[2, 2], [0, 1]]), tb.ones((2, 2)), axis=1).tolist()
    [[0.0, 0.0, 2.0], [1.0, 1.0, 0.0]]
    """
    x, indices, updates = operand_tensors(x, indices, updates)
    dtype = check_dtype(result_type([x.template, updates.template]), "numeric")
    read = plan_take_along(x.template, indices.template, axis, mode).out
    assert isinstance(read, Template)  # `take_along_axis` returns one tensor
    if updates.shape != read.shape:
        raise ShapeError(expected(f"updates of shape {read.shape}", "broadcast_to() that shape", updates=updates))
    merge_names(read, updates.template)
    return _add_along_axis(astype(x, dtype), indices, astype(updates, dtype), axis=axis, mode=mode)
