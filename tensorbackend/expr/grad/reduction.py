"""Gradient rules of sums, products and extremes, and of composites of these."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...dtypes import float32, promote_types
from ...ops.composite.cumulative import cumulative_prod
from ...ops.composite.elementwise.functions import stop_gradient
from ...ops.composite.linalg.norms import vector_norm
from ...ops.composite.reduction import cast_to_float32, count_along, mean
from ...ops.composite.reduction.probabilities import softmax
from ...ops.elementwise.basic import astype, where
from ...ops.elementwise.binary import logical_and
from ...ops.elementwise.complex_functions import rsqrt
from ...ops.elementwise.transcendental import exp, sqrt
from ...ops.indexing.taking import slice_along_axis
from ...ops.reduction import max, sum
from ...ops.shape import broadcast_to, permute_dims, reshape
from ...tensor import Tensor
from .registry import Cotangents, rule

Positions = tuple[int, ...]


def _keep_axes(reduced: Tensor, x: Tensor, axes: Positions) -> Tensor:
    """The result of a reduction of x, reshaped so that the reduced axes have size 1."""
    shape = tuple(1 if axis in axes else size for axis, size in enumerate(x.shape))
    return reshape(reduced, shape, names=x.names)


@rule("sum")
def _sum(cotangent: Tensor, out: Tensor, x: Tensor, *, axes: Positions, keepdims: bool) -> Cotangents:
    return (broadcast_to(_keep_axes(cotangent, x, axes), x.shape),)


@rule("product")
def _product(cotangent: Tensor, out: Tensor, x: Tensor, *, axes: Positions, keepdims: bool) -> Cotangents:
    order = (*(axis for axis in range(x.ndim) if axis not in axes), *axes)
    moved = permute_dims(astype(x, out.dtype), order)
    count = math.prod(x.shape[axis] for axis in axes)
    flat = reshape(moved, (*moved.shape[: x.ndim - len(axes)], count))
    return (
        _keep_axes(cotangent, x, axes) * permute_dims(reshape(products_of_others(flat), moved.shape), inverse(order)),
    )


def products_of_others(x: Tensor) -> Tensor:
    """For each entry of the last axis the product of the others: of those before it times of those after it.

    The product of all is not divided by the entry, as that may be zero.
    """
    count = x.shape[-1]
    before = slice_along_axis(cumulative_prod(x, axis=-1, include_initial=True), 0, count)
    after = slice_along_axis(cumulative_prod(x, axis=-1, include_initial=True, reverse=True), 1, count)
    return before * after


def inverse(order: Sequence[int]) -> Positions:
    """The inverse of a permutation."""
    return tuple(sorted(range(len(order)), key=order.__getitem__))


@rule("reduce_max", "reduce_min")
def _extreme(cotangent: Tensor, out: Tensor, x: Tensor, *, axes: Positions, keepdims: bool) -> Cotangents:
    chosen = astype(x == _keep_axes(out, x, axes), promote_types(x.dtype, float32))  # float16 ends at 65504 equal ones
    return (_keep_axes(cotangent, x, axes) * chosen / sum(chosen, axis=axes, keepdims=True),)


@rule("logsumexp")
def _logsumexp(cotangent: Tensor, out: Tensor, x: Tensor, *, axis: Positions, keepdims: bool) -> Cotangents:
    return (_keep_axes(cotangent, x, axis) * _shares(cast_to_float32(x), axis),)


def _shares(x: Tensor, axis: Positions) -> Tensor:
    """The softmax, with equal weights for elements of +inf, and 0 for elements that are all -inf.

    It is not exp(x - logsumexp(x)), which magnifies the rounding of a large result.
    """
    if not count_along(x, axis):
        return x
    largest = stop_gradient(max(x, axis=axis, keepdims=True))
    shift = where(largest == -math.inf, 0, largest)
    powers = exp(where(logical_and(x == math.inf, x == shift), 0, x - shift))
    total = sum(powers, axis=axis, keepdims=True)
    return powers / where(total == 0, 1, total)


@rule("std")
def _std(
    cotangent: Tensor, out: Tensor, x: Tensor, *, axis: Positions, correction: float, keepdims: bool
) -> Cotangents:
    wide, divisor = cast_to_float32(x), count_along(x, axis) - correction
    centred = wide - mean(wide, axis=axis, keepdims=True)
    length = vector_norm(centred, axis=axis, keepdims=True)  # the variance may be out of range where this is not
    unit = centred / where(length == 0, 1, length)
    return (_keep_axes(cast_to_float32(cotangent), x, axis) * unit / (math.sqrt(divisor) if divisor > 0 else math.nan),)


@rule("softmax")
def _softmax(cotangent: Tensor, out: Tensor, x: Tensor, *, axis: Positions) -> Cotangents:
    scaled = cotangent * out
    return (scaled - out * sum(scaled, axis=axis, keepdims=True),)


@rule("log_softmax")
def _log_softmax(cotangent: Tensor, out: Tensor, x: Tensor, *, axis: Positions) -> Cotangents:
    # In float16 and bfloat16 a rounded logarithm may be off by a tenth.
    shares = exp(out) if out.dtype.bits >= 32 else softmax(cast_to_float32(x), axis=axis)
    cotangent = cast_to_float32(cotangent)
    return (cotangent - shares * sum(cotangent, axis=axis, keepdims=True),)


@rule("masked_softmax")
def _masked_softmax(cotangent: Tensor, out: Tensor, x: Tensor, mask: Tensor, *, axis: Positions) -> Cotangents:
    scaled = where(mask, cotangent, 0) * out
    return where(mask, scaled - out * sum(scaled, axis=axis, keepdims=True), 0), None


@rule("standardise")
def _standardise(cotangent: Tensor, out: Tensor, x: Tensor, *, axis: Positions, epsilon: float) -> Cotangents:
    return (_layer_norm(cotangent, out, x, None, None, axis=axis, epsilon=epsilon)[0],)


@rule("layer_norm")
def _layer_norm(
    cotangent: Tensor, out: Tensor, x: Tensor, scale: Tensor | None = None, offset: Tensor | None = None, *,
    axis: Positions, epsilon: float,
) -> Cotangents:  # fmt: skip
    wide, cotangent = cast_to_float32(x), cast_to_float32(cotangent)
    centred = wide - mean(wide, axis=axis, keepdims=True)
    rate = 1 / sqrt(mean(centred * centred, axis=axis, keepdims=True) + epsilon)
    unit = centred * rate
    scaled = cotangent if scale is None else cotangent * scale
    along = unit * mean(scaled * unit, axis=axis, keepdims=True)
    gradient = rate * (scaled - mean(scaled, axis=axis, keepdims=True) - along)
    return gradient, None if scale is None else cotangent * unit, None if offset is None else cotangent


@rule("rms_norm")
def _rms_norm(
    cotangent: Tensor, out: Tensor, x: Tensor, scale: Tensor | None = None, *, axis: Positions, epsilon: float
) -> Cotangents:
    wide, cotangent = cast_to_float32(x), cast_to_float32(cotangent)
    rate = rsqrt(mean(wide * wide, axis=axis, keepdims=True) + epsilon)
    unit = wide * rate
    scaled = cotangent if scale is None else cotangent * scale
    gradient = rate * (scaled - unit * mean(scaled * unit, axis=axis, keepdims=True))
    return gradient, None if scale is None else cotangent * unit
