"""Oracles of losses, and of normalisation by sums of exponentials or by moments."""

from __future__ import annotations

import math
from typing import Any

import numpy
import scipy.special
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.dtypes import DType, bool_
from tensorbackend.protocol import Backend
from tensorbackend.testing import Invocation
from tensorbackend.testing.generators import integers
from tensorbackend.testing.strategies import Draw, axes_of, shapes, tensors

from .matrices import FEWEST
from .reduction import Axes
from .reduction import axes_of as positions
from .table import FLOATING, NUMERIC, Refusal, compare, law, named, reference, wide

EPSILONS = st.sampled_from([1e-5, 1e-3, 0.5])
REAL = [dtype for dtype in NUMERIC if not dtype.is_complex]


def scores(draw: Draw, dtype: DType, shape: Any = None) -> tb.Tensor:
    """Scores of moderate size, infinities among them."""
    return draw(tensors(dtype, shapes(least=1, smallest=draw(FEWEST)) if shape is None else shape, tame=True))


def broadcast_to(draw: Draw, x: tb.Tensor, dtype: DType, values: Any = None) -> tb.Tensor:
    """A tensor that broadcasts to x."""
    start = draw(st.integers(0, x.ndim))
    shape = tuple(draw(st.sampled_from([size, size, 1])) for size in x.shape[start:])
    names = draw(st.sampled_from([x.names[start:], (None,) * len(shape)]))
    return draw(tensors(dtype, shape, names=names, values=values, tame=True))


# Softmax and cross-entropy


def masked_call(draw: Draw, dtype: DType) -> Invocation:
    """Anything where the mask is false, finite numbers elsewhere; axes of all kinds."""
    x = scores(draw, dtype)
    mask = broadcast_to(draw, x, bool_)
    axis = draw(axes_of(x, "Axes"))
    return Invocation("", (x, mask), {"axis": axis} if draw(st.booleans()) else {})


@reference("nn.masked_softmax", by="SciPy", draw=masked_call, dtypes=REAL)
def masked_softmax(x: Any, mask: Any, /, *, axis: Axes = -1) -> Any:
    axes = positions(x, axis)
    mask = numpy.broadcast_to(mask, x.shape)
    inside = numpy.where(mask, x, -math.inf).astype(float)
    if not inside.size or not axes:
        return numpy.where(inside == -math.inf, 0.0, inside * 0 + 1) if inside.size else inside
    most = numpy.max(inside, axis=axes, keepdims=True)
    powers = numpy.exp(inside - numpy.where(most == -math.inf, 0, most))
    total = powers.sum(axis=axes, keepdims=True)
    return numpy.where(mask, powers / numpy.where(total == 0, 1, total), 0)


def cross_entropy_call(draw: Draw, dtype: DType) -> Invocation:
    """Targets that are probabilities or any numbers, of the same dtype or another."""
    logits = scores(draw, dtype)
    other = draw(st.sampled_from([dtype, dtype, tb.float32])) if dtype.is_floating else tb.float32
    targets = broadcast_to(draw, logits, other, st.sampled_from([0.0, 1.0, 0.5, 0.25, 2.0]))
    options = {"axis": draw(axes_of(logits, "Axis")), "label_smoothing": draw(st.sampled_from([0.0, 0.1, 1.0]))}
    return Invocation(
        "", (logits, targets), {name: value for name, value in options.items() if draw(st.integers(0, 3))}
    )


@reference("nn.cross_entropy", by="SciPy", draw=cross_entropy_call, dtypes=REAL)
def cross_entropy(logits: Any, targets: Any, /, *, axis: int = -1, label_smoothing: float = 0.0) -> Any:
    x, p = logits.astype(float), numpy.broadcast_to(targets, logits.shape).astype(float)
    if not x.shape[axis]:
        return numpy.zeros(numpy.delete(x.shape, axis).astype(int))
    if label_smoothing:
        p = p * (1 - label_smoothing) + label_smoothing / x.shape[axis]
    logarithms = log_softmax(x, axis)
    return -numpy.where((p == 0) & (logarithms == -math.inf), 0, p * logarithms).sum(axis)


def log_softmax(x: Any, axis: int) -> Any:
    """x minus the logarithm of its sum of exponentials."""
    shifted = x - x.max(axis, keepdims=True)
    return shifted - numpy.log(numpy.exp(shifted).sum(axis, keepdims=True))


