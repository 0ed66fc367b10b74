"""Fourier transforms by `torch.fft`."""

from __future__ import annotations

from tensorbackend import Template
from tensorbackend.dtypes import COMPLEX_OF, REAL_OF
from tensorbackend.protocol.fourier import Norm

from .casting import cast
from .kernels import TorchBase, kernel
from .library import torch
from .ways import Array, dtype_of, torch_dtype


class TorchFourier(TorchBase):
    """Transforms along one axis."""

    def _transform(self, name: str, out: Template, values: Array, length: int | None, axis: int, norm: Norm) -> Array:
        """A function of `torch.fft`, which does not take empty tensors."""
        if not values.numel() or not out.size:
            return torch.zeros(out.shape, dtype=torch_dtype(out.dtype), device=self.place)
        transform: Array = getattr(torch.fft, name)(values, n=length, dim=axis, norm=norm)
        return transform

    @kernel()
    def fft(self, out: Template, x: Array, *, axis: int, length: int, norm: Norm) -> Array:
        """Discrete Fourier transform along `axis`."""
        return self._transform("fft", out, x, length, axis, norm)

    @kernel()
    def ifft(self, out: Template, x: Array, *, axis: int, length: int, norm: Norm) -> Array:
        """Inverse of `fft`."""
        return self._transform("ifft", out, x, length, axis, norm)

    # Overrides of composites: half the work for real numbers

    @kernel(unsigned="own")
    def rfft(self, out: Template, x: Array, *, n: int | None, axis: int, norm: Norm) -> Array:
        """The first half of the transform of real numbers."""
        values = cast(x, dtype_of(x.dtype), REAL_OF[out.dtype])
        return self._transform("rfft", out, values, n, axis, norm)

    @kernel(unsigned="own")
    def irfft(self, out: Template, x: Array, *, n: int | None, axis: int, norm: Norm) -> Array:
        """The inverse of `rfft`: real numbers from the first half of their transform."""
        values = cast(x, dtype_of(x.dtype), COMPLEX_OF[out.dtype])
        return self._transform("irfft", out, values, out.shape[axis], axis, norm)
