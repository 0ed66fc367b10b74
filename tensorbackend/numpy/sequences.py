"""Functions of adjacent elements along an axis: cumulative sums, differences, gradients, interpolation, convolution."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

import tensorbackend as tb

from ..dtypes import bool_
from ..errors import ArgumentError
from ..tensor import Tensor
from .arrays import box, functions, ndarray, result
from .conversion import asarray, cast, host, tensor
from .documents import summary_of
from .dtypes import dtype_of
from .functions import Array, Out, function, public, ready
from .selection import chosen
from .shapes import axis_position, axis_positions, flat_along
from .ufuncs import write_out


def _make_cumulative(op: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def running(a: Array, axis: Any = None, dtype: Any = None, out: Out = None) -> Array:
        x, place = flat_along(a, axis, of_number=True)
        wanted = x.dtype if dtype is None else dtype_of(dtype)
        if dtype is None and (wanted is bool_ or wanted.kind in ("int", "uint")):
            wanted = tb.uint64 if wanted.kind == "uint" else tb.int64
        if wanted is bool_:  # NumPy adds and multiplies bools as "or" and "and"
            return cast(op(cast(x, tb.int64), axis=place), bool_)
        return op(cast(x, wanted), axis=place, dtype=wanted)

    running.__doc__ = summary_of(op)
    return running


cumsum = function(_make_cumulative(tb.cumulative_sum), name="cumsum", in_out=True)
cumprod = function(_make_cumulative(tb.cumulative_prod), name="cumprod", in_out=True)


@public
def cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Any:
    """Cumulative sums along an axis."""
    return _cumulative(x, axis, dtype, out, include_initial, cumsum, 0)


@public
def cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Any:
    """Cumulative products along an axis."""
    return _cumulative(x, axis, dtype, out, include_initial, cumprod, 1)


def _cumulative(x: Any, axis: Any, dtype: Any, out: Any, include_initial: bool, running: Any, start: int) -> Any:
    array = asarray(x)
    if axis is None:
        if array.ndim > 1:
            raise ArgumentError("For arrays which have more than one dimension ``axis`` argument is required.")
        array, axis = array.reshape(-1) if not array.ndim else array, 0
    made = running(array, axis, dtype)
    if include_initial:
        shape = list(made.shape)
        shape[axis] = 1
        made = functions["concatenate"]([functions["full"](tuple(shape), start, made.dtype), made], axis)
    return made if out is None else write_out("cumulative", out, tensor(made), broadcasts=False)


@public
def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """The differences of adjacent elements along an axis."""
    if n < 0:
        raise ArgumentError(f"order must be non-negative but got {n}")
    if not n:
        return a
    x = asarray(a)
    if not x.ndim:
        raise ArgumentError("diff requires input that is at least one dimensional")
    axis = axis_position(axis, x.ndim)
    parts = [x]
    for place, more in ((0, prepend), (len(parts) + 1, append)):
        if more is not None:
            extra = asarray(more)
            if not extra.ndim:
                shape = list(x.shape)
                shape[axis] = 1
                extra = functions["broadcast_to"](extra, tuple(shape))
            parts.insert(place, extra)
    return result(_differences(tensor(functions["concatenate"](parts, axis) if len(parts) > 1 else x), n, axis))


@ready
def _differences(x: Array, n: int, axis: int) -> Array:
    """The differences of adjacent elements taken n times, of bools whether they differ."""
    if x.dtype is not bool_:
        return tb.diff(x, axis=axis, n=n)
    before = (slice(None),) * axis
    for _ in range(n):
        x = tb.not_equal(x[(*before, slice(1, None))], x[(*before, slice(None, -1))])
    return x


@public
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """The differences of adjacent elements of the flat array, optionally with more at its ends."""
    x = functions["ravel"](ary)
    made = x[1:] - x[:-1]
    for extra in (to_begin, to_end):
        if extra is not None and not numpy.can_cast(asarray(extra).dtype, x.dtype, "same_kind"):
            raise TypeError("dtype of `to_end` must be compatible with input `ary` under the `same_kind` rule.")
    parts = [functions["ravel"](to_begin).astype(x.dtype)] if to_begin is not None else []
    parts += [made]
    parts += [functions["ravel"](to_end).astype(x.dtype)] if to_end is not None else []
    return functions["concatenate"](parts) if len(parts) > 1 else made


@public
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """The gradient along each axis by central differences."""
    x = asarray(f)
    if x._template().dtype is bool_:
        raise TypeError("gradient: bools cannot be subtracted; write x.astype(float)")
    if not x._template().dtype.is_inexact:
        x = x.astype(float)
    axes = list(axis_positions(axis, x.ndim))
    if len(set(axes)) < len(axes):
        raise ArgumentError(f"repeated axis in {axis!r}")
    spacings = list(varargs) or [1.0]
    if len(spacings) == 1 and numpy.ndim(host(spacings[0])) == 0:
        spacings *= len(axes)
    if len(spacings) != len(axes):
        raise TypeError("invalid number of arguments")
    if edge_order > 2:
        raise ArgumentError("'edge_order' greater than 2 not supported")
    slopes = [_slope(x, place, spacing, edge_order) for place, spacing in zip(axes, spacings, strict=True)]
    made = [slope.astype(x.dtype, copy=False) for slope in slopes]
    return made[0] if len(made) == 1 else tuple(made)


def _slope(x: ndarray, axis: int, spacing: Any, edge_order: int) -> Any:
    if x.shape[axis] < edge_order + 1:
        text = "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements"
        raise ArgumentError(f"{text} are required.")
    before = (slice(None),) * axis

    def part(start: int | None, stop: int | None) -> Any:
        return x[(*before, slice(start, stop))]

    def entry(place: int) -> Any:
        return part(place, place + 1 or None)

    if numpy.ndim(host(spacing)) == 0:
        h = low = high = spacing
        inner_ = (part(2, None) - part(None, -2)) / (2.0 * h)
        if edge_order == 2:
            first = (-1.5 * entry(0) + 2.0 * entry(1) - 0.5 * entry(2)) / h
            last = (0.5 * entry(-3) - 2.0 * entry(-2) + 1.5 * entry(-1)) / h
    else:
        steps = asarray(spacing)
        if steps.ndim != 1 or steps.shape[0] != x.shape[axis]:
            raise ArgumentError("when 1d, distances must match the length of the corresponding dimension")
        steps = steps if steps._template().dtype.is_inexact else steps.astype(float)
        gaps = steps[1:] - steps[:-1]
        low, high = gaps[0], gaps[-1]
        shape = [1] * x.ndim
        shape[axis] = -1
        one, two = gaps[:-1].reshape(shape), gaps[1:].reshape(shape)
        # At even places the sample in the middle has no part in the slope, not even an infinite one.
        middle = functions["where"]((gaps == gaps[:1]).all(), 0, part(1, -1))
        inner_ = (-two / (one * (one + two))) * part(None, -2) + ((two - one) / (one * two)) * middle + (
            one / (two * (one + two))) * part(2, None)  # fmt: skip
        if edge_order == 2:
            a, b = gaps[0], gaps[1]
            first = (-(2.0 * a + b) / (a * (a + b)) * entry(0) + (a + b) / (a * b) * entry(1)
                     - a / (b * (a + b)) * entry(2))  # fmt: skip
            a, b = gaps[-2], gaps[-1]
            last = (b / (a * (a + b)) * entry(-3) - (b + a) / (a * b) * entry(-2)
                    + (2.0 * b + a) / (b * (a + b)) * entry(-1))  # fmt: skip
    if edge_order == 1:
        first, last = (entry(1) - entry(0)) / low, (entry(-1) - entry(-2)) / high
    return functions["concatenate"]([first, inner_, last], axis)


@public
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """The integral by the trapezoidal rule."""
    values = asarray(y)
    axis = axis_position(axis, values.ndim)
    if x is None:
        d: Any = dx
    else:
        places = asarray(x)
        d = diff(places, axis=axis if places.ndim > 1 else -1)
        if places.ndim == 1:
            shape = [1] * values.ndim
            shape[axis] = d.shape[0]
            d = d.reshape(tuple(shape))
    before = (slice(None),) * axis
    return functions["sum"](d * (values[(*before, slice(1, None))] + values[(*before, slice(None, -1))]) / 2.0, axis)


@public
def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * math.pi) -> Any:
    """Angles without jumps between adjacent elements."""
    x = tensor(p)
    x = x if x.dtype.is_inexact or (x.dtype.is_integer and isinstance(period, int)) else cast(x, tb.float64)
    return box(tb.unwrap(x, axis=axis, discontinuity=discont, period=period))


@public
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """Values between given points, linearly."""
    places, values = cast(tensor(xp), tb.float64), tensor(fp)
    values = values if values.dtype.is_complex else cast(values, tb.float64)
    t = tensor(x)
    if t.dtype.is_complex:
        raise TypeError("interp: expected real places, got complex ones; write x.real")
    t = cast(t, tb.float64)
    if places.ndim != 1 or values.ndim != 1:
        raise ArgumentError("Data points must be 1-D sequences")
    if not places.shape[0]:
        raise ArgumentError("array of sample points is empty")
    if places.shape != values.shape:
        raise ArgumentError("fp and xp are not of the same length.")
    if period == 0:
        raise ArgumentError("period must be a non-zero value")
    ends = {"left": left, "right": right, "period": period}
    if period is None and not all(end is None or isinstance(end, int | float) for end in (left, right)):
        t0, t1 = places[0], places[-1]
        made = tb.interp(t, places, values)
        made = made if left is None else tb.where(t < t0, tensor(left), made)
        return result(made if right is None else tb.where(t > t1, tensor(right), made))
    return result(tb.interp(t, places, values, **ends))


@public
def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """The convolution of two sequences."""
    x, y = functions["atleast_1d"](a), functions["atleast_1d"](v)
    if x.ndim != 1 or y.ndim != 1:
        raise ArgumentError("object too deep for desired array")
    if not x.size or not y.size:
        raise ArgumentError(f"{'v' if x.size else 'a'} cannot be empty")
    return _correlate(tb.convolve, x, y, mode)


@public
def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    """The cross-correlation of two sequences."""
    x, y = asarray(a), asarray(v)
    if not x.ndim or not y.ndim:
        raise ArgumentError("object of too small depth for desired array")
    if not x.size or not y.size:
        raise ArgumentError(f"{'second' if x.size else 'first'} array argument cannot be empty")
    return _correlate(tb.correlate, x, y, mode)


def _correlate(op: Callable[..., Tensor], x: ndarray, y: ndarray, mode: Any) -> Any:
    """A product of two vectors with all shifts, bools as ints."""
    words = {"f": "full", "s": "same", "v": "valid"}
    if mode.__class__ is int:
        if mode not in (0, 1, 2):
            raise ArgumentError("integer convolve/correlate mode must be 0, 1, or 2")
        mode = ("valid", "same", "full")[mode]
    if not isinstance(mode, str):
        raise TypeError("convolve/correlate mode not understood: expected 'valid', 'same' or 'full'")
    if mode not in (*words, *words.values()):
        raise ArgumentError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
    first, second = chosen(x, y)
    bools = first.dtype is bool_
    if bools:
        first, second = cast(first, tb.int64), cast(second, tb.int64)
    made = op(first, second, mode=words.get(mode, mode))
    return box(cast(made, bool_) if bools else made)
