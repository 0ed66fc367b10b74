"""Oracles of sorts, order statistics, sets and searches: Python's own sort, and brute force."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.dtypes import ALL_DTYPES, DType
from tensorbackend.protocol import Backend
from tensorbackend.testing import Invocation
from tensorbackend.testing.generators import call
from tensorbackend.testing.strategies import Draw, axes_of, elements, shapes, tensors

from .elementwise import double, promoted
from .reduction import axes_of as positions
from .table import FLOATING, INTEGER, Recorder, law, reference

ORDERED = [dtype for dtype in ALL_DTYPES if not dtype.is_complex]


def rank(value: Any) -> tuple[bool, Any]:
    """What orders elements: NaN comes last, and zeros of both signs are equal."""
    return (True, 0) if value != value else (False, value)


def order(row: Sequence[Any], descending: bool = False) -> list[int]:
    """The indices that sort a row; equal elements keep their order in both directions."""
    if not descending:
        return sorted(range(len(row)), key=lambda at: rank(row[at]))
    return sorted(range(len(row)), key=lambda at: rank(row[at]), reverse=True)  # Python's is stable here too


def along(x: Any, axis: int, function: Callable[[list[Any]], Sequence[Any]], dtype: Any) -> Any:
    """A function of lists, run along an axis."""
    moved = numpy.moveaxis(x, axis, -1)
    rows = [function(row) for row in moved.reshape(math.prod(moved.shape[:-1]), moved.shape[-1]).tolist()]
    width = len(rows[0]) if rows else len(function([0] * moved.shape[-1])) if moved.shape[-1] else 0
    return numpy.moveaxis(numpy.array(rows, dtype).reshape(*moved.shape[:-1], width), -1, axis)


def _draw_sort(draw: Draw, dtype: DType) -> Invocation:
    """Few different elements, so that there are ties, or any; up to 40 in a row, where libraries change the method."""
    few = draw(st.lists(elements(dtype), min_size=1, max_size=3))
    values = draw(st.sampled_from([None, st.sampled_from(few)]))
    shape = draw(shapes(least=1, largest=5) | st.just((40,)))
    x = draw(tensors(dtype, shape, values=values))
    return call(
        x, axis=draw(axes_of(x, "Axis")), descending=draw(st.booleans()), stable=draw(st.booleans())
    )  # fmt: skip


@reference("sort", by="brute force", draw=_draw_sort, dtypes=ORDERED)
def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    return along(x, axis, lambda row: [row[at] for at in order(row, descending)], x.dtype)


@reference("argsort", by="brute force", draw=_draw_sort, dtypes=ORDERED)
def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    return along(x, axis, lambda row: order(row, descending), "int64")


def _draw_top(draw: Draw, dtype: DType) -> Invocation:
    x = draw(tensors(dtype, shapes(least=1, largest=5)))
    axis = draw(axes_of(x, "Axis"))
    size = x.shape[x.names.index(axis) if isinstance(axis, str) else axis]
    k = draw(st.integers(0, size))
    largest = draw(st.booleans())
    if draw(st.booleans()):
        return call(x, k, axis=axis, largest=largest)
    count = draw(tensors(tb.int64, (), values=st.just(k)))
    return call(x, count, axis=axis, size=draw(st.integers(k, size)), largest=largest)


def _top(x: Any, k: int, axis: int, size: int | None, largest: bool) -> Any:
    length = k if size is None else size
    places = along(x, axis, lambda row: (order(row, largest)[:k] + [0] * length)[:length], "int64")

    def values(row: list[Any]) -> list[Any]:
        return ([row[at] for at in order(row, largest)[:k]] + [0] * length)[:length]

    return along(x, axis, values, x.dtype), places


@reference("top_k", by="brute force", draw=_draw_top, dtypes=ORDERED)
def top_k(x: Any, k: Any, /, *, axis: int = -1, size: int | None = None, largest: bool = True) -> Any:
    return _top(x, int(k), axis, size, largest)


# Order statistics


def rows_of(x: Any, axis: Any, keepdims: bool) -> tuple[list[list[Any]], tuple[int, ...]]:
    """The elements that each result of a reduction is made of, and the results' shape."""
    axes = positions(x, axis)
    kept = [at for at in range(x.ndim) if at not in axes]
    moved = numpy.transpose(x, [*kept, *axes])
    shape = tuple(1 if at in axes else x.shape[at] for at in range(x.ndim) if keepdims or at not in axes)
    count, width = math.prod(x.shape[at] for at in kept), math.prod(x.shape[at] for at in axes)
    return moved.reshape(count, width).tolist(), shape


