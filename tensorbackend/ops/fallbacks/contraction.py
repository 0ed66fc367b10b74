"""Sums of products: all products at once, then their sums."""

from __future__ import annotations

import math

from ...annotations import Ints
from ...dispatch.fallbacks import fallback
from ...template import Shape, Template
from ...tensor import Tensor
from ..elementwise.basic import astype
from ..elementwise.binary import multiply
from ..reduction import sum as total
from ..shape import permute_dims, reshape
from .common import accumulator_dtype


def _matrices(x: Tensor, batch: tuple[int, ...], contract: tuple[int, ...]) -> tuple[Tensor, Shape]:
    """x as (batch, free, contracted), and the sizes of its free axes."""
    free = tuple(axis for axis in range(x.ndim) if axis not in (*batch, *contract))
    order = (*batch, *free, *contract)
    moved = x if order == tuple(range(x.ndim)) else permute_dims(x, order)
    sizes = [tuple(x.shape[axis] for axis in axes) for axes in (batch, free, contract)]
    return reshape(moved, tuple(map(math.prod, sizes))), sizes[1]


@fallback("dot")
def _dot(
    out: Template, x1: Tensor, x2: Tensor, /, *, contract1: Ints, batch1: Ints, contract2: Ints, batch2: Ints
) -> Tensor:
    wide = accumulator_dtype(out.dtype)
    left, _ = _matrices(astype(x1, wide), batch1, contract1)
    right, _ = _matrices(astype(x2, wide), batch2, contract2)
    batches, rows, depth = left.shape
    columns = right.shape[1]
    products = multiply(reshape(left, (batches, rows, 1, depth)), reshape(right, (batches, 1, columns, depth)))
    return reshape(astype(total(products, axis=3, dtype=wide), out.dtype), out.shape)
