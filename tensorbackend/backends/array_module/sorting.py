"""Orderings."""

from __future__ import annotations

from ...dtypes import float32, int64, promote_types
from ...interchange import numpy_dtype
from ...protocol import Calm, Kernel, planned
from ...template import Template
from .base import NARROW, Array, ArrayBase
from .precision import computing, in_int64, wide


class ArraySorting(ArrayBase):
    """What orders the elements along an axis, or asks for their order."""

    def ordering(self, x: Template, axis: int) -> Kernel:
        """Values ascending along an axis, equal ones in the order in which they come."""
        sort = self.xp.sort
        return lambda values: sort(values, axis=axis, kind="stable")

    def order_of(self, x: Template, axis: int) -> Kernel:
        """The indices that bring values into that order."""
        argsort = self.xp.argsort
        return lambda values: argsort(values, axis=axis, kind="stable")

    def searching(self, side: str) -> Kernel:
        """The function of the module that finds where values would go in a sorted array of their dtype, in int64."""
        search, dtype = self.xp.searchsorted, numpy_dtype(int64)
        return lambda line, values: search(line, values, side).astype(dtype, copy=False)

    @planned
    def sort(self, out: Template, x: Template, /, *, axis: int, descending: bool) -> Kernel:
        """Elements in order: descending is ascending from the other end, both ways round."""
        ascending = self.ordering(x.replace(dtype=wide(x.dtype)), axis)
        if not descending:
            return Calm(computing(ascending, out, x))
        flip = self.xp.flip
        return Calm(computing(lambda values: flip(ascending(flip(values, axis)), axis), out, x))

    @planned
    def argsort(self, out: Template, x: Template, /, *, axis: int, descending: bool) -> Kernel:
        """Indices that would sort: descending is ascending from the other end, both ways round."""
        ascending = self.order_of(x.replace(dtype=wide(x.dtype)), axis)
        if not descending:
            return in_int64(computing(ascending, out, x))
        flip, last = self.xp.flip, x.shape[axis] - 1
        return in_int64(computing(lambda values: last - flip(ascending(flip(values, axis)), axis), out, x))

    @planned
    def searchsorted(self, out: Template, x1: Template, x2: Template, /, *, side: str) -> Kernel:
        """Where values would go; the array module has NaN greatest, too."""
        common = promote_types(x1.dtype, x2.dtype)
        common = float32 if common in NARROW else common
        search = self.searching(side)
        if x1.dtype is common and x2.dtype is common:
            return Calm(search)

        def cast_first(line: Array, values: Array) -> Array:
            return search(self.cast(line, x1.dtype, common), self.cast(values, x2.dtype, common))

        return cast_first
