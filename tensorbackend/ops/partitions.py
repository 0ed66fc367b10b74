"""Elements divided into smaller and larger ones."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index

from ..annotations import Axis
from ..declarations.argument_errors import check_arguments
from ..errors import ArgumentError, expected
from ..rules.axes import normalize_axis
from ..tensor import Tensor, TensorLike
from .creation.values import operand_tensor
from .sorting import argsort, sort


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
    >>> import tensorbackend as tb
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
    >>> import tensorbackend as tb
    >>> x = tb.asarray([7, 1, 5, 3])
    >>> tb.take(x, tb.argpartition(x, 1)[:2], axis=0).tolist()
    [1, 3]
    """
    return argsort(_check_place(operand_tensor(x), kth, axis), axis=axis)
