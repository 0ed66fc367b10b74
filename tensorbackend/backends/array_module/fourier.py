"""Fourier transforms by the module's `fft`, which may compute in more bits than the result has."""

from __future__ import annotations

from typing import Literal

from ...dtypes import COMPLEX_OF, REAL_OF, DType, float32
from ...interchange import numpy_dtype
from ...protocol import Kernel, planned
from ...protocol.workspace import takes
from ...rules.broadcasting import to_real
from ...rules.fourier import Norm
from ...template import Template
from .base import Array, ArrayBase
from .workspace_bytes import nbytes


def _space(out: Template, x: Template, source: DType, unscaled: bool) -> int:
    """The bytes of a copy in the dtype `source`; without a scale NumPy also computes in 64 bits a part, and rounds."""
    source_bytes = nbytes(x.size, source)
    cast = 0 if x.dtype is source else source_bytes
    return cast + (2 * (source_bytes + out.nbytes) if unscaled and to_real(out.dtype) is float32 else 0)


def _complex_space(out: Template, x: Template, unscaled: bool) -> int:
    """The bytes of a complex transform; a transform of real numbers is computed in 64 bits a part in any case."""
    space = _space(out, x, out.dtype, unscaled or not x.dtype.is_complex)
    return space if x.dtype.is_complex or to_real(out.dtype) is not float32 else space - nbytes(x.size, out.dtype)


class ArrayFourier(ArrayBase):
    """Transforms along one axis."""

    @takes(lambda out, x, *, norm, **options: _complex_space(out, x, norm == "backward"))
    @planned
    def fft(self, out: Template, x: Template, /, *, axis: int, length: int, norm: Norm) -> Kernel:
        """Discrete Fourier transform along `axis`."""
        return self._transform("fft", out, x, x.dtype, length, axis, norm)

    @takes(lambda out, x, *, norm, **options: _complex_space(out, x, norm == "forward"))
    @planned
    def ifft(self, out: Template, x: Template, /, *, axis: int, length: int, norm: Norm) -> Kernel:
        """Inverse of `fft`."""
        return self._transform("ifft", out, x, x.dtype, length, axis, norm)

    # Overrides of composites: half the work for real numbers

    @takes(lambda out, x, *, norm, **options: _space(out, x, REAL_OF[out.dtype], norm == "backward"))
    @planned
    def rfft(self, out: Template, x: Template, /, *, n: int | None, axis: int, norm: Norm) -> Kernel:
        """The first half of the transform of real numbers; the other half follows by symmetry."""
        return self._transform("rfft", out, x, REAL_OF[out.dtype], n, axis, norm)

    @takes(lambda out, x, *, norm, **options: _space(out, x, COMPLEX_OF[out.dtype], norm == "forward"))
    @planned
    def irfft(self, out: Template, x: Template, /, *, n: int | None, axis: int, norm: Norm) -> Kernel:
        """The real numbers that have x as the first half of their transform."""
        return self._transform("irfft", out, x, COMPLEX_OF[out.dtype], out.shape[axis], axis, norm)

    def _transform(
        self, name: Literal["fft", "ifft", "rfft", "irfft"], out: Template, x: Template, source: DType,
        length: int | None, axis: int, norm: Norm,
    ) -> Kernel:  # fmt: skip
        """A kernel that casts x to `source`, calls a function of the module's `fft`, and casts to `out.dtype`."""
        transform, dtype = getattr(self.xp.fft, name), numpy_dtype(out.dtype)
        if not x.size:  # NumPy's irfft of an empty array returns memory that was never written
            zeros = self.xp.zeros
            return lambda values: zeros(out.shape, dtype)
        if x.dtype is source:
            return lambda values: transform(values, length, axis, norm).astype(dtype, copy=False)
        input_dtype = x.dtype

        def kernel(values: Array) -> Array:
            values = self.cast(values, input_dtype, source)
            return transform(values, length, axis, norm).astype(dtype, copy=False)

        return kernel
