"""Oracles of functions that move elements: NumPy's functions of the same purpose."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy
from hypothesis import assume
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.dtypes import DType
from tensorbackend.protocol import Backend
from tensorbackend.testing import Invocation
from tensorbackend.testing.generators import call, with_axis
from tensorbackend.testing.strategies import Draw, axis_names, broadcastable, shapes, tensors

from .elementwise import common, rounded
from .reduction import axes_of, listed
from .table import Recorder, law, reference, wide


@reference("reshape", by="NumPy", fixed={"copy": "a tensor is a value"})
def reshape(x: Any, /, shape: Any, *, names: Any = None) -> Any:
    return x.reshape(shape)


@reference("permute_dims", by="NumPy", draw=lambda draw, dtype: _draw_permutation(draw, dtype))
def permute_dims(x: Any, /, axes: Any = None) -> Any:
    return numpy.transpose(x, axes)


def _draw_permutation(draw: Draw, dtype: DType) -> Invocation:
    x = draw(tensors(dtype, shapes(most=4)))
    axes = tuple(draw(st.permutations(draw(st.sampled_from([range(x.ndim), range(-x.ndim, 0), x.names])))))
    return call(x) if draw(st.integers(0, 3)) == 0 else call(x, axes)


@reference("matrix_transpose", by="NumPy")
def matrix_transpose(x: Any, /) -> Any:
    return numpy.swapaxes(x, -1, -2)


@reference("moveaxis", by="NumPy")
def moveaxis(x: Any, source: Any, destination: Any, /) -> Any:
    return numpy.moveaxis(x, source, destination)


@reference("squeeze", by="NumPy", draw=lambda draw, dtype: _draw_squeeze(draw, dtype))
def squeeze(x: Any, /, axis: Any = None) -> Any:
    return numpy.squeeze(x, axis)


def _draw_squeeze(draw: Draw, dtype: DType) -> Invocation:
    x = draw(tensors(dtype, shapes(smallest=1, largest=2)))
    ones = [axis for axis, size in enumerate(x.shape) if size == 1 and draw(st.booleans())]
    return call(x, draw(st.sampled_from([None, tuple(ones)])))


@reference("expand_dims", by="NumPy")
def expand_dims(x: Any, /, axis: Any = 0, *, name: Any = None) -> Any:
    return numpy.expand_dims(x, axis)


def _draw_broadcast(draw: Draw, dtype: DType) -> Invocation:
    """Aligned from the right, or with the axes of x at given positions."""
    x = draw(tensors(dtype))
    shape = [draw(st.integers(0, 3)) if size == 1 else size for size in x.shape]
    if draw(st.booleans()):
        whole = (*draw(shapes(most=1)), *shape)
        return call(x, whole, names=draw(st.sampled_from([None, axis_names(len(whole))])))
    places = sorted(draw(st.permutations(range(x.ndim + 1)))[: x.ndim])
    for place in sorted({*range(x.ndim + 1)} - {*places}):
        shape.insert(place, draw(st.integers(0, 3)))
    return call(x, tuple(shape), axes=tuple(places))


@reference("broadcast_to", by="NumPy", draw=_draw_broadcast)
def broadcast_to(x: Any, /, shape: Any, *, names: Any = None, axes: Any = None) -> Any:
    if axes is not None:
        x = numpy.expand_dims(x, tuple({*range(len(shape))} - {*axes}))
    return numpy.broadcast_to(x, shape)


def _draw_arrays(draw: Draw, dtype: DType) -> Invocation:
    return call(*draw(broadcastable([dtype] * draw(st.integers(1, 3)))))


@reference("broadcast_arrays", by="NumPy", draw=_draw_arrays)
def broadcast_arrays(*arrays: Any) -> Any:
    return tuple(numpy.broadcast_arrays(*arrays))


@law("broadcast_shapes", by="NumPy")
def broadcast_shapes(draw: Draw, run: Recorder, backend: Backend) -> None:
    known = [x.shape for x in draw(broadcastable([tb.float32] * draw(st.integers(1, 3))))]
    assert run(*known) == numpy.broadcast_shapes(*known)


@reference("flip", by="NumPy")
def flip(x: Any, /, *, axis: Any = None) -> Any:
    return numpy.flip(x, axes_of(x, axis))


@reference("roll", by="NumPy")
def roll(x: Any, /, shift: Any, *, axis: Any = None) -> Any:
    return numpy.roll(x, shift, axis)


@reference("tile", by="NumPy")
def tile(x: Any, repetitions: Any, /) -> Any:
    return numpy.tile(x, repetitions)


def _draw_stack(draw: Draw, dtype: DType) -> Invocation:
    first = draw(tensors(dtype))
    rest = [draw(tensors(dtype, first.shape)) for _ in range(draw(st.integers(0, 2)))]
    name = draw(st.sampled_from([None, "new"]))
    return call([first, *rest], axis=draw(st.integers(-first.ndim - 1, first.ndim)), name=name)


@reference("stack", by="NumPy", draw=_draw_stack)
def stack(arrays: Any, /, *, axis: int = 0, name: Any = None) -> Any:
    return numpy.stack(arrays, axis)


@reference("concatenate", by="NumPy", raw=True)
def concatenate(call: Invocation) -> Any:
    blocks = call.tensors
    name = common(*(x.dtype for x in blocks))
    return numpy.concatenate([rounded(wide(x), name) for x in blocks], call.options.get("axis", 0))


def _draw_concat(draw: Draw, dtype: DType) -> Invocation:
    first, axis = with_axis(draw, dtype)
    sizes = [draw(st.integers(0, 3)) for _ in range(draw(st.integers(0, 2)))]
    blocks = [draw(tensors(dtype, (*first.shape[:axis], size, *first.shape[axis + 1 :]))) for size in sizes]
    return call([first, *blocks], axis=draw(st.sampled_from([axis, axis - first.ndim, None])))


@reference("concat", by="NumPy", draw=_draw_concat)
def concat(arrays: Any, /, *, axis: Any = 0) -> Any:
    return numpy.concatenate(arrays, axis)


@reference("split", by="NumPy")
def split(x: Any, /, sections: Any, *, axis: int = 0) -> Any:
    return tuple(numpy.split(x, sections, axis))


def _draw_unstack(draw: Draw, dtype: DType) -> Invocation:
    x, axis = with_axis(draw, dtype)
    return call(x, axis=draw(st.sampled_from([axis, axis - x.ndim, x.names[axis]])))


@reference("unstack", by="NumPy", draw=_draw_unstack)
def unstack(x: Any, /, *, axis: int = 0) -> Any:
    return tuple(numpy.moveaxis(x, axis, 0))


@reference("meshgrid", by="NumPy")
def meshgrid(*arrays: Any, indexing: Any = "xy") -> Any:
    return tuple(numpy.meshgrid(*arrays, indexing=indexing))


# Triangles and diagonals


@reference("tril", by="NumPy")
def tril(x: Any, /, *, k: int = 0) -> Any:
    return numpy.tril(x, k)


@reference("triu", by="NumPy")
def triu(x: Any, /, *, k: int = 0) -> Any:
    return numpy.triu(x, k)


@reference("take_diagonal", by="NumPy")
def take_diagonal(x: Any, /, *, offset: int = 0) -> Any:
    return numpy.diagonal(x, offset, -2, -1)


@reference("make_diagonal", by="brute force")
def make_diagonal(x: Any, /, *, offset: int = 0) -> Any:
    size = x.shape[-1] + abs(offset)
    out = numpy.zeros((*x.shape[:-1], size, size), x.dtype)
    for place in range(x.shape[-1]):
        out[..., place + max(-offset, 0), place + max(offset, 0)] = x[..., place]
    return out


@reference("put_diagonal", by="brute force", raw=True)
def put_diagonal(call: Invocation) -> Any:
    name = common(*(x.dtype for x in call.tensors))
    x, diagonal = (rounded(wide(x), name) for x in call.tensors)
    offset = call.options.get("offset", 0)
    out = x.copy()
    for place in range(diagonal.shape[-1]):
        out[..., place + max(-offset, 0), place + max(offset, 0)] = diagonal[..., place]
    return out


# Entries left out and put between


def _draw_delete(draw: Draw, dtype: DType) -> Invocation:
    """One position, several, some of them twice, or a slice."""
    x = draw(tensors(dtype, shapes(least=1)))
    axis = draw(st.integers(0, x.ndim - 1))
    size = x.shape[axis]
    one = st.integers(-size, size - 1) if size else st.nothing()
    several = st.lists(one, max_size=3) if size else st.just([])
    positions: Any = draw(one | several if size else several)
    positions = draw(st.sampled_from([positions, positions, slice(draw(st.integers(-3, 3)), None, 2)]))
    return call(x, positions, **({"axis": axis} if x.ndim > 1 or draw(st.booleans()) else {}))


@reference("delete", by="NumPy", draw=_draw_delete)
def delete(x: Any, positions: Any, /, *, axis: int = 0) -> Any:
    return numpy.delete(x, positions, axis)


def _draw_insert(draw: Draw, dtype: DType) -> Invocation:
    """Several new entries, some at one place, or one."""
    x = draw(tensors(dtype, shapes(least=1)))
    axis = draw(st.integers(0, x.ndim - 1))
    size = x.shape[axis]
    positions = draw(st.lists(st.integers(-size, size), min_size=1, max_size=3))
    shape = (*x.shape[:axis], len(positions), *x.shape[axis + 1 :])
    values = draw(tensors(dtype, draw(st.sampled_from([shape, ()])), names=None))
    place = positions[0] if len(positions) == 1 and draw(st.booleans()) else positions
    return call(x, place, values, **({"axis": axis} if x.ndim > 1 or draw(st.booleans()) else {}))


@reference("insert", by="NumPy", draw=_draw_insert)
def insert(x: Any, positions: Any, values: Any, /, *, axis: int = 0) -> Any:
    return numpy.insert(x, positions if isinstance(positions, list) else [positions], values, axis)


# Padding

MODES: dict[str, Any] = {
    "edge": "edge",
    "reflect": "reflect",
    "symmetric": "symmetric",
    "wrap": "wrap",
    "periodic": "wrap",
}
"""NumPy's words for what stands outside."""


