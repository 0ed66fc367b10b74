"""Oracles of running sums, products and extremes, of differences, and of functions of the user."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
from hypothesis import strategies as st

from tensorbackend.dtypes import ALL_DTYPES, DType
from tensorbackend.testing import Invocation
from tensorbackend.testing.calls import moderate
from tensorbackend.testing.generators import call
from tensorbackend.testing.strategies import Draw, axes_of, tensors

from .reduction import multiply, summand
from .table import reference


def _draw(draw: Draw, dtype: DType) -> Invocation:
    """Every option, alone and with others."""
    (x,) = moderate(draw, [draw(tensors(dtype, tame=True))], inexact=True)
    chosen: dict[str, Any] = {"axis": draw(axes_of(x, "SoleAxis")), "reverse": draw(st.booleans())}
    chosen["include_initial"] = draw(st.booleans())
    if draw(st.integers(0, 3)) == 0:
        chosen["dtype"] = draw(st.sampled_from(ALL_DTYPES))
    return call(x, **chosen)


def along(x: Any, axis: int | None, reverse: bool, function: Callable[[Any], Any]) -> Any:
    """A function of arrays along their last axis, run along another one, from the end where `reverse` says so."""
    at = 0 if axis is None else axis
    moved = numpy.moveaxis(x, at, -1)
    out = function(moved[..., ::-1] if reverse else moved)
    return numpy.moveaxis(out[..., ::-1] if reverse else out, -1, at)


@reference("cumulative_sum", by="NumPy", draw=_draw)
def cumulative_sum(
    x: Any, /, *, axis: int | None = None, dtype: DType | None = None, include_initial: bool = False,
    reverse: bool = False,
) -> Any:  # fmt: skip
    def run(row: Any) -> Any:
        return (
            numpy.cumsum(row, -1, dtype=row.dtype)
            if not include_initial
            else numpy.concatenate(
                [numpy.zeros((*row.shape[:-1], 1), row.dtype), numpy.cumsum(row, -1, dtype=row.dtype)], -1
            )
        )

    return along(summand(x, dtype), axis, reverse, run)


@reference("cumulative_prod", by="brute force", draw=_draw)
def cumulative_prod(
    x: Any, /, *, axis: int | None = None, dtype: DType | None = None, include_initial: bool = False,
    reverse: bool = False,
) -> Any:  # fmt: skip
    def run(rows: Any) -> Any:
        out = rows.copy()
        for place in range(1, rows.shape[-1]):
            before, here = out[..., place - 1], rows[..., place]
            out[..., place] = (
                numpy.vectorize(multiply, [complex])(before, here) if out.dtype.kind == "c" else before * here
            )
        return numpy.concatenate([numpy.ones((*rows.shape[:-1], 1), rows.dtype), out], -1) if include_initial else out

    return along(summand(x, dtype), axis, reverse, run)


@reference("cumulative_max", by="NumPy")
def cumulative_max(x: Any, /, *, axis: int | None = None, reverse: bool = False) -> Any:
    return along(x, axis, reverse, lambda row: numpy.maximum.accumulate(row, -1))


@reference("cumulative_min", by="NumPy")
def cumulative_min(x: Any, /, *, axis: int | None = None, reverse: bool = False) -> Any:
    return along(x, axis, reverse, lambda row: numpy.minimum.accumulate(row, -1))


@reference("diff", by="NumPy")
def diff(x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Any:
    edge = [*x.shape]
    edge[axis] = 1
    parts = [part for part in (prepend, x, append) if part is not None]
    parts = [part if numpy.ndim(part) else numpy.broadcast_to(part, edge) for part in parts]
    joined = numpy.concatenate(parts, axis) if len(parts) > 1 else x
    return numpy.diff(joined, n, axis)


# Functions of the user


def _halved(element: Any) -> Any:
    return element * 0.5


def _lowered(element: Any) -> Any:
    return -element


def _joined(left: Any, right: Any) -> Any:
    return left + right


def _chosen(left: Any, right: Any) -> Any:
    return right


def _draw_map(draw: Draw, dtype: DType) -> Invocation:
    target = draw(st.sampled_from([None, "float64", "complex128"]))
    return call(draw(tensors(dtype, tame=True)), function=draw(st.sampled_from([_halved, _lowered])), dtype=target)


NUMBERS = [dtype for dtype in ALL_DTYPES if dtype.kind in ("float", "complex")]


@reference("map", by="brute force", draw=_draw_map, dtypes=NUMBERS)
def map_(x: Any, /, *, function: Callable[[Any], Any], dtype: str | None = None) -> Any:
    return function(x).astype("c16" if dtype == "complex128" or x.dtype.kind == "c" else "f8")


def _draw_reduce(draw: Draw, dtype: DType) -> Invocation:
    x = draw(tensors(dtype, tame=True, values=st.integers(0, 9)))
    return call(
        x, draw(st.sampled_from([0, 1])), function=draw(st.sampled_from([_joined, _chosen])),
        axis=draw(axes_of(x, "Axes")) if x.ndim else None, keepdims=draw(st.booleans()),
        dtype=draw(st.sampled_from([None, "float64", "complex128"])),
    )  # fmt: skip


@reference("reduce", by="brute force", draw=_draw_reduce, dtypes=NUMBERS)
def reduce_(
    x: Any, initial: Any, /, *, function: Callable[[Any, Any], Any], axis: Any = None, keepdims: bool = False,
    dtype: str | None = None,
) -> Any:  # fmt: skip
    axes = range(x.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    axes = sorted(at % x.ndim for at in axes)
    kept = [at for at in range(x.ndim) if at not in axes]
    rows = numpy.moveaxis(x, kept, range(len(kept))).reshape(*(x.shape[at] for at in kept), -1 if x.size else 0)
    out = numpy.full(rows.shape[:-1], initial, x.dtype)
    for place in range(rows.shape[-1]):
        out = function(out, rows[..., place])
    shape = [1 if at in axes else x.shape[at] for at in range(x.ndim) if keepdims or at not in axes]
    return out.reshape(shape).astype("c16" if dtype == "complex128" or x.dtype.kind == "c" else "f8")