def sparse_call(draw: Draw, dtype: DType) -> Invocation:
    """Labels of every integer dtype, seldom one that is not a class; classes along any axis."""
    logits = scores(draw, dtype, shapes(least=1, smallest=draw(st.sampled_from([0, 1, 1]))))
    at = draw(st.integers(0, logits.ndim - 1))
    shape, names = (
        tuple(part for place, part in enumerate(parts) if place != at) for parts in (logits.shape, logits.names)
    )
    far = draw(st.sampled_from([0, 0, 0, 1]))
    labels = integers(draw, shape, -far, logits.shape[at] - 1 + far, names)  # type: ignore[arg-type] # sizes
    options = {"label_smoothing": draw(st.sampled_from([0.0, 0.1, 1.0]))} if draw(st.booleans()) else {}
    axis = draw(st.sampled_from([at, at - logits.ndim, logits.names[at]]))
    if draw(st.booleans()):
        options["ignore_index"] = draw(st.sampled_from([0, 1, -1]))
    return Invocation("", (logits, labels), {"axis": axis, **options})


@reference("nn.sparse_cross_entropy", by="SciPy", draw=sparse_call, dtypes=REAL)
def sparse_cross_entropy(
    logits: Any, labels: Any, /, *, axis: int = -1, label_smoothing: float = 0.0, ignore_index: int | None = None
) -> Any:
    x, labels = logits.astype(float), labels.astype(int)
    if ignore_index is not None:
        kept = labels != ignore_index
        out = numpy.zeros(labels.shape)
        rows = numpy.moveaxis(x, axis, -1)[kept]
        out[kept] = sparse_cross_entropy(rows, labels[kept], label_smoothing=label_smoothing)
        return out
    if labels.size and (labels.min() < 0 or labels.max() >= x.shape[axis]):
        raise Refusal("a label that is not a class")
    if not labels.size:
        return numpy.zeros(labels.shape)
    picked = numpy.take_along_axis(x, numpy.expand_dims(labels, axis), axis).squeeze(axis)
    if label_smoothing:
        picked = picked * (1 - label_smoothing) + x.mean(axis) * label_smoothing
    most = x.max(axis, keepdims=True)
    finite = numpy.where(numpy.isfinite(most), most, 0)
    total = numpy.log(numpy.exp(x - finite).sum(axis)) + finite.squeeze(axis)
    return total - picked


# Losses of elements and of vectors


QUARTERS = st.integers(-8, 8).map(lambda number: number / 4)


def pair_call(draw: Draw, dtype: DType) -> tuple[tb.Tensor, tb.Tensor]:
    """Finite numbers, and targets that broadcast to them."""
    values = st.integers(0, 9) if not dtype.is_inexact else st.integers(-36, 36).map(lambda number: number / 4)
    x = draw(tensors(dtype, shapes(least=1, smallest=1), values=values))
    return x, broadcast_to(draw, x, dtype, values)


def mean_squared_call(draw: Draw, dtype: DType) -> Invocation:
    x, y = pair_call(draw, dtype)
    some = st.sampled_from([(), 0, -1, (0,), x.names[0]])
    return Invocation("", (x, y), {"axis": draw(some | st.none())})


@reference("nn.mean_squared_error", by="NumPy", draw=mean_squared_call, dtypes=REAL)
def mean_squared_error(x: Any, y: Any, /, *, axis: Axes = None) -> Any:
    return ((x.astype(float) - y) ** 2).mean(axis=positions(x, axis))


def huber_call(draw: Draw, dtype: DType) -> Invocation:
    return Invocation("", pair_call(draw, dtype), {"delta": draw(st.sampled_from([1.0, 0.5, 3.0]))})


@reference("nn.huber", by="SciPy", draw=huber_call, dtypes=REAL)
def huber(x: Any, y: Any, /, *, delta: float = 1.0) -> Any:
    return scipy.special.huber(delta, x.astype(float) - y)


def logistic_call(draw: Draw, dtype: DType) -> Invocation:
    """Scores far from 0 and near, targets that are bools or probabilities."""
    x = pair_call(draw, dtype)[0]
    kind = draw(st.sampled_from([bool_, tb.float32 if dtype.is_integer else dtype]))
    shares = st.booleans() if kind is bool_ else st.sampled_from([0.0, 0.25, 1.0])
    options: dict[str, Any] = {}
    if draw(st.booleans()):
        weight = broadcast_to(draw, x, kind if kind is not bool_ else tb.float32, st.sampled_from([0.5, 1.0, 4.0]))
        options["positive_weight"] = draw(st.sampled_from([2.0, weight])) if dtype.is_floating else 2.0
    return Invocation("", (x, broadcast_to(draw, x, kind, shares)), options)


