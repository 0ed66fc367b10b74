"""Generators of calls for indexing, searching, sets and statistics."""

from __future__ import annotations

from math import prod
from typing import Any

from hypothesis import strategies as st

from ...dtypes import ALL_DTYPES, DType, as_dtype
from ...elements import pack, unpack
from ...ops.composite.sorting.order_statistics import METHODS
from ...ops.creation.filled import from_binary
from ...ops.sorting import argsort, sort
from ...tensor import Tensor
from ..calls import Invocation, generates
from ..strategies import Draw, axes_of, broadcastable, shapes, tensors
from .basic import MODES, call, index_vectors, integers, with_axis


def near(draw: Draw, x: Tensor) -> Tensor:
    """A tensor of which most elements are those of x, a little more than them, or their negatives."""
    changes = st.sampled_from(
        [lambda value: value, lambda value: value, lambda value: value * 1.0009765625, lambda value: -value]
    )
    if not x.dtype.is_inexact:
        return draw(tensors(x.dtype, x.shape, names=x.names))
    changed = [draw(changes)(value) for value in unpack(x.to_binary(), x.dtype)]
    return from_binary(pack(changed, x.dtype), x.template, "binary")


@generates("isclose", "all_close")
def closeness(draw: Draw, dtype: DType) -> Invocation:
    """Equal numbers, near ones, numbers of another sign; now and then of shapes that broadcast."""
    options = {
        "rtol": draw(st.sampled_from([1e-5, 0.0, 0.0009765625, 1e-2])),
        "atol": draw(st.sampled_from([1e-8, 0.0, 1.0])),
        "equal_nan": draw(st.booleans()),
    }
    if draw(st.booleans()):
        return call(*draw(broadcastable([dtype, dtype])), **options)
    x = draw(tensors(dtype))
    return call(x, near(draw, x), **options)


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
            own = tuple(draw(st.sampled_from([length, 1])) for length in common[draw(st.integers(0, len(common))) :])
            parts.append(integers(draw, own, -size, size - 1 + beyond, (None,) * len(own)))
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
    """Every kind of part, some indices outside."""
    x = draw(tensors(dtype))
    return call(x, tuple(index_parts(draw, x)))


@generates("put_at")
def put_at(draw: Draw, dtype: DType) -> Invocation:
    """A value for all elements, one for the last axis, or one too wide."""
    x = draw(tensors(dtype))
    parts = tuple(index_parts(draw, x))
    shape = draw(st.sampled_from([(), (1,), x.shape[-1:]]))
    other = draw(st.sampled_from([dtype, dtype, dtype, *ALL_DTYPES]))
    return call(x, parts, draw(tensors(other, shape, names=(None,) * len(shape))))


@generates("isel")
def isel(draw: Draw, dtype: DType) -> Invocation:
    """Each axis by itself."""
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
    """From a number or a tensor, outside as well."""
    x, axis = with_axis(draw, dtype)
    size = x.shape[axis]
    start = draw(st.integers(-2, size + 2)) if draw(st.booleans()) else integers(draw, (), -2, size + 2)
    return call(x, start, draw(st.integers(0, size)), axis=axis)


# Segments and positions


REDUCTIONS = "sum", "max", "min", "argmax", "mean", "logsumexp"


@generates(*(f"segment_{each}" for each in REDUCTIONS))
def segments(draw: Draw, dtype: DType) -> Invocation:
    """Segments of which some have no entries; now and then some are outside."""
    x, axis = with_axis(draw, dtype, tame=True)
    size, beyond = draw(st.integers(0, 4)), draw(st.sampled_from([0, 0, 2]))
    numbers = integers(draw, (x.shape[axis],), -beyond, size - 1 + beyond, names=(None,))
    return call(x, numbers, size=size, axis=axis, mode=draw(MODES))


