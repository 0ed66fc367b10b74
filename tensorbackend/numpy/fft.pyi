"""`numpy.fft`: NumPy's names and arguments over `tb.fft`. Written by `python -m tensorbackend.numpy.stub`."""

import builtins
from contextlib import AbstractContextManager
from typing import Any, Literal, NamedTuple, overload

from . import _ArrayOrNumber, ndarray

def fft(a: Any, n: Any = ..., axis: int = ..., norm: Any = ..., out: Any = ...) -> ndarray:
    """Discrete Fourier transform along an axis, to the length `n`."""
def fft2(a: Any, s: Any = ..., axes: Any = ..., norm: Any = ..., out: Any = ...) -> ndarray:
    """Discrete Fourier transform along several axes, all by default, to the lengths `s`."""
def fftfreq(n: int, d: float = ..., device: Any = ...) -> ndarray:
    """The frequencies of `fft`."""
def fftn(a: Any, s: Any = ..., axes: Any = ..., norm: Any = ..., out: Any = ...) -> ndarray:
    """Discrete Fourier transform along several axes, all by default, to the lengths `s`."""
def fftshift(x: Any, axes: Any = ...) -> ndarray:
    """The frequency 0 moved to the middle."""
def hfft(a: Any, n: Any = ..., axis: int = ..., norm: Any = ..., out: Any = ...) -> ndarray:
    """Transform a Hermitian signal, given by its first half x, to n real numbers."""
def ifft(a: Any, n: Any = ..., axis: int = ..., norm: Any = ..., out: Any = ...) -> ndarray:
    """Inverse discrete Fourier transform along an axis, to the length `n`."""
def ifft2(a: Any, s: Any = ..., axes: Any = ..., norm: Any = ..., out: Any = ...) -> ndarray:
    """Inverse discrete Fourier transform along several axes, all by default, to the lengths `s`."""
def ifftn(a: Any, s: Any = ..., axes: Any = ..., norm: Any = ..., out: Any = ...) -> ndarray:
    """Inverse discrete Fourier transform along several axes, all by default, to the lengths `s`."""
def ifftshift(x: Any, axes: Any = ...) -> ndarray:
    """The frequency 0 moved back to the front."""
def ihfft(a: Any, n: Any = ..., axis: int = ..., norm: Any = ..., out: Any = ...) -> ndarray:
    """The inverse of `hfft`: the first half of the Hermitian signal with the real transform x."""
def irfft(a: Any, n: Any = ..., axis: int = ..., norm: Any = ..., out: Any = ...) -> ndarray:
    """The inverse of `rfft`: n real numbers, by default 2 * (size - 1) of them."""
def irfft2(a: Any, s: Any = ..., axes: Any = ..., norm: Any = ..., out: Any = ...) -> ndarray:
    """The inverse of `rfftn`: `ifft` along all axes except the last, then `irfft`."""
def irfftn(a: Any, s: Any = ..., axes: Any = ..., norm: Any = ..., out: Any = ...) -> ndarray:
    """The inverse of `rfftn`: `ifft` along all axes except the last, then `irfft`."""
def rfft(a: Any, n: Any = ..., axis: int = ..., norm: Any = ..., out: Any = ...) -> ndarray:
    """Transform real numbers; return the first n // 2 + 1 numbers, as the others are conjugates of these."""
def rfft2(a: Any, s: Any = ..., axes: Any = ..., norm: Any = ..., out: Any = ...) -> ndarray:
    """Transform real numbers along several axes: `rfft` along the last, then `fft` along the others."""
def rfftfreq(n: int, d: float = ..., device: Any = ...) -> ndarray:
    """The frequencies of `rfft`."""
def rfftn(a: Any, s: Any = ..., axes: Any = ..., norm: Any = ..., out: Any = ...) -> ndarray:
    """Transform real numbers along several axes: `rfft` along the last, then `fft` along the others."""
