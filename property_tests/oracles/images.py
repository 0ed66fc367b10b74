"""Oracles of what is for images: resizing by matrices and exact fractions, boxes and windows by loops."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.dtypes import DType
from tensorbackend.testing import Invocation
from tensorbackend.testing.generators.indexing import resize as resized
from tensorbackend.testing.generators.window import number_for_each, padding_for_each
from tensorbackend.testing.strategies import Draw, tensors

from .elementwise import double, unjudged
from .table import FLOATING, named, reference, wide
from .window import each, paddings


def _draw_resize(draw: Draw, dtype: DType) -> Invocation:
    call = resized(draw, dtype)
    return call._replace(arguments=(call.arguments[0],)) if call.arguments[1] is None else call


def _point(row: int, size: int, target: int, factor: Fraction, rule: str) -> Fraction:
    """Where an entry of a resized axis lies, as ONNX defines its rules."""
    half, whole = Fraction(1, 2), factor * size
    if rule == "align_corners":
        return row * Fraction(size - 1) / (whole - 1) if whole > 1 else Fraction(0)
    if rule == "asymmetric":
        return Fraction(row) / factor
    if rule == "tf_half_pixel_for_nn":
        return (row + half) / factor
    if rule == "pytorch_half_pixel" and target <= 1:
        return Fraction(0)
    shift = Fraction(size, 2) * (1 - target / whole) if rule == "half_pixel_symmetric" else Fraction(0)
    return shift + (row + half) / factor - half


@reference("resize", by="brute force", draw=_draw_resize, raw=True)
def resize(call: Invocation) -> Any:
    """Each axis by a matrix, whose rows have a weight for every entry of the axis."""
    x, sizes = call.arguments[0], call.arguments[1] if len(call.arguments) > 1 else None
    convention = call.options.get("convention", "pytorch")
    given = {name: value for name, value in call.options.items() if value is not None}
    method, scales = given.get("method", "linear"), given.get("scales")
    smooth = given.get("antialias", convention == "jax")
    within = convention == "jax" or (convention == "pytorch" and smooth)
    corner = convention == "pytorch" and method == "nearest"
    rule = given.get("coordinates", "asymmetric" if corner else "half_pixel")
    words = {"pytorch": "floor", "onnx": "round_prefer_floor", "jax": "round_prefer_ceil"}
    rounding, a = given.get("rounding", words[convention]), given.get("cubic", -0.5 if within else -0.75)
    outside = given.get("outside", "exclude" if within else "edge")
    kernels: dict[str, Any] = {
        "linear": (1, lambda d: max(0, 1 - d)),
        "cubic": (2, lambda d: (a + 2) * d**3 - (a + 3) * d**2 + 1 if d <= 1 else a * (d**3 - 5 * d**2 + 8 * d - 4)),
        "lanczos3": (3, lambda d: float(numpy.sinc(d) * numpy.sinc(d / 3))),
        "lanczos5": (5, lambda d: float(numpy.sinc(d) * numpy.sinc(d / 5))),
    }
    out = wide(x) if method == "nearest" else double(wide(x))
    if method != "nearest" and out.dtype.kind not in "fc":
        out = out.astype(float)
    for axis, size in enumerate(x.shape):
        name = x.names[axis]
        factor = None if scales is None else Fraction(scales[name]) if name in scales else Fraction(1)
        if isinstance(sizes, dict):
            target = sizes.get(name, size)
        else:
            target = sizes[axis] if sizes is not None else math.floor(size * factor)
        if factor is None:
            factor = Fraction(target, size)
        if target == size and factor == 1:
            continue
        matrix = numpy.zeros((target, size))
        for row in range(target):
            point = _point(row, size, target, factor, rule)
            if method == "nearest":
                half = Fraction(1, 2) * (
                    0 if rounding in ("floor", "ceil") else -1 if rounding == "round_prefer_floor" else 1
                )
                at = math.ceil(point + half) if rounding in ("ceil", "round_prefer_floor") else math.floor(point + half)
                matrix[row, min(max(at, 0), size - 1)] = 1
                continue
            reach, kernel = kernels[method]
            stretch = max(1, float(1 / factor)) if smooth else 1.0
            weights: dict[int, float] = {}
            for at in range(math.floor(point - reach * stretch) - 1, math.ceil(point + reach * stretch) + 2):
                distance = abs(float(at - point)) / stretch
                if distance < reach and (outside == "edge" or 0 <= at < size):
                    weights[at] = kernel(distance)
            total = sum(weights.values()) if outside == "exclude" or stretch > 1 or "lanczos" in method else 1.0
            for at, weight in weights.items():
                matrix[row, min(max(at, 0), size - 1)] += weight / total
        if method == "nearest":
            out = numpy.take(out, numpy.argmax(matrix, axis=1), axis=axis)
        else:
            out = numpy.moveaxis(numpy.tensordot(matrix, out, (1, axis)), 0, axis)
    if method == "nearest":
        return named(out, x.names)
    # An infinite entry whose weight is 0 makes NaN only if it is among those that are added.
    return unjudged(named(out, x.names), ~numpy.isfinite(out))


# Boxes


def _draw_boxes(draw: Draw, dtype: DType) -> Invocation:
    """Boxes of few sizes, so that some overlap and some scores are equal; examples that share the boxes or not."""
    count, examples = draw(st.integers(1, 5)), draw(st.sampled_from([(), (1,), (2,)]))
    lead = draw(st.sampled_from([examples, (1,) * len(examples)]))
    corners: Any = st.integers(0, 4).map(float)
    scores = draw(tensors(dtype, (*examples, count), values=st.sampled_from([0.5, 0.25, 0.75, -1.0, math.nan])))
    boxes = draw(tensors(dtype, (*lead, count, 4), names=(*scores.names, None), values=corners))
    options: dict[str, Any] = {"size": draw(st.integers(0, 6))}
    if draw(st.booleans()):
        options["iou_threshold"] = draw(st.sampled_from([0.0, 0.25, 0.6]))
    if draw(st.booleans()):
        options["score_threshold"] = draw(st.sampled_from([0.0, 0.5]))
    return Invocation("", (boxes, scores), options)


def _iou(one: Any, two: Any) -> float:
    """The intersection of two boxes by their union, counted in small cells, as their corners are whole numbers."""
    cells = [
        {(x, y) for x in range(*sorted((int(box[0]), int(box[2])))) for y in range(*sorted((int(box[1]), int(box[3]))))}
        for box in (one, two)
    ]
    union = cells[0] | cells[1]
    return len(cells[0] & cells[1]) / len(union) if union else 0.0


@reference("nn.non_maximum_suppression", by="brute force", draw=_draw_boxes, dtypes=FLOATING)
def non_maximum_suppression(
    boxes: Any, scores: Any, /, *, size: int, iou_threshold: float = 0.5, score_threshold: float | None = None
) -> Any:
    boxes = numpy.broadcast_to(boxes, (*scores.shape, 4))
    out = numpy.full((*scores.shape[:-1], size), -1)
    for at in product(*map(range, scores.shape[:-1])):
        numbers = scores[at].tolist()
        known = [place for place, number in enumerate(numbers) if number == number]
        kept: list[int] = []
        for _, place in sorted((-numbers[place], place) for place in known):
            high = score_threshold is None or numbers[place] > score_threshold
            if high and all(_iou(boxes[at][place], boxes[at][other]) <= iou_threshold for other in kept):
                kept.append(place)
        out[at][: min(size, len(kept))] = kept[:size]
    return out


# Windows that read anywhere


def _draw_deform(draw: Draw, dtype: DType) -> Invocation:
    """A few channels in groups, offsets of quarters, and a bias and a mask or none."""
    rank, groups, moved = draw(st.integers(1, 2)), draw(st.integers(1, 2)), draw(st.integers(1, 2))
    channels, batch = 2 * draw(st.integers(1, 2)), draw(st.integers(1, 2))
    names = (None,) * rank
    options: dict[str, Any] = {
        "strides": number_for_each(draw, names, 2), "padding": padding_for_each(draw, names),
        "dilation": number_for_each(draw, names, 2), "groups": groups, "offset_groups": moved,
    }  # fmt: skip
    space = tuple(draw(st.integers(1, 5)) for _ in names)
    window = tuple(draw(st.integers(1, 2)) for _ in names)
    tame: Any = st.integers(-8, 8).map(lambda number: number / 4)
    x = draw(tensors(dtype, (batch, channels, *space), names=(None,) * (rank + 2), values=tame))
    kernel = draw(tensors(dtype, (2 * groups, channels // groups, *window), names=(None,) * (rank + 2), values=tame))
    try:
        places = tb.conv(x, kernel, strides=options["strides"], padding=options["padding"],
                         kernel_dilation=options["dilation"], feature_groups=groups).shape[2:]  # fmt: skip
    except tb.errors.TensorBackendError:
        places = space  # an option is wrong
    count = moved * math.prod(window)
    nothing = (None,) * (rank + 2)
    offsets = draw(tensors(dtype, (batch, count * rank, *places), names=nothing, values=tame))
    bias = draw(st.sampled_from([None, draw(tensors(dtype, (2 * groups,), names=(None,), values=tame))]))
    mask = draw(st.sampled_from([None, draw(tensors(dtype, (batch, count, *places), names=nothing, values=tame))]))
    return Invocation("", (x, kernel, offsets, bias, mask), options)


@reference("nn.deform_conv", by="brute force", draw=_draw_deform, dtypes=FLOATING, raw=True, narrow=4)
def deform_conv(call: Invocation) -> Any:
    operands: list[Any] = [None if one is None else double(wide(one)) for one in call.arguments]
    x, kernel, offsets, bias, mask = operands
    options, rank = call.options, kernel.ndim - 2
    names = (None,) * rank
    strides, between = (each(options[name], names) for name in ("strides", "dilation"))
    spans = [(size - 1) * step + 1 for size, step in zip(kernel.shape[2:], between, strict=True)]
    pairs = paddings(options["padding"], names, x.shape[2:], spans, strides)
    places, moved = offsets.shape[2:], options["offset_groups"]
    window, channels = kernel.shape[2:], x.shape[1]
    share, outs = channels // options["groups"], kernel.shape[0] // options["groups"]
    out = numpy.zeros((x.shape[0], kernel.shape[0], *places))
    elements = list(product(*map(range, window)))
    for example, place in product(range(x.shape[0]), product(*map(range, places))):
        for channel, (number, steps) in product(range(channels), enumerate(elements)):
            at = channel // (channels // moved) * len(elements) + number
            point = [
                p * stride - low + step * apart + offsets[(example, at * rank + axis, *place)]
                for axis, (p, stride, (low, _), step, apart) in enumerate(
                    zip(place, strides, pairs, steps, between, strict=True)
                )
            ]
            value = 0.0
            for index in product(*map(range, x.shape[2:])):
                weight = math.prod(max(0.0, 1 - abs(a - b)) for a, b in zip(point, index, strict=True))
                value += weight * x[(example, channel, *index)]
            value *= 1.0 if mask is None else mask[(example, at, *place)]
            for o in range(outs):
                row = channel // share * outs + o
                out[(example, row, *place)] += value * kernel[(row, channel % share, *steps)]
    return out if bias is None else out + bias.reshape(-1, *(1,) * rank)
