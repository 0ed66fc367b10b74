"""Resizing images."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import tensorbackend as tb
from tensorbackend import Tensor
from tensorbackend.errors import ArgumentError, expected

from .registry import Floats, Given, Ints, operator

ROUNDINGS: Final[dict[str, Callable[[Tensor], Tensor]]] = {
    "ceil": tb.ceil,
    "floor": tb.floor,
    "round_prefer_ceil": lambda points: tb.floor(points + 0.5),
    "round_prefer_floor": lambda points: tb.ceil(points - 0.5),
}


def resized(
    x: Tensor, axes: Sequence[int], targets: Sequence[int] | None, scales: Sequence[float] | None, **options: Any
) -> Tensor:
    """The tensor with axes of other sizes. Integers that are interpolated are rounded, as ONNX keeps their dtype."""
    sizes = None if targets is None else dict(zip(axes, targets, strict=True))
    factors = None if scales is None else dict(zip(axes, scales, strict=True))
    result = tb.resize(x, sizes, scales=factors, convention="onnx", **options)
    return _as_stored(result, x)


def _as_stored(result: Tensor, x: Tensor) -> Tensor:
    """A result in the dtype of x."""
    exact = result.dtype is x.dtype or tb.isdtype(x.dtype, "real floating")
    return result.astype(x.dtype) if exact else tb.round(result).astype(x.dtype)


def cropped(x: Tensor, axes: Sequence[int], targets: Sequence[int], regions: Sequence[float], given: Given) -> Tensor:
    """A part of an image, from start to end along each axis as parts of its length, in other sizes."""
    result = (
        x if given.mode == "nearest" else x.astype(tb.float32 if not tb.isdtype(x.dtype, "real floating") else x.dtype)
    )
    for place, (axis, target) in enumerate(zip(axes, targets, strict=True)):
        start, end = regions[place], regions[place + len(axes)]
        last = x.shape[axis] - 1
        steps = tb.arange(target, dtype=tb.float32, like=result) / (target - 1) if target > 1 else 0.5
        points = start * last + tb.broadcast_to(tb.asarray(steps * ((end - start) * last), like=result), (target,))
        at = ROUNDINGS[given.nearest_mode](points) if given.mode == "nearest" else points
        order = {"nearest": 0, "linear": 1, "cubic": 3}[given.mode]
        moved = tb.moveaxis(result, axis, 0)
        values = tb.grid_sample(moved, at[:, None], axes=(0,), boundary="edge", order=order).astype(result.dtype)
        outside = tb.reshape(tb.logical_or(points < 0, points > last), (-1, *(1,) * (x.ndim - 1)))
        values = tb.where(outside, given.extrapolation_value, values)
        result = tb.moveaxis(values, 0, axis)
    return _as_stored(result, x)


@operator("Upsample", attributes_before=9)
@operator("Resize", since=10)
def upsample(x: Tensor, scales: Floats | None = None, *, given: Given) -> Tensor:
    """An image by scales, whose entries keep their places."""
    factors = scales or (1.0, 1.0, given.height_scale, given.width_scale)
    method = "nearest" if given.mode == "nearest" else "linear"
    return resized(x, range(x.ndim), None, factors, method=method, coordinates="asymmetric", rounding="floor")


@operator("Resize", since=11)
def resize(
    x: Tensor, roi: Floats | None = None, scales: Floats | None = None, sizes: Ints | None = None, *, given: Given
) -> Tensor:
    """An image in other sizes, or by scales."""
    chosen = [axis % x.ndim for axis in given.axes] if given.axes is not None else list(range(x.ndim))
    have = [x.shape[axis] for axis in chosen]
    if not sizes and not scales:
        raise ArgumentError(expected("scales or sizes"))
    policy, coordinates = given.keep_aspect_ratio_policy, given.coordinate_transformation_mode
    targets, factors = _by_sizes(have, sizes, policy or "stretch") if sizes else (None, list(scales or ()))
    if coordinates == "tf_crop_and_resize":
        whole = targets or [math.floor(size * factor) for size, factor in zip(have, factors or (), strict=True)]
        ends = roi or (*(0.0,) * len(chosen), *(1.0,) * len(chosen))
        return cropped(x, chosen, whole, ends, given)
    options = {"coordinates": coordinates, "rounding": given.nearest_mode, "cubic": given.cubic_coeff_a}
    outside = "exclude" if given.exclude_outside else "edge"
    return resized(
        x, chosen, targets, factors, method=given.mode, antialias=bool(given.antialias), outside=outside, **options
    )


def _by_sizes(have: Sequence[int], sizes: Sequence[int], policy: str) -> tuple[list[int], list[float] | None]:
    """The sizes of the result, and the scale if it is not their ratio."""
    if policy == "stretch":
        return list(sizes), None
    factors = [target / size for target, size in zip(sizes, have, strict=True)]
    factor = min(factors) if policy == "not_larger" else max(factors)
    return [math.floor(size * factor + 0.5) for size in have], [factor] * len(have)
