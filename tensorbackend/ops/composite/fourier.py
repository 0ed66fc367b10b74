"""The Array API's `fft` extension except `fft` and `ifft`, and cosine transforms, written in public ops; axis names are
kept.

`norm`, lengths and dtypes are as in `ops.fourier`. Errors: `AxisError`, `DTypeError`, `ShapeError` for a length
below 1, `ArgumentError` for an unknown norm or lengths without axes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ...annotations import Axes, Axis
from ...declarations.argument_errors import check_arguments
from ...dispatch import composite
from ...dtypes import complex64, int64, promote_types
from ...errors import ArgumentError, ShapeError, expected
from ...rules.accuracy import TRANSFORM, declare_bound
from ...rules.axes import normalize_axes
from ...rules.broadcasting import check_dtype
from ...rules.fourier import Kind, Norm, check_kind, check_length, check_norm, several, transform_dtype
from ...tensor import Tensor, TensorLike
from ..creation.filled import asarray, iota
from ..elementwise.basic import astype, conj, imag, real, where
from ..elementwise.binary import logical_or, multiply
from ..elementwise.transcendental import cos, sin
from ..fourier import fft, ifft
from ..indexing.slices import entries, slice_basic
from ..indexing.taking import take_at
from ..padding import pad
from ..shape import concatenate, flip, reshape
from .elementwise.functions import complex
from .shape.arranging import roll

_OPPOSITE: dict[Norm, Norm] = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


@composite.within(TRANSFORM)
def fftn(
    x: Tensor, /, *, s: Sequence[int] | None = None, axes: Sequence[Axis] | None = None, norm: Norm = "backward"
) -> Tensor:
    """Discrete Fourier transform along several axes, all by default, to the lengths `s`.

    >>> tb.fft.fftn(tb.ones((2, 2))).tolist()
    [[(4+0j), 0j], [0j, 0j]]
    """
    return _along_each(fft, x, s, axes, norm)


@composite.within(TRANSFORM)
def ifftn(
    x: Tensor, /, *, s: Sequence[int] | None = None, axes: Sequence[Axis] | None = None, norm: Norm = "backward"
) -> Tensor:
    """Inverse discrete Fourier transform along several axes, all by default, to the lengths `s`.

    >>> tb.fft.ifftn(tb.asarray([[4.0, 0.0], [0.0, 0.0]])).tolist()
    [[(1+0j), (1+0j)], [(1+0j), (1+0j)]]
    """
    return _along_each(ifft, x, s, axes, norm)


def _along_each(
    transform: Callable[..., Tensor], x: Tensor, s: Sequence[int] | None, axes: Sequence[Axis] | None, norm: Norm
) -> Tensor:
    """A transform along several axes, the last one first."""
    check_norm(norm)
    order, lengths = several(x.template, s, axes)
    for axis, length in reversed(list(zip(order, lengths, strict=True))):
        x = transform(x, n=length, axis=axis, norm=norm)
    return x if order else _cast_to_complex(x)


@composite.within(TRANSFORM)
def rfft(x: Tensor, /, *, n: int | None = None, axis: Axis = -1, norm: Norm = "backward") -> Tensor:
    """Transform real numbers; return the first n // 2 + 1 numbers, as the others are conjugates of these.

    >>> tb.fft.rfft(tb.asarray([1.0, 0.0, -1.0, 0.0])).tolist()
    [0j, (2+0j), 0j]
    """
    check_dtype(x.dtype, "real or bool", "take real(x), or fft for complex numbers")
    full = fft(x, n=n, axis=axis, norm=norm)
    return _head(full, axis, full.shape[_position(axis)] // 2 + 1)


@composite.within(TRANSFORM)
def irfft(x: Tensor, /, *, n: int | None = None, axis: Axis = -1, norm: Norm = "backward") -> Tensor:
    """The inverse of `rfft`: n real numbers, by default 2 * (size - 1) of them.

    The imaginary parts of the first number and, for an even n, of number n / 2 have no effect.

    >>> tb.fft.irfft(tb.asarray([0.0, 2.0, 0.0])).tolist()
    [1.0, 0.0, -1.0, 0.0]
    """
    position = _position(axis)
    length = check_length(2 * (x.shape[position] - 1) if n is None else n)
    x = _head(_cast_to_complex(x), position, length // 2 + 1)
    # Each number and its conjugate in the omitted half add up to twice the real part. Only the first number and the
    # middle one of an even length have no such conjugate.
    count = x.shape[position]
    place = iota((count,), dtype=int64)
    single = logical_or(place == 0, place * 2 == length)
    weight = 2.0 - astype(single, real(x).dtype)
    x = x * reshape(weight, (count,) + (1,) * (x.ndim - 1 - position))
    return real(ifft(x, n=length, axis=position, norm=norm))


@composite.within(TRANSFORM)
def rfftn(
    x: Tensor, /, *, s: Sequence[int] | None = None, axes: Sequence[Axis] | None = None, norm: Norm = "backward"
) -> Tensor:
    """Transform real numbers along several axes: `rfft` along the last, then `fft` along the others.

    >>> tb.fft.rfftn(tb.ones((2, 2))).tolist()
    [[(4+0j), 0j], [0j, 0j]]
    """
    check_dtype(x.dtype, "real or bool", "take real(x), or fftn for complex numbers")
    order, lengths = _check_axes(x, s, axes)
    x = rfft(x, n=lengths[-1], axis=order[-1], norm=norm)
    for axis, length in reversed(list(zip(order[:-1], lengths[:-1], strict=True))):
        x = fft(x, n=length, axis=axis, norm=norm)
    return x


@composite.within(TRANSFORM)
def irfftn(
    x: Tensor, /, *, s: Sequence[int] | None = None, axes: Sequence[Axis] | None = None, norm: Norm = "backward"
) -> Tensor:
    """The inverse of `rfftn`: `ifft` along all axes except the last, then `irfft`.

    >>> tb.fft.irfftn(tb.asarray([[4.0, 0.0], [0.0, 0.0]])).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    order, lengths = _check_axes(x, s, axes)
    for axis, length in zip(order[:-1], lengths[:-1], strict=True):
        x = ifft(x, n=length, axis=axis, norm=norm)
    return irfft(x, n=lengths[-1], axis=order[-1], norm=norm)


