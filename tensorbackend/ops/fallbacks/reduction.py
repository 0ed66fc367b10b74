"""Reductions by halves: the two halves of an axis are combined until one entry is left, which keeps the rounding
errors of sums small (Higham, section 4.1).
"""

from __future__ import annotations

from collections.abc import Callable

from ...dispatch.fallbacks import fallback
from ...dtypes import Scalar, bool_
from ...protocol.reduction import TieBreak
from ...select import move
from ...template import Shape, Template
from ...tensor import Tensor
from ..creation.filled import full, zeros
from ..elementwise.binary import add, equal, logical_and, logical_or, maximum, minimum, multiply
from ..elementwise.conversion import astype
from ..elementwise.ternary import where
from ..elementwise.unary import isnan
from ..reduction import max as greatest
from ..reduction import min as least
from ..shape import concatenate, permute_dims, reshape, slice_
from .common import accumulating, along, listed, part, scalar

OfTwo = Callable[[Tensor, Tensor], Tensor]


def _folded(x: Tensor, axes: tuple[int, ...], shape: Shape, function: OfTwo, identity: Scalar = False) -> Tensor:
    """An associative and commutative function over the elements along some axes; of none its identity."""
    if not x.size:
        return full(shape, identity, dtype=x.dtype)
    for axis in axes:
        spare = []
        while x.shape[axis] > 1:
            count = x.shape[axis] // 2
            if x.shape[axis] % 2:
                spare.append(part(x, axis, 2 * count, 1))
            x = function(part(x, axis, 0, count), part(x, axis, count, count))
        for each in spare:
            x = function(x, each)
    return reshape(x, shape)


@fallback("all", needs=("as_type", "logical_and", "reshape", "slice"))
def _all(out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    return _folded(astype(x, bool_), axes, out.shape, logical_and, True)


@fallback("any", needs=("as_type", "logical_or", "reshape", "slice"))
def _any(out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    return _folded(astype(x, bool_), axes, out.shape, logical_or)


@fallback("sum", needs=("add", "as_type", "reshape", "slice"))
def _sum(out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    return astype(_folded(astype(x, accumulating(out.dtype)), axes, out.shape, add), out.dtype)


@fallback("product", needs=("as_type", "multiply", "reshape", "slice", "transpose"))
def _product(out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    x = astype(x, accumulating(out.dtype))
    if not (out.dtype.is_complex and x.size):
        return astype(_folded(x, axes, out.shape, multiply, True), out.dtype)
    # The order shows where an infinity meets others.
    rows = permute_dims(x, (*axes, *(axis for axis in range(x.ndim) if axis not in axes)))
    rows = reshape(rows, (x.size // out.size, out.size))
    product = part(rows, 0, 0, 1)
    for row in range(1, rows.shape[0]):
        product = multiply(product, part(rows, 0, row, 1))
    return reshape(product, out.shape)


@fallback("reduce_max", needs=("max", "reshape", "slice"))
def _reduce_max(out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    return _folded(x, axes, out.shape, maximum)


@fallback("reduce_min", needs=("min", "reshape", "slice"))
def _reduce_min(out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    return _folded(x, axes, out.shape, minimum)


# Positions


@fallback("argmax", needs=("equal", "is_nan", "reduce_max", "reduce_min", "reshape", "select"))
def _argmax(out: Template, x: Tensor, /, *, axis: int | None, keepdims: bool, tie_break: TieBreak) -> Tensor:
    line, over = (reshape(x, (x.size,)), 0) if axis is None else (x, axis)
    return reshape(_position(line, greatest(line, axis=over, keepdims=True), over, tie_break), out.shape)


@fallback("argmin", needs=("equal", "is_nan", "reduce_max", "reduce_min", "reshape", "select"))
def _argmin(out: Template, x: Tensor, /, *, axis: int | None, keepdims: bool, tie_break: TieBreak) -> Tensor:
    line, over = (reshape(x, (x.size,)), 0) if axis is None else (x, axis)
    return reshape(_position(line, least(line, axis=over, keepdims=True), over, tie_break), out.shape)


def _position(x: Tensor, extreme: Tensor, axis: int, tie_break: TieBreak) -> Tensor:
    """The first index along an axis of an extreme, or the last one; of NaN where there is one."""
    size = x.shape[axis]
    places = listed(range(size), shape=along(axis, x.ndim, size))
    found = equal(x, extreme)
    if x.dtype.is_floating:  # a NaN extreme equals nothing
        found = where(isnan(x), True, found)
    if tie_break == "low":
        return least(where(found, places, size), axis=axis)
    return greatest(where(found, places, -1), axis=axis)


# Functions of scalars, an element at a time


def _elements(x: Tensor) -> list[Tensor]:
    """Each element as a tensor without axes."""
    line = reshape(x, (x.size,))
    return [scalar(slice_(line, starts=(place,), lengths=(1,), strides=(1,))) for place in range(x.size)]


def _joined(elements: list[Tensor], out: Template) -> Tensor:
    """Tensors without axes as the elements of one."""
    if not elements:
        return zeros(out.shape, dtype=out.dtype)
    return reshape(concatenate([reshape(each, (1,)) for each in elements]), out.shape)


@fallback("reduce", needs=("concatenate", "reshape", "slice", "transpose"))
def _reduce(
    out: Template,
    x: Tensor,
    initial: Tensor,
    /,
    *,
    axes: tuple[int, ...],
    keepdims: bool,
    function: OfTwo,
) -> Tensor:
    order = (*(axis for axis in range(x.ndim) if axis not in axes), *axes)
    elements = _elements(permute_dims(x, order))
    row = len(elements) // max(out.size, 1)
    results = []
    for start in range(0, out.size * row, row) if row else [0] * out.size:
        folded = initial
        for each in elements[start : start + row]:
            folded = move(function(folded, each), x.backend)
        results.append(folded)
    return _joined(results, out)


@fallback("map", needs=("concatenate", "reshape", "slice"))
def _map(out: Template, x: Tensor, /, *, function: Callable[[Tensor], Tensor]) -> Tensor:
    return _joined([move(function(each), x.backend) for each in _elements(x)], out)
