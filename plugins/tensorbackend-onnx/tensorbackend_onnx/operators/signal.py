"""Fourier transforms, spectrograms and the filters of mel scales."""

from __future__ import annotations

import math

import tensorbackend as tb
from tensorbackend import Tensor

from ..dtypes import dtype_of
from .registry import Float, Given, Int, Maybe, operator


@operator("DFT")
def dft(x: Tensor, length: Int | None = None, axis: Int | None = None, *, given: Given) -> Tensor:
    """The discrete Fourier transform of real numbers, or of complex ones as pairs along the last axis."""
    axis = given.axis if axis is None else axis  # an attribute before opset 20
    along = (-2 if axis is None else axis) % x.ndim
    if given.inverse and given.onesided:
        return tb.fft.irfft(paired(x), n=length, axis=along)[..., None]
    if given.onesided:
        return pairs(tb.fft.rfft(x[..., 0], n=length, axis=along))
    transform = tb.fft.ifft if given.inverse else tb.fft.fft
    return pairs(transform(paired(x), n=length, axis=along))


def paired(x: Tensor) -> Tensor:
    """Complex numbers out of pairs along the last axis, which may also have the real parts alone."""
    wide = x.astype(tb.float32) if x.dtype in (tb.float16, tb.bfloat16) else x
    real = wide[..., 0]
    return tb.complex(real, wide[..., 1] if x.shape[-1] == 2 else tb.zeros_like(real))


def pairs(x: Tensor) -> Tensor:
    """Complex numbers as pairs along a new last axis."""
    return tb.stack([tb.real(x), tb.imag(x)], axis=-1)


@operator("STFT")
def stft(x: Tensor, step: Int, window: Maybe = None, length: Int | None = None, *, given: Given) -> Tensor:
    """Fourier transforms of frames of a signal (batch, time, 1 or 2), or of real numbers (batch, time)."""
    x = x[..., None] if x.ndim == 2 else x  # which ONNX does not say, but onnxruntime takes and files have
    size = length if length is not None else window.shape[0] if window is not None else x.shape[1]
    count = (x.shape[1] - size) // step + 1
    starts = [list(range(frame * step, frame * step + size)) for frame in range(count)]
    frames = tb.take(x, tb.tensor(starts, backend="binary"), axis=1)
    if window is not None:
        frames = frames * window[:, None]
    return dft(frames, None, 2, given=given)


@operator("MelWeightMatrix")
def mel_weight_matrix(
    bins: Int, length: Int, rate: Int, lowest: Float, highest: Float, *, output_datatype: int = 1
) -> Tensor:
    """Triangles on the mel scale: a column for each, a row for each frequency."""
    low, high = (2595 * math.log10(1 + frequency / 700) for frequency in (lowest, highest))
    step = (high - low) / (bins + 2)
    edges = [700 * (10 ** ((place * step + low) / 2595) - 1) for place in range(bins + 2)]
    places = [int(((length + 1) * frequency) // rate) for frequency in edges]
    columns = []
    for left, centre, right in zip(places, places[1:], places[2:], strict=False):
        column = [0.0] * (length // 2 + 1)
        for row in range(left, centre + 1):
            column[row] = (row - left) / (centre - left) if left < centre else 1.0
        for row in range(centre, right):
            column[row] = (right - row) / (right - centre)
        columns.append(column)
    return tb.tensor(columns, dtype=tb.float32, backend="binary").T.astype(dtype_of(output_datatype))
