"""Oracles of reads and writes at index vectors, and of segments: loops over the vectors."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.dtypes import DType
from tensorbackend.rules.accuracy import Bound
from tensorbackend.testing import Invocation
from tensorbackend.testing.generators import MODES, call, integers, some_missing, with_axis
from tensorbackend.testing.generators.indexing import index_vectors
from tensorbackend.testing.strategies import Draw, tensors

from .elementwise import common, double, of_parts, rounded, unjudged
from .reduction import best, log_of_sum
from .table import Refusal, reference, wide

# Index vectors


def _draw_gather(draw: Draw, dtype: DType) -> Invocation:
    return _with_batch(draw, draw(tensors(dtype)), ())


def _with_batch(draw: Draw, x: tb.Tensor, updates: tuple[bool, ...]) -> Invocation:
    """Index vectors into x, or into each entry of a batch of it; with updates or without."""
    mode = draw(MODES)
    indices = index_vectors(draw, x)
    shape = indices.shape[:-1] + x.shape[indices.shape[-1] :]
    rest = [draw(tensors(x.dtype, shape, names=(None,) * len(shape), tame=True)) for _ in updates]
    if not draw(st.booleans()) or x.size == 0 or indices.size == 0:
        return call(x, indices, *rest, mode=mode)
    # The same elements, and the same or reversed ones, under a batch axis in front.
    both = [tb.stack([operand, tb.flip(operand, axis=())], axis=0, name="batch") for operand in (x, indices, *rest)]
    return call(*both, mode=mode, batch="batch")


def vectors(call: Invocation, function: Callable[..., Any], *operands: Any) -> Any:
    """A function of arrays, run for each entry of the batch, which both operands have in front."""
    if call.options.get("batch") is None:
        return function(*operands)
    return numpy.stack([function(*entries) for entries in zip(*operands, strict=True)])


@reference("gather", by="brute force", draw=_draw_gather, raw=True)
def gather(call: Invocation) -> Any:
    mode = call.options.get("mode", "error")

    def read_entries(x: Any, indices: Any) -> Any:
        depth = indices.shape[-1]
        out = numpy.zeros(indices.shape[:-1] + x.shape[depth:], x.dtype)
        for at in itertools.product(*map(range, indices.shape[:-1])):
            place = vector(indices[at], x.shape, mode)
            if place is not None:
                out[at] = x[place]
        return out

    return vectors(call, read_entries, *map(wide, call.tensors))


def vector(index: Any, shape: tuple[int, ...], mode: str) -> tuple[int, ...] | None:
    """The place of an index vector, `None` where it is ignored."""
    place = [int(part) for part in index]
    if mode == "clip":
        if any(size == 0 for size in shape[: len(place)]):
            return None
        return tuple(max(0, min(part, size - 1)) for part, size in zip(place, shape, strict=False))
    if all(0 <= part < size for part, size in zip(place, shape, strict=False)):
        return tuple(place)
    if mode == "error":
        raise Refusal("an index outside of its axis")
    return None


def _draw_scatter(draw: Draw, dtype: DType) -> Invocation:
    return _with_batch(draw, draw(tensors(dtype, tame=True)), (True,))


def scattered(call: Invocation, combine: Callable[[list[Any]], Any]) -> Any:
    """x with each entry that index vectors name replaced by a function of the entry and its updates, in order."""
    mode = call.options.get("mode", "error")
    name = common(call.tensors[0].dtype, call.tensors[2].dtype)
    x, indices, updates = map(wide, call.tensors)

    def write(x: Any, indices: Any, updates: Any) -> Any:
        depth = indices.shape[-1]
        shape = indices.shape[:-1] + x.shape[depth:]
        updates = numpy.broadcast_to(updates, shape)
        lists: dict[tuple[int, ...], list[Any]] = {}
        for at in itertools.product(*map(range, indices.shape[:-1])):
            place = vector(indices[at], x.shape, mode)
            if place is not None:
                lists.setdefault(place, [x[place]]).append(updates[at])
        out = x.copy()
        for place, entries in lists.items():
            out[place] = combine(entries)
        return out

    return vectors(call, write, rounded(x, name), indices, rounded(updates, name))


@reference("indexed_put", by="brute force", draw=_draw_scatter, raw=True)
def indexed_put(call: Invocation) -> Any:
    return scattered(call, lambda entries: entries[-1])


@reference("indexed_add", by="brute force", draw=_draw_scatter, raw=True)
def indexed_add(call: Invocation) -> Any:
    return scattered(call, lambda entries: sum(entries[1:], entries[0]))


@reference("indexed_max", by="brute force", draw=_draw_scatter, raw=True)
def indexed_max(call: Invocation) -> Any:
    out = scattered(call, lambda entries: numpy.maximum.reduce(entries))
    return unjudged(out, out == 0) if out.dtype.kind == "f" else out  # of zeros of both signs others judge


@reference("indexed_min", by="brute force", draw=_draw_scatter, raw=True)
def indexed_min(call: Invocation) -> Any:
    out = scattered(call, lambda entries: numpy.minimum.reduce(entries))
    return unjudged(out, out == 0) if out.dtype.kind == "f" else out


@reference("indexed_prod", by="brute force", draw=_draw_scatter, raw=True)
def indexed_prod(call: Invocation) -> Any:
    out = scattered(call, lambda entries: numpy.prod(numpy.stack(entries), 0, dtype=entries[0].dtype))
    return unjudged(out, ~numpy.isfinite(out)) if out.dtype.kind == "c" else out


OF_MEANS = Bound(64, "the order of additions is the backend's", "magnitudes", tame=True)


@reference("indexed_mean", by="brute force", draw=_draw_scatter, raw=True, bound=OF_MEANS)
def indexed_mean(call: Invocation) -> Any:
    def mean(entries: list[Any]) -> Any:
        return sum(entries[1:], entries[0]) / len(entries)

    out = scattered(_floating(call), mean)
    return unjudged(out, ~numpy.isfinite(out)) if out.dtype.kind == "c" else out


@reference("indexed_logsumexp", by="brute force", draw=_draw_scatter, raw=True)
def indexed_logsumexp(call: Invocation) -> Any:
    return scattered(_floating(call), lambda entries: log_of_sum(numpy.stack(entries), (0,), False))


def _floating(call: Invocation) -> Invocation:
    """The call with integers and bools as floats of the default dtype."""
    return call.mapped(lambda x: x if x.dtype.is_inexact or x is call.tensors[1] else tb.astype(x, "float32"))


# Segments


def _draw_segments(draw: Draw, dtype: DType) -> Invocation:
    x, axis = with_axis(draw, dtype, tame=True)
    size, beyond = draw(st.integers(0, 4)), draw(st.sampled_from([0, 0, 2]))
    numbers = integers(draw, (x.shape[axis],), -beyond, size - 1 + beyond, names=(None,))
    return call(
        x,
        numbers,
        size=size,
        axis=draw(st.sampled_from([axis, x.names[axis]])),
        mode=draw(MODES),
        name=draw(st.sampled_from([None, "segment"])),
    )


def _draw_missing(draw: Draw, dtype: DType) -> Invocation:
    drawn = _draw_segments(draw, dtype)
    x, segments = drawn.arguments
    return drawn._replace(arguments=(some_missing(draw, x), segments))


def segmented(x: Any, segments: Any, size: int, axis: int, mode: str, combine: Callable[[Any], Any]) -> Any:
    """A function of the entries of each segment, which are along the first axis of what it gets."""
    members: list[list[int]] = [[] for _ in range(size)]
    for at, segment in enumerate(segments.tolist()):
        place = vector([segment], (size,), mode)
        if place is not None:
            members[place[0]].append(at)
    moved = numpy.moveaxis(x, axis, 0)
    results = [combine(moved[places]) for places in members]
    out = numpy.stack(results) if results else numpy.zeros((0, *moved.shape[1:]), combine(moved[:0]).dtype)
    return numpy.moveaxis(out, 0, axis)


def lowest(x: Any) -> Any:
    """The identity of maxima, in the dtype of an array."""
    if x.dtype.kind == "b":
        return False
    return -numpy.inf if x.dtype.kind == "f" else numpy.iinfo(x.dtype).min


def highest(x: Any) -> Any:
    """The identity of minima, in the dtype of an array."""
    if x.dtype.kind == "b":
        return True
    return numpy.inf if x.dtype.kind == "f" else numpy.iinfo(x.dtype).max


def _wide_sum(x: Any) -> Any:
    return numpy.sum(x, 0, dtype="int64" if x.dtype == bool else x.dtype)


def _argmax(x: Any) -> Any:
    rows = x.reshape(x.shape[0], -1).T if x.size else numpy.zeros((math.prod(x.shape[1:]), 0))
    return numpy.array([best(row.tolist(), 1, last=False) if len(row) else -1 for row in rows], "int64").reshape(
        x.shape[1:]
    )


def _nanmean(x: Any) -> Any:
    x = double(x)
    known = numpy.sum(~numpy.isnan(x), 0)
    total = numpy.sum(numpy.where(numpy.isnan(x), 0, x), 0)
    return of_parts(total.real / known, total.imag / known) if x.dtype.kind == "c" else total / known


SEGMENTS: dict[str, Callable[[Any], Any]] = {
    "segment_sum": _wide_sum,
    "segment_prod": lambda x: numpy.prod(x, 0, dtype="int64" if x.dtype == bool else x.dtype),
    "segment_max": lambda x: numpy.max(x, 0, initial=lowest(x)),
    "segment_min": lambda x: numpy.min(x, 0, initial=highest(x)),
    "segment_mean": lambda x: (
        numpy.sum(double(x), 0) / x.shape[0] if x.shape[0] else numpy.sum(double(x), 0) * numpy.nan
    ),
    "segment_nanmean": _nanmean,
    "segment_logsumexp": lambda x: log_of_sum(double(x), (0,), False),
}
for _name, _combine in SEGMENTS.items():

    def _judge(
        x: Any, segments: Any, /, *, size: int, axis: int = 0, mode: str = "error", name: str | None = None,
        combine: Callable[[Any], Any] = _combine,
    ) -> Any:  # fmt: skip
        out = segmented(x, segments, size, axis, mode, combine)
        if out.dtype.kind == "c":
            return unjudged(out, ~numpy.isfinite(out))
        return unjudged(out, out == 0) if out.dtype.kind == "f" else out

    reference(_name, by="brute force", draw=_draw_missing if "nan" in _name else _draw_segments)(_judge)


@reference("segment_argmax", by="brute force", draw=_draw_segments)
def segment_argmax(
    x: Any, segments: Any, /, *, size: int, axis: int = 0, mode: str = "error", name: str | None = None
) -> Any:
    members = [
        [at for at, segment in enumerate(segments.tolist()) if vector([segment], (size,), mode) == (number,)]
        for number in range(size)
    ]
    moved = numpy.moveaxis(x, axis, 0)
    out = numpy.zeros((size, *moved.shape[1:]), "int64")
    for number, places in enumerate(members):
        inner = _argmax(moved[numpy.array(places, "int64")])
        out[number] = numpy.where(inner < 0, -1, numpy.array([*places, -1])[inner])
    return numpy.moveaxis(out, 0, axis)
