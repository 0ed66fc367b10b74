"""Averages and related reductions along axes, written in public ops."""

from __future__ import annotations

import math

from ....annotations import Axes
from ....declarations.argument_errors import check_arguments
from ....dispatch import composite
from ....dtypes import DType, float32, promote_types, scalar_kind
from ....errors import ShapeError, expected
from ....rules.accuracy import LOG_OF_SUM, SUM, Bound
from ....rules.axes import sorted_axes
from ....rules.broadcasting import broadcast, check_dtype, result_type, to_floating
from ....sizes import apply
from ....template import weak_template
from ....tensor import Tensor, TensorLike
from ...creation.values import operand_tensors
from ...elementwise.basic import astype, where
from ...elementwise.transcendental import exp, log, sqrt
from ...reduction import all, max, sum
from ...shape import align_as, broadcast_to, reshape
from ..elementwise.functions import isclose, isfinite


def count_along(x: Tensor, axis: Axes) -> float:
    """The number of elements that a reduction combines into one; the dispatcher has made the axes positions."""
    assert isinstance(axis, tuple)
    count: float = apply(float, math.prod(x.shape[position] for position in axis if isinstance(position, int)))
    return count


def cast_to_float32(x: Tensor) -> Tensor:
    """Casts to at least float32, so that neither a sum of float16 nor a count of elements overflows."""
    return astype(x, promote_types(to_floating(x.dtype), float32))


