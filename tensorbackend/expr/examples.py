"""Examples of a batch that take different paths: what is computed for some of them must be safe for the others.

A batch computes both branches of a `cond`, and iterations of a loop, for all examples, and keeps the results of those
that take the branch or continue. The others get operands of an example that takes the branch. So nothing becomes NaN
that is not NaN for that example, and a cotangent of 0 remains 0 on its way back to shared values.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..ops.composite.elementwise.functions import stop_gradient
from ..ops.elementwise.basic import astype, where
from ..ops.indexing.taking import take
from ..ops.reduction import argmax
from ..ops.shape import permute_dims, reshape
from ..tensor import Tensor


def spread(mask: Tensor, x: Tensor, places: Sequence[int]) -> Tensor:
    """A mask over examples without names, ready to broadcast with x, which has the examples' axes at some positions."""
    shape = [1] * x.ndim
    for place in places:
        shape[place] = x.shape[place]
    order = sorted(range(len(places)), key=places.__getitem__)
    bare = mask.rename(*(None,) * mask.ndim)
    return reshape(permute_dims(bare, order) if order != [*range(len(order))] else bare, tuple(shape))


def chosen(mask: Tensor, x: Tensor, other: Tensor, places: Sequence[int]) -> Tensor:
    """x for the examples for which a mask is true, `other` for the rest, through which no gradient flows."""
    return where(spread(mask, x, places), x, stop_gradient(other))


def fill_from_active(mask: Tensor, x: Tensor, places: Sequence[int]) -> Tensor:
    """x, with the entries of examples for which a mask is false replaced by those of the first for which it is true."""
    if not mask.size:
        return x
    names, rest = x.names, [place for place in range(x.ndim) if place not in places]
    bare = permute_dims(x.rename(*(None,) * x.ndim), (*places, *rest))
    rows = reshape(bare, (mask.size, *bare.shape[len(places) :]))
    first = argmax(astype(reshape(mask.rename(*(None,) * mask.ndim), (-1,)), "int64"))
    shape = tuple(1 if place in places else size for place, size in enumerate(x.shape))
    return chosen(mask, x, reshape(take(rows, first, axis=0), shape, names=names), places)
