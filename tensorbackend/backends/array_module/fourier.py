"""Fourier transforms by the module's `fft`, which may compute in more bits than the result has."""

from __future__ import annotations

from ...dtypes import COMPLEX_OF, REAL_OF
from ...interchange import numpy_dtype
from ...protocol import Payload
from ...rules.fourier import Norm
from ...template import Template
from ...tensor import Tensor
from .base import Array, ArrayBase, kernel


class ArrayFourier(ArrayBase):
    """Transforms along one axis."""

    def _transform(self, name: str, out: Template, values: Array, **options: object) -> Array:
        """A function of the module's `fft`, its result in the dtype of the template."""
        if not values.size:  # NumPy's irfft of nothing padded to a length is memory that nobody wrote
            return self.xp.zeros(out.shape, numpy_dtype(out.dtype))
        return getattr(self.xp.fft, name)(values, **options).astype(numpy_dtype(out.dtype), copy=False)

    @kernel
    def fft(self, out: Template, x: Tensor, /, *, axis: int, length: int, norm: Norm) -> Payload:
        """Discrete Fourier transform along `axis`."""
        return self._transform("fft", out, x.data, n=length, axis=axis, norm=norm)

    @kernel
    def ifft(self, out: Template, x: Tensor, /, *, axis: int, length: int, norm: Norm) -> Payload:
        """Inverse of `fft`."""
        return self._transform("ifft", out, x.data, n=length, axis=axis, norm=norm)

    # Overrides of composites: half the work for real numbers

    @kernel
    def rfft(self, out: Template, x: Tensor, /, *, n: int | None, axis: int, norm: Norm) -> Payload:
        """The first half of the transform of real numbers."""
        values = self.cast(x.data, x.dtype, REAL_OF[out.dtype])
        return self._transform("rfft", out, values, n=n, axis=axis, norm=norm)

    @kernel
    def irfft(self, out: Template, x: Tensor, /, *, n: int | None, axis: int, norm: Norm) -> Payload:
        """The real numbers whose first half of a transform is x."""
        values = self.cast(x.data, x.dtype, COMPLEX_OF[out.dtype])
        return self._transform("irfft", out, values, n=out.shape[axis], axis=axis, norm=norm)
