"""Fourier transforms by the module's `fft`, which may compute in more bits than the result has."""

from __future__ import annotations

from typing import Literal

from ...dtypes import COMPLEX_OF, REAL_OF, DType
from ...interchange import numpy_dtype
from ...protocol import Kernel, planned
from ...rules.fourier import Norm
from ...template import Template
from .base import Array, ArrayBase


class ArrayFourier(ArrayBase):
    """Transforms along one axis."""

    @planned
    def fft(self, out: Template, x: Template, /, *, axis: int, length: int, norm: Norm) -> Kernel:
        """Discrete Fourier transform along `axis`."""
        return self._transform("fft", out, x, x.dtype, length, axis, norm)

    @planned
    def ifft(self, out: Template, x: Template, /, *, axis: int, length: int, norm: Norm) -> Kernel:
        """Inverse of `fft`."""
        return self._transform("ifft", out, x, x.dtype, length, axis, norm)

    # Overrides of composites: half the work for real numbers

    @planned
    def rfft(self, out: Template, x: Template, /, *, n: int | None, axis: int, norm: Norm) -> Kernel:
        """The first half of the transform of real numbers."""
        return self._transform("rfft", out, x, REAL_OF[out.dtype], n, axis, norm)

    @planned
    def irfft(self, out: Template, x: Template, /, *, n: int | None, axis: int, norm: Norm) -> Kernel:
        """The real numbers whose first half of a transform is x."""
        return self._transform("irfft", out, x, COMPLEX_OF[out.dtype], out.shape[axis], axis, norm)

    def _transform(
        self,
        name: Literal["fft", "ifft", "rfft", "irfft"],
        out: Template,
        x: Template,
        source: DType,
        length: int | None,
        axis: int,
        norm: Norm,
    ) -> Kernel:
        """A function of the module's `fft` of numbers in a dtype, its result in the dtype of the template."""
        transform, dtype = getattr(self.xp.fft, name), numpy_dtype(out.dtype)
        if not x.size:  # NumPy's irfft of nothing padded to a length is memory that nobody wrote
            zeros = self.xp.zeros
            return lambda values: zeros(out.shape, dtype)
        if x.dtype is source:
            return lambda values: transform(values, length, axis, norm).astype(dtype, copy=False)
        given = x.dtype

        def transformed(values: Array) -> Array:
            values = self.cast(values, given, source)
            return transform(values, length, axis, norm).astype(dtype, copy=False)

        return transformed
