"""Fourier transforms by the module's `fft`."""

from __future__ import annotations

from ...interchange import numpy_dtype
from ...protocol import Payload
from ...rules.fourier import Norm
from ...template import Template
from ...tensor import Tensor
from .base import ArrayBase, kernel


class ArrayFourier(ArrayBase):
    """Transforms along one axis; some modules compute them in complex128 only."""

    @kernel
    def fft(self, out: Template, x: Tensor, /, *, axis: int, length: int, norm: Norm) -> Payload:
        """Discrete Fourier transform along `axis`."""
        result = self.xp.fft.fft(x.data, n=length, axis=axis, norm=norm)
        return result.astype(numpy_dtype(out.dtype), copy=False)

    @kernel
    def ifft(self, out: Template, x: Tensor, /, *, axis: int, length: int, norm: Norm) -> Payload:
        """Inverse of `fft`."""
        result = self.xp.fft.ifft(x.data, n=length, axis=axis, norm=norm)
        return result.astype(numpy_dtype(out.dtype), copy=False)
