"""Norms of vectors and matrices, written in public ops.

Results are real. Integers are converted to the default floating dtype; float16 and bfloat16 are computed in float32. A
norm of no elements is 0, except that it is infinite for a power below 0, and that a norm that is a minimum raises
`ShapeError`. The Euclidean norm and other norms
of powers are scaled by the dominant element, so that no power overflows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, TypeAlias

from ....annotations import Axes, Axis
from ....dispatch import composite
from ....dtypes import finfo
from ....errors import ArgumentError, ShapeError, expected
from ....rules.accuracy import ROOT_OF_SUM
from ....rules.axes import normalize_axes
from ....rules.broadcasting import to_real
from ....rules.linalg import check_matrix, matrix_dtype
from ....rules.reduction import reduce_shape
from ....tensor import Tensor
from ...elementwise.basic import abs, astype, where
from ...elementwise.binary import logical_and
from ...elementwise.transcendental import sqrt
from ...reduction import max, min, sum
from ...shape import permute_dims, reshape, squeeze
from ..elementwise.functions import isfinite
from .systems import svdvals, wide_dtype

Order: TypeAlias = float | Literal["fro", "nuc"] | None

MATRIX_ORDERS = ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf)
"""The values that `ord` of a matrix norm may have."""


def _sizes(x: Tensor) -> Tensor:
    """The magnitudes of x, in the dtype to compute in."""
    return abs(astype(x, wide_dtype(matrix_dtype(x.template))))


def _power_sum(sizes: Tensor, axes: tuple[int, ...], power: float) -> Tensor:
    """The root of the sum of powers of magnitudes, with the reduced axes kept."""
    if 0 in (sizes.shape[axis] for axis in axes):
        nothing = sum(sizes, axis=axes, keepdims=True)
        return nothing if power > 0 else nothing + math.inf  # 0 to the power of 1 / power
    # The largest element dominates, or the smallest one for a power below 0. Where that element is 0, so is the norm.
    most = (max if power > 0 else min)(sizes, axis=axes, keepdims=True)
    scale = where(logical_and(isfinite(most), most > 0), most, 1)
    parts = sizes / scale
    if power == 2:
        return sqrt(sum(parts * parts, axis=axes, keepdims=True)) * scale
    # If the dtype cannot hold the power or its inverse, the power at that end of the range takes its place.
    limits = finfo(sizes.dtype)
    power = math.copysign(sorted((limits.smallest_normal, math.fabs(power), limits.max))[1], power)
    return sum(parts**power, axis=axes, keepdims=True) ** (1 / power) * scale


def _extreme(values: Tensor, axes: tuple[int, ...], largest: bool) -> Tensor:
    """The maximum or minimum along axes, which are kept with size 1; the maximum of no values is 0."""
    if 0 in (values.shape[axis] for axis in axes):
        if not largest:
            expectation = "at least one element for a norm that is a minimum"
            raise ShapeError(expected(expectation, shape=values.shape, axes=axes))
        return sum(values, axis=axes, keepdims=True)
    return (max if largest else min)(values, axis=axes, keepdims=True)


def _vector(x: Tensor, axes: tuple[int, ...], order: float) -> Tensor:
    """A vector norm along axes, which are kept with size 1."""
    sizes = _sizes(x)
    if math.isinf(order):
        return _extreme(sizes, axes, order > 0)
    if order == 0:
        return sum(astype(sizes != 0, sizes.dtype), axis=axes, keepdims=True)
    if order == 1:
        return sum(sizes, axis=axes, keepdims=True)
    return _power_sum(sizes, axes, order)


def _matrix(x: Tensor, order: object) -> Tensor:
    """A matrix norm of the last two axes, which are kept with size 1."""
    row, column = x.ndim - 2, x.ndim - 1
    if order == "nuc" or order in (2, -2):
        values = svdvals(astype(x, wide_dtype(matrix_dtype(x.template))))
        axes = (values.ndim - 1,)
        norms = sum(values, axis=axes, keepdims=True) if order == "nuc" else _extreme(values, axes, order == 2)
        return reshape(norms, (*x.shape[:-2], 1, 1), names=x.names)
    along, over = (row, column) if order in (1, -1) else (column, row)
    return _extreme(sum(_sizes(x), axis=along, keepdims=True), (over,), order in (1, math.inf))


def _restore_dtype_and_axes(norms: Tensor, x: Tensor, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    norms = astype(norms, to_real(matrix_dtype(x.template)))
    return norms if keepdims else squeeze(norms, axes)


@composite.within(ROOT_OF_SUM)
def vector_norm(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False, ord: float = 2) -> Tensor:
    """The norm of vectors along an axis, or along several axes flattened into one; by default of all elements.

    The norm is (sum |x|**ord)**(1 / ord). For `ord=0` it is the number of nonzero elements, for infinity the maximum
    of the magnitudes, and for -infinity their minimum.

    >>> tb.linalg.vector_norm(tb.asarray([3.0, -4.0])).item(), tb.linalg.vector_norm(tb.asarray([3, -4]), ord=1).item()
    (5.0, 7.0)
    """
    axes = normalize_axes(x.template, axis)
    return _restore_dtype_and_axes(_vector(x, axes, _number(ord)), x, axes, keepdims)


def _number(order: object) -> float:
    if isinstance(order, int | float) and order == order:
        return order
    raise ArgumentError(expected("a number as ord of a vector norm", ord=order))


@composite.within(ROOT_OF_SUM)
def matrix_norm(x: Tensor, /, *, keepdims: bool = False, ord: Order = "fro") -> Tensor:
    """The norm of matrices in the last two axes.

    `ord` is `"fro"` (the root of the sum of squares), `"nuc"` (the sum of the singular values), 2 or -2 (the largest
    or smallest singular value), 1 or -1 (the maximum or minimum of the column sums of magnitudes), infinity or
    -infinity (the same for rows). Raises `ArgumentError` for any other `ord`.

    >>> x = tb.asarray([[1.0, -2.0], [3.0, 4.0]])
    >>> tb.linalg.matrix_norm(x, ord=1).item(), tb.linalg.matrix_norm(x, ord=float("inf")).item()
    (6.0, 7.0)
    """
    matrix_dtype(check_matrix(x.template))  # so that its errors name this op
    _check_order(ord)
    if ord == "fro":
        return vector_norm(x, axis=(-2, -1), keepdims=keepdims)
    return _restore_dtype_and_axes(_matrix(x, ord), x, (x.ndim - 2, x.ndim - 1), keepdims)


def _check_order(order: object) -> None:
    if isinstance(order, bool) or order not in MATRIX_ORDERS:
        expectation = "ord of a matrix norm to be 'fro', 'nuc', 1, -1, 2, -2, inf or -inf"
        raise ArgumentError(expected(expectation, ord=order))


@composite.within(ROOT_OF_SUM)
def norm(
    x: Tensor, /, *, axis: Axis | Sequence[Axis] | None = None, keepdims: bool = False, ord: Order = None
) -> Tensor:
    """The norm of vectors along one axis, or of matrices in two axes, as in NumPy.

    Without `axis` and `ord`, it is the norm of the flattened tensor; with `ord` alone, x must be a vector or a
    matrix. The default norm is the root of the sum of squares; `ord` is as in `vector_norm` and `matrix_norm`.

    >>> x = tb.asarray([[3.0, 4.0], [0.0, 5.0]], names=("row", "column"))
    >>> tb.linalg.norm(x, axis="column").tolist(), tb.linalg.norm(x, ord=1).item()
    ([5.0, 5.0], 9.0)
    """
    axes = normalize_axes(x.template, axis)
    matrix_dtype(x.template)  # so that its errors name this op
    if axis is None and ord is not None and x.ndim not in (1, 2):
        raise ArgumentError(
            expected("a vector or a matrix for a norm with ord", "pass one axis or two", tensor=x.template, ord=ord)
        )
    if ord is None or len(axes) != 2:
        return vector_norm(x, axis=axes, keepdims=keepdims, ord=2 if ord is None else _number(ord))
    _check_order(ord)
    if ord == "fro":
        return vector_norm(x, axis=axes, keepdims=keepdims)
    others = tuple(other for other in range(x.ndim) if other not in axes)
    shape, names = reduce_shape(x.template, axes, True)
    norms = reshape(_matrix(permute_dims(x, others + axes), ord), shape, names=names)
    return _restore_dtype_and_axes(norms, x, axes, keepdims)
