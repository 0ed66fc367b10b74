"""Gradient of `dot`, sums of products."""

from __future__ import annotations

from ...ops.contraction import dot
from ...ops.shape import permute_dims
from ...tensor import Tensor
from .registry import Cotangents, rule

_Axes = tuple[int, ...]


@rule("dot")
def _dot(
    cotangent: Tensor,
    out: Tensor,
    x1: Tensor,
    x2: Tensor,
    *,
    contract1: _Axes,
    batch1: _Axes,
    contract2: _Axes,
    batch2: _Axes,
) -> Cotangents:
    free1 = x1.ndim - len(contract1) - len(batch1)
    after1 = len(batch1) + free1  # where x2's free axes begin in the result
    first = _side(cotangent, x2, tuple(range(after1, cotangent.ndim)), x1, (contract1, batch1), (contract2, batch2))
    second = _side(cotangent, x1, tuple(range(len(batch1), after1)), x2, (contract2, batch2), (contract1, batch1))
    return first, second


def _side(
    cotangent: Tensor,
    other: Tensor,
    others_free: _Axes,
    x: Tensor,
    paired_axes: tuple[_Axes, _Axes],
    others: tuple[_Axes, _Axes],
) -> Tensor:
    """The cotangent of x: the result's cotangent contracted with the other operand, over the free axes of that."""
    contract, batch = paired_axes
    other_contract, other_batch = others
    free = tuple(axis for axis in range(other.ndim) if axis not in other_contract + other_batch)
    batches = tuple(range(len(batch)))
    # The product has the batch axes, then the free axes of x, then the contracted axes in the order of the other
    # operand. With its operands exchanged, the contracted axes come first: nothing is permuted if x has that order.
    partner = dict(zip(other_contract, contract, strict=True))
    own_free = tuple(axis for axis in range(x.ndim) if axis not in contract + batch)
    contracted = tuple(partner[axis] for axis in sorted(other_contract))
    in_order = tuple(range(x.ndim))
    if (*batch, *contracted, *own_free) == in_order:
        return dot(other, cotangent, contract=(free, others_free), batch=(other_batch, batches))
    product = dot(cotangent, other, contract=(others_free, free), batch=(batches, other_batch))
    places = (*batch, *own_free, *contracted)
    order = tuple(places.index(axis) for axis in range(x.ndim))
    return product if order == in_order else permute_dims(product, order)