def _draw_pad(draw: Draw, dtype: DType) -> Invocation:
    """A value with negative and interior padding, or elements of the tensor itself."""
    x = draw(tensors(dtype))
    if draw(st.booleans()):
        edges = (st.integers(-2, 3), st.integers(-2, 3))
        spaced = tuple((*map(draw, edges), *draw(st.sampled_from([(), (0,), (1,), (2,)]))) for _ in x.shape)
        return call(x, spaced, value=draw(st.sampled_from([None, draw(tensors(dtype, ()))])))
    padding: Any = tuple((draw(st.integers(0, 5)), draw(st.integers(0, 4))) for _ in x.shape)
    padding = draw(st.sampled_from([padding, padding, 2, (1, 3)]))
    return call(x, padding, mode=draw(st.sampled_from(sorted(MODES))))


@reference("pad", by="NumPy", draw=_draw_pad)
def pad(x: Any, padding: Any, /, *, value: Any = None, mode: str = "constant") -> Any:
    if mode != "constant":
        return numpy.pad(x, padding, MODES[mode]) if x.ndim else x
    if isinstance(padding, int) or (len(padding) == 2 and isinstance(padding[0], int)):
        return numpy.pad(x, padding, constant_values=0 if value is None else value) if x.ndim else x
    for axis, (low, high, *interior) in enumerate(padding):
        step = 1 + (interior[0] if interior else 0)
        size = x.shape[axis]
        spaced = [(size - 1) * step + 1 if size and at == axis else n for at, n in enumerate(x.shape)]
        spread = numpy.full(spaced, 0 if value is None else value, x.dtype)
        places: list[Any] = [slice(None)] * x.ndim
        places[axis] = slice(None, None, step)
        spread[tuple(places)] = x
        widths = [(max(low, 0), max(high, 0)) if at == axis else (0, 0) for at in range(x.ndim)]
        spread = numpy.pad(spread, widths, constant_values=0 if value is None else value)
        places[axis] = slice(max(-low, 0), spread.shape[axis] - max(-high, 0))
        x = spread[tuple(places)]
    return x


