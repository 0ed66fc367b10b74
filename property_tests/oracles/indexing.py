"""Oracles of reads and writes by index, by segment and by key: NumPy's indexing, and loops over index vectors."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.dtypes import ALL_DTYPES, DType, bool_
from tensorbackend.protocol import Backend
from tensorbackend.testing import Invocation
from tensorbackend.testing.generators import MODES, call, integers, with_axis
from tensorbackend.testing.generators.indexing import SIZES, index_parts
from tensorbackend.testing.strategies import Draw, shapes, tensors

from .elementwise import double, of_parts, rounded, unjudged
from .reduction import options, position
from .table import Recorder, Refusal, law, reference, wide

# Keys


def plain(key: Any) -> Any:
    """A key with arrays in place of tensors."""
    if isinstance(key, tb.Tensor):
        return wide(key)
    return tuple(map(plain, key)) if isinstance(key, tuple) else key


def read(x: Any, key: Any) -> Any:
    """x[key]; an int next to index arrays counts as one, as in NumPy."""
    return x[plain(key)]


@reference("getitem", by="NumPy", raw=True)
def getitem(call: Invocation) -> Any:
    x, key = call.arguments
    return read(wide(x), key)


@reference("put_at", by="NumPy", raw=True)
def put_at(call: Invocation) -> Any:
    x, key, value = call.arguments
    out = wide(x)
    out[plain(key)] = rounded(wide(value), x.dtype.name)
    return out


@law("setitem", by="NumPy")
def setitem(draw: Draw, run: Recorder, backend: Backend) -> None:
    x = tb.backend_copy(draw(tensors(tb.float32)), backend)
    parts = [part for part in index_parts(draw, x) if not isinstance(part, tb.Tensor) or part.dtype is bool_]
    array = numpy.array(x)
    try:
        array[plain(tuple(parts))] = 7.0
    except IndexError:
        return  # refused by all; the kit's tests judge the error
    before = numpy.array(x)
    older = x + 0
    run(x, tuple(tb.backend_copy(part, backend) if isinstance(part, tb.Tensor) else part for part in parts), 7.0)
    numpy.testing.assert_array_equal(x, array)
    numpy.testing.assert_array_equal(older, before)


@reference("isel", by="NumPy", raw=True)
def isel(call: Invocation) -> Any:
    (x,), out = call.arguments, wide(call.arguments[0])
    names = list(x.names)
    for name, key in call.options.items():
        axis = names.index(name)
        key = plain(key)
        out = out[(slice(None),) * axis + (numpy.asarray(key, "int64") if isinstance(key, list) else key,)]
        if isinstance(key, int):
            names.remove(name)
    return out


@law("from_end", by="definition")
def from_end(draw: Draw, run: Recorder, backend: Backend) -> None:
    size = draw(st.integers(1, 5))
    indices = draw(tensors(tb.int64, shapes(most=2), values=st.integers(-size, size - 1)))
    out = run(tb.backend_copy(indices, backend), size)
    numpy.testing.assert_array_equal(out, wide(indices) % size)


# Slices


@reference("slice_", by="NumPy")
def slice_(x: Any, /, *, starts: Any, lengths: Any, strides: Any) -> Any:
    for axis, (start, length, stride) in enumerate(zip(starts, lengths, strides, strict=True)):
        x = numpy.take(x, start + stride * numpy.arange(length), axis)
    return x


def _draw_slice(draw: Draw, dtype: DType) -> Invocation:
    x, axis = with_axis(draw, dtype)
    size, stride = x.shape[axis], draw(st.integers(1, 3))
    length = draw(st.integers(0, -(-size // stride)))
    start = draw(st.integers(0, max(size, 0))) if draw(st.booleans()) else integers(draw, (), -2, size + 2)
    return call(x, start, length, axis=draw(st.sampled_from([axis, axis - x.ndim, x.names[axis]])), stride=stride)


@reference("slice_along_axis", by="definition", draw=_draw_slice)
def slice_along_axis(x: Any, start: Any, length: int, /, *, axis: int = -1, stride: int = 1) -> Any:
    reach = (length - 1) * stride + 1 if length else 0
    first = max(0, min(int(start), x.shape[axis] - reach))
    return numpy.take(x, first + stride * numpy.arange(length), axis)


@reference("put_slice", by="NumPy", raw=True)
def put_slice(call: Invocation) -> Any:
    x, update = map(wide, call.tensors[:2])
    starts = [int(start) for start in call.options["starts"]]
    x[tuple(slice(start, start + size) for start, size in zip(starts, update.shape, strict=True))] = update
    return x


# Reads along an axis


def checked(indices: Any, size: int, mode: str, *, negative: bool) -> tuple[Any, Any]:
    """Indices within the axis, and which of them were."""
    wanted = numpy.where(indices < 0, indices.astype("int64") + size, indices).astype("int64") if negative else indices
    wanted = wanted.astype("int64")
    inside = (wanted >= 0) & (wanted < size)
    if mode == "error" and not inside.all():
        raise Refusal("an index outside of its axis")
    return numpy.clip(wanted, 0, max(size - 1, 0)), inside | (mode == "clip")


def _draw_take(draw: Draw, dtype: DType) -> Invocation:
    """Indices of any shape, or the same batch axis in both operands."""
    x, axis = with_axis(draw, dtype, smallest=1)
    size, beyond = x.shape[axis], draw(st.sampled_from([0, 2]))
    mode = draw(MODES)
    if x.ndim > 1 and draw(st.booleans()):
        batch = draw(st.sampled_from([at for at in range(x.ndim) if at != axis]))
        shape = (x.shape[batch], *draw(shapes(most=1)))
        names = (x.names[batch], *["pick"] * (len(shape) - 1))
        indices = integers(draw, shape, -size - beyond, size - 1 + beyond, names)
        return call(x, indices, axis=axis, mode=mode, batch=x.names[batch])
    indices = integers(draw, draw(shapes(most=2)), -size - beyond, size - 1 + beyond)
    place = {} if x.ndim == 1 and draw(st.booleans()) else {"axis": axis}
    return call(x, indices.rename(*(None,) * indices.ndim), **place, mode=mode)


@reference("take", by="NumPy", draw=_draw_take, raw=True)
def take(call: Invocation) -> Any:
    (x, indices), (axis, mode, batch) = map(wide, call.tensors), options(call, axis=0, mode="error", batch=None)
    axis = axis % x.ndim
    if batch is None:
        places, inside = checked(indices, x.shape[axis], mode, negative=True)
        out = numpy.take(x, places, axis)
        inside = inside.reshape(inside.shape + (1,) * (x.ndim - axis - 1))
        return numpy.where(inside, out, numpy.zeros((), x.dtype))
    at = position(call, batch)
    rows = [
        _take_one(numpy.take(x, row, at), numpy.take(indices, row, 0), axis - (at < axis), mode)
        for row in range(x.shape[at])
    ]
    return numpy.stack(rows, at if at < axis else at + indices.ndim - 2)


def _take_one(x: Any, indices: Any, axis: int, mode: str) -> Any:
    places, inside = checked(indices, x.shape[axis], mode, negative=True)
    out = numpy.take(x, places, axis)
    return numpy.where(inside.reshape(inside.shape + (1,) * (x.ndim - axis - 1)), out, numpy.zeros((), x.dtype))


@reference("take_along_axis", by="NumPy")
def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1, mode: str = "error") -> Any:
    places, inside = checked(indices, x.shape[axis], mode, negative=True)
    if x.shape[axis] == 0:
        return numpy.zeros(indices.shape, x.dtype)
    return numpy.where(inside, numpy.take_along_axis(x, places, axis), numpy.zeros((), x.dtype))


@reference("add_along_axis", by="brute force", raw=True)
def add_along_axis(call: Invocation) -> Any:
    x, indices, updates = map(wide, call.tensors)
    axis, mode = options(call, axis=-1, mode="error")
    axis = position(call, axis)
    places, inside = checked(indices, x.shape[axis], mode, negative=False)
    for at in itertools.product(*map(range, indices.shape)):
        if inside[at] and x.shape[axis]:
            place = (*at[:axis], places[at], *at[axis + 1 :])
            x[place] += updates[at]
    return x


# Positions


@reference("argwhere", by="NumPy")
def argwhere(x: Any, /, *, size: int | None = None, fill_value: int = 0) -> Any:
    return fitted(numpy.argwhere(x), size, fill_value)


@reference("nonzero", by="NumPy", dtypes=ALL_DTYPES)
def nonzero(x: Any, /, *, size: int | None = None, fill_value: int = 0) -> Any:
    return tuple(fitted(places, size, fill_value) for places in numpy.nonzero(x))


def fitted(values: Any, size: int | None, fill: Any) -> Any:
    """The values, filled up or cut to a size along the first axis."""
    if size is None:
        return values
    missing = numpy.full((max(size - len(values), 0), *values.shape[1:]), fill, values.dtype)
    return numpy.concatenate([values, missing])[:size]


def _draw_compress(draw: Draw, dtype: DType) -> Invocation:
    x, axis = with_axis(draw, dtype)
    chosen = draw(st.sampled_from([axis, x.names[axis], None]))
    condition = draw(tensors(draw(st.sampled_from([bool_, tb.int8])), (x.size if chosen is None else x.shape[axis],)))
    return call(condition.rename(None), x, axis=chosen, size=draw(SIZES), fill_value=draw(st.sampled_from([0, 1])))


@reference("compress", by="NumPy", draw=_draw_compress, raw=True)
def compress(call: Invocation) -> Any:
    condition, x = map(wide, call.tensors)
    axis, size, fill = options(call, axis=None, size=None, fill_value=0)
    if isinstance(axis, str):
        axis = call.tensors[1].names.index(axis)
    out = numpy.compress(condition, x, axis)
    at = 0 if axis is None else axis
    return numpy.moveaxis(fitted(numpy.moveaxis(out, at, 0), size, fill), 0, at)


def _draw_repeat(draw: Draw, dtype: DType) -> Invocation:
    x, axis = with_axis(draw, dtype)
    chosen = draw(st.sampled_from([axis, x.names[axis], None]))
    count = x.size if chosen is None else x.shape[axis]
    size = {} if draw(st.booleans()) or count == 0 else {"size": draw(st.integers(0, 5))}
    if draw(st.booleans()):
        return call(x, draw(st.integers(0, 3)), axis=chosen)
    return call(x, integers(draw, (count,), 0, 3, names=(None,)), axis=chosen, **size)


@reference("repeat", by="NumPy", draw=_draw_repeat)
def repeat(x: Any, repeats: Any, /, *, axis: int | None = None, size: int | None = None) -> Any:
    at = 0 if axis is None else axis
    out = numpy.moveaxis(numpy.repeat(x, numpy.asarray(repeats, "int64"), axis), at, 0)
    if size is not None:  # the last entry fills the places that are left
        last = numpy.moveaxis(x.reshape(-1) if axis is None else x, at, 0)[-1:]
        out = numpy.concatenate([out, numpy.repeat(last, size, 0)])[:size]
    return numpy.moveaxis(out, 0, at)


@reference("unravel_index", by="NumPy")
def unravel_index(indices: Any, /, shape: Any, *, mode: str = "error") -> Any:
    count = math.prod(shape)
    if mode == "clip" and count == 0:
        return tuple(numpy.zeros(indices.shape, "int64") for _ in shape)
    places, inside = checked(indices, count, mode, negative=False)
    if count == 0 or not shape:
        return tuple(numpy.zeros(indices.shape, "int64") for _ in shape)
    return tuple(numpy.where(inside, axis, 0) for axis in numpy.unravel_index(places, shape))


def _draw_ravel(draw: Draw, dtype: DType) -> Invocation:
    shape, lengths = draw(shapes(least=1, smallest=1)), draw(shapes(most=2))
    mode = draw(st.sampled_from(["error", "clip", "fill", "wrap"]))
    beyond = draw(st.sampled_from([0, 3]))
    indices = [integers(draw, lengths, -beyond, size - 1 + beyond) for size in shape]
    return call(indices, shape, mode=mode, fill_value=draw(st.sampled_from([-1, 7])))


@reference("ravel_multi_index", by="NumPy", draw=_draw_ravel)
def ravel_multi_index(indices: Any, /, shape: Any, *, mode: str = "error", fill_value: int = -1) -> Any:
    indices = numpy.broadcast_arrays(*(each.astype("int64") for each in indices))
    inside = numpy.all([(each >= 0) & (each < size) for each, size in zip(indices, shape, strict=True)], 0)
    if mode == "error" and not inside.all():
        raise Refusal("an index outside of its axis")
    out = numpy.ravel_multi_index(tuple(indices), shape, mode="wrap" if mode == "wrap" else "clip")
    return numpy.where(inside | (mode != "fill"), out, fill_value)


# Grids


@reference("grid_sample", by="brute force", raw=True)
def grid_sample(call: Invocation) -> Any:
    grid, points = call.tensors
    axes, boundary, order = options(call, axes=None, boundary="constant", order=1)
    # Integers are exact next to float64.
    x = wide(grid).astype("f8") if not grid.dtype.is_inexact and points.dtype.bits == 64 else double(wide(grid))
    where = rounded(double(wide(points)), "float64")
    width = where.shape[-1]
    axes = tuple(range(width)) if axes is None else tuple(position(call, axis) for axis in axes)
    sides = [_sides(boundary, axis, grid.names[axis]) for axis in axes]
    first = min(axes)
    channels = [axis for axis in range(first, x.ndim) if axis not in axes]
    x = numpy.transpose(x, [*range(first), *axes, *channels])
    spatial = x.shape[first : first + width]
    examples = numpy.broadcast_shapes(x.shape[:first], where.shape[:first])
    x = numpy.broadcast_to(x, examples + x.shape[first:])
    where = numpy.broadcast_to(where, examples + where.shape[first:])
    out = numpy.zeros(where.shape[:-1] + x.shape[first + width :], x.dtype)
    for at in itertools.product(*map(range, where.shape[:-1])):
        point = where[at]
        if not numpy.isfinite(point).all():
            out[at] = numpy.nan if x.dtype.kind != "c" else complex(numpy.nan, numpy.nan)
            continue
        cells = [math.floor(part + 0.5) if order == 0 else math.floor(part) for part in point]
        if order == 1:  # the last entry belongs to the cell below
            cells = [
                cell - int(part == size - 1 and size > 1)
                for cell, part, size in zip(cells, point, spatial, strict=True)
            ]
        shares = [0.0 if order == 0 else part - cell for part, cell in zip(point, cells, strict=True)]
        for corner in itertools.product(range(-1, 3) if order == 3 else (0, 1), repeat=width):
            weight = math.prod(_weight(share, step, order) for share, step in zip(shares, corner, strict=True))
            if weight or order:  # an infinite neighbour of weight 0 makes NaN
                place = [cell + bit for cell, bit in zip(cells, corner, strict=True)]
                entry = _entry(x[at[:first]], place, sides)
                complex_numbers = x.dtype.kind == "c"
                out[at] += of_parts(weight * entry.real, weight * entry.imag) if complex_numbers else weight * entry
    # Places beyond 2**62 are limited to it. Of a complex infinity times a weight, the other part is NaN or not by the
    # order of the products.
    hidden = (numpy.abs(where) > 2.0**62).any(-1).reshape(where.shape[:-1] + (1,) * len(channels))
    hidden = numpy.broadcast_to(hidden, out.shape)
    return unjudged(out, hidden | ~numpy.isfinite(out) if out.dtype.kind == "c" else hidden)


def _weight(share: float, step: int, order: int) -> float:
    """The weight of an entry `step` entries above the one below a point, by linear or cubic interpolation."""
    distance = abs(share - step)
    if order != 3:
        return 1 - distance
    if distance <= 1:
        return 1.25 * distance**3 - 2.25 * distance**2 + 1
    return -0.75 * distance**3 + 3.75 * distance**2 - 6 * distance + 3


def _sides(boundary: Any, axis: int, name: str | None) -> tuple[Any, Any]:
    if isinstance(boundary, dict):
        boundary = boundary.get(name, boundary.get(axis, "constant"))
    return boundary if isinstance(boundary, tuple) else (boundary, boundary)


def _entry(x: Any, place: list[int], sides: list[tuple[Any, Any]]) -> Any:
    """The entry at a place that may be outside; the axis that is padded last is tried first."""
    place = list(place)
    for at in reversed(range(len(place))):
        size = x.shape[at]
        if 0 <= place[at] < size:
            continue
        word = sides[at][place[at] >= size]
        if word == "constant" or not isinstance(word, str):
            return 0.0 if word == "constant" else word
        padded = numpy.arange(size)
        if word == "edge":
            place[at] = 0 if place[at] < 0 else size - 1
        elif word in ("periodic", "wrap"):
            place[at] %= size
        else:
            period = numpy.concatenate([padded, padded[::-1]] if word == "symmetric" else [padded, padded[1:-1][::-1]])
            place[at] = int(period[place[at] % len(period)])
    return x[tuple(place)]