@composite.within(TRANSFORM)
def hfft(x: Tensor, /, *, n: int | None = None, axis: Axis = -1, norm: Norm = "backward") -> Tensor:
    """Transform a Hermitian signal, given by its first half x, to n real numbers.

    >>> tb.fft.hfft(tb.asarray([1.0, 1.0])).tolist()
    [2.0, 0.0]
    """
    return irfft(conj(_cast_to_complex(x)), n=n, axis=axis, norm=_OPPOSITE[check_norm(norm)])


@composite.within(TRANSFORM)
def ihfft(x: Tensor, /, *, n: int | None = None, axis: Axis = -1, norm: Norm = "backward") -> Tensor:
    """The inverse of `hfft`: the first half of the Hermitian signal with the real transform x.

    >>> tb.fft.ihfft(tb.asarray([2.0, 0.0])).tolist()
    [(1-0j), (1-0j)]
    """
    return conj(rfft(x, n=n, axis=axis, norm=_OPPOSITE[check_norm(norm)]))


@composite.within(TRANSFORM)
def dct(x: Tensor, /, *, type: Kind = 2, n: int | None = None, axis: Axis = -1, norm: Norm = "backward") -> Tensor:
    """Discrete cosine transform along an axis: real numbers as a sum of cosines, as `scipy.fft.dct` defines it.

    Parameters
    ----------
    type : {1, 2, 3, 4}, default 2
        How the numbers go on at both ends. Types 2 and 3 are inverses of each other, and types 1 and 4 of themselves,
        except for the factor that `norm` decides.
    norm : {"backward", "ortho", "forward"}, default "backward"
        Which transform divides by twice the number of samples (of samples but one for type 1): the inverse, both by the
        square root, or the forward one. With "ortho" the ends are also scaled, so that the transform is orthogonal.

    References
    ----------
    J. Makhoul, "A fast cosine transform in one and two dimensions", IEEE Transactions on Acoustics, Speech, and Signal
    Processing 28 (1980).

    Examples
    --------
    >>> tb.fft.dct(tb.asarray([1.0, 1.0, 1.0])).tolist()
    [6.0, 0.0, 0.0]
    """
    return _cosines(x, check_kind(type), n, _position(axis), check_norm(norm))