@reference("reflect", by="NumPy")
def reflect(x: Any, padding: Any, /) -> Any:
    return numpy.pad(x, padding, "reflect") if x.ndim else x


# Names


@law("rename", by="definition")
def rename(draw: Draw, run: Recorder, backend: Backend) -> None:
    x = tb.backend_copy(draw(tensors(tb.float32)), backend)
    names = [draw(st.sampled_from([None, f"new{axis}"])) for axis in range(x.ndim)]
    by_place = run(x, *names)
    by_name = run(x, **dict(zip(map(str, x.names), names, strict=True)))
    for out in (by_place, by_name):
        assert out.names == tuple(names)
        numpy.testing.assert_array_equal(out, numpy.asarray(x))


def _named(draw: Draw, letters: Sequence[str], backend: Backend) -> tb.Tensor:
    """A tensor whose axes have some of the names, in a drawn order; axes of one name have one size."""
    names = draw(st.permutations(letters))[: draw(st.integers(1, len(letters)))]
    sizes = tuple("abc".index(name) + 1 for name in names)
    return tb.asarray(numpy.arange(math.prod(sizes)).reshape(sizes), names=names, backend=backend)


def _put(x: tb.Tensor, names: Sequence[str | None]) -> Any:
    """The elements with axes in an order of names, of size 1 for those that x lacks."""
    order = [x.names.index(name) for name in names if name in x.names]
    return numpy.expand_dims(
        numpy.transpose(numpy.asarray(x), order), tuple(at for at, name in enumerate(names) if name not in x.names)
    )


