"""Calls of ops that read and write by index, by segment and by key."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

from ...dtypes import DType, as_dtype, iinfo
from ...dtypes.packing import pack, unpack
from ...ops.creation.filled import from_binary
from ...template import Template
from ...tensor import Tensor
from ..calls import Invocation, generates
from ..strategies import Draw, shapes, tensors
from . import INDEX_DTYPES, MODES, call, integers, missing_in, second, with_axis


def tensor_near(draw: Draw, x: Tensor) -> Tensor:
    """A tensor of which most elements are those of x, a little more than them, or their negatives."""
    changes = st.sampled_from(
        [lambda value: value, lambda value: value, lambda value: value * 1.0009765625, lambda value: -value]
    )
    if not x.dtype.is_inexact:
        return draw(tensors(x.dtype, x.shape, names=x.names))
    changed = [draw(changes)(value) for value in unpack(x.to_binary(), x.dtype)]
    return from_binary(pack(changed, x.dtype), x.template, "binary")


# Indexing

SIZES = st.none() | st.integers(0, 5)


def index_parts(draw: Draw, x: Tensor) -> list[Any]:
    """The parts of a key: ints, slices, None, ..., index tensors that broadcast together, at most one mask."""
    parts: list[Any] = []
    common = draw(shapes(most=2, smallest=1, largest=3))
    beyond = draw(st.sampled_from([0, 0, 0, 1]))
    axis, picked, masked = 0, False, False
    while axis < x.ndim:
        kind = draw(st.sampled_from(["int", "slice", "slice", "array", "array", "mask", "new", "end"]))
        size = x.shape[axis]
        if kind == "new":
            parts.append(None)
        elif kind == "int" and size:
            parts.append(draw(st.integers(-size, size - 1 + beyond)))
            axis += 1
        elif kind == "slice":
            ends = st.none() | st.integers(-size - 2, size + 2)
            parts.append(slice(draw(ends), draw(ends), draw(st.none() | st.sampled_from([1, 2, -1, -3]))))
            axis += 1
        elif kind == "array" and not masked:
            index_shape = tuple(
                draw(st.sampled_from([length, 1])) for length in common[draw(st.integers(0, len(common))) :]
            )
            parts.append(integers(draw, index_shape, -size, size - 1 + beyond, (None,) * len(index_shape)))
            axis, picked = axis + 1, True
        elif kind == "mask" and not masked and not picked:
            width = draw(st.integers(0, x.ndim - axis))
            names = x.names[axis : axis + width]
            parts.append(draw(tensors(as_dtype("bool"), x.shape[axis : axis + width], names=names)))
            axis, masked = axis + width, True
        elif kind == "end":
            break
    if draw(st.booleans()):
        parts.append(...)
    return parts


@generates("getitem")
def getitem(draw: Draw, dtype: DType) -> Invocation:
    """Keys with every kind of part; some indices are out of range."""
    x = draw(tensors(dtype))
    return call(x, tuple(index_parts(draw, x)))


@generates("put_at")
def put_at(draw: Draw, dtype: DType) -> Invocation:
    """A value without axes, of one element, or as long as x's last axis, which may not match the key."""
    x = draw(tensors(dtype))
    parts = tuple(index_parts(draw, x))
    shape = draw(st.sampled_from([(), (1,), x.shape[-1:]]))
    return call(x, parts, draw(tensors(second(draw, dtype), shape, names=(None,) * len(shape))))


@generates("isel")
def isel(draw: Draw, dtype: DType) -> Invocation:
    """An int, a slice, a list or a mask for some axes."""
    x = draw(tensors(dtype))
    keys: dict[str, Any] = {}
    for name, size in zip(x.names, x.shape, strict=True):
        kind = draw(st.sampled_from(["none", "int", "slice", "list", "mask"]))
        if kind == "int" and size:
            keys[str(name)] = draw(st.integers(-size, size - 1))
        elif kind == "slice":
            keys[str(name)] = slice(draw(st.none() | st.integers(-size, size)), None, draw(st.sampled_from([1, -1, 2])))
        elif kind == "list" and size:
            keys[str(name)] = draw(st.lists(st.integers(-size, size - 1), max_size=3))
        elif kind == "mask":
            keys[str(name)] = draw(tensors(as_dtype("bool"), (size,), names=(None,)))
    return call(x, **keys)


