"""Oracles of functions of samples in a row, and of polynomials: NumPy's."""

from __future__ import annotations

import math
from typing import Any

import numpy
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.dtypes import DType
from tensorbackend.testing import Invocation
from tensorbackend.testing.calls import moderate
from tensorbackend.testing.generators import call, with_axis
from tensorbackend.testing.generators.cumulative import unwrap as _kits_unwrap
from tensorbackend.testing.strategies import Draw, tensors

from .elementwise import double, unjudged
from .table import FLOATING, reference

SIGNED = [*FLOATING, *(tb.int8, tb.int16, tb.int32, tb.int64)]


@reference("interp", by="NumPy")
def interp(x: Any, xp: Any, fp: Any, /, *, left: Any = None, right: Any = None, period: Any = None) -> Any:
    x, xp, fp = map(double, (x, xp, fp))
    if period is None:
        return numpy.where(numpy.isnan(x), x, numpy.interp(x, xp, fp, left, right))  # NumPy's is fp next to one point
    return unjudged(numpy.interp(x, xp, fp, left, right, period), _between_equal(x % period, xp % period))


def _between_equal(x: Any, xp: Any) -> Any:
    """Where x is one of several equal places, whose values compete: NumPy sorts them in any order."""
    return (numpy.sum(x[..., None] == xp, axis=-1) > 1) | (numpy.unique(xp).size < xp.size)


@reference("trapezoid", by="NumPy")
def trapezoid(y: Any, x: Any = None, /, *, dx: float = 1.0, axis: int = -1) -> Any:
    out = numpy.asarray(numpy.trapezoid(double(y), None if x is None else double(x), dx, axis))
    # Of a complex infinity times a number, the other part is NaN or not by the order of the products.
    return unjudged(out, ~numpy.isfinite(out)) if out.dtype.kind == "c" else out


def _draw_samples(draw: Draw, dtype: DType) -> Invocation:
    """Even distances, and places of which no two are near each other; seldom too few samples."""
    y, axis = with_axis(draw, dtype, tame=True)
    (y,) = moderate(draw, [y], inexact=True)
    options: dict[str, Any] = {"axis": axis, "edge_order": draw(st.sampled_from([1, 2]))}
    if draw(st.booleans()) or dtype.kind == "bool":
        return call(y, dx=draw(st.sampled_from([1.0, 0.5])), **options)
    steps = draw(st.lists(st.integers(1, 3), min_size=y.shape[axis], max_size=y.shape[axis]))
    places = [sum(steps[: at + 1]) for at in range(len(steps))]
    return call(y, tb.asarray(places, dtype=dtype, backend="binary"), **options)


@reference("sample_gradient", by="NumPy", draw=_draw_samples)
def sample_gradient(y: Any, x: Any = None, /, *, dx: float = 1.0, axis: int = -1, edge_order: Any = 1) -> Any:
    out = numpy.gradient(double(y), dx if x is None else double(x), axis=axis, edge_order=edge_order)
    return unjudged(out, ~numpy.isfinite(out))  # of infinities, NaN or infinity by the order of the terms


def _draw_unwrap(draw: Draw, dtype: DType) -> Invocation:
    drawn = _kits_unwrap(draw, dtype)
    if draw(st.booleans()):
        return drawn._replace(options={**drawn.options, "period": draw(st.sampled_from([2 * math.pi, 3]))})
    return drawn


@reference("unwrap", by="NumPy", draw=_draw_unwrap, dtypes=SIGNED)
def unwrap(x: Any, /, *, axis: int = -1, discontinuity: float | None = None, period: float = 2 * math.pi) -> Any:
    return numpy.unwrap(x, discontinuity, axis, period=period)


@reference("convolve", by="NumPy")
def convolve(x1: Any, x2: Any, /, *, mode: Any = "full") -> Any:
    out: Any = numpy.convolve(x1, x2, mode)
    return _beyond_the_ends(x1, x2, mode, out)


@reference("correlate", by="NumPy")
def correlate(x1: Any, x2: Any, /, *, mode: Any = "valid") -> Any:
    out: Any = numpy.correlate(x1, x2, mode)
    return _beyond_the_ends(x1, x2, mode, out)


def _beyond_the_ends(x1: Any, x2: Any, mode: str, out: Any) -> Any:
    """The products, unjudged at the ends where an element that is not finite meets the zeros beyond them."""
    word: Any = mode
    longer, shorter = (x2, x1) if len(x2) > len(x1) else (x1, x2)
    if mode == "valid" or numpy.isfinite(shorter).all():
        hidden = numpy.zeros(out.shape, bool)
    else:
        overlaps: Any = numpy.convolve(numpy.ones(len(longer)), numpy.ones(len(shorter)), word)
        hidden = overlaps < len(shorter) - 0.5
    if out.dtype.kind == "c":  # a complex infinity times a number is another one in each order of products
        hidden |= ~numpy.isfinite(out)
    return unjudged(out, hidden)


@reference("polyval", by="NumPy")
def polyval(p: Any, x: Any, /) -> Any:
    value = numpy.zeros(x.shape, numpy.result_type(p, x))
    for coefficient in p:
        value = value * x + coefficient
    return value


def _draw_polyfit(draw: Draw, dtype: DType) -> Invocation:
    """Different places, more of them than coefficients; one polynomial or several, with and without weights."""
    degree = draw(st.integers(0, 2))
    count = draw(st.integers(degree + 1, 6))
    places = draw(st.lists(st.integers(-4, 4), min_size=count, max_size=count, unique=True))
    shape = draw(st.sampled_from([(count,), (count, 2)]))
    options: dict[str, Any] = {"rtol": draw(st.sampled_from([None, 1e-4]))}
    if draw(st.booleans()):
        options["weights"] = draw(tensors(dtype, (count,), names=(None,), values=st.sampled_from([0.5, 1.0, 2.0])))
    values = draw(tensors(dtype, shape, values=st.integers(-8, 8)))
    return call(tb.asarray(places, dtype=dtype, backend="binary"), values, degree, **options)


@reference("polyfit", by="NumPy", draw=_draw_polyfit, dtypes=[tb.float32, tb.float64, tb.complex64])
def polyfit(x: Any, y: Any, degree: int, /, *, weights: Any = None, rtol: float | None = None) -> Any:
    return numpy.polyfit(x, y, degree, rtol, w=weights)
