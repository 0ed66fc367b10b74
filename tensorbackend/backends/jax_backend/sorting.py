"""Orderings: JAX's sorts are stable and put NaN last."""

from __future__ import annotations

from ...protocol import Kernel
from ...template import Template
from ..array_module.sorting import ArraySorting
from .base import JaxBase


class JaxSorting(JaxBase, ArraySorting):
    """Callbacks that order the elements along an axis."""

    def ordering(self, x: Template, axis: int) -> Kernel:
        """Values ascending along an axis, equal ones in the order in which they come."""
        sort = self.xp.sort
        return lambda values: sort(values, axis=axis, stable=True)

    def order_of(self, x: Template, axis: int) -> Kernel:
        """The indices that bring values into that order."""
        argsort = self.xp.argsort
        return lambda values: argsort(values, axis=axis, stable=True)
