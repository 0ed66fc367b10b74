"""`numpy.fft`: NumPy's names and arguments over `tb.fft`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy

import tensorbackend as tb

from ..errors import ArgumentError
from ..tensor import Tensor
from .arrays import box
from .conversion import asarray, cast, from_numpy, tensor
from .documents import summary_of
from .functions import Function, public
from .ufuncs import write_out

_in_fft: Final[Callable[[Function], Function]] = public(space="fft")
"""Enters a function in `fft`."""


def _wide(a: Any, real: bool = False) -> Tensor:
    """A tensor in the dtype in which NumPy transforms it."""
    x = tensor(a)
    if real and x.dtype.is_complex:
        raise TypeError("ufunc 'rfft' did not contain a loop with signature matching types")
    if x.dtype is tb.float16:
        return cast(x, tb.float32)
    return x if x.dtype.is_inexact else cast(x, tb.float64)


def _norm(norm: Any) -> str:
    if norm not in (None, "backward", "ortho", "forward"):
        raise ArgumentError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    return norm or "backward"


def _one(name: str) -> Callable[..., Any]:
    def transform(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
        x = _wide(a, real=name in ("rfft", "ihfft"))
        if n is not None and n < 1:
            raise ArgumentError(f"Invalid number of FFT data points ({n}) specified.")
        made = getattr(tb.fft, name)(x, n=None if n is None else int(n), axis=axis, norm=_norm(norm))
        return box(made) if out is None else write_out(name, out, made, broadcasts=False)

    transform.__name__ = name
    transform.__doc__ = summary_of(getattr(tb.fft, name))
    return transform


def _several(name: str, op: str, default: Any) -> Callable[..., Any]:
    def transform(a: Any, s: Any = None, axes: Any = default, norm: Any = None, out: Any = None) -> Any:
        x = _wide(a, real=op == "rfftn")
        if axes is None and s is not None:
            axes = tuple(range(-len(s), 0))
        chosen = tuple(axes) if axes is not None else tuple(range(x.ndim))
        if s is not None:
            if len(s) != len(chosen):
                raise ArgumentError("Shape and axes have different lengths.")
            s = [x.shape[axis] if size in (-1, None) else int(size) for size, axis in zip(s, chosen, strict=True)]
        if len({axis % max(x.ndim, 1) for axis in chosen}) < len(chosen):
            made = x
            one = {"fftn": "fft", "ifftn": "ifft", "rfftn": "fft", "irfftn": "ifft"}[op]
            for place in reversed(range(len(chosen))):
                kind = op[:-1] if op == "rfftn" and place == len(chosen) - 1 else one
                made = getattr(tb.fft, kind)(
                    made, n=None if s is None else s[place], axis=chosen[place], norm=_norm(norm)
                )
        else:
            made = getattr(tb.fft, op)(x, s=s, axes=chosen, norm=_norm(norm))
        return box(made) if out is None else write_out(name, out, made, broadcasts=False)

    transform.__name__ = name
    transform.__doc__ = summary_of(getattr(tb.fft, op))
    return transform


for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    globals()[_name] = _in_fft(_one(_name))
for _name in ("fft", "ifft", "rfft", "irfft"):
    globals()[f"{_name}n"] = _in_fft(_several(f"{_name}n", f"{_name}n", None))
    globals()[f"{_name}2"] = _in_fft(_several(f"{_name}2", f"{_name}n", (-2, -1)))


@_in_fft
def fftfreq(n: int, d: float = 1.0, device: Any = None) -> Any:
    """The frequencies of `fft`."""
    return box(from_numpy(numpy.fft.fftfreq(n, d)))


@_in_fft
def rfftfreq(n: int, d: float = 1.0, device: Any = None) -> Any:
    """The frequencies of `rfft`."""
    return box(from_numpy(numpy.fft.rfftfreq(n, d)))


@_in_fft
def fftshift(x: Any, axes: Any = None) -> Any:
    """The frequency 0 moved to the middle."""
    return box(tb.fft.fftshift(tensor(asarray(x)), axes=axes))


@_in_fft
def ifftshift(x: Any, axes: Any = None) -> Any:
    """The frequency 0 moved back to the front."""
    return box(tb.fft.ifftshift(tensor(asarray(x)), axes=axes))