@generates("indexed_max", "indexed_min", "indexed_mean", "indexed_logsumexp")
def indexed(draw: Draw, dtype: DType) -> Invocation:
    """Updates at index vectors, of the whole shape or one for all."""
    x, mode = draw(tensors(dtype, tame=True)), draw(MODES)
    indices = index_vectors(draw, x, mode)
    shape = indices.shape[:-1] + x.shape[indices.shape[-1] :]
    shape = draw(st.sampled_from([shape, (1,) * len(shape)]))
    return call(x, indices, draw(tensors(dtype, shape, names=(None,) * len(shape), tame=True)), mode=mode)


@generates("ravel_multi_index")
def ravel_multi_index(draw: Draw, dtype: DType) -> Invocation:
    """An index for each axis, some outside; other dtypes than integers are refused."""
    shape, common = draw(shapes()), draw(shapes(most=2))
    if not dtype.is_integer:
        return call([draw(tensors(dtype, common)) for _ in shape], shape)
    mode = draw(st.sampled_from(["error", "clip", "fill", "wrap"]))
    beyond = 0 if mode == "error" else 3
    return call([integers(draw, common, -beyond, size - 1 + beyond) for size in shape], shape, mode=mode)


@generates("unravel_index")
def unravel_index(draw: Draw, dtype: DType) -> Invocation:
    """Positions, some outside; other dtypes than integers are refused."""
    shape = draw(shapes())
    if not dtype.is_integer:
        return call(draw(tensors(dtype)), shape)
    mode = draw(MODES)
    beyond = 0 if mode == "error" else 3
    return call(integers(draw, draw(shapes(most=2)), -beyond, prod(shape) - 1 + beyond), shape, mode=mode)


@generates("repeat")
def repeat(draw: Draw, dtype: DType) -> Invocation:
    """So many times along an axis, or for each entry its own number; now and then to a size."""
    x, axis = with_axis(draw, dtype)
    if draw(st.booleans()):
        return call(x, draw(st.integers(0, 3)), axis=axis)
    return call(x, integers(draw, (x.shape[axis],), 0, 3), axis=axis, size=draw(SIZES))


@generates("compress")
def compress(draw: Draw, dtype: DType) -> Invocation:
    """As many entries as there are, or a size, too small or too large."""
    x, axis = with_axis(draw, dtype)
    condition = draw(tensors(as_dtype("bool"), (x.shape[axis],), names=(None,)))
    return call(condition, x, axis=axis, size=draw(SIZES), fill_value=draw(st.sampled_from([0, 1])))


# Searching


@generates("argwhere", "nonzero")
def positions(draw: Draw, dtype: DType) -> Invocation:
    """As many as there are, or a size, too small or too large."""
    options = {"size": draw(SIZES), "fill_value": draw(st.sampled_from([0, -1]))}
    return call(draw(tensors(dtype)), **options)


@generates("searchsorted")
def searchsorted(draw: Draw, dtype: DType) -> Invocation:
    """Values that are there and others, in a tensor that is sorted or that comes with an order."""
    x1 = draw(tensors(dtype, shapes(least=1, most=1, largest=8)))
    x2 = draw(tensors(dtype))
    options: dict[str, Any] = {"side": draw(st.sampled_from(["left", "right"]))}
    if dtype.is_complex:
        return call(x1, x2, **options)
    if draw(st.booleans()):
        return call(x1, x2, sorter=argsort(x1).rename(None), **options)
    return call(sort(x1), draw(st.sampled_from([x2, x1])), **options)


@generates("top_k")
def top_k(draw: Draw, dtype: DType) -> Invocation:
    """Some or all along an axis, now and then more."""
    x, axis = with_axis(draw, dtype)
    return call(x, draw(st.integers(0, x.shape[axis] + draw(st.sampled_from([0, 0, 0, 1])))), axis=axis)


# Sets and counts


