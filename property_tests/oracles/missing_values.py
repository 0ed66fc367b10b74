"""Oracles of reductions that leave NaN out: NumPy's."""

from __future__ import annotations

from typing import Any

import numpy
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.dtypes import DType, bool_
from tensorbackend.testing import Invocation
from tensorbackend.testing.generators import call
from tensorbackend.testing.strategies import Draw, shapes, tensors
from tensorbackend.testing.strategies import axes_of as drawn_axes

from .elementwise import cast, double, of_parts
from .reduction import axes_of, prod, summand
from .sorting import between, rows_of
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


def _draw_nanquantile(draw: Draw, dtype: DType) -> Invocation:
    """Rows of which none, some or all elements are NaN."""
    x = draw(tensors(dtype, shapes(largest=5), tame=True))
    if dtype.is_inexact and draw(st.booleans()):
        x = tb.where(draw(tensors(bool_, x.shape, names=x.names)), tb.nan, x)
    share = st.sampled_from([0.0, 0.25, 0.5, 0.9, 1.0])
    q = draw(share | st.lists(share, min_size=1, max_size=3))
    return call(x, q, axis=draw(drawn_axes(x, "Axes")), keepdims=draw(st.booleans()))


@reference("nanquantile", by="brute force", draw=_draw_nanquantile)
def nanquantile(x: Any, q: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    rows, shape = rows_of(double(x), axis, keepdims)
    known = [sorted(value for value in row if value == value) for row in rows]
    results = [
        numpy.array([between(row, share, "linear") if row else numpy.nan for row in known], float).reshape(shape)
        for share in (q if isinstance(q, list) else [q])
    ]
    return numpy.stack(results) if isinstance(q, list) else results[0]


@reference("nanpercentile", by="brute force", draw=_draw_nanquantile)
def nanpercentile(x: Any, q: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    shares = [each / 100 for each in q] if isinstance(q, list) else q / 100
    return nanquantile(x, shares, axis=axis, keepdims=keepdims)
