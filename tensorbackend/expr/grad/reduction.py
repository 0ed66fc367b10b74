"""Gradient rules of sums, products and extremes, and of composites of these."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...ops.composite.cumulative import cumulative_prod
from ...ops.composite.elementwise.functions import isfinite
from ...ops.composite.reduction import count_along, in_float32, mean
from ...ops.elementwise.conversion import astype
from ...ops.elementwise.ternary import where
from ...ops.elementwise.transcendental import exp, sqrt
from ...ops.indexing.taking import slice_along_axis
from ...ops.reduction import sum
from ...ops.shape import broadcast_to, permute_dims, reshape
from ...tensor import Tensor
from .registry import Cotangents, rule

Positions = tuple[int, ...]


def _kept(reduced: Tensor, x: Tensor, axes: Positions) -> Tensor:
    """The result of a reduction of x, reshaped so that the reduced axes have size 1."""
    shape = tuple(1 if axis in axes else size for axis, size in enumerate(x.shape))
    return reshape(reduced, shape, names=x.names)


@rule("sum")
def _sum(cotangent: Tensor, out: Tensor, x: Tensor, *, axes: Positions, keepdims: bool) -> Cotangents:
    return (broadcast_to(_kept(cotangent, x, axes), x.shape),)


@rule("product")
def _product(cotangent: Tensor, out: Tensor, x: Tensor, *, axes: Positions, keepdims: bool) -> Cotangents:
    # The derivative by an element is the product of the others: of those before it times of those after it. The result
    # is not divided by the element, as that may be zero.
    order = (*(axis for axis in range(x.ndim) if axis not in axes), *axes)
    moved = permute_dims(astype(x, out.dtype), order)
    count = math.prod(x.shape[axis] for axis in axes)
    flat = reshape(moved, (*moved.shape[: x.ndim - len(axes)], count))
    before = slice_along_axis(cumulative_prod(flat, axis=-1, include_initial=True), 0, count)
    after = slice_along_axis(cumulative_prod(flat, axis=-1, include_initial=True, reverse=True), 1, count)
    return (_kept(cotangent, x, axes) * permute_dims(reshape(before * after, moved.shape), inverse(order)),)


def inverse(order: Sequence[int]) -> Positions:
    """The inverse of a permutation."""
    return tuple(sorted(range(len(order)), key=order.__getitem__))


@rule("reduce_max", "reduce_min")
def _extreme(cotangent: Tensor, out: Tensor, x: Tensor, *, axes: Positions, keepdims: bool) -> Cotangents:
    chosen = astype(x == _kept(out, x, axes), x.dtype)
    return (_kept(cotangent, x, axes) * chosen / sum(chosen, axis=axes, keepdims=True),)


@rule("logsumexp")
def _logsumexp(cotangent: Tensor, out: Tensor, x: Tensor, *, axis: Positions, keepdims: bool) -> Cotangents:
    shift = _kept(where(isfinite(out), out, 0), x, axis)
    return (_kept(cotangent, x, axis) * exp(x - shift),)


@rule("std")
def _std(
    cotangent: Tensor, out: Tensor, x: Tensor, *, axis: Positions, correction: float, keepdims: bool
) -> Cotangents:
    wide = in_float32(x)
    spread = _kept(astype(out, wide.dtype), x, axis)
    divisor = count_along(x, axis) - correction
    scale = _kept(astype(cotangent, wide.dtype), x, axis) / (where(spread == 0, 1, spread) * max(divisor, 0.0))
    return ((wide - mean(wide, axis=axis, keepdims=True)) * scale,)


@rule("softmax")
def _softmax(cotangent: Tensor, out: Tensor, x: Tensor, *, axis: Positions) -> Cotangents:
    scaled = cotangent * out
    return (scaled - out * sum(scaled, axis=axis, keepdims=True),)


@rule("log_softmax")
def _log_softmax(cotangent: Tensor, out: Tensor, x: Tensor, *, axis: Positions) -> Cotangents:
    return (cotangent - exp(out) * sum(cotangent, axis=axis, keepdims=True),)


@rule("masked_softmax")
def _masked_softmax(cotangent: Tensor, out: Tensor, x: Tensor, mask: Tensor, *, axis: Positions) -> Cotangents:
    scaled = where(mask, cotangent, 0) * out
    return scaled - out * sum(scaled, axis=axis, keepdims=True), None


@rule("standardise")
def _standardise(cotangent: Tensor, out: Tensor, x: Tensor, *, axis: Positions, epsilon: float) -> Cotangents:
    wide, wide_cotangent = in_float32(x), in_float32(cotangent)
    centred = wide - mean(wide, axis=axis, keepdims=True)
    scale = 1 / sqrt(mean(centred * centred, axis=axis, keepdims=True) + epsilon)
    unit = centred * scale
    along = unit * mean(wide_cotangent * unit, axis=axis, keepdims=True)
    return (scale * (wide_cotangent - mean(wide_cotangent, axis=axis, keepdims=True) - along),)