@law("align_to", by="NumPy")
def align_to(draw: Draw, run: Recorder, backend: Backend) -> None:
    x, names = _named(draw, "ab", backend), draw(st.permutations("abc"))
    out = run(x, names)
    assert out.names == tuple(names)
    numpy.testing.assert_array_equal(out, _put(x, names))


@law("align_as", by="NumPy")
def align_as(draw: Draw, run: Recorder, backend: Backend) -> None:
    x, other = _named(draw, "ab", backend), _named(draw, "abc", backend)
    assume({*x.names} <= {*other.names})
    out = run(x, other)
    assert out.names == other.names
    numpy.testing.assert_array_equal(out, _put(x, other.names))


@law("aligned", by="NumPy")
def aligned(draw: Draw, run: Recorder, backend: Backend) -> None:
    tensors_ = [_named(draw, "abc", backend) for _ in range(draw(st.integers(1, 3)))]
    union = {name for x in tensors_ for name in x.names}
    outer = draw(st.booleans())
    assume(outer or any({*x.names} == union for x in tensors_))
    results = run(*tensors_, outer=outer)
    total = sum(numpy.asarray(out, float) for out in results)
    order = next(out.names for out in results if len(out.names) == max(r.ndim for r in results))
    assert {*order} == union
    numpy.testing.assert_array_equal(total, sum(_put(x, order).astype(float) for x in tensors_))
    for x, out in zip(tensors_, results, strict=True):
        assert [name for name in out.names if name in x.names] == [name for name in order if name in x.names]


def _draw_merge(draw: Draw, dtype: DType) -> Invocation:
    x = draw(tensors(dtype, shapes(least=1, most=4)))
    axes = draw(st.permutations(range(x.ndim)))[: draw(st.integers(1, x.ndim))]
    picked = [x.names[at] if draw(st.booleans()) else at for at in axes]
    return call(x, picked, name=draw(st.sampled_from([None, "merged"])))


@reference("merge_axes", by="NumPy", draw=_draw_merge)
def merge_axes(x: Any, axes: Any, /, *, name: Any = None) -> Any:
    # The merged axis is at the place of the first one that is given, among the axes that stay.
    rest = [at for at in range(x.ndim) if at not in axes]
    place = sum(at < axes[0] for at in rest)
    order = [*rest[:place], *axes, *rest[place:]]
    shape = [x.shape[at] for at in rest]
    shape.insert(place, math.prod(x.shape[at] for at in axes))
    return numpy.transpose(x, order).reshape(shape)


def _draw_split_axis(draw: Draw, dtype: DType) -> Invocation:
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    before, after = draw(shapes(most=1)), draw(shapes(most=1))
    x = draw(tensors(dtype, (*before, math.prod(sizes), *after)))
    named = {f"part{number}": size for number, size in enumerate(sizes)}
    axis = draw(st.sampled_from([len(before), x.names[len(before)]]))
    names = draw(st.sampled_from([None, [*named]]))
    return call(x, axis, named) if draw(st.booleans()) else call(x, axis, sizes, names=names)


@reference("split_axis", by="NumPy", draw=_draw_split_axis)
def split_axis(x: Any, axis: int, sizes: Any, /, *, names: Any = None) -> Any:
    parts = [*sizes.values()] if isinstance(sizes, dict) else listed(sizes)
    return x.reshape(*x.shape[:axis], *parts, *x.shape[axis + 1 :])
