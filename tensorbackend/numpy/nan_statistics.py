"""Reductions and statistics of the elements that are not NaN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

import tensorbackend as tb

from ..dtypes import bool_
from ..errors import ArgumentError
from ..tensor import Tensor
from .arrays import box, functions, result
from .conversion import back, cast, host, tensor
from .dtypes import dtype_of
from .functions import public
from .reductions import NO_VALUE
from .ufuncs import write_out


def _replace_nan(a: Any, value: Any) -> tuple[Any, Tensor]:
    """An array with a value in place of NaN, and where it was NaN."""
    x = tensor(a)
    if not x.dtype.is_inexact:
        return box(x), tb.zeros(x.shape, dtype=bool_)
    missing = tb.isnan(x)
    return box(tb.where(missing, value, x)), missing


def _make_filled(name: str, value: float) -> Callable[..., Any]:
    def filled(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE,
               initial: Any = NO_VALUE, where: Any = NO_VALUE) -> Any:  # fmt: skip
        options = {"keepdims": keepdims, "initial": initial, "where": where}
        given = {option: each for option, each in options.items() if each is not NO_VALUE}
        return functions[name](_replace_nan(a, value)[0], axis, dtype, out, **given)

    filled.__name__ = f"nan{name}"
    filled.__doc__ = f"`{name}` of the elements that are not NaN."
    return filled


nansum, nanprod = public(_make_filled("sum", 0.0)), public(_make_filled("prod", 1.0))


def _make_cumulative(name: str, value: float) -> Callable[..., Any]:
    def running(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        return functions[name](_replace_nan(a, value)[0], axis, dtype, out)

    running.__name__ = f"nan{name}"
    running.__doc__ = f"`{name}` with {value:g} in place of NaN."
    return running


nancumsum, nancumprod = public(_make_cumulative("cumsum", 0.0)), public(_make_cumulative("cumprod", 1.0))


def _extreme(name: str, value: float) -> Callable[..., Any]:
    def extreme(a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE,
                where: Any = NO_VALUE) -> Any:  # fmt: skip
        options = {"keepdims": keepdims, "initial": initial, "where": where}
        given = {option: each for option, each in options.items() if each is not NO_VALUE}
        x, missing = _replace_nan(a, value)
        made = tensor(functions[name](x, axis, **given))
        if initial is NO_VALUE and made.dtype.is_floating:
            keep = keepdims is not NO_VALUE and bool(keepdims)
            made = tb.where(tb.all(missing, axis=axis, keepdims=keep), numpy.nan, made)
        return result(made) if out is None else write_out(name, out, made)

    extreme.__name__ = f"nan{name}"
    extreme.__doc__ = f"`{name}` of the elements that are not NaN; NaN where all are."
    return extreme


nanmax, nanmin = public(_extreme("max", -numpy.inf)), public(_extreme("min", numpy.inf))


def _place(name: str, value: float) -> Callable[..., Any]:
    def place(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NO_VALUE) -> Any:
        x, missing = _replace_nan(a, value)
        every = tb.all(missing, axis=axis)
        if every.backend.is_concrete(every) and bool(tb.any(every)):
            raise ArgumentError("All-NaN slice encountered")
        given = {} if keepdims is NO_VALUE else {"keepdims": keepdims}
        return functions[name](x, axis, out, **given)

    place.__name__ = f"nan{name}"
    place.__doc__ = f"`{name}` of the elements that are not NaN."
    return place


nanargmax, nanargmin = public(_place("argmax", -numpy.inf)), public(_place("argmin", numpy.inf))


@public
def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE, *, where: Any = NO_VALUE
) -> Any:
    """The mean of the elements that are not NaN."""
    x, present = _present(a, where)
    x = x if dtype is None else cast(x, dtype_of(dtype))
    x = x if where is NO_VALUE else tb.where(present, x, numpy.nan)
    made = tb.nanmean(x, axis=axis, keepdims=keepdims is not NO_VALUE and bool(keepdims))
    return result(made) if out is None else write_out("nanmean", out, made)


def _present(a: Any, where: Any) -> tuple[Tensor, Tensor]:
    x = tensor(a)
    x = x if x.dtype.is_inexact else cast(x, tb.float64)
    present = tb.logical_not(tb.isnan(x))
    return x, present if where is NO_VALUE else tb.logical_and(present, cast(tensor(where), bool_))


def _spread(name: str) -> Callable[..., Any]:
    def spread(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = NO_VALUE, *,
               where: Any = NO_VALUE, mean: Any = NO_VALUE, correction: Any = NO_VALUE) -> Any:  # fmt: skip
        x, present = _present(a, where)
        x = x if dtype is None else cast(x, dtype_of(dtype))
        real = tb.float64 if x.dtype.bits > 64 or x.dtype is tb.float64 else x.dtype
        count = cast(tb.sum(present, axis=axis, keepdims=True), real if not real.is_complex else tb.float32)
        center = tb.sum(tb.where(present, x, 0), axis=axis, keepdims=True) / count if mean is NO_VALUE else tensor(mean)
        squares = tb.where(present, tb.square(tb.abs(x - center)), 0)
        left = count - (ddof if correction is NO_VALUE else correction)
        total = tb.sum(squares, axis=axis, keepdims=True)
        made = tb.where(left > 0, total / tb.where(left > 0, left, 1), numpy.nan)
        made = tb.sqrt(made) if name == "std" else made
        if keepdims is NO_VALUE or not keepdims:
            axes = tuple(range(x.ndim)) if axis is None else axis
            made = tb.squeeze(made, axis=axes)
        return result(made) if out is None else write_out(name, out, made)

    spread.__name__ = f"nan{name}"
    spread.__doc__ = f"`{name}` of the elements that are not NaN."
    return spread


nanvar, nanstd = public(_spread("var")), public(_spread("std"))


def _nan_quantile(a: Any, q: Any, axis: Any, out: Any, method: Any, keepdims: Any, scale: float, weights: Any) -> Any:
    """Quantiles of the elements that are not NaN, by sorting and reading at separate positions."""
    x = tensor(a)
    x = x if x.dtype.is_floating else cast(x, tb.float64)
    share = numpy.asarray(host(q), dtype=float) / scale
    if ((share < 0) | (share > 1)).any():
        raise ArgumentError(
            "Quantiles must be in the range [0, 1]" if scale == 1 else "Percentiles must be in the range [0, 100]"
        )
    axes = (
        tuple(range(x.ndim))
        if axis is None
        else tuple([each % x.ndim for each in (axis if isinstance(axis, tuple) else (axis,))])
    )
    if method != "linear" or weights is not None:
        weights = None if weights is None else host(weights)
        made = back(
            numpy.nanquantile(host(box(x)), share, axis, method=method, keepdims=bool(keepdims), weights=weights)
        )
        return made if out is None else write_out("nanquantile", out, tensor(made))
    kept = [size for place, size in enumerate(x.shape) if place not in axes]
    moved = tb.reshape(tb.moveaxis(x, axes, tuple(range(-len(axes), 0))), (*kept, -1)) if axes else x[..., None]
    ordered = tb.sort(moved, axis=-1)
    count = tb.sum(tb.logical_not(tb.isnan(moved)), axis=-1)
    parts = []
    for each in share.ravel().tolist():
        position = cast(tb.maximum(count - 1, 0), tb.float64) * each
        low = cast(tb.floor(position), tb.int64)
        high = tb.minimum(low + 1, tb.maximum(count - 1, 0))
        first, last = (tb.take_along_axis(ordered, place[..., None], axis=-1)[..., 0] for place in (low, high))
        rest = cast(position - cast(low, tb.float64), x.dtype)
        parts.append(tb.where(count > 0, first + (last - first) * rest, numpy.nan))
    made = tb.reshape(tb.stack(parts), (*share.shape, *kept))
    if keepdims:
        made = tb.reshape(made, (*share.shape, *[1 if place in axes else size for place, size in enumerate(x.shape)]))
    return result(made) if out is None else write_out("nanquantile", out, made)


@public
def nanquantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: Any = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """The quantiles of the elements that are not NaN."""
    return _nan_quantile(a, q, axis, out, method, keepdims, 1, weights)


@public
def nanpercentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: Any = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """The percentiles of the elements that are not NaN."""
    return _nan_quantile(a, q, axis, out, method, keepdims, 100, weights)


@public
def nanmedian(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False) -> Any:
    """The median of the elements that are not NaN."""
    x = tensor(a)
    x = x if x.dtype.is_floating else cast(x, tb.float64)
    made = tb.nanmedian(x, axis=axis, keepdims=bool(keepdims))
    return result(made) if out is None else write_out("nanmedian", out, made)
