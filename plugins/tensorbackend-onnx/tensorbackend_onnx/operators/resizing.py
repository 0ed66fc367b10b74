"""Resizing images: each axis by itself, as weighted sums of entries along it.

The positions and weights of entries follow from sizes and attributes alone, so it is computed in Python numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import tensorbackend as tb
from tensorbackend import Tensor
from tensorbackend.errors import ArgumentError, expected

from .registry import Floats, Ints, operator


class Taps(NamedTuple):
    """For each entry of a resized axis the entries of x that make it up, what they weigh, and whether it is outside."""

    indices: list[list[int]]
    weights: list[list[float]]
    outside: list[bool]


class Options(NamedTuple):
    """The attributes of a node that say how it resizes."""

    antialias: bool = False
    coordinates: str = "half_pixel"
    cubic: float = -0.75
    exclude_outside: bool = False
    mode: str = "nearest"
    nearest: str = "round_prefer_floor"


ROUNDINGS: dict[str, Callable[[float], int]] = {
    "ceil": math.ceil,
    "floor": math.floor,
    "round_prefer_ceil": lambda place: math.floor(place + 0.5),
    "round_prefer_floor": lambda place: math.ceil(place - 0.5),
}


def coordinate(place: int, size: int, target: int, scale: float, rule: str, roi: tuple[float, float]) -> float:
    """The position of an entry of the resized axis on the axis of x."""
    whole = scale * size
    if rule == "asymmetric":
        return place / scale
    if rule == "half_pixel":
        return (place + 0.5) / scale - 0.5
    if rule == "half_pixel_symmetric":
        centre = size / 2 * (1 - target / whole)
        return centre + (place + 0.5) / scale - 0.5
    if rule == "pytorch_half_pixel":
        return (place + 0.5) / scale - 0.5 if target > 1 else -0.5
    if rule == "tf_half_pixel_for_nn":
        return (place + 0.5) / scale
    if rule == "align_corners":
        return place * (size - 1) / (whole - 1) if whole > 1 else 0.0
    if rule == "tf_crop_and_resize":
        start, end = roi
        inside = place * (end - start) * (size - 1) / (target - 1) if target > 1 else 0.5 * (end - start) * (size - 1)
        return start * (size - 1) + inside if target > 1 else 0.5 * (start + end) * (size - 1)
    raise ArgumentError(expected("a coordinate transformation of ONNX", mode=rule))


def _linear(distance: float) -> float:
    return max(1 - abs(distance), 0.0)


def _cubic(distance: float, a: float) -> float:
    d = abs(distance)
    if d <= 1:
        return (a + 2) * d**3 - (a + 3) * d**2 + 1
    return a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a if d < 2 else 0.0


def taps(size: int, target: int, scale: float, options: Options, roi: tuple[float, float]) -> Taps:
    """The entries that make up each entry of a resized axis."""
    found = Taps([], [], [])
    for place in range(target):
        at = coordinate(place, size, target, scale, options.coordinates, roi)
        found.outside.append(options.coordinates == "tf_crop_and_resize" and not 0 <= at <= size - 1)
        if options.mode == "nearest":
            nearest = ROUNDINGS[options.nearest](at)
            found.indices.append([min(max(nearest, 0), size - 1)])
            found.weights.append([1.0])
            continue
        stretch = max(1 / scale, 1.0) if options.antialias else 1.0
        weigh = _linear if options.mode == "linear" else partial(_cubic, a=options.cubic)
        reach = (1 if options.mode == "linear" else 2) * stretch
        first, last = math.floor(at - reach) + 1, math.ceil(at + reach) - 1
        if not options.antialias:
            first = math.floor(at) - (0 if options.mode == "linear" else 1)
            last = first + (1 if options.mode == "linear" else 3)
        around = range(first, last + 1)
        weights = [weigh((index - at) / stretch) for index in around]
        if options.exclude_outside:
            weights = [weight if 0 <= index < size else 0.0 for weight, index in zip(weights, around, strict=True)]
        total = sum(weights) if options.exclude_outside or options.antialias else 1.0
        found.indices.append([min(max(index, 0), size - 1) for index in around])
        found.weights.append([weight / total for weight in weights])
    return found


def resized_axis(x: Tensor, axis: int, found: Taps) -> Tensor:
    """The tensor with one axis resized."""
    count = max(map(len, found.indices), default=1)
    columns = [[(row[tap] if tap < len(row) else 0) for row in found.indices] for tap in range(count)]
    numbers = [[(row[tap] if tap < len(row) else 0.0) for row in found.weights] for tap in range(count)]
    total = None
    for column, weights in zip(columns, numbers, strict=True):
        entries = tb.take(x, tb.tensor(column, dtype=tb.int64, backend="binary"), axis=axis)
        if any(weight != 1 for weight in weights):
            factor = tb.tensor(weights, dtype=x.dtype, backend="binary")
            entries = entries * tb.reshape(factor, (-1, *(1,) * (x.ndim - 1 - axis)))
        total = entries if total is None else total + entries
    return x if total is None else total


def resized(
    x: Tensor,
    axes: Sequence[int],
    targets: Sequence[int],
    scales: Sequence[float],
    options: Options,
    roi: Sequence[float] | None = None,
    extrapolation: float = 0.0,
) -> Tensor:
    """The tensor with several axes resized."""
    exact = options.mode == "nearest" or tb.isdtype(x.dtype, "real floating")
    result = x if exact else x.astype(tb.float32)
    for position, (axis, target, scale) in enumerate(zip(axes, targets, scales, strict=True)):
        ends = (0.0, 1.0) if not roi else (roi[position], roi[position + len(axes)])
        if target == x.shape[axis] and scale == 1 and options.coordinates != "tf_crop_and_resize":
            continue
        found = taps(x.shape[axis], target, scale, options, ends)
        result = resized_axis(result, axis, found)
        if any(found.outside):
            outside = tb.tensor(found.outside, backend="binary")
            outside = tb.reshape(outside, (-1, *(1,) * (x.ndim - 1 - axis)))
            result = tb.where(outside, tb.full((), extrapolation, dtype=result.dtype, like=result), result)
    return result if exact else tb.round(result).astype(x.dtype)


@operator("Upsample")
def upsample_by_attributes(
    x: Tensor,
    *,
    mode: str = "nearest",
    scales: tuple[float, ...] | None = None,
    height_scale: float = 1.0,
    width_scale: float = 1.0,
) -> Tensor:
    """`upsample` before opset 9."""
    return upsample(x, scales or (1.0, 1.0, height_scale, width_scale), mode=mode)


@operator("Upsample", since=9)
@operator("Resize", since=10)
def upsample(x: Tensor, scales: Floats, *, mode: str = "nearest") -> Tensor:
    """An image by scales, whose entries keep their places."""
    options = Options(mode="nearest" if mode == "nearest" else "linear", coordinates="asymmetric", nearest="floor")
    targets = [math.floor(size * scale) for size, scale in zip(x.shape, scales, strict=True)]
    return resized(x, range(x.ndim), targets, scales, options)


@operator("Resize", since=11)
def resize(
    x: Tensor,
    roi: Floats | None = None,
    scales: Floats | None = None,
    sizes: Ints | None = None,
    *,
    antialias: int = 0,
    axes: tuple[int, ...] | None = None,
    coordinate_transformation_mode: str = "half_pixel",
    cubic_coeff_a: float = -0.75,
    exclude_outside: int = 0,
    extrapolation_value: float = 0.0,
    keep_aspect_ratio_policy: str = "stretch",
    mode: str = "nearest",
    nearest_mode: str = "round_prefer_floor",
) -> Tensor:
    """An image in other sizes, or by scales."""
    chosen = [axis % x.ndim for axis in axes] if axes is not None else list(range(x.ndim))
    options = Options(
        bool(antialias), coordinate_transformation_mode, cubic_coeff_a, bool(exclude_outside), mode, nearest_mode
    )
    have = [x.shape[axis] for axis in chosen]
    if sizes:
        targets, factors = _by_sizes(have, sizes, keep_aspect_ratio_policy)
    elif scales:
        targets, factors = [math.floor(size * scale) for size, scale in zip(have, scales, strict=True)], list(scales)
    else:
        raise ArgumentError(expected("scales or sizes"))
    return resized(x, chosen, targets, factors, options, roi, extrapolation_value)


def _by_sizes(have: Sequence[int], sizes: Sequence[int], policy: str) -> tuple[list[int], list[float]]:
    factors = [target / size for target, size in zip(sizes, have, strict=True)]
    if policy == "stretch":
        return list(sizes), factors
    factor = min(factors) if policy == "not_larger" else max(factors)
    return [math.floor(size * factor + 0.5) for size in have], [factor] * len(have)
