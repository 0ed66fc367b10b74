"""Fourier transforms by `mx.fft`."""

from __future__ import annotations

from tensorbackend import Template
from tensorbackend.dtypes import COMPLEX_OF, REAL_OF
from tensorbackend.protocol.fourier import Norm

from .casting import caster
from .kernels import Function, MlxBase, kernel, refuse_lacking
from .library import mlx_dtype, mx


class MlxFourier(MlxBase):
    """Transforms along one axis."""

    @kernel()
    def fft(self, out: Template, x: Template, *, axis: int, length: int, norm: Norm) -> Function:
        """Discrete Fourier transform along `axis`."""
        return _transform("fft", out, x, length, axis, norm)

    @kernel()
    def ifft(self, out: Template, x: Template, *, axis: int, length: int, norm: Norm) -> Function:
        """Inverse of `fft`."""
        return _transform("ifft", out, x, length, axis, norm)

    # Overrides of composites: half the work for real numbers

    @kernel()
    def rfft(self, out: Template, x: Template, *, n: int | None, axis: int, norm: Norm) -> Function:
        """The first half of the transform of real numbers."""
        cast, transform = caster(self, x, REAL_OF[out.dtype]), _transform("rfft", out, x, n, axis, norm)
        return lambda values: transform(cast(values))

    @kernel()
    def irfft(self, out: Template, x: Template, *, n: int | None, axis: int, norm: Norm) -> Function:
        """The inverse of `rfft`: real numbers from the first half of their transform."""
        dtype = COMPLEX_OF[out.dtype]
        refuse_lacking(self, [x.replace(dtype=dtype)])
        cast, transform = caster(self, x, dtype), _transform("irfft", out, x, out.shape[axis], axis, norm)
        return lambda values: transform(cast(values))


def _transform(name: str, out: Template, x: Template, length: int | None, axis: int, norm: Norm) -> Function:
    """A function of `mx.fft`, which takes no empty arrays."""
    if not (x.size and out.size):
        return lambda values: mx.zeros(out.shape, mlx_dtype(out.dtype))
    function = getattr(mx.fft, name)
    return lambda values: function(values, length, axis, norm=norm)
