"""Callbacks of discrete Fourier transforms."""

from __future__ import annotations

from ..rules.fourier import Norm as Norm
from ..template import Template
from ..tensor import Tensor
from .callbacks import callback
from .planned import Payload


class Fourier:
    """Transforms along one axis; x is real or complex and the result complex.

    The result of float32 is complex64, that of float64 complex128; there are no other real dtypes.
    """

    @callback
    def fft(self, out: Template, x: Tensor, /, *, axis: int, length: int, norm: Norm) -> Payload:
        """Sum over n of x[n] exp(-2 pi i k n / length) for each k below `length`.

        x is truncated or zero-padded to `length` along `axis`. The result is divided by `length` if `norm` is
        "forward", and by its square root if it is "ortho".
        """

    @callback
    def ifft(self, out: Template, x: Tensor, /, *, axis: int, length: int, norm: Norm) -> Payload:
        """Inverse of `fft` with the same `norm`: the exponent is positive, and "backward" divides by `length`."""
