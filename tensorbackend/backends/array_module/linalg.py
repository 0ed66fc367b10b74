"""Contractions, factorisations, solvers, transforms."""

from __future__ import annotations

from math import prod

from ...protocol import Payload
from ...template import Template
from ...tensor import Tensor
from .base import Array, ArrayBase, kernel


class ArrayLinalg(ArrayBase):
    """Linear algebra on stacks of matrices."""

    @kernel
    def dot(
        self,
        out: Template,
        x1: Tensor,
        x2: Tensor,
        /,
        *,
        contract1: tuple[int, ...],
        batch1: tuple[int, ...],
        contract2: tuple[int, ...],
        batch2: tuple[int, ...],
    ) -> Payload:
        """One matrix product: axes merged into (batch, free, contracted) and (batch, contracted, free)."""
        free1 = tuple(axis for axis in range(len(x1.shape)) if axis not in contract1 + batch1)
        free2 = tuple(axis for axis in range(len(x2.shape)) if axis not in contract2 + batch2)
        left = _merge(self.widened(x1), batch1, free1, contract1)
        right = _merge(self.widened(x2), batch2, contract2, free2)
        return self.narrowed(self.xp.matmul(left, right).reshape(out.shape), out)


def _merge(values: Array, batch: tuple[int, ...], rows: tuple[int, ...], columns: tuple[int, ...]) -> Array:
    """An array as a stack of matrices: groups of axes put in this order, the last two merged each."""
    shape = values.shape
    sizes = (prod(shape[axis] for axis in group) for group in (rows, columns))
    return values.transpose(batch + rows + columns).reshape((*(shape[axis] for axis in batch), *sizes))