@generates("unique_all", "unique_counts", "unique_inverse", "unique_values")
def unique(draw: Draw, dtype: DType) -> Invocation:
    """As many as there are, or a size."""
    return call(draw(tensors(dtype, shapes(largest=5))), size=draw(SIZES), fill_value=draw(st.sampled_from([0, 1])))


@generates("isin")
def isin(draw: Draw, dtype: DType) -> Invocation:
    """Elements of one tensor among those of another, some of both."""
    x = draw(tensors(dtype))
    other = draw(tensors(draw(st.sampled_from([dtype, dtype, dtype, *ALL_DTYPES]))))
    return call(x, draw(st.sampled_from([x, other])), invert=draw(st.booleans()))


@generates("bincount")
def bincount(draw: Draw, dtype: DType) -> Invocation:
    """Small numbers, negative ones too, with weights of some dtype; other dtypes than integers are refused."""
    if not dtype.is_integer:
        x = draw(st.sampled_from([draw(tensors(dtype)), integers(draw, draw(shapes()), 0, 6)]))
        weights = draw(tensors(dtype, x.shape, names=x.names, tame=True))
        return call(x, weights=weights, size=draw(SIZES), minlength=draw(st.integers(0, 3)))
    low = draw(st.sampled_from([0, 0, -2])) if dtype.kind == "int" else 0
    x = draw(tensors(dtype, shapes(), values=st.integers(low, 6)))
    return call(x, size=draw(SIZES), minlength=draw(st.integers(0, 9)))


@generates("histogram")
def histogram(draw: Draw, dtype: DType) -> Invocation:
    """So many intervals of a range or of all, or edges; with weights too."""
    x = draw(tensors(dtype, values=st.integers(0, 9)) if dtype.is_integer else tensors(dtype, tame=True))
    options: dict[str, Any] = {"bins": draw(st.integers(1, 4)), "density": draw(st.booleans())}
    kind = draw(st.sampled_from(["all", "range", "edges"]))
    if kind == "range":
        options["range"] = draw(st.sampled_from([(0.0, 4.0), (-1.0, 0.5), (1.0, 1.0)]))
    elif kind == "edges" and not dtype.is_complex:
        options["bins"] = sort(draw(tensors(dtype, (4,), names=(None,), values=st.sampled_from([0, 1, 2, 5, 9]))))
    if dtype.is_inexact and draw(st.booleans()):
        options["weights"] = draw(tensors(dtype, x.shape, tame=True))
    return call(x, **options)


# Statistics


QUANTILES = st.sampled_from([0.0, 1.0, 0.5, 0.25, 0.3, 1 / 3])


@generates("quantile")
def quantile(draw: Draw, dtype: DType) -> Invocation:
    """One share or several, by every method."""
    x = draw(tensors(dtype))
    q = draw(QUANTILES | st.lists(QUANTILES, min_size=1, max_size=3).map(tuple))
    options = {"keepdims": draw(st.booleans()), "method": draw(st.sampled_from(sorted(METHODS)))}
    return call(x, q, axis=draw(axes_of(x, "Axes")), **options)


@generates("percentile")
def percentile(draw: Draw, dtype: DType) -> Invocation:
    """Hundredths."""
    x = draw(tensors(dtype))
    return call(x, draw(st.integers(0, 100)), axis=draw(axes_of(x, "Axes")))


@generates("mode")
def mode(draw: Draw, dtype: DType) -> Invocation:
    """Few different elements."""
    few = st.integers(0, 2) if dtype.is_integer else None
    x = draw(tensors(dtype, shapes(largest=5), values=few))
    return call(x, axis=draw(axes_of(x, "Axis | None")), keepdims=draw(st.booleans()))


WEIGHTS = st.sampled_from([0, 1, 2, 3])


