"""The order of rows by several keys."""

from __future__ import annotations

from collections.abc import Sequence

from ..annotations import Axis
from ..declarations.argument_errors import check_arguments
from ..errors import ArgumentError, expected
from ..rules.axes import normalize_axis
from ..tensor import Tensor, TensorLike
from .composite.shape.arranging import broadcast_arrays
from .creation.values import operand_tensors
from .indexing.taking import take_along_axis_at
from .sorting import argsort


@check_arguments
def lexsort(keys: Sequence[TensorLike], /, *, axis: Axis = -1) -> Tensor:
    """The indices that sort by several keys: by the last one, where that is equal by the one before, and so on.

    Parameters
    ----------
    keys : sequence of Tensor
        Real tensors of one shape, the most important one last, as in NumPy.
    axis : int or str, default -1
        The axis to sort along.

    Returns
    -------
    Tensor
        Indices along the axis (int64). Entries that are equal in all keys keep their order.

    Raises
    ------
    ArgumentError
        For no keys.
    ShapeError, NamesError
        For keys that do not broadcast.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> first, last = tb.asarray([2, 1, 2]), tb.asarray([1, 1, 0])
    >>> tb.lexsort([first, last]).tolist()
    [2, 1, 0]
    """
    if not keys:
        raise ArgumentError(expected("at least one key", keys=keys))
    tensors = broadcast_arrays(*operand_tensors(*keys))
    along = normalize_axis(tensors[0].template, axis)
    order = argsort(tensors[0], axis=along)
    for key in tensors[1:]:
        again = argsort(take_along_axis_at(key, order, axis=along, mode="clip"), axis=along)
        order = take_along_axis_at(order, again, axis=along, mode="clip")
    return order