@reference("median", by="brute force")
def median(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    return quantile(x, 0.5, axis=axis, keepdims=keepdims)


def _draw_quantile(draw: Draw, dtype: DType) -> Invocation:
    x = draw(tensors(dtype, shapes(largest=5), tame=True))
    one = st.sampled_from([0.0, 0.25, 0.5, 0.9, 1.0])
    q = draw(one | st.lists(one, min_size=1, max_size=3))
    return call(
        x, q, axis=draw(axes_of(x, "Axes")), keepdims=draw(st.booleans()),
        method=draw(st.sampled_from(["linear", "lower", "higher", "midpoint", "nearest"])),
    )  # fmt: skip


def _draw_percentile(draw: Draw, dtype: DType) -> Invocation:
    x, q = (drawn := _draw_quantile(draw, dtype)).arguments
    percent = [100 * each for each in q] if isinstance(q, list) else 100 * q
    return call(x, percent, **drawn.options)


def between(row: list[float], share: float, method: str) -> float:
    """The quantile of a sorted row."""
    place = share * (len(row) - 1)
    low, high = row[math.floor(place)], row[math.ceil(place)]
    rest = place - math.floor(place)
    if method == "nearest":
        return row[round(place)]  # halves to even
    share_of_high = {"lower": 0.0, "higher": 1.0, "midpoint": 0.5}.get(method, rest)
    if rest == 0 or share_of_high == 0 or low == high:
        return low
    return high if share_of_high == 1 else (1 - share_of_high) * low + share_of_high * high


@reference("quantile", by="brute force", draw=_draw_quantile, dtypes=[*FLOATING, *INTEGER])
def quantile(x: Any, q: Any, /, *, axis: Any = None, keepdims: bool = False, method: str = "linear") -> Any:
    rows, shape = rows_of(double(x), axis, keepdims)
    results = []
    for share in q if isinstance(q, list) else [q]:
        row_results = [
            numpy.nan if not row or any(value != value for value in row) else between(sorted(row), share, method)
            for row in rows
        ]
        results.append(numpy.array(row_results, float).reshape(shape))
    return numpy.stack(results) if isinstance(q, list) else results[0]


@reference("percentile", by="brute force", draw=_draw_percentile, dtypes=[*FLOATING, *INTEGER])
def percentile(x: Any, q: Any, /, *, axis: Any = None, keepdims: bool = False, method: str = "linear") -> Any:
    shares = [each / 100 for each in q] if isinstance(q, list) else q / 100
    return quantile(x, shares, axis=axis, keepdims=keepdims, method=method)


@reference("mode", by="brute force")
def mode(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    rows, shape = rows_of(x, axis, keepdims)

    def most_frequent(row: list[Any]) -> Any:
        distinct = [row[at] for at in order(row)]
        counts = [sum(value == other for other in row) or 1 for value in distinct]  # each NaN is a value of its own
        return distinct[counts.index(max(counts))]

    return numpy.array([most_frequent(row) for row in rows], x.dtype).reshape(shape)


# Sets


def _distinct(x: Any, axis: int | None) -> tuple[Any, list[int], list[int], list[int]]:
    """The different entries in ascending order, the first position, the index of each entry, and the counts."""
    entries = x.reshape(-1, 1) if axis is None else numpy.moveaxis(x, axis, 0)
    entries = entries.reshape(len(entries), math.prod(entries.shape[1:]))
    rows = [tuple(row) for row in entries.tolist()]
    key = lambda at: [part for value in rows[at] for part in parts(value)]  # noqa: E731
    places: list[int] = []
    inverse = [0] * len(rows)
    counts: list[int] = []
    for at in sorted(range(len(rows)), key=key):
        if places and rows[at] == rows[places[-1]]:  # NaN equals nothing
            counts[-1] += 1
        else:
            places.append(at)
            counts.append(1)
        inverse[at] = len(places) - 1
    values = entries[places]
    if axis is None:
        return values.reshape(-1), places, inverse, counts
    rest = x.shape[:axis] + x.shape[axis + 1 :]
    return numpy.moveaxis(values.reshape(len(places), *rest), 0, axis), places, inverse, counts


def parts(value: Any) -> list[tuple[bool, Any]]:
    """What orders an element: the real part, then the imaginary one."""
    if isinstance(value, complex):
        if value != value:
            return [(True, 0.0), rank(value.real), rank(value.imag)]
        return [(False, 0.0), rank(value.real), rank(value.imag)]
    return [rank(value)]


def _draw_unique(draw: Draw, dtype: DType) -> Invocation:
    few = draw(st.lists(elements(dtype), min_size=1, max_size=3))
    x = draw(tensors(dtype, shapes(least=1), values=st.sampled_from(few)))
    chosen: dict[str, Any] = {}
    if draw(st.booleans()):
        chosen["axis"] = draw(st.integers(0, x.ndim - 1))
    if draw(st.booleans()):
        chosen |= {"size": draw(st.integers(0, 5)), "fill_value": draw(st.sampled_from([0, 1]))}
    return call(x, **chosen)


def _fitted(values: Any, axis: int | None, size: int | None, fill: Any) -> Any:
    """The values, filled up or cut to a size."""
    if size is None:
        return values
    at = 0 if axis is None else axis
    missing = max(size - values.shape[at], 0)
    widths = [(0, missing) if place == at else (0, 0) for place in range(values.ndim)]
    return numpy.take(numpy.pad(values, widths, constant_values=fill), range(size), at)


@reference("unique_values", by="brute force", draw=_draw_unique, dtypes=ORDERED)
def unique_values(x: Any, /, *, axis: int | None = None, size: int | None = None, fill_value: Any = 0) -> Any:
    return _fitted(_distinct(x, axis)[0], axis, size, fill_value)


@reference("unique_counts", by="brute force", draw=_draw_unique, dtypes=ORDERED)
def unique_counts(x: Any, /, *, axis: int | None = None, size: int | None = None, fill_value: Any = 0) -> Any:
    values, _, _, counts = _distinct(x, axis)
    return _fitted(values, axis, size, fill_value), _fitted(numpy.array(counts, "int64"), None, size, 0)


@reference("unique_inverse", by="brute force", draw=_draw_unique, dtypes=ORDERED)
def unique_inverse(x: Any, /, *, axis: int | None = None, size: int | None = None, fill_value: Any = 0) -> Any:
    values, _, inverse, _ = _distinct(x, axis)
    shape = x.shape if axis is None else (x.shape[axis],)
    return _fitted(values, axis, size, fill_value), numpy.array(inverse, "int64").reshape(shape)


@reference("unique_all", by="brute force", draw=_draw_unique, dtypes=ORDERED)
def unique_all(x: Any, /, *, axis: int | None = None, size: int | None = None, fill_value: Any = 0) -> Any:
    values, places, _, counts = _distinct(x, axis)
    inverse = unique_inverse(x, axis=axis)[1]
    first = _fitted(numpy.array(places, "int64"), None, size, 0)
    return _fitted(values, axis, size, fill_value), first, inverse, _fitted(numpy.array(counts, "int64"), None, size, 0)


# Searches


@reference("isin", by="brute force", raw=True)
def isin(call: Invocation) -> Any:
    x1, x2 = promoted(call)
    members = x2.ravel().tolist()
    found = [any(value == member for member in members) for value in x1.ravel().tolist()]
    return numpy.array(found, bool).reshape(x1.shape) ^ call.options.get("invert", False)


@reference("searchsorted", by="brute force", raw=True)
def searchsorted(call: Invocation) -> Any:
    x1, x2 = promoted(call._replace(options={}))
    side, sorter = call.options.get("side", "left"), call.options.get("sorter")
    known = x1.tolist() if sorter is None else [x1.tolist()[at] for at in sorter.tolist()]

    def place(value: Any) -> int:
        if side == "left":
            return sum(rank(member) < rank(value) for member in known)
        return sum(rank(member) <= rank(value) for member in known)

    return numpy.array([place(value) for value in x2.ravel().tolist()], "int64").reshape(x2.shape)


@reference("digitize", by="brute force", dtypes=ORDERED)
def digitize(x: Any, bins: Any, /, *, right: bool = False) -> Any:
    edges = [rank(edge) for edge in bins.tolist()]
    descending = bool(edges) and edges[-1] < edges[0]

    def counts(edge: Any, value: Any) -> bool:
        return right is descending if edge == value else bool(edge > value if descending else edge < value)

    return numpy.array([sum(counts(edge, rank(value)) for edge in edges) for value in x.reshape(-1).tolist()],
                       "int64").reshape(x.shape)  # fmt: skip


def _draw_sets(draw: Draw, dtype: DType) -> Invocation:
    """Tensors with elements in common; a size that is too large or too small, or none."""
    few = draw(st.lists(elements(dtype).filter(lambda value: value == value), min_size=1, max_size=4))
    x1, x2 = (draw(tensors(dtype, shapes(largest=4), values=st.sampled_from(few))) for _ in range(2))
    chosen: dict[str, Any] = {}
    if draw(st.booleans()):
        chosen = {"size": draw(st.integers(0, 5)), "fill_value": draw(st.sampled_from([0, 1]))}
    return call(x1, x2, **chosen)


def _set_of(name: str) -> Callable[..., Any]:
    """An oracle of a set operation: NumPy's, cut or filled up to a size."""

    def judge(x1: Any, x2: Any, /, *, size: int | None = None, fill_value: Any = 0) -> Any:
        out = getattr(numpy, name)(x1, x2)
        if size is None:
            return out
        return numpy.concatenate([out[:size], numpy.full(max(0, size - len(out)), fill_value, out.dtype)])

    return judge


for _name in ("union1d", "intersect1d", "setdiff1d", "setxor1d"):
    reference(_name, by="NumPy", draw=_draw_sets)(_set_of(_name))


@law("partition", "argpartition", by="NumPy")
def partitions(draw: Draw, run: Recorder, backend: Backend) -> None:
    array = numpy.array(draw(st.lists(st.integers(-4, 4), min_size=6, max_size=6)), "f4").reshape(2, 3)
    kth: Any = draw(st.sampled_from([0, 1, -1, (0, -1)]))
    options: dict[str, Any] = draw(st.sampled_from([{}, {"axis": -1}, {"axis": 1}]))
    got = numpy.asarray(run(tb.asarray(array, backend=backend), kth, **options))
    if run.name == "argpartition":
        assert (numpy.sort(got, axis=1) == numpy.arange(3)).all()
        got = numpy.take_along_axis(array, got, 1)
    assert (numpy.sort(got, axis=1) == numpy.sort(array, axis=1)).all()
    for place in kth if isinstance(kth, tuple) else [kth]:
        assert (got[:, place] == numpy.partition(array, place, axis=1)[:, place]).all()
        at = place % 3
        assert (got[:, :at] <= got[:, at : at + 1]).all()
        assert (got[:, at + 1 :] >= got[:, at : at + 1]).all()


@law("lexsort", by="NumPy")
def lexsort(draw: Draw, run: Recorder, backend: Backend) -> None:
    shape, count = draw(st.sampled_from([(5,), (2, 6), (3, 1)])), draw(st.integers(1, 3))
    keys = numpy.random.default_rng(draw(st.integers(0, 99))).integers(0, 3, (count, *shape))
    options: dict[str, Any] = draw(st.sampled_from([{}, {"axis": 0}, {"axis": len(shape) - 1}]))
    order = run([tb.asarray(key, backend=backend) for key in keys], **options)
    assert order.tolist() == numpy.lexsort(keys, **options).tolist()