@generates("slice_along_axis")
def slice_along_axis(draw: Draw, dtype: DType) -> Invocation:
    """Draws the start as a number or a tensor, out of range too."""
    x, axis = with_axis(draw, dtype)
    size = x.shape[axis]
    start = draw(st.integers(-2, size + 2)) if draw(st.booleans()) else integers(draw, (), -2, size + 2)
    return call(x, start, draw(st.integers(0, size)), axis=axis)


# Segments and positions


REDUCTIONS = "sum", "prod", "max", "min", "argmax", "mean", "logsumexp"


@generates(*(f"segment_{reduction}" for reduction in REDUCTIONS))
def segments(draw: Draw, dtype: DType) -> Invocation:
    """Segments, some of them without entries; sometimes some numbers are out of range."""
    x, axis = with_axis(draw, dtype, tame=True)
    size, beyond = draw(st.integers(0, 4)), draw(st.sampled_from([0, 0, 2]))
    numbers = integers(draw, (x.shape[axis],), -beyond, size - 1 + beyond, names=(None,))
    return call(x, numbers, size=size, axis=axis, mode=draw(MODES), name=draw(st.sampled_from([None, "segment"])))


@generates("segment_nanmean")
def segments_with_nan(draw: Draw, dtype: DType) -> Invocation:
    """As `segments`, where none, some or all elements are NaN."""
    return missing_in(draw, segments(draw, dtype))


@generates("indexed_prod", "indexed_max", "indexed_min", "indexed_mean", "indexed_logsumexp")
def index_updates(draw: Draw, dtype: DType) -> Invocation:
    """Updates at index vectors: one for each vector, or one for all."""
    return updates_at_vectors(draw, dtype, spreads=draw(st.booleans()))


POINTS = tuple(map(as_dtype, ("float16", "bfloat16", "float32", "float32", "float64", "int32")))
WORDS = st.sampled_from(["constant", "edge", "periodic", "reflect", "symmetric", "wrap", 0.5, -2])
SIDES = WORDS | st.tuples(WORDS, WORDS)
COORDINATES = st.sampled_from([0.0, -0.0, 1.0, 2.0, 0.5, -0.5, 1.5, -1.0, 3.0, 1e30, math.inf, math.nan])


@generates("grid_sample")
def grid_sample(draw: Draw, dtype: DType) -> Invocation:
    """One or two spatial axes anywhere, points inside and outside; other dtypes than numeric ones are refused."""
    grid = draw(tensors(dtype, shapes(least=1, smallest=1), tame=True))
    axes = draw(st.permutations(range(grid.ndim)))[: draw(st.integers(1, min(2, grid.ndim)))]
    of_points = draw(st.sampled_from(POINTS))
    if of_points.is_integer:
        values: st.SearchStrategy[float] = st.integers(-5, 5)
    else:
        values = COORDINATES | st.floats(-5, 5, width=16)
    first = min(axes)
    examples = tuple(draw(st.sampled_from([size, 1])) for size in grid.shape[:first])
    shape, names = (*examples, *draw(shapes(most=1)), len(axes)), grid.names[:first]
    names = (*names, *(None,) * (len(shape) - first))
    coordinates = draw(tensors(of_points, shape, names=names, values=values))
    boundary = draw(SIDES | st.fixed_dictionaries({grid.names[axes[0]]: SIDES}))
    return call(grid, coordinates, axes=tuple(axes), boundary=boundary, order=draw(st.sampled_from([0, 1, 1, 3])))


