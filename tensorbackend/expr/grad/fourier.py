"""Gradients of Fourier transforms, whose matrices are their own transposes."""

from __future__ import annotations

from ...ops.fourier import fft, ifft
from ...ops.indexing.slices import slice_basic
from ...ops.padding import pad
from ...protocol.fourier import Norm
from ...tensor import Tensor
from .registry import Cotangents, rule


def _resize(x: Tensor, axis: int, size: int) -> Tensor:
    """x truncated or zero-padded to a size along an axis, as the transform does with its input."""
    if x.shape[axis] > size:
        return slice_basic(x, (slice(None),) * axis + (slice(size),))
    return pad(x, {axis: (0, size - x.shape[axis])}) if x.shape[axis] < size else x


@rule("fft")
def _fft(cotangent: Tensor, out: Tensor, x: Tensor, *, axis: int, length: int, norm: Norm) -> Cotangents:
    return (_resize(fft(cotangent, axis=axis, norm=norm), axis, x.shape[axis]),)


@rule("ifft")
def _ifft(cotangent: Tensor, out: Tensor, x: Tensor, *, axis: int, length: int, norm: Norm) -> Cotangents:
    return (_resize(ifft(cotangent, axis=axis, norm=norm), axis, x.shape[axis]),)
