"""Products of vectors with all shifts, by NumPy's own loop, which multiplies no padding."""

from __future__ import annotations

from typing import Literal

from ...dtypes import DType
from ...interchange import numpy_dtype
from ...protocol import Kernel, planned
from ...protocol.workspace import takes
from ...rules.broadcasting import to_real
from ...template import Template
from ..array_module.base import Array
from ..array_module.convolution import ArrayConvolution
from ..array_module.precision import WIDER, wide
from ..array_module.workspace_bytes import nbytes
from .contraction import MOST_TERMS_AT_ONCE


def _working_dtype(out: Template, x1: Template, x2: Template) -> DType:
    """The real dtype to compute in: float64 for long sums of float32, which are added one by one in each lane."""
    dtype = wide(to_real(out.dtype))
    return WIDER.get(dtype, dtype) if min(x1.size, x2.size) > MOST_TERMS_AT_ONCE else dtype


def _space(out: Template, x1: Template, x2: Template, /, *, mode: Literal["full", "same", "valid"]) -> int:
    """The bytes of operands and sums in the dtype to compute in, of the reversed operand, and of parts."""
    dtype = _working_dtype(out, x1, x2)
    brought = sum(nbytes(x.size, dtype) for x in (x1, x2) if x.dtype is not dtype)
    if out.dtype.is_complex:
        return 2 * brought + 3 * nbytes(out.size, dtype) + nbytes(min(x1.size, x2.size), dtype)
    return brought + nbytes(min(x1.size, x2.size), dtype) + (nbytes(out.size, dtype) if dtype is not out.dtype else 0)


class NumpyConvolution(ArrayConvolution):
    """Convolution."""

    @takes(_space)
    @planned
    def convolve(
        self, out: Template, x1: Template, x2: Template, /, *, mode: Literal["full", "same", "valid"]
    ) -> Kernel:
        """NumPy's convolution; of complex numbers by their parts, as BLAS does not specify products of infinities."""
        convolve, empty, made = self.xp.convolve, self.xp.empty, numpy_dtype(out.dtype)
        dtype = numpy_dtype(_working_dtype(out, x1, x2))

        def sums(left: Array, right: Array) -> Array:
            products = convolve(left.astype(dtype, copy=False), right.astype(dtype, copy=False), mode)
            return products.astype(made, copy=False)

        def sums_of_parts(left: Array, right: Array) -> Array:
            (a, b), (c, d) = ((x.real.astype(dtype), x.imag.astype(dtype)) for x in (left, right))
            result = empty(out.shape, made)
            result.real = convolve(a, c, mode) - convolve(b, d, mode)
            result.imag = convolve(a, d, mode) + convolve(b, c, mode)
            return result

        return sums_of_parts if out.dtype.is_complex else sums