@composite.within(TRANSFORM)
def idct(x: Tensor, /, *, type: Kind = 2, n: int | None = None, axis: Axis = -1, norm: Norm = "backward") -> Tensor:
    """The inverse of `dct` of the same type and norm.

    Parameters
    ----------
    type : {1, 2, 3, 4}, default 2
        The type of the transform to invert.
    norm : {"backward", "ortho", "forward"}, default "backward"
        As for `dct`.

    Examples
    --------
    >>> tb.fft.idct(tb.asarray([6.0, 0.0, 0.0])).tolist()
    [1.0, 1.0, 1.0]
    """
    return _cosines(x, _INVERSE[check_kind(type)], n, _position(axis), _OPPOSITE[check_norm(norm)])


def _cosines(x: Tensor, kind: Kind, n: int | None, axis: int, norm: Norm) -> Tensor:
    """See `dct`."""
    check_dtype(x.dtype, "real or bool", "transform real(x) and imag(x)")
    size = check_length(x.shape[axis] if n is None else n)
    if kind == 1 and size < 2:
        raise ShapeError(expected("at least two samples for type 1", "pass a length of at least 2", n=size))
    x = pad(astype(x, transform_dtype(x.dtype)), {axis: (0, size - x.shape[axis])})
    place = reshape(iota((size,), dtype=int64), (size,) + (1,) * (x.ndim - 1 - axis))
    ends = logical_or(place == 0, place == size - 1) if kind == 1 else place == 0
    ends = where(ends, asarray(math.sqrt(2), dtype=x.dtype), asarray(1.0, dtype=x.dtype))
    if norm == "ortho" and kind in (1, 3):
        x = x * ends
    x = _TRANSFORMS[kind](x, astype(place, x.dtype), axis)
    if norm == "ortho" and kind in (1, 2):
        x = x / ends
    period = 2 * (size - 1 if kind == 1 else size)
    return x if norm == "backward" else x / (period if norm == "forward" else math.sqrt(period))


def _cosines_1(x: Tensor, place: Tensor, axis: int) -> Tensor:
    """The transform of the numbers, followed by all but the ends in reverse."""
    size = x.shape[axis]
    whole = concatenate([x, flip(entries(x, axis, 1, size - 2), axis=axis)], axis=axis)
    return _head(real(fft(whole, axis=axis)), axis, size)


def _cosines_2(x: Tensor, place: Tensor, axis: int) -> Tensor:
    """The numbers at even places are followed by the others in reverse (Makhoul 1980)."""
    size = x.shape[axis]
    at = iota((size,), dtype=int64)
    order = where(at * 2 < size, at * 2, 2 * size - 1 - at * 2)
    spectrum = fft(take_at(x, order, axis=axis, mode="clip"), axis=axis)
    angle = multiply(place, math.pi / (2 * size))
    return (real(spectrum) * cos(angle) + imag(spectrum) * sin(angle)) * 2


def _cosines_3(x: Tensor, place: Tensor, axis: int) -> Tensor:
    """The inverse of type 2, without its division."""
    size = x.shape[axis]
    later = flip(entries(x, axis, 1, size - 1), axis=axis)
    mirror = pad(later, {axis: (1, 0)})
    angle = multiply(place, math.pi / (2 * size))
    c, s = cos(angle), sin(angle)
    spectrum = complex(x * c + mirror * s, x * s - mirror * c)
    at = iota((size,), dtype=int64)
    half = at // 2
    order = where(at % 2 == 0, half, size - 1 - half)
    return take_at(real(ifft(spectrum, axis=axis, norm="forward")), order, axis=axis, mode="clip")