@generates("resize")
def resize(draw: Draw, dtype: DType) -> Invocation:
    """Sizes and scales of all axes or some, with options or those of a convention; now and then a wrong one."""
    x = draw(tensors(dtype, shapes(smallest=1, largest=5), tame=True))
    axes = draw(st.permutations(range(x.ndim)))[: draw(st.integers(0, x.ndim))]
    by = draw(st.sampled_from(["sizes", "sizes", "scales", "both"]))
    options: dict[str, Any] = {"method": draw(st.sampled_from(METHODS))}
    sizes: Any = {x.names[axis]: draw(st.integers(0, 7)) for axis in axes} if by != "scales" else None
    if by != "sizes":
        options["scales"] = {x.names[axis]: draw(st.sampled_from([0.25, 0.5, 1, 1.5, 2.0])) for axis in axes}
    if by == "sizes" and draw(st.booleans()):
        sizes = tuple(draw(st.integers(1, 7)) for _ in x.shape)
    choices: dict[str, st.SearchStrategy[Any]] = {
        "convention": st.sampled_from(["pytorch", "onnx", "jax"]),
        "antialias": st.booleans(),
        "coordinates": st.sampled_from(COORDINATE_RULES),
        "rounding": st.sampled_from(["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"]),
        "cubic": st.sampled_from([-0.75, -0.5, 0.0]),
        "outside": st.sampled_from(["edge", "exclude"]),
    }
    options |= {name: draw(values) for name, values in choices.items() if draw(st.booleans())}
    return call(x, sizes, **options)


METHODS = ["nearest", "linear", "linear", "cubic", "cubic", "lanczos3", "lanczos5"]
COORDINATE_RULES = [
    "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "tf_half_pixel_for_nn", "asymmetric", "align_corners",
]  # fmt: skip


@generates("ravel_multi_index")
def ravel_multi_index(draw: Draw, dtype: DType) -> Invocation:
    """An index for each axis, some out of range; other dtypes than integers are refused."""
    shape, common = draw(shapes()), draw(shapes(most=2))
    if not dtype.is_integer:
        return call([draw(tensors(dtype, common)) for _ in shape], shape)
    mode = draw(st.sampled_from(["error", "clip", "fill", "wrap"]))
    beyond = 0 if mode == "error" else 3
    return call([integers(draw, common, -beyond, size - 1 + beyond) for size in shape], shape, mode=mode)


@generates("unravel_index")
def unravel_index(draw: Draw, dtype: DType) -> Invocation:
    """Positions, some out of range; other dtypes than integers are refused."""
    shape = draw(shapes())
    if not dtype.is_integer:
        return call(draw(tensors(dtype)), shape)
    mode = draw(MODES)
    beyond = 0 if mode == "error" else 3
    return call(integers(draw, draw(shapes(most=2)), -beyond, math.prod(shape) - 1 + beyond), shape, mode=mode)


@generates("compress")
def compress(draw: Draw, dtype: DType) -> Invocation:
    """Draws a size, which may be too small or too large, or none, for all entries."""
    x, axis = with_axis(draw, dtype)
    condition = draw(tensors(as_dtype("bool"), (x.shape[axis],), names=(None,)))
    return call(condition, x, axis=axis, size=draw(SIZES), fill_value=draw(st.sampled_from([0, 1])))


# Searching


@generates("argwhere", "nonzero")
def positions(draw: Draw, dtype: DType) -> Invocation:
    """Draws a size, which may be too small or too large, or none, for all positions."""
    options = {"size": draw(SIZES), "fill_value": draw(st.sampled_from([0, -1]))}
    return call(draw(tensors(dtype)), **options)


# Slices, takes and scatters


