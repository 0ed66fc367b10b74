"""Signals in time and frequency: short-time Fourier transforms, their inverse, mel filters."""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

from ..annotations import Axis
from ..declarations.argument_errors import check_arguments
from ..dtypes import DType, DTypeLike, as_dtype, default_dtype, float32, float64, promote_types
from ..errors import ArgumentError, ShapeError, expected
from ..fft import irfft, rfft
from ..ops.composite.shape.arranging import moveaxis
from ..ops.creation.filled import asarray, iota, rename, zeros
from ..ops.creation.values import operand_tensors
from ..ops.elementwise.basic import astype, where
from ..ops.elementwise.binary import maximum, minimum, multiply
from ..ops.indexing.scatter import indexed_add
from ..ops.indexing.slices import slice_basic
from ..ops.indexing.taking import take
from ..ops.padding import pad
from ..ops.shape import broadcast_to, expand_dims, permute_dims, reshape
from ..rules.accuracy import Bound, declare_bound
from ..rules.axes import normalize_axis
from ..rules.broadcasting import check_dtype, to_floating
from ..rules.plan import choice
from ..template import Template
from ..tensor import Tensor, TensorLike
from .windows import COSINES, sum_of_cosines

Window: TypeAlias = Literal["hann", "hamming", "blackman", "rectangular"]


def _window(window: Window | Tensor, size: int, dtype: DType, like: Tensor) -> Tensor:
    """The window, of `size` elements; a named one is periodic, as spectra require."""
    if isinstance(window, Tensor):
        if window.shape != (size,):
            raise ShapeError(expected(f"a window of {size} elements, the length of a frame", window=window.template))
        return rename(astype(window, dtype), None)
    choice(tuple(COSINES), window=window)
    return sum_of_cosines(window, astype(iota(size, like=like), dtype) * (2 * math.pi / max(size, 1)))


def _sizes(frame_length: int, frame_step: int, fft_length: int | None) -> int:
    """The length of the transforms; raises `ArgumentError` for invalid lengths."""
    if frame_length < 1 or frame_step < 1:
        raise ArgumentError(
            expected("frames and steps of at least 1", frame_length=frame_length, frame_step=frame_step)
        )
    length = frame_length if fft_length is None else fft_length
    if length < frame_length:
        raise ArgumentError(expected(f"a transform of at least {frame_length} elements", fft_length=fft_length))
    return length


def _places(count: int, size: int, step: int, like: Tensor) -> Tensor:
    """The position in the signal of each element of each frame: (count, size)."""
    first = iota((count, 1), axis=0, dtype="int64", like=like) * step
    return first + iota((1, size), axis=1, dtype="int64", like=like)


@check_arguments
@declare_bound(Bound(16, "transforms of products with a window", "norm", tame=True))
def stft(
    x: TensorLike,
    /,
    *,
    frame_length: int,
    frame_step: int,
    fft_length: int | None = None,
    window: Window | Tensor = "hann",
    axis: Axis = -1,
    name: str | None = None,
) -> Tensor:
    """Short-time Fourier transform: the spectra of overlapping frames of a signal.

    Parameters
    ----------
    x : Tensor
        A tensor of a real dtype. Its other axes are batch axes.
    frame_length, frame_step : int
        The size of a frame, and the distance between the starts of frames.
    fft_length : int, optional
        The size of the transforms, by default that of the frames. Each frame is padded with zeros to it.
    window : {"hann", "hamming", "blackman", "rectangular"} or Tensor, default "hann"
        The factors by which each frame is multiplied; named windows are periodic.
    axis : int or str, default -1
        The axis of time.
    name : str, optional
        The name of the frequencies' axis.

    Returns
    -------
    Tensor
        Complex numbers. An axis of (size - frame_length) // frame_step + 1 frames takes the place and the name of the
        axis of time, and an axis of fft_length // 2 + 1 frequencies follows it.

    Raises
    ------
    ShapeError
        For a signal shorter than a frame, and a window of another size.
    ArgumentError
        For lengths and steps that are inconsistent.

    Examples
    --------
    >>> x = tb.ones((2, 400), names=("batch", "time"))
    >>> tb.nn.stft(x, frame_length=100, frame_step=50, axis="time", name="frequency").template
    c64[batch: 2][time: 7][frequency: 51]
    """
    (x,) = operand_tensors(x)
    dtype = promote_types(to_floating(check_dtype(x.dtype, "real")), float32)
    along = normalize_axis(x.template, axis)
    length = _sizes(frame_length, frame_step, fft_length)
    size = x.shape[along]
    if size < frame_length:
        raise ShapeError(expected(f"a signal of at least {frame_length} elements", x=x.template))
    count = (size - frame_length) // frame_step + 1
    wide = moveaxis(astype(x, dtype), along, -1)
    places = _places(count, frame_length, frame_step, x)
    frames = take(wide, rename(places, wide.names[-1], None), axis=wide.ndim - 1, mode="clip")
    frames = frames * _window(window, frame_length, dtype, x)
    spectra = rfft(frames, n=length, axis=-1)
    named = rename(spectra, *frames.names[:-1], name)
    return moveaxis(named, (-2, -1), (along, along + 1))