@reference("nn.binary_cross_entropy", by="NumPy", draw=logistic_call, dtypes=REAL)
def binary_cross_entropy(x: Any, p: Any, /, *, positive_weight: Any = 1.0) -> Any:
    x, p = x.astype(float), p.astype(float)
    return p * numpy.logaddexp(0, -x) * positive_weight + (1 - p) * numpy.logaddexp(0, x)


def triplet_call(draw: Draw, dtype: DType) -> Invocation:
    x, y = pair_call(draw, dtype)
    options = {
        "axis": draw(axes_of(x, "Axis")), "margin": draw(st.sampled_from([1.0, 0.25, 4.0])),
        "order": draw(st.sampled_from([2, 1, 3])), "epsilon": draw(st.sampled_from([1e-6, 0.0, 0.5])),
    }  # fmt: skip
    return Invocation(
        "", (x, y, broadcast_to(draw, x, dtype, st.integers(-8, 8).map(lambda number: number / 4))), options
    )


@reference("nn.triplet", by="NumPy", draw=triplet_call, dtypes=FLOATING, narrow=2)
def triplet(
    x: Any, y: Any, z: Any, /, *, axis: int = -1, margin: float = 1.0, order: float = 2, epsilon: float = 1e-6
) -> Any:
    near, far = (numpy.linalg.norm(x - other + epsilon, order, axis) for other in (y, z))
    return numpy.maximum(near - far + margin, 0)


# Layers


def dense_call(draw: Draw, dtype: DType) -> Invocation:
    """Any axis, named and unnamed weights, with and without a bias."""
    values = st.integers(-4, 4) if dtype.kind != "uint" else st.integers(0, 4)
    x = draw(tensors(dtype, shapes(least=1, smallest=1), values=values))
    at = draw(st.integers(0, x.ndim - 1))
    size = draw(st.integers(1, 3))
    names = draw(st.sampled_from([(x.names[at], "hidden"), (None, None)]))
    weight = draw(tensors(dtype, (x.shape[at], size), names=names, values=values))
    bias = [draw(tensors(dtype, (size,), names=names[1:], values=values))] if draw(st.booleans()) else []
    axis = draw(st.sampled_from([at, at - x.ndim, x.names[at]]))
    return Invocation("", (x, weight, *bias), {"axis": axis} if draw(st.booleans()) or at < x.ndim - 1 else {})


@reference("nn.dense", by="NumPy", draw=dense_call, dtypes=REAL)
def dense(x: Any, weight: Any, bias: Any = None, /, *, axis: int = -1) -> Any:
    out = numpy.moveaxis(x, axis, -1) @ weight
    return numpy.moveaxis(out if bias is None else out + bias, -1, axis)


def embedding_call(draw: Draw, dtype: DType) -> Invocation:
    table = draw(tensors(dtype, (3, 4), names=draw(st.sampled_from([("token", "unit"), (None, None)]))))
    axis = draw(st.sampled_from([0, 1, -1]))
    places = integers(draw, draw(shapes(most=2)), 0, 2)
    return Invocation("", (places, table), {"axis": axis} if draw(st.booleans()) else {})


@reference("nn.embedding", by="NumPy", draw=embedding_call)
def embedding(indices: Any, table: Any, /, *, axis: int = 0) -> Any:
    return numpy.take(table, indices.astype(int), axis=axis)


# Moments


def ordinary(draw: Draw, dtype: DType, least: int = 0) -> tb.Tensor:
    """A tensor of finite numbers, NaN seldom, small in some draws and large in others."""
    x = draw(tensors(dtype, shapes(least=least, smallest=draw(FEWEST)), tame=True))
    if not dtype.is_inexact:
        return draw(tensors(dtype, x.shape, names=x.names, values=st.integers(0, 9)))
    array = wide(x)
    array[numpy.isinf(array)] = 2
    array = array * 2.0 ** draw(st.sampled_from([0, 0, -4, 4, 0 if dtype.bits == 16 else -20]))
    return tb.asarray(array, dtype=dtype, names=x.names, backend="binary")


