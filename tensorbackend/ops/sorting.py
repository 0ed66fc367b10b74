"""Orderings along an axis, stable in both directions; the order of rows by several keys; smaller and larger elements.

NaN comes last in ascending and first in descending order; -0.0 is equal to 0.0. Complex numbers have no order and raise
`DTypeError`.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index

from ..annotations import Axis
from ..declarations.argument_errors import check_arguments
from ..dispatch import primitive
from ..dtypes import default_dtype
from ..errors import ArgumentError, expected
from ..rules.axes import normalize_axis
from ..rules.broadcasting import check_dtype
from ..rules.plan import Plan, flag
from ..template import Template
from ..tensor import Tensor, TensorLike
from .composite.shape.arranging import broadcast_arrays
from .creation.values import operand_tensor, operand_tensors
from .indexing.taking import take_along_axis_at


def _order_rule(x: Template, axis: Axis, descending: bool, stable: bool) -> dict[str, object]:
    flag(stable=stable)
    check_dtype(x.dtype, "real or bool", "sort real(x), or by argsort(abs(x))")
    return {"axis": normalize_axis(x, axis), "descending": flag(descending=descending)}


@primitive
def sort(x: Template, /, *, axis: Axis = -1, descending: bool = False, stable: bool = True) -> Plan:
    """Return the elements sorted along an axis. The sort is always stable.

    >>> tb.sort(tb.asarray([2.0, float("nan"), 1.0])).tolist()
    [1.0, 2.0, nan]
    """
    return Plan(x, (x.dtype,), _order_rule(x, axis, descending, stable))


@primitive
def argsort(x: Template, /, *, axis: Axis = -1, descending: bool = False, stable: bool = True) -> Plan:
    """Return the indices (int64) that would sort along an axis. The sort is stable in both directions.

    >>> tb.argsort(tb.asarray([1, 3, 1, 2]), descending=True).tolist()
    [1, 3, 0, 2]
    """
    return Plan(x.replace(dtype=default_dtype("int")), (x.dtype,), _order_rule(x, axis, descending, stable))


@check_arguments
def lexsort(keys: Sequence[TensorLike], /, *, axis: Axis = -1) -> Tensor:
    """The indices that sort by several keys: by the last one, where that is equal by the one before, and so on.

    Parameters
    ----------
    keys : sequence of Tensor
        Real tensors of one shape, the most important one last, as in NumPy.

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


def _check_place(x: Tensor, kth: int | Sequence[int], axis: Axis) -> Tensor:
    """x itself; `ArgumentError` for a place that the axis does not have."""
    along = normalize_axis(x.template, axis)
    size = x.shape[along]
    for place in kth if isinstance(kth, Sequence) else (kth,):
        if not -size <= index(place) < size:
            raise ArgumentError(expected(f"kth from {-size} to {size - 1} for axis {along} of {x.template!r}", kth=kth))
    return x


@check_arguments
def partition(x: TensorLike, kth: int | Sequence[int], /, *, axis: Axis = -1) -> Tensor:
    """The elements along an axis, divided at a place: the kth is where `sort` has it, smaller ones come before it.

    The order within both parts is not specified. All backends sort, so that they agree; `top_k` finds a few of the
    largest in less time.

    Returns
    -------
    Tensor
        A tensor with the shape and names of x.

    See Also
    --------
    argpartition : The indices of the elements.
    top_k : The k largest or smallest elements.

    Examples
    --------
    >>> divided = tb.partition(tb.asarray([7, 1, 5, 3]), 2)
    >>> divided[2].item(), tb.max(divided[:2]).item(), divided[3].item()
    (5, 3, 7)
    """
    return sort(_check_place(operand_tensor(x), kth, axis), axis=axis)


@check_arguments
def argpartition(x: TensorLike, kth: int | Sequence[int], /, *, axis: Axis = -1) -> Tensor:
    """The indices that divide the elements along an axis as `partition` does.

    Returns
    -------
    Tensor
        Indices along the axis (int64).

    Examples
    --------
    >>> x = tb.asarray([7, 1, 5, 3])
    >>> tb.take(x, tb.argpartition(x, 1)[:2], axis=0).tolist()
    [1, 3]
    """
    return argsort(_check_place(operand_tensor(x), kth, axis), axis=axis)
