"""Oracles of reductions that leave NaN out: NumPy's."""

from __future__ import annotations

from typing import Any

import numpy

from tensorbackend.dtypes import DType

from .elementwise import cast, double, of_parts
from .reduction import axes_of, prod, summand
from .table import reference


@reference("nansum", by="NumPy")
def nansum(x: Any, /, *, axis: Any = None, dtype: DType | None = None, keepdims: bool = False) -> Any:
    return numpy.sum(summand(_without_nan(x, 0), dtype), axis=axes_of(x, axis), keepdims=keepdims)


@reference("nanprod", by="NumPy")
def nanprod(x: Any, /, *, axis: Any = None, dtype: DType | None = None, keepdims: bool = False) -> Any:
    return prod(_without_nan(x, 1), axis=axis, dtype=dtype, keepdims=keepdims)


def _without_nan(x: Any, value: float) -> Any:
    return numpy.where(numpy.isnan(x), value, x) if x.dtype.kind in "fc" else x


@reference("nanmax", by="NumPy")
def nanmax(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    return numpy.nanmax(x, axis=axes_of(x, axis), keepdims=keepdims)


@reference("nanmin", by="NumPy")
def nanmin(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    return numpy.nanmin(x, axis=axes_of(x, axis), keepdims=keepdims)


@reference("nanmean", by="NumPy")
def nanmean(x: Any, /, *, axis: Any = None, dtype: DType | None = None, keepdims: bool = False) -> Any:
    x, axes = double(x) if dtype is None else cast(x, dtype), axes_of(x, axis)
    if x.dtype.kind != "c":
        return numpy.nanmean(x, axis=axes, keepdims=keepdims)
    known = numpy.sum(~numpy.isnan(x), axis=axes, keepdims=keepdims)
    total = numpy.nansum(x, axis=axes, keepdims=keepdims)
    return of_parts(total.real / known, total.imag / known)


@reference("nanvar", by="NumPy")
def nanvar(
    x: Any, /, *, axis: Any = None, dtype: DType | None = None, correction: float = 0.0, ddof: float | None = None,
    keepdims: bool = False,
) -> Any:  # fmt: skip
    x = double(x) if dtype is None else cast(x, dtype)
    return numpy.nanvar(x, axis=axes_of(x, axis), ddof=correction if ddof is None else ddof, keepdims=keepdims)


@reference("nanstd", by="NumPy")
def nanstd(
    x: Any, /, *, axis: Any = None, dtype: DType | None = None, correction: float = 0.0, ddof: float | None = None,
    keepdims: bool = False,
) -> Any:  # fmt: skip
    x = double(x) if dtype is None else cast(x, dtype)
    return numpy.nanstd(x, axis=axes_of(x, axis), ddof=correction if ddof is None else ddof, keepdims=keepdims)


@reference("nanmedian", by="NumPy")
def nanmedian(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    return numpy.nanmedian(double(x), axis=axes_of(x, axis), keepdims=keepdims)


@reference("nanquantile", by="NumPy")
def nanquantile(x: Any, q: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    return numpy.nanquantile(double(x), q, axis=axes_of(x, axis), keepdims=keepdims)


@reference("nanpercentile", by="NumPy")
def nanpercentile(x: Any, q: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    return numpy.nanpercentile(double(x), q, axis=axes_of(x, axis), keepdims=keepdims)
