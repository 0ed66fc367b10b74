"""Sums of products over paired axes. Integers keep their dtype and wrap."""

from __future__ import annotations

from collections.abc import Sequence

from ..dispatch import composite, primitive
from ..errors import ShapeError, expected
from ..rules.contraction import check_paired, check_stacked, contraction
from ..rules.plan import Plan
from ..template import Template
from ..tensor import Axis, Tensor
from .shape import broadcast_to, reshape


@primitive
def dot(
    x1: Template,
    x2: Template,
    /,
    *,
    contract: tuple[Sequence[Axis], Sequence[Axis]],
    batch: tuple[Sequence[Axis], Sequence[Axis]] = ((), ()),
) -> Plan:
    """Sum of products over pairs of contracted axes, for every entry of the paired batch axes.

    Each option is (axes of x1, axes of x2). The result has the batch axes, then x1's free axes, then x2's, names
    and all.

    >>> import tensorbackend as tb
    >>> x = tb.asarray([[1, 2], [3, 4]], names=("row", "k"))
    >>> tb.dot(x, tb.asarray([10, 1], names=("k",)), contract=(["k"], ["k"]))
    s64[row: 2] numpy
    [12, 34]
    """
    return contraction(x1, x2, contract, batch)


@composite
def matmul(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Matrix product of the last two axes, broadcast over the leading ones; one axis makes a vector.

    Raises `ShapeError` for operands without axes or of other sizes where they are contracted, `NamesError` where
    the axes that meet have two names: `dot` pairs axes of different names.

    >>> import tensorbackend as tb
    >>> (tb.asarray([[1, 2]], names=("row", "k")) @ tb.asarray([[3], [4]], names=("k", "column"))).template
    s64[row: 1][column: 1]
    """
    if not x1.ndim or not x2.ndim:
        raise ShapeError(expected("operands with axes", left=x1.template, right=x2.template))
    last1, last2 = x1.ndim - 1, max(x2.ndim - 2, 0)
    leading = max(x1.ndim, x2.ndim) - 2
    check_paired(x1.template, x2.template, (last1,), (last2,))
    if x1.ndim <= 2 and x2.ndim <= 2:
        return dot(x1, x2, contract=((last1,), (last2,)))
    if x1.ndim == 1 or x2.ndim == 1:  # the vector has no leading axes to pair
        return dot(x1, x2, contract=((last1,), (last2,)))
    check_stacked(x1.template, x2.template, range(x1.ndim - 2), range(x2.ndim - 2))
    wide1, wide2 = _stacked(x1, x2, leading), _stacked(x2, x1, leading)
    axes = tuple(range(leading))
    return dot(wide1, wide2, contract=((leading + 1,), (leading,)), batch=(axes, axes))


def _stacked(x: Tensor, other: Tensor, leading: int) -> Tensor:
    """A stack of matrices with the leading axes that both operands broadcast to."""
    sizes, names = [], []
    for position in range(-leading - 2, -2):
        own = x.shape[position] if -position <= x.ndim else 1
        theirs = other.shape[position] if -position <= other.ndim else 1
        own_name = x.names[position] if -position <= x.ndim else None
        sizes.append(theirs if own == 1 else own)
        names.append(own_name)
    shape = (*sizes, *x.shape[-2:])
    if shape == x.shape:
        return x
    lined_up = reshape(x, (*(1,) * (leading + 2 - x.ndim), *x.shape), names=(*names, *x.names[-2:]))
    return broadcast_to(lined_up, shape)
