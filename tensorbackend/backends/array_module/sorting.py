"""Sorting, and searching in sorted arrays."""

from __future__ import annotations

from ...dtypes import float32, int64, promote_types
from ...interchange import numpy_dtype
from ...protocol import Kernel, planned
from ...protocol.workspace import takes
from ...template import Template
from .base import BLOCK, NARROW, Array, ArrayBase, backwards
from .precision import computing_kernel, int64_kernel, wide
from .workspace_bytes import brought, float32_copy_bytes, narrow_copy_bytes


def _order_space(out: Template, x: Template, more: int) -> int:
    """The bytes of copies, a block of ranks, and `more`: a counter along the axis, or a second array of indices."""
    return float32_copy_bytes(x) + more + 28 * min(x.size, BLOCK)


class ArraySorting(ArrayBase):
    """Callbacks that order the elements along an axis, or find their order."""

    def sort_kernel(self, x: Template, axis: int) -> Kernel:
        """A kernel that sorts values along an axis in ascending order; equal values keep their order."""
        sort = self.xp.sort
        return lambda values: sort(values, axis=axis, kind="stable")

    def order_of(self, x: Template, axis: int) -> Kernel:
        """A kernel that returns the indices that sort values as `sort_kernel` does."""
        argsort = self.xp.argsort
        return lambda values: argsort(values, axis=axis, kind="stable")

    def searching(self, side: str) -> Kernel:
        """A kernel that finds where values would be inserted into a sorted array of their dtype, as int64."""
        search, dtype = self.xp.searchsorted, numpy_dtype(int64)
        return lambda line, values: search(line, values, side).astype(dtype, copy=False)

    @takes(narrow_copy_bytes)
    @planned
    def sort(self, out: Template, x: Template, /, *, axis: int, descending: bool) -> Kernel:
        """Sorted elements; for descending order input and ascending result are reversed, so ties keep their order."""
        ascending = self.sort_kernel(x.replace(dtype=wide(x.dtype)), axis)
        return computing_kernel(backwards(ascending, axis) if descending else ascending, out, x)

    @takes(lambda out, x, *, axis, descending: _order_space(out, x, out.nbytes if descending else 8 * x.shape[axis]))
    @planned
    def argsort(self, out: Template, x: Template, /, *, axis: int, descending: bool) -> Kernel:
        """Indices that would sort x; for descending order input and result are reversed, so ties keep their order."""
        ascending = self.order_of(x.replace(dtype=wide(x.dtype)), axis)
        if not descending:
            return int64_kernel(computing_kernel(ascending, out, x))
        last, reversed_order = x.shape[axis] - 1, backwards(ascending, axis)
        return int64_kernel(computing_kernel(lambda values: last - reversed_order(values), out, x))

    @takes(lambda out, x1, x2, **options: brought(wide(promote_types(x1.dtype, x2.dtype)), x1, x2))
    @planned
    def searchsorted(self, out: Template, x1: Template, x2: Template, /, *, side: str) -> Kernel:
        """Positions at which values would be inserted; NaN is the largest in the array module, too."""
        common = promote_types(x1.dtype, x2.dtype)
        common = float32 if common in NARROW else common
        search = self.searching(side)
        if x1.dtype is common and x2.dtype is common:
            return search

        def cast_first(line: Array, values: Array) -> Array:
            return search(self.cast(line, x1.dtype, common), self.cast(values, x2.dtype, common))

        return cast_first