@composite.within(SUM)
def mean(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Arithmetic mean; NaN if there are no elements. Integers and bool are converted to the default floating dtype.

    >>> tb.mean(tb.asarray([True, False])).item()
    0.5
    """
    total = sum(cast_to_float32(x), axis=axis, keepdims=keepdims)
    return astype(total / count_along(x, axis), to_floating(x.dtype))


_mean = mean  # for functions with a parameter named `mean`


@composite.within(Bound(16, "a sum of squares of differences", "square", tame=True))
def var(x: Tensor, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Variance. The divisor is the number of elements minus `correction`; the result is NaN if that is not positive.

    >>> tb.var(tb.asarray([1.0, 3.0])).item(), tb.var(tb.asarray([1.0, 3.0]), correction=1).item()
    (1.0, 2.0)
    """
    check_dtype(x.dtype, "real")
    wide = cast_to_float32(x)
    centred = wide - mean(wide, axis=axis, keepdims=True)
    squares = sum(centred * centred, axis=axis, keepdims=keepdims)
    divisor = count_along(x, axis) - correction
    return astype(squares / (divisor if divisor > 0 else math.nan), to_floating(x.dtype))


@composite.within(Bound(16, "the root of a sum of squares of differences", "operand", tame=True))
def std(x: Tensor, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Standard deviation: the square root of the variance. The divisor is the number of elements minus `correction`.

    >>> tb.std(tb.asarray([[1.0, 3.0], [1.0, 5.0]], names=("row", "n")), axis="n").tolist()
    [1.0, 2.0]
    """
    return astype(
        sqrt(var(cast_to_float32(x), axis=axis, correction=correction, keepdims=keepdims)), to_floating(x.dtype)
    )


@composite.within(LOG_OF_SUM)
def _logsumexp(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """See `logsumexp`."""
    check_dtype(x.dtype, "real or bool")
    return _shifted_sum(cast_to_float32(x), None, axis, keepdims, to_floating(x.dtype))


def _scaled_sum(x: TensorLike, scale: TensorLike, axis: Axes, keepdims: bool) -> Tensor:
    """See `logsumexp`."""
    x, factors = operand_tensors(x, scale)
    kind = scalar_kind(scale)
    weight = factors.template if kind is None else weak_template(kind)
    dtype = to_floating(check_dtype(result_type([x.template, weight]), "real or bool"))
    work = promote_types(dtype, float32)
    return _shifted_sum(astype(x, work), astype(factors, work), sorted_axes(x.template, axis), keepdims, dtype)


def _shifted_sum(x: Tensor, scale: Tensor | None, axis: Axes, keepdims: bool, dtype: DType) -> Tensor:
    """log(sum(scale * exp(x))), with the exponentials divided by the largest one so that none overflows."""
    if not count_along(x, axis):
        return astype(log(sum(x, axis=axis, keepdims=keepdims)), dtype)
    largest = max(x, axis=axis, keepdims=True)
    shift = where(isfinite(largest), largest, 0)
    terms = exp(x - shift)
    if scale is not None:
        scaled = terms * scale
        if scaled.shape != x.shape:
            raise ShapeError(expected(f"a scale that broadcasts to {x.template!r}", scale=scale.template))
        terms = scaled
    total = sum(terms, axis=axis, keepdims=keepdims)
    return astype(log(total) + reshape(shift, total.shape, names=total.names), dtype)


@check_arguments
def logsumexp(
    x: TensorLike, /, *, axis: Axes = None, keepdims: bool = False, scale: TensorLike | None = None
) -> Tensor:
    """Logarithm of the sum of exp(x), computed without overflow; -inf if there are no elements.

    If a `scale` is given, the exponentials are multiplied by it. Raises `ShapeError` for a scale that does not
    broadcast to x.

    >>> tb.logsumexp(tb.asarray([1000.0, -1000.0])).item()
    1000.0
    >>> round(tb.logsumexp(tb.asarray([1.0, 1.0]), scale=tb.asarray([0.25, 0.75])).item(), 6)
    1.0
    """
    if scale is None:
        return _logsumexp(x, axis=axis, keepdims=keepdims)
    return _scaled_sum(x, scale, axis, keepdims)


@composite.within(Bound(16, "a quotient of sums", "operand", tame=True))
def weighted_mean(x: Tensor, weights: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Mean of the elements with weights: the weighted sum divided by the sum of the weights.

    The weights broadcast to x, by name if each of their axes has one. If `axis` is a single axis, they may also be a
    vector with a weight for each entry along it. If the weights add up to 0, the result is NaN or infinite.

    >>> tb.weighted_mean(tb.asarray([1.0, 3.0]), tb.asarray([3, 1])).item()
    1.5
    """
    dtype = to_floating(result_type([x.template, weights.template]))
    work = promote_types(dtype, float32)
    weights = spread_weights(astype(weights, work), x, axis)
    products = astype(x, work) * weights
    total = sum(weights, axis=axis, keepdims=keepdims)
    return astype(sum(products, axis=axis, keepdims=keepdims) / total, dtype)


def spread_weights(weights: Tensor, x: Tensor, axis: Axes) -> Tensor:
    """The weight of each element of x, of weights that broadcast to x or that are for the entries along one axis."""
    assert isinstance(axis, tuple)  # by the dispatcher
    along = axis[0] if len(axis) == 1 else None
    if weights.ndim == 1 and isinstance(along, int) and weights.shape[0] == x.shape[along]:
        sizes, unnamed = [1] * x.ndim, [None] * x.ndim
        sizes[along] = weights.shape[0]
        weights = reshape(weights, tuple(sizes), names=(*unnamed[:along], *weights.names, *unnamed[along + 1 :]))
    elif weights.ndim and None not in weights.names and {*weights.names} <= {*x.names}:
        weights = align_as(weights, x)
    shape, names = broadcast([x.template, weights.template])
    if shape != x.shape:
        remedy = "broadcast_to() x first"
        raise ShapeError(expected(f"weights that broadcast to {x.template!r}", remedy, weights=weights.template))
    return broadcast_to(weights, shape, names=names)


@composite
def all_close(x1: Tensor, x2: Tensor, /, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
    """Test whether `isclose` holds for every pair of elements; return a bool without axes.

    >>> tb.all_close(tb.asarray([1.0, float("nan")]), tb.asarray([1.0, float("nan")]), equal_nan=True).item()
    True
    """
    return all(isclose(x1, x2, rtol=rtol, atol=atol, equal_nan=equal_nan))


@composite.within(Bound(64, "differences from a mean over a root of a mean", "operand", tame=True))
def standardise(x: Tensor, /, *, axis: Axes = -1, epsilon: float = 1e-5) -> Tensor:
    """Standardise: (x - mean) / sqrt(variance + epsilon) along some axes.

    Parameters
    ----------
    x : Tensor
        A tensor of any shape, of a real dtype or bool.
    axis : int, str, or several of them, default -1
        The axes over which mean and variance are computed; `None` for all.
    epsilon : float, default 1e-5
        Added to the variance.

    Returns
    -------
    Tensor
        A tensor with the shape and names of x, in its dtype, or the default floating dtype for integers and bool. It is
        computed in float32 at least.

    Raises
    ------
    DTypeError
        For a complex dtype.
    AxisError
        For an axis that x does not have.

    Examples
    --------
    >>> tb.nn.standardise(tb.asarray([1.0, 3.0]), epsilon=0.0).tolist()
    [-1.0, 1.0]

    See Also
    --------
    layer_norm : With a scale and an offset.
    """
    check_dtype(x.dtype, "real or bool")
    wide = cast_to_float32(x)
    centred = wide - mean(wide, axis=axis, keepdims=True)
    variance = mean(centred * centred, axis=axis, keepdims=True)
    return astype(centred / sqrt(variance + epsilon), to_floating(x.dtype))


@composite
def count_nonzero(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Count the nonzero elements along some axes (int64). NaN is not zero.

    >>> tb.count_nonzero(tb.asarray([[0, 3], [1, 1]]), axis=1).tolist()
    [1, 2]
    """
    return sum(astype(x, "bool"), axis=axis, keepdims=keepdims)