@generates("weighted_mean")
def weighted_mean(draw: Draw, dtype: DType) -> Invocation:
    """Weights from 0 up: for every element, or for the entries along one axis."""
    x = draw(tensors(dtype, tame=True))
    other = draw(st.sampled_from([dtype, as_dtype("int32"), as_dtype("float32")]))
    values = WEIGHTS.map(bool) if other.kind == "bool" else WEIGHTS
    if x.ndim and draw(st.booleans()):
        axis = draw(st.integers(0, x.ndim - 1))
        return call(x, draw(tensors(other, (x.shape[axis],), names=(None,), values=values)), axis=axis)
    options = {"axis": draw(axes_of(x, "Axes")), "keepdims": draw(st.booleans())}
    return call(x, draw(tensors(other, x.shape, values=values)), **options)


@generates("covariance")
def covariance(draw: Draw, dtype: DType) -> Invocation:
    """Observations of a few variables, batches of them too."""
    values = st.booleans() if dtype.kind == "bool" else st.integers(0, 9)
    x = draw(tensors(dtype, shapes(least=2), values=values))
    options: dict[str, Any] = {"correction": draw(st.sampled_from([0, 1, 0.5]))}
    if draw(st.booleans()):
        options["mean"] = draw(tensors(dtype, (*x.shape[:-2], x.shape[-1]), values=values))
    return call(x, **options)


@generates("diff")
def diff(draw: Draw, dtype: DType) -> Invocation:
    """Once or more, with entries before and after."""
    x, axis = with_axis(draw, dtype)
    options: dict[str, Any] = {"axis": axis, "n": draw(st.integers(0, 3))}
    for name in ("prepend", "append"):
        if draw(st.booleans()):
            shape = list(x.shape)
            shape[axis] = draw(st.integers(0, 2))
            options[name] = draw(tensors(dtype, tuple(shape)))
    return call(x, **options)


# Matrices


@generates("tril", "triu")
def triangle(draw: Draw, dtype: DType) -> Invocation:
    """Matrices and stacks of them; fewer axes are refused."""
    return call(draw(tensors(dtype)), k=draw(st.integers(-4, 4)))


@generates("tri")
def tri(draw: Draw, dtype: DType) -> Invocation:
    """Matrices of ones and zeros."""
    rows, columns = draw(st.integers(0, 4)), draw(st.none() | st.integers(0, 4))
    return Invocation("", (rows, columns), {"k": draw(st.integers(-5, 5)), "dtype": dtype}, creates=True)


@generates("take_diagonal", "make_diagonal")
def diagonal(draw: Draw, dtype: DType) -> Invocation:
    """Offsets within and beyond."""
    return call(draw(tensors(dtype, shapes(least=1))), offset=draw(st.integers(-3, 3)))


@generates("put_diagonal")
def put_diagonal(draw: Draw, dtype: DType) -> Invocation:
    """A diagonal of the length that there is, now and then of another."""
    x = draw(tensors(dtype, shapes(least=2)))
    offset = draw(st.integers(-2, 2))
    rows, columns = x.shape[-2:]
    length = min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns)
    shape = (*x.shape[:-2], max(length, 0) + draw(st.sampled_from([0, 0, 0, 1])))
    other = draw(st.sampled_from([dtype, dtype, *ALL_DTYPES]))
    return call(x, draw(tensors(other, shape, names=(*x.names[:-2], None))), offset=offset)


@generates("meshgrid")
def meshgrid(draw: Draw, dtype: DType) -> Invocation:
    """Up to three lines."""
    lines = [draw(tensors(dtype, shapes(least=1, most=1), names=(name,))) for name in "xyz"[: draw(st.integers(1, 3))]]
    return call(*lines, indexing=draw(st.sampled_from(["xy", "ij"])))


@generates("reflect")
def reflect(draw: Draw, dtype: DType) -> Invocation:
    """Padding longer than the axes, too; none goes with an empty axis."""
    x = draw(tensors(dtype))
    return call(x, tuple((draw(st.integers(0, 5)), draw(st.integers(0, 2))) for _ in x.shape))
