"""Reductions by halves: the two halves of an axis are combined until one entry is left, which keeps the rounding
errors of sums small (Higham, section 4.1).
"""

from __future__ import annotations

from ...dispatch.fallbacks import fallback
from ...dtypes import Scalar, bool_
from ...protocol.reduction import TieBreak
from ...template import Shape, Template
from ...tensor import Tensor
from ..creation.filled import full
from ..elementwise.basic import astype, isnan, where
from ..elementwise.binary import add, equal, logical_and, logical_or, maximum, minimum, multiply
from ..indexing.slices import entries
from ..reduction import max as largest
from ..reduction import min as least
from ..shape import permute_dims, reshape
from .common import accumulator_dtype, shape_along, tensor_of_numbers
from .functional import OfTwo


def _fold(x: Tensor, axes: tuple[int, ...], shape: Shape, function: OfTwo, identity: Scalar = False) -> Tensor:
    """Folds an associative, commutative function over the elements along axes; returns `identity` if there are none."""
    if not x.size:
        return full(shape, identity, dtype=x.dtype)
    for axis in axes:
        spare = []
        while x.shape[axis] > 1:
            count = x.shape[axis] // 2
            if x.shape[axis] % 2:
                spare.append(entries(x, axis, 2 * count, 1))
            x = function(entries(x, axis, 0, count), entries(x, axis, count, count))
        for leftover in spare:
            x = function(x, leftover)
    return reshape(x, shape)


@fallback("all")
def _all(out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    return _fold(astype(x, bool_), axes, out.shape, logical_and, True)


@fallback("any")
def _any(out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    return _fold(astype(x, bool_), axes, out.shape, logical_or)


@fallback("sum")
def _sum(out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    return astype(_fold(astype(x, accumulator_dtype(out.dtype)), axes, out.shape, add), out.dtype)


@fallback("product")
def _product(out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    x = astype(x, accumulator_dtype(out.dtype))
    if not (out.dtype.is_complex and x.size):
        return astype(_fold(x, axes, out.shape, multiply, True), out.dtype)
    # With infinite factors the result depends on the order, so one row is multiplied after the other.
    rows = permute_dims(x, (*axes, *(axis for axis in range(x.ndim) if axis not in axes)))
    rows = reshape(rows, (x.size // out.size, out.size))
    product = entries(rows, 0, 0, 1)
    for row in range(1, rows.shape[0]):
        product = multiply(product, entries(rows, 0, row, 1))
    return reshape(product, out.shape)


@fallback("reduce_max")
def _reduce_max(out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    return _fold(x, axes, out.shape, maximum)


@fallback("reduce_min")
def _reduce_min(out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    return _fold(x, axes, out.shape, minimum)


# Positions


@fallback("argmax")
def _argmax(out: Template, x: Tensor, /, *, axis: int | None, keepdims: bool, tie_break: TieBreak) -> Tensor:
    line, over = (reshape(x, (x.size,)), 0) if axis is None else (x, axis)
    return reshape(_position(line, largest(line, axis=over, keepdims=True), over, tie_break), out.shape)


@fallback("argmin")
def _argmin(out: Template, x: Tensor, /, *, axis: int | None, keepdims: bool, tie_break: TieBreak) -> Tensor:
    line, over = (reshape(x, (x.size,)), 0) if axis is None else (x, axis)
    return reshape(_position(line, least(line, axis=over, keepdims=True), over, tie_break), out.shape)


def _position(x: Tensor, extreme: Tensor, axis: int, tie_break: TieBreak) -> Tensor:
    """The first or last index along an axis of the extreme element, or of NaN if there is one."""
    size = x.shape[axis]
    places = tensor_of_numbers(range(size), shape=shape_along(axis, x.ndim, size))
    matches = equal(x, extreme)
    if x.dtype.is_floating:  # a NaN extreme equals nothing
        matches = where(isnan(x), True, matches)
    if tie_break == "low":
        return least(where(matches, places, size), axis=axis)
    return largest(where(matches, places, -1), axis=axis)