@check_arguments
@declare_bound(Bound(64, "sums of transforms over sums of squares", "operand", tame=True))
def istft(
    spectra: TensorLike,
    /,
    *,
    frame_length: int,
    frame_step: int,
    fft_length: int | None = None,
    window: Window | Tensor = "hann",
    axis: Axis = -2,
    size: int | None = None,
) -> Tensor:
    """Inverse of `stft`: the signal with spectra closest to the given ones, by least squares (Griffin and Lim 1984).

    Parameters
    ----------
    spectra : Tensor
        Complex, with an axis of frames followed by an axis of frequencies, as `stft` returns them.
    frame_length, frame_step, fft_length, window
        As in `stft`.
    axis : int or str, default -2
        The axis of the frames. The axis of the frequencies comes next.
    size : int, optional
        The size of the signal, which is cut off or padded with zeros; by default
        (frames - 1) * frame_step + frame_length.

    Returns
    -------
    Tensor
        Real numbers. An axis of time takes the place of frames and frequencies, with the name of the frames' axis. The
        signal is 0 where no window reaches.

    Raises
    ------
    ShapeError
        For another number of frequencies.
    ArgumentError
        For lengths and steps that are inconsistent.
    DTypeError
        For a dtype that is not complex.

    Examples
    --------
    >>> x = tb.random.normal(tb.random.key(0), (400,))
    >>> spectra = tb.nn.stft(x, frame_length=100, frame_step=25)
    >>> again = tb.nn.istft(spectra, frame_length=100, frame_step=25)
    >>> bool(tb.all_close(again[50:-50], x[50:-50], atol=1e-5))
    True
    """
    (spectra,) = operand_tensors(spectra)
    check_dtype(spectra.dtype, "complex")
    length = _sizes(frame_length, frame_step, fft_length)
    along = normalize_axis(spectra.template, axis)
    if along + 1 >= spectra.ndim or spectra.shape[along + 1] != length // 2 + 1:
        expectation = f"{length // 2 + 1} frequencies after the axis of the frames"
        raise ShapeError(
            expected(expectation, "pass fft_length= for transforms of another length", spectra=spectra.template)
        )
    moved = moveaxis(spectra, (along, along + 1), (0, -1))
    count, batch = moved.shape[0], moved.shape[1:-1]
    waves = slice_basic(irfft(rename(moved, *(None,) * moved.ndim), n=length, axis=-1), (..., slice(frame_length)))
    shape = _window(window, frame_length, waves.dtype, spectra)
    whole = max(0, (count - 1) * frame_step + frame_length) if count else 0
    places = expand_dims(_places(count, frame_length, frame_step, spectra), axis=2)
    rows = permute_dims(waves * shape, (0, waves.ndim - 1, *range(1, waves.ndim - 1)))
    total = indexed_add(zeros((whole, *batch), dtype=waves.dtype, like=spectra), places, rows, mode="clip")
    squares = broadcast_to(shape * shape, (count, frame_length))
    weight = indexed_add(zeros((whole,), dtype=waves.dtype, like=spectra), places, squares, mode="clip")
    column = reshape(weight, (whole, *(1,) * len(batch)))
    reached = column > 1e-10
    signal = where(reached, total / where(reached, column, 1), 0)
    end = whole if size is None else size
    if end > whole:
        signal = pad(signal, [(0, end - whole), *((0, 0),) * len(batch)])
    elif end < whole:
        signal = slice_basic(signal, slice(max(end, 0)))
    return moveaxis(rename(signal, moved.names[0], *moved.names[1:-1]), 0, along)


