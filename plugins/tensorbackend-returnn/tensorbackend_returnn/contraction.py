"""Tensor contraction."""

from __future__ import annotations

from collections.abc import Sequence

import returnn.frontend as rf
import tensorbackend as tb
from returnn.tensor import Dim, Tensor

from .base import result
from .indexing import Indexing


class Contraction(Indexing):
    """Sums of products over dims."""

    @classmethod
    def matmul(cls, a: Tensor, b: Tensor, *, reduce: Dim | Sequence[Dim], use_mask: bool = True) -> Tensor:
        """Sum the products of two tensors over dims. Other common dims are batch dims; padding does not count."""
        over = [reduce] if isinstance(reduce, Dim) else list(reduce)
        a, b = rf.amp_cast_compute(a, b)
        if use_mask and any(dim.need_masking() for dim in over):
            # Mask both, because the product of 0 and NaN is NaN.
            a, b = (cls._zero_padding(x, [dim for dim in over if dim in x.dims]) for x in (a, b))
        for dim in [dim for dim in over if dim not in a.dims or dim not in b.dims]:
            a, b = (cls.reduce(x, mode="sum", axis=dim, use_mask=False) if dim in x.dims else x for x in (a, b))
            over.remove(dim)
        left, right = ([x.get_axis_from_description(dim) for dim in over] for x in (a, b))
        common = [dim for i, dim in enumerate(a.dims) if dim in b.dims and i not in left]
        pairs = [a.dims.index(dim) for dim in common], [b.dims.index(dim) for dim in common]
        raw = tb.dot(a.raw_tensor, b.raw_tensor, contract=(left, right), batch=pairs)
        rest = [
            dim
            for x, axes, paired in ((a, left, pairs[0]), (b, right, pairs[1]))
            for i, dim in enumerate(x.dims)
            if i not in axes and i not in paired
        ]
        return result("matmul", [*common, *rest], raw)

    @classmethod
    def _zero_padding(cls, x: Tensor, dims: Sequence[Dim]) -> Tensor:
        out = x.copy_template()
        out.raw_tensor = cls._masked(x, dims, 0)
        return out
