"""Accumulations along an axis."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

from ...dtypes import DType
from ...interchange import numpy_dtype
from ...protocol import Kernel, planned
from ...protocol.workspace import takes
from ...template import Template
from . import complex_functions
from .base import Array, ArrayBase, backwards
from .precision import promoting_kernel, wide
from .workspace_bytes import brought, float32_copy_bytes, nbytes


def cumulative_space(out: Template, x: Template, /, *, include_initial: bool, **options: object) -> int:
    """The bytes of copies in the dtype to compute in, one more of them with `include_initial`."""
    copies = brought(out.dtype, x) + float32_copy_bytes(out)
    return copies + (nbytes(out.size, wide(out.dtype)) if include_initial else 0)


class ArrayCumulative(ArrayBase):
    """Callbacks that accumulate along an axis."""

    def running(self, name: Literal["cumsum", "cumprod"], axis: int, dtype: DType) -> Kernel:
        """A kernel of running sums or products along an axis, in a dtype, by a function of the module."""
        function, accumulator = getattr(self.xp, name), numpy_dtype(dtype)
        return lambda values: function(values, axis=axis, dtype=accumulator)

    def cumulative_product_of_complex(self, axis: int) -> Kernel:
        """A kernel of running products of complex elements along an axis."""
        return partial(complex_functions.cumulative_product, self.xp, axis=axis)

    @takes(cumulative_space)
    @planned
    def cumulative_sum(
        self, out: Template, x: Template, /, *, axis: int, dtype: DType | None, include_initial: bool, reverse: bool
    ) -> Kernel:
        """Running sums along an axis."""
        return self._accumulating_kernel(self.running("cumsum", axis, wide(out.dtype)), 0, out, x, axis, reverse)

    @takes(cumulative_space)
    @planned
    def cumulative_product(
        self, out: Template, x: Template, /, *, axis: int, dtype: DType | None, include_initial: bool, reverse: bool
    ) -> Kernel:
        """Running products along an axis."""
        if out.dtype.is_complex:
            accumulate = self.cumulative_product_of_complex(axis)
        else:
            accumulate = self.running("cumprod", axis, wide(out.dtype))
        return self._accumulating_kernel(accumulate, 1, out, x, axis, reverse)

    def _accumulating_kernel(
        self, accumulate: Kernel, initial: int, out: Template, x: Template, axis: int, reverse: bool
    ) -> Kernel:
        """A kernel of running results, from the end if `reverse`; first comes `initial` where `out` is one longer."""
        xp, dtype = self.xp, wide(out.dtype)
        kernel = backwards(accumulate, axis) if reverse else accumulate
        if out.shape[axis] > x.shape[axis]:
            kernel = _prepend_initial(xp, kernel, x, axis, initial, numpy_dtype(dtype), reverse)
        return promoting_kernel(self, dtype, kernel, out, x)


def _prepend_initial(xp: Any, kernel: Kernel, x: Template, axis: int, initial: int, dtype: Any, last: bool) -> Kernel:
    """A kernel that calls `kernel` and puts `initial` before its result along an axis, or after it if `last`."""
    shape = *x.shape[:axis], 1, *x.shape[axis + 1 :]

    def longer(values: Array) -> Array:
        more, running = xp.full(shape, initial, dtype), kernel(values)
        return xp.concatenate((running, more) if last else (more, running), axis=axis)

    return longer