def standardised(x: Any, axes: tuple[int, ...], epsilon: float) -> Any:
    """x minus its mean over the root of its variance."""
    x = x.astype(float)
    if not x.size:
        return x
    apart = x - x.mean(axis=axes, keepdims=True) if axes else x * 0
    return apart / numpy.sqrt((apart * apart).mean(axis=axes, keepdims=True) + epsilon) if axes else apart


def standardise_call(draw: Draw, dtype: DType) -> Invocation:
    x = ordinary(draw, dtype)
    options = {"axis": draw(axes_of(x, "Axes")), "epsilon": draw(EPSILONS)}
    return Invocation("", (x,), {name: value for name, value in options.items() if draw(st.integers(0, 3))})


@reference("nn.standardise", by="NumPy", draw=standardise_call, dtypes=REAL)
def standardise(x: Any, /, *, axis: Axes = -1, epsilon: float = 1e-5) -> Any:
    return standardised(x, positions(x, axis), epsilon)


def placed_parameter(draw: Draw, x: tb.Tensor, axes: tuple[int, ...], dtype: DType) -> tb.Tensor:
    """A scale or an offset for some axes of x."""
    shape, names = tuple(x.shape[at] for at in axes), tuple(x.names[at] for at in axes)
    names = draw(st.sampled_from([names, (None,) * len(shape)]))
    values = st.integers(-4, 4).map(lambda number: number / 2) if dtype.is_inexact else st.integers(0, 3)
    return draw(tensors(dtype, shape, names=names, values=values))


def layer_call(draw: Draw, dtype: DType, *, offset: bool) -> Invocation:
    """With and without a scale and an offset."""
    x = ordinary(draw, dtype, least=1)
    axis = draw(axes_of(x, "Axes"))
    given = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(x.names.index(at) if isinstance(at, str) else at % x.ndim for at in given)
    parts = [placed_parameter(draw, x, axes, dtype) if draw(st.booleans()) else None for _ in range(1 + offset)]
    return Invocation("", (x, *parts), {"axis": axis, "epsilon": draw(EPSILONS)})


def scaled(unit: Any, axes: tuple[int, ...], scale: Any, offset: Any = None) -> Any:
    """Numbers times a scale plus an offset, which have the given axes."""
    order = numpy.argsort(axes)
    shape = [size if at in axes else 1 for at, size in enumerate(unit.shape)]
    if scale is not None:
        unit = unit * scale.astype(float).transpose(order).reshape(shape)
    return unit if offset is None else unit + offset.astype(float).transpose(order).reshape(shape)


