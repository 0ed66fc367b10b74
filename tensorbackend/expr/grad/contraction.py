"""Gradients of `dot`, sums of products, and of attention."""

from __future__ import annotations

from functools import partial, reduce

from ...dtypes import float32, promote_types
from ...ops.composite.contraction import matmul, usual_scale, weights_of
from ...ops.contraction import dot
from ...ops.elementwise.basic import astype
from ...ops.reduction import sum
from ...ops.shape import matrix_transpose, permute_dims
from ...tensor import Tensor
from .checkpoint import compute_apart
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


@rule("attention")
def _attention(
    cotangent: Tensor, out: Tensor, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None,
    bias: Tensor | None = None, *, scale: float | None = None,
) -> Cotangents:  # fmt: skip
    # The weights are computed again: kept, they are often the largest array of a transformer's layer.
    scale = usual_scale(query) if scale is None else scale
    back = partial(_back_through_attention, scale=scale)
    of_query, of_key, of_value, *of_scores = compute_apart(back, [cotangent, query, key, value, mask, bias])
    return of_query, of_key, of_value, None, of_scores[0] if of_scores else None


def _back_through_attention(
    cotangent: Tensor, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, bias: Tensor | None, *,
    scale: float,
) -> tuple[Tensor, ...]:  # fmt: skip
    """The cotangents of queries, keys and values, and of the broadcast bias, if there is one."""
    dtype = reduce(promote_types, (x.dtype for x in (cotangent, query, key, value)), float32)
    cotangent, query, key, value = (astype(x, dtype) for x in (cotangent, query, key, value))
    weights = weights_of(query, key, mask, bias, scale)
    of_value = matmul(matrix_transpose(weights), cotangent)
    of_scores = weights * matmul(cotangent, matrix_transpose(value))
    of_scores = of_scores - weights * sum(of_scores, axis=-1, keepdims=True)
    of_key = matmul(matrix_transpose(of_scores), query) * scale
    return matmul(of_scores, key) * scale, of_key, of_value, *(() if bias is None else (of_scores,))