def _cosines_4(x: Tensor, place: Tensor, axis: int) -> Tensor:
    """A transform of twice the length, with all numbers turned before and after it."""
    size = x.shape[axis]
    before = multiply(place, math.pi / (2 * size))
    turned = complex(x * cos(before), -(x * sin(before)))
    spectrum = _head(fft(turned, n=2 * size, axis=axis), axis, size)
    after = multiply(place + 0.5, math.pi / (2 * size))
    return (real(spectrum) * cos(after) + imag(spectrum) * sin(after)) * 2


_TRANSFORMS: dict[Kind, Callable[[Tensor, Tensor, int], Tensor]] = {
    1: _cosines_1,
    2: _cosines_2,
    3: _cosines_3,
    4: _cosines_4,
}
_INVERSE: dict[Kind, Kind] = {1: 1, 2: 3, 3: 2, 4: 4}


@composite
def fftshift(x: Tensor, /, *, axes: Axes = None) -> Tensor:
    """Move the zero frequency to the middle of each axis, so that frequencies are in ascending order.

    All axes by default; any dtype.

    >>> tb.fft.fftshift(tb.fft.fftfreq(4)).tolist()
    [-0.5, -0.25, 0.0, 0.25]
    """
    order = normalize_axes(x.template, axes)
    return roll(x, [x.shape[axis] // 2 for axis in order], axis=order)


@composite
def ifftshift(x: Tensor, /, *, axes: Axes = None) -> Tensor:
    """The inverse of `fftshift`: move the zero frequency from the middle of each axis to its start.

    >>> tb.fft.ifftshift(tb.asarray([-1, 0, 1])).tolist()
    [0, 1, -1]
    """
    order = normalize_axes(x.template, axes)
    return roll(x, [-(x.shape[axis] // 2) for axis in order], axis=order)


def _position(axis: Axis) -> int:
    """The axis itself, which the dispatcher has converted to a position."""
    assert isinstance(axis, int)
    return axis


def _head(x: Tensor, axis: Axis, count: int) -> Tensor:
    """The first `count` entries along an axis, or all if there are fewer."""
    return slice_basic(x, (slice(None),) * _position(axis) + (slice(count),))


def _cast_to_complex(x: Tensor) -> Tensor:
    """x in the complex dtype of its transform."""
    dtype = transform_dtype(x.dtype)
    return x if dtype.is_complex else astype(x, promote_types(dtype, complex64))


def _check_axes(
    x: Tensor, s: Sequence[int] | None, axes: Sequence[Axis] | None
) -> tuple[tuple[int, ...], tuple[int | None, ...]]:
    """The axes and lengths of a transform that is real along its last axis; `ArgumentError` if there is no axis."""
    order, lengths = several(x.template, s, axes)
    if not order:
        raise ArgumentError(expected("at least one axis", "pass axes of the tensor", tensor=x.template, axes=axes))
    return order, lengths


@declare_bound(TRANSFORM)
@check_arguments
def fft2(
    x: TensorLike, /, *, s: Sequence[int] | None = None, axes: Sequence[Axis] = (-2, -1), norm: Norm = "backward"
) -> Tensor:
    """Discrete Fourier transform along two axes, the last ones by default: `fftn` of planes.

    >>> tb.fft.fft2(tb.ones((2, 2))).tolist()
    [[(4+0j), 0j], [0j, 0j]]
    """
    return fftn(x, s=s, axes=axes, norm=norm)


@declare_bound(TRANSFORM)
@check_arguments
def ifft2(
    x: TensorLike, /, *, s: Sequence[int] | None = None, axes: Sequence[Axis] = (-2, -1), norm: Norm = "backward"
) -> Tensor:
    """Inverse of `fft2`.

    >>> tb.fft.ifft2(tb.fft.fft2(tb.eye(2))).tolist()
    [[(1+0j), 0j], [0j, (1+0j)]]
    """
    return ifftn(x, s=s, axes=axes, norm=norm)