def in_order(x: Any, axis: Axes) -> tuple[int, ...]:
    """The positions of axes in the order in which they are given."""
    given = range(x.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    return tuple(at % x.ndim for at in given)


@reference("nn.layer_norm", by="NumPy", draw=lambda draw, dtype: layer_call(draw, dtype, offset=True), dtypes=REAL)
def layer_norm(x: Any, scale: Any = None, offset: Any = None, /, *, axis: Axes = -1, epsilon: float = 1e-5) -> Any:
    return scaled(standardised(x, positions(x, axis), epsilon), in_order(x, axis), scale, offset)


@reference("nn.rms_norm", by="NumPy", draw=lambda draw, dtype: layer_call(draw, dtype, offset=False), dtypes=REAL)
def rms_norm(x: Any, scale: Any = None, /, *, axis: Axes = -1, epsilon: float = 1e-6) -> Any:
    axes, wider = positions(x, axis), x.astype(float)
    if not x.size:
        return wider
    squares = (wider * wider).mean(axis=axes, keepdims=True) if axes else wider * wider
    return scaled(wider / numpy.sqrt(squares + epsilon), in_order(x, axis), scale)


def group_call(draw: Draw, dtype: DType) -> Invocation:
    """Groups of one feature and of several, with the features and the batch on any axes."""
    groups, share = draw(st.integers(1, 3)), draw(st.sampled_from([2, 1, 2, 3, 0]))
    sizes = {"batch": draw(st.sampled_from([2, 1, 2, 0])), "time": draw(st.integers(1, 3)), "feature": groups * share}
    order = draw(st.permutations(list(sizes)))
    values = st.integers(0, 9) if dtype.is_integer else st.integers(-16, 16).map(lambda number: number / 4)
    x = draw(tensors(dtype, tuple(sizes[name] for name in order), names=order, values=values))
    at = (order.index("feature"),)
    parts = [placed_parameter(draw, x, at, dtype) if draw(st.booleans()) else None for _ in range(2)]
    options: dict[str, Any] = {"axis": draw(st.sampled_from(["feature", at[0], at[0] - 3])), "epsilon": draw(EPSILONS)}
    options["batch"] = draw(st.sampled_from(["batch", ("batch", "time"), (), order.index("batch")]))
    return Invocation("", (x, *parts), {**options, "groups": groups})


@reference("nn.group_norm", by="NumPy", draw=group_call, dtypes=REAL)
def group_norm(
    x: Any, scale: Any = None, offset: Any = None, /, *, groups: int, axis: int = -1, batch: Axes = 0,
    epsilon: float = 1e-5,
) -> Any:  # fmt: skip
    along, kept = axis % x.ndim, positions(x, batch)
    out = numpy.zeros(x.shape)
    share = x.shape[along] // groups
    rest = tuple(at for at in range(x.ndim) if at not in kept)
    for group in range(groups):
        part = tuple(slice(group * share, (group + 1) * share) if at == along else slice(None) for at in range(x.ndim))
        if x[part].size:
            out[part] = standardised(x[part], rest, epsilon)
    return scaled(out, (along,), scale, offset)


@law("nn.batch_norm", by="NumPy")
def batch_norm(draw: Draw, run: Any, backend: Backend) -> None:
    dtype = draw(st.sampled_from(FLOATING))
    sizes = {
        "batch": draw(st.sampled_from([2, 1, 0, 3])),
        "time": draw(st.integers(1, 3)),
        "feature": draw(st.integers(1, 2)),
    }
    order = draw(st.permutations(list(sizes)))
    quarters = st.integers(-16, 16).map(lambda number: number / 4)
    x = draw(tensors(dtype, tuple(sizes[name] for name in order), names=order, values=quarters))
    at = order.index("feature")
    kept = draw(st.sampled_from([dtype, tb.float32]))
    count = (sizes["feature"],)
    old = [
        draw(tensors(kept, count, names=("feature",), values=st.integers(1, 8).map(lambda n: n / 4))) for _ in range(2)
    ]
    parts = [placed_parameter(draw, x, (at,), dtype) if draw(st.booleans()) else None for _ in range(2)]
    mask = broadcast_to(draw, x, bool_) if draw(st.booleans()) else None
    options: dict[str, Any] = {
        "training": draw(st.booleans()), "axis": draw(st.sampled_from(["feature", at, at - 3])),
        "momentum": draw(st.sampled_from([0.1, 0.5, 0.0, 1.0])), "epsilon": draw(EPSILONS),
    }  # fmt: skip
    array = wide(x)
    inside = numpy.ones(x.shape, bool) if mask is None else numpy.broadcast_to(wide(mask), x.shape)
    if array.size and not inside.all():  # outside of the mask there may be anything
        array[~inside] = draw(st.sampled_from([math.nan, math.inf, 0.0]))
        x = tb.asarray(array, dtype=dtype, names=x.names, backend="binary")
    given = Invocation("nn.batch_norm", (x, *parts), {**options, "statistics": tb.nn.Statistics(*old), "mask": mask})
    call = given.on(backend)
    got = run(*call.arguments, **call.options)
    rest = tuple(axis for axis in range(3) if axis != at)
    clean = numpy.where(inside, array, 0)
    number = inside.sum(axis=rest)
    shape = [size if axis == at else 1 for axis, size in enumerate(x.shape)]
    with numpy.errstate(all="ignore"):
        if options["training"]:
            centre = clean.sum(axis=rest) / numpy.maximum(number, 1)
            apart = numpy.where(inside, clean - centre.reshape(shape), 0)
            variance = (apart * apart).sum(axis=rest) / numpy.maximum(number, 1)
            sample = variance * number / numpy.maximum(number - 1, 1)
            share = numpy.where(number > 0, options["momentum"], 0)  # the statistics of no elements stay
            after = [wide(one) * (1 - share) + new * share for one, new in zip(old, (centre, sample), strict=True)]
        else:
            centre, variance = (wide(one) for one in old)
            after = [centre, variance]
        unit = (clean - centre.reshape(shape)) / numpy.sqrt(variance.reshape(shape) + options["epsilon"])
    result = scaled(unit, (at,), *(None if part is None else wide(part) for part in parts))
    compare(given, got, [named(result, x.names), *(named(one, ("feature",)) for one in after)])
