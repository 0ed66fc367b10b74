"""Contractions: multiplies pairs of blocks, then adds the products over the blocks along the contracted axes."""

from __future__ import annotations

from tensorbackend import Template, Tensor
from tensorbackend.dtypes import float32
from tensorbackend.protocol import Payload

from .base import NARROW, DaskBase, lazily, wider
from .blocks import Folded
from .graphs import aligned, by_labels, tree


class DaskContraction(DaskBase):
    """Matrix products and other contractions."""

    @lazily
    def dot(
        self, out: Template, x1: Tensor, x2: Tensor, /, *, contract1: tuple[int, ...], batch1: tuple[int, ...],
        contract2: tuple[int, ...], batch2: tuple[int, ...],
    ) -> Payload:  # fmt: skip
        """Multiplies pairs of blocks, and adds the products; float32 products are added in float64."""
        first = tuple(range(x1.ndim))
        second = list(range(x1.ndim, x1.ndim + x2.ndim))
        for one, other in zip((*contract1, *batch1), (*contract2, *batch2), strict=True):
            second[other] = one
        free = [label for axis, label in enumerate(second) if axis not in (*contract2, *batch2)]
        result = (*batch1, *(label for label in first if label not in (*contract1, *batch1)), *free)
        options = {"contract1": contract1, "batch1": batch1, "contract2": contract2, "batch2": batch2}
        left, right = aligned([x1.data, x2.data], [first, tuple(second)])
        if all(left.numblocks[axis] == 1 for axis in contract1):
            operands = [(left, x1.dtype, first), (right, x2.dtype, tuple(second))]
            return by_labels("dot", out, operands, [result], options=options)
        work = float32 if out.dtype in NARROW else out.dtype
        left, right = self.cast(left, x1.dtype, work), self.cast(right, x2.dtype, work)
        parts = by_labels(
            "dot", Template(out.shape, work), [(left, work, first), (right, work, tuple(second))], [result],
            more=contract1, options=options,
        )  # fmt: skip
        combine = Folded("add", str(wider(work)), parts.ndim)
        held = x1.data.nbytes + x2.data.nbytes
        return tree("dot", parts, out.ndim, combine, out, added=(), held=held)