@check_arguments
def mel_filters(
    frequencies: int,
    filters: int,
    /,
    *,
    sample_rate: float,
    lowest: float = 0.0,
    highest: float | None = None,
    slaney: bool = False,
    dtype: DTypeLike | None = None,
    names: tuple[str | None, str | None] = (None, None),
) -> Tensor:
    """Make triangular filters, equally spaced on the mel scale; multiply spectra by them to get mel spectra.

    Parameters
    ----------
    frequencies, filters : int
        The number of frequencies of the spectra, from 0 to half the sample rate, and the number of filters.
    sample_rate : float
        The number of elements of the signal per second.
    lowest : float, default 0
        The start of the first filter, in hertz.
    highest : float, optional
        The end of the last filter, in hertz; by default half the sample rate.
    slaney : bool, default False
        Whether the scale is linear below 1000 Hz and each filter has an area of 1 (Slaney 1998); otherwise the scale is
        2595 * log10(1 + f / 700), and each filter has a peak of 1 (O'Shaughnessy 1987).
    dtype : dtype, optional
        A floating dtype; by default the default floating dtype.
    names : pair of str or None, optional
        The names of the axes.

    Returns
    -------
    Tensor
        (frequencies, filters).

    Raises
    ------
    ArgumentError
        Unless 0 <= lowest < highest <= sample_rate / 2, and for fewer than two frequencies or one filter.

    Examples
    --------
    >>> matrix = tb.nn.mel_filters(257, 40, sample_rate=16000)
    >>> power = tb.ones((5, 257))
    >>> (power @ matrix).shape
    (5, 40)
    """
    top = sample_rate / 2 if highest is None else highest
    if frequencies < 2 or filters < 1 or not 0 <= lowest < top <= sample_rate / 2:
        expectation = "at least two frequencies and one filter, and 0 <= lowest < highest <= sample_rate / 2"
        raise ArgumentError(expected(expectation, frequencies=frequencies, filters=filters, lowest=lowest, highest=top))
    Template((frequencies, filters), float64)  # or an error, before there is a list of so many
    first, last = _mel(lowest, slaney), _mel(top, slaney)
    edges = [_hertz(first + (last - first) * place / (filters + 1), slaney) for place in range(filters + 2)]
    left, centre, right = (asarray([edges[start : start + filters]], dtype="float64") for start in range(3))
    hertz = multiply(astype(iota((frequencies, 1), axis=0, like=left), "float64"), sample_rate / 2 / (frequencies - 1))
    rising = (hertz - left) / (centre - left)
    falling = (right - hertz) / (right - centre)
    triangles = maximum(minimum(rising, falling), 0.0)
    if slaney:
        triangles = triangles * (2.0 / (right - left))
    return rename(astype(triangles, default_dtype("float") if dtype is None else as_dtype(dtype)), *names)


_STEP = math.log(6.4) / 27
"""The natural logarithm of the ratio of frequencies one mel apart on Slaney's scale above 1000 Hz, which is 15 mel."""


def _mel(hertz: float, slaney: bool) -> float:
    if not slaney:
        return 2595 * math.log10(1 + hertz / 700)
    return hertz * 3 / 200 if hertz < 1000 else 15 + math.log(hertz / 1000) / _STEP


def _hertz(mel: float, slaney: bool) -> float:
    if not slaney:
        return 700 * (10 ** (mel / 2595) - 1)
    return mel * 200 / 3 if mel < 15 else 1000 * math.exp(_STEP * (mel - 15))
