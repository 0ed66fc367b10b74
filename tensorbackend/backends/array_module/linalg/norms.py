"""Norms of vectors: one kernel for each order."""

from __future__ import annotations

import math
from typing import Any

from ....interchange import numpy_dtype
from ....protocol import Kernel, planned
from ....protocol.workspace import takes
from ....template import Template
from ..base import Array
from ..precision import promoting_kernel, wide
from ..reduction import ArrayReduction
from ..workspace_bytes import brought, nbytes


def _space(out: Template, x: Template, /, *, axis: tuple[int, ...], keepdims: bool, ord: float) -> int:
    """The bytes of magnitudes and of values computed from them; the product of a vector with itself takes nothing."""
    dtype = x.dtype if x.dtype.is_complex else out.dtype
    magnitudes = nbytes(x.size, wide(out.dtype))
    whole = ord == 2 and len(axis) == x.ndim and not keepdims
    count = (
        0 if whole else 3 if ord not in (0, 1, 2, math.inf, -math.inf) else 2 if x.dtype.is_complex and ord == 2 else 1
    )
    return brought(dtype, x) + count * magnitudes


class ArrayNorms(ArrayReduction):
    """Norms along axes, as overrides of composites."""

    @takes(_space)
    @planned
    def vector_norm(
        self, out: Template, x: Template, /, *, axis: tuple[int, ...], keepdims: bool, ord: float
    ) -> Kernel:
        """The root of a sum of powers of magnitudes, their largest or least, or the number of those that are not 0."""
        xp, real = self.xp, wide(out.dtype)
        dtype = x.dtype if x.dtype.is_complex else out.dtype
        total = self.fold_kernel("sum", x, axis, keepdims, real)
        if not math.prod(x.shape[reduced_axis] for reduced_axis in axis):
            of_nothing = math.inf if ord < 0 else 0.0  # 0 to the power of 1 / ord
            kernel: Kernel = lambda values: total(xp.abs(values)) + of_nothing  # noqa: E731 # one of several forms
        elif math.isinf(ord):
            extreme = self.fold_kernel("max" if ord > 0 else "min", x, axis, keepdims, real)
            kernel = lambda values: extreme(xp.abs(values))  # noqa: E731
        elif ord == 0:
            kernel = lambda values: total((values != 0).astype(numpy_dtype(real)))  # noqa: E731
        elif ord == 1:
            kernel = lambda values: total(xp.abs(values))  # noqa: E731
        elif ord == 2:
            kernel = self.euclidean(out, x, axis, keepdims)
        else:
            kernel = self._power_norm(out, x, axis, ord)
        return promoting_kernel(self, dtype, kernel, out, x)

    def euclidean(self, out: Template, x: Template, axes: tuple[int, ...], keepdims: bool) -> Kernel:
        """The root of the sum of squares."""
        return self.scaled_euclidean_norm(out, x, axes)

    def scaled_euclidean_norm(self, out: Template, x: Template, axes: tuple[int, ...]) -> Kernel:
        """The root of the sum of squares, with elements scaled by the largest: no square overflows or underflows."""
        xp = self.xp
        largest = self.fold_kernel("max", x, axes, True, wide(out.dtype))
        total = self.fold_kernel("sum", x, axes, True, wide(out.dtype))

        def norm(values: Array) -> Array:
            sizes = xp.abs(values)
            scale = _scale(xp, largest(sizes))
            parts = sizes / scale
            return (xp.sqrt(total(parts * parts)) * scale).reshape(out.shape)

        return norm

    def _power_norm(self, out: Template, x: Template, axes: tuple[int, ...], order: float) -> Kernel:
        """A norm by powers. For a power below 0 the smallest element counts most, and if it is 0, so is the norm."""
        xp, dtype = self.xp, numpy_dtype(wide(out.dtype))
        most = self.fold_kernel("max" if order > 0 else "min", x, axes, True, wide(out.dtype))
        total = self.fold_kernel("sum", x, axes, True, wide(out.dtype))
        # A power that the dtype does not hold, or whose inverse it does not hold, is moved to the end of its range.
        limits = xp.finfo(dtype)
        size = sorted((float(limits.tiny), math.fabs(order), float(limits.max)))[1]
        power, root = dtype.type(math.copysign(size, order)), dtype.type(1 / math.copysign(size, order))

        def norm(values: Array) -> Array:
            sizes = xp.abs(values)
            scale = _scale(xp, most(sizes))
            return (xp.power(total(xp.power(sizes / scale, power)), root) * scale).reshape(out.shape)

        return norm


def _scale(xp: Any, most: Array) -> Array:
    """The number by which elements are divided: `most`, or 1 where that is 0, NaN or infinite.

    Its reciprocal is a normal number: XLA multiplies by it, and treats subnormals as zeros.
    """
    one = most.dtype.type(1)
    return xp.where(xp.isfinite(most) & (most > 0), xp.minimum(most, one / xp.finfo(most.dtype).tiny), one)


def smallest_sure(dtype: Any, xp: Any) -> float:
    """The least sum of squares, in a dtype, from which underflow has surely lost no square that counts."""
    limits = xp.finfo(dtype)
    return float(limits.tiny) / float(limits.eps)
