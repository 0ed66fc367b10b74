"""Orderings by JAX's sorts, which are stable and put NaN last."""

from __future__ import annotations

from ...protocol import Kernel
from ...template import Template
from ..array_module.sorting import ArraySorting
from .base import JaxBase


class JaxSorting(JaxBase, ArraySorting):
    """Callbacks that order the elements along an axis."""

    def sort_kernel(self, x: Template, axis: int) -> Kernel:
        """A kernel that sorts values along an axis, ascending; equal values keep their order."""
        sort = self.xp.sort
        return lambda values: sort(values, axis=axis, stable=True)

    def order_of(self, x: Template, axis: int) -> Kernel:
        """A kernel that returns the indices that sort values along an axis in the same way."""
        argsort = self.xp.argsort
        return lambda values: argsort(values, axis=axis, stable=True)
