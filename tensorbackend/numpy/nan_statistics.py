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
from .reductions import NO_VALUE, no_order
from .shapes import axis_position, known_axis, refuse_lists
from .statistics import make_quantile
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
        axis = known_axis(missing, axis)
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
        axis = known_axis(missing, axis)
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
    if not tensor(a).dtype.is_inexact:
        return functions["mean"](a, axis, dtype, out, keepdims, where=where)
    x, present = _present(a, dtype, where)
    x = x if where is NO_VALUE else tb.where(present, x, numpy.nan)
    refuse_lists(axis)
    made = tb.nanmean(x, axis=known_axis(x, axis), keepdims=keepdims is not NO_VALUE and bool(keepdims))
    return result(made) if out is None else write_out("nanmean", out, made)


def _present(a: Any, dtype: Any, where: Any) -> tuple[Tensor, Tensor]:
    """The elements in a dtype, and which of them count."""
    x = tensor(a)
    x = x if x.dtype.is_inexact else cast(x, tb.float64)
    present = tb.logical_not(tb.isnan(x))
    present = present if where is NO_VALUE else tb.logical_and(present, cast(tensor(where), bool_))
    return x if dtype is None else cast(x, dtype_of(dtype)), present


def _spread(name: str) -> Callable[..., Any]:
    def spread(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = NO_VALUE, *,
               where: Any = NO_VALUE, mean: Any = NO_VALUE, correction: Any = NO_VALUE) -> Any:  # fmt: skip
        if not tensor(a).dtype.is_inexact:
            options = {"where": where, "mean": mean, "correction": correction}
            return functions[name](a, axis, dtype, out, ddof, keepdims, **options)
        x, present = _present(a, dtype, where)
        axis = known_axis(x, axis)
        keep = keepdims is not NO_VALUE and bool(keepdims)
        ddof = ddof if correction is NO_VALUE else correction
        options = {"ddof": ddof, "keepdims": keep, "where": box(present), "mean": mean}
        made = tensor(functions[name](box(x), axis, **options))
        made = made if made.dtype.is_floating else tb.real(made)
        made = tb.where(tb.sum(present, axis=axis, keepdims=keep) > ddof, made, numpy.nan)
        return result(made) if out is None else write_out(name, out, made)

    spread.__name__ = f"nan{name}"
    spread.__doc__ = f"`{name}` of the elements that are not NaN."
    return spread


nanvar, nanstd = public(_spread("var")), public(_spread("std"))


def _nan_quantile(x: Tensor, share: Any, axis: Any, method: Any, keepdims: bool, weights: Any) -> Any:
    """Quantiles of the elements that are not NaN."""
    x = x if x.dtype.is_floating else cast(x, tb.float64)
    if method != "linear" or weights is not None:
        if weights is not None and numpy.ndim(weights) == 1 and x.ndim > 1 and axis.__class__ is int:
            place = axis_position(axis, x.ndim)  # NumPy drops the NaNs of each line, and needs as many weights
            weights = numpy.reshape(weights, [-1 if each == place else 1 for each in range(x.ndim)])
            weights = numpy.broadcast_to(weights, x.shape)
        return back(numpy.nanquantile(host(x), share, axis, method=method, keepdims=keepdims, weights=weights))
    if not share.size:
        return result(tb.zeros(share.shape, dtype=x.dtype))
    made = tb.nanquantile(x, share.ravel().tolist(), axis=axis, keepdims=keepdims)
    return result(tb.reshape(made, share.shape + made.shape[1:]))


nanquantile = make_quantile("nanquantile", 1, _nan_quantile, "of the elements that are not NaN")
nanpercentile = make_quantile("nanpercentile", 100, _nan_quantile, "of the elements that are not NaN")


@public
def nanmedian(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False) -> Any:
    """The median of the elements that are not NaN."""
    x = tensor(a)
    if x.dtype.is_complex:
        raise no_order("nanmedian")
    x = x if x.dtype.is_floating else cast(x, tb.float64)
    made = tb.nanmedian(x, axis=axis, keepdims=bool(keepdims))
    return result(made) if out is None else write_out("nanmedian", out, made)