@generates("slice_")
def slice_(draw: Draw, dtype: DType) -> Invocation:
    """Slices within bounds."""
    x = draw(tensors(dtype, shapes(largest=6)))
    starts, lengths, strides = [], [], []
    for size in x.shape:
        start, stride = draw(st.integers(0, max(size - 1, 0))), draw(st.integers(1, 3))
        starts.append(start)
        strides.append(stride)
        lengths.append(draw(st.integers(0, max(0, -((start - size) // stride)))))
    return call(x, starts=tuple(starts), lengths=tuple(lengths), strides=tuple(strides))


@generates("put_slice")
def put_slice(draw: Draw, dtype: DType) -> Invocation:
    """Blocks within the tensor."""
    x = draw(tensors(dtype))
    starts = tuple(draw(st.integers(0, size)) for size in x.shape)
    shape = tuple(draw(st.integers(0, size - start)) for size, start in zip(x.shape, starts, strict=True))
    return call(x, draw(tensors(dtype, shape)), starts=starts)


@generates("take")
def take(draw: Draw, dtype: DType) -> Invocation:
    """Indices of any shape, some out of range."""
    x, axis = with_axis(draw, dtype)
    beyond, size = draw(st.sampled_from([0, 2])), x.shape[axis]
    indices = integers(draw, draw(shapes(most=2)), -size - beyond, size - 1 + beyond)
    return call(x, indices.rename(*(None,) * indices.ndim), axis=axis, mode=draw(MODES))


@generates("take_along_axis")
def take_along_axis(draw: Draw, dtype: DType) -> Invocation:
    """Indices with the shape of x except along one axis, some out of range."""
    x, axis = with_axis(draw, dtype)
    beyond, size, shape = draw(st.sampled_from([0, 2])), x.shape[axis], list(x.shape)
    shape[axis] = draw(st.integers(0, 4))
    return call(x, integers(draw, tuple(shape), -size - beyond, size - 1 + beyond), axis=axis, mode=draw(MODES))


@generates("add_along_axis")
def add_along_axis(draw: Draw, dtype: DType) -> Invocation:
    """Updates for indices with the shape of x except along one axis; some occur twice or are out of range."""
    x, axis = with_axis(draw, dtype, tame=True)
    beyond, size, shape = draw(st.sampled_from([0, 0, 2])), x.shape[axis], list(x.shape)
    shape[axis] = draw(st.integers(0, 4))
    indices = integers(draw, tuple(shape), -beyond, size - 1 + beyond, names=(None,) * x.ndim)
    updates = draw(tensors(dtype, tuple(shape), names=(None,) * x.ndim, tame=True))
    return call(x, indices, updates, axis=axis, mode=draw(MODES))


def index_vectors(draw: Draw, x: Tensor) -> Tensor:
    """Index vectors into the leading axes of x, some out of range."""
    depth = draw(st.integers(0, x.ndim))
    lengths = draw(shapes(most=2))
    dtype = draw(st.sampled_from(INDEX_DTYPES))
    beyond = draw(st.sampled_from([0, 0, 2]))
    rows = []
    for _ in range(math.prod(lengths)):
        for size in x.shape[:depth]:
            low = max(-beyond, iinfo(dtype).min)
            rows.append(draw(st.integers(low, max(low, size - 1 + beyond))))
    return from_binary(pack(rows, dtype), Template((*lengths, depth), dtype), "binary")


@generates("gather")
def gather(draw: Draw, dtype: DType) -> Invocation:
    """Entries at index vectors."""
    x, mode = draw(tensors(dtype)), draw(MODES)
    return call(x, index_vectors(draw, x), mode=mode)


@generates("indexed_add", "indexed_put")
def scatter(draw: Draw, dtype: DType) -> Invocation:
    """Updates at index vectors, some of which occur twice."""
    return updates_at_vectors(draw, dtype, spreads=False)


def updates_at_vectors(draw: Draw, dtype: DType, *, spreads: bool) -> Invocation:
    """Updates at index vectors: one for each, or with `spreads` one for all."""
    x, mode = draw(tensors(dtype, tame=True)), draw(MODES)
    indices = index_vectors(draw, x)
    shape = indices.shape[:-1] + x.shape[indices.shape[-1] :]
    if spreads:
        shape = (1,) * len(shape)
    return call(x, indices, draw(tensors(dtype, shape, names=(None,) * len(shape), tame=True)), mode=mode)


@generates("repeat")
def repeat(draw: Draw, dtype: DType) -> Invocation:
    """Draws one number of repetitions, or one for each entry, then with a size or without."""
    x, axis = with_axis(draw, dtype)
    if draw(st.booleans()):
        return call(x, draw(st.integers(0, 3)), axis=axis)
    return call(x, integers(draw, (x.shape[axis],), 0, 3), axis=axis, size=draw(SIZES))
