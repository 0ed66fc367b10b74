"""Statistics of samples, and their derivatives: functions that call ops, but are not ops themselves."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..annotations import Axis
from ..declarations.argument_errors import check_arguments
from ..dtypes import finfo, float32, promote_types
from ..errors import ArgumentError, ShapeError, expected
from ..rules.accuracy import Bound, declare_bound
from ..rules.axes import normalize_axis
from ..rules.broadcasting import check_dtype, result_type, to_floating, to_real
from ..rules.plan import integer
from ..tensor import Tensor, TensorLike
from .composite.contraction import matmul
from .composite.cumulative import neighbours, places_along
from .composite.elementwise.functions import complex, isfinite
from .composite.linalg.matrices import diagonal
from .composite.linalg.systems import lstsq
from .composite.reduction import _mean
from .composite.shape.arranging import stack
from .creation.filled import full, ones
from .creation.values import operand_tensor, operand_tensors
from .elementwise.basic import abs, astype, clip, conj, imag, real, where
from .elementwise.binary import multiply, subtract
from .elementwise.transcendental import sqrt
from .indexing.slices import entries
from .reduction import all, sum
from .shape import concatenate, expand_dims, matrix_transpose


@check_arguments
@declare_bound(Bound(16, "sums of products of differences", "square", tame=True))
def covariance(x: TensorLike, /, *, mean: TensorLike | None = None, correction: float = 0.0) -> Tensor:
    """The covariance matrix (..., d, d) of observations (..., n, d), with one variable per column.

    Entry (i, j) is the sum of (x_i - mean_i) * conj(x_j - mean_j) over the observations, divided by n - `correction`
    (NaN unless this is positive). `mean`, of shape (..., d), is by default the mean of x. The last two axes of the
    result have no names. Raises `ShapeError` for fewer than two axes.

    >>> tb.covariance(tb.asarray([[1.0, 2.0], [3.0, 6.0]])).tolist()
    [[1.0, 2.0], [2.0, 4.0]]
    """
    x, *centres = operand_tensors(x, *([] if mean is None else [mean]))
    if x.ndim < 2:
        raise ShapeError(expected("observations as rows and variables as columns", tensor=x.template))
    centre = centres[0] if centres else None
    dtype = to_floating(result_type([x.template, *([] if centre is None else [centre.template])]))
    work = promote_types(dtype, float32)
    wide = astype(x.rename(*x.names[:-2], None, None), work)
    if centre is None:
        centre = _mean(wide, axis=-2, keepdims=True)
    elif centre.ndim:
        centre = expand_dims(astype(centre.rename(*(None,) * centre.ndim), work), axis=-2)
    centred = wide - astype(centre, work)
    if centred.shape != x.shape:
        raise ShapeError(expected(f"a mean that broadcasts to the rows of {x.template!r}", mean=centre.template))
    divisor = x.shape[-2] - float(correction)
    products = matmul(matrix_transpose(centred), conj(centred))
    return astype(products / (divisor if divisor > 0 else math.nan), dtype)


@check_arguments
@declare_bound(Bound(64, "quotients of sums of products of differences", "one", tame=True))
def correlation(x: TensorLike, /) -> Tensor:
    """The matrix (..., d, d) of Pearson's correlations of observations (..., n, d), with one variable per column.

    Entry (i, j) is the covariance of the variables i and j divided by the product of their standard deviations, moved
    to the range from -1 to 1; NaN where a variable is constant. The last two axes of the result have no names. Raises
    `ShapeError` for fewer than two axes.

    >>> tb.correlation(tb.asarray([[1.0, -2.0], [3.0, -6.0]])).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    x = operand_tensors(x)[0]
    dtype = to_floating(x.dtype)
    c = covariance(astype(x, promote_types(dtype, float32)))
    deviations = sqrt(real(diagonal(c)) if c.dtype.is_complex else diagonal(c))
    r = c / expand_dims(deviations, axis=-1) / expand_dims(deviations, axis=-2)
    if r.dtype.is_complex:
        return astype(complex(clip(real(r), -1, 1), clip(imag(r), -1, 1)), dtype)
    return astype(clip(r, -1, 1), dtype)


@declare_bound(Bound(256, "a solution of least squares", "result", tame=True))
@check_arguments
def polyfit(
    x: TensorLike, y: TensorLike, degree: int, /, *, weights: TensorLike | None = None, rtol: float | None = None
) -> Tensor:
    """The coefficients of the polynomial of a degree that is nearest to given values, by least squares.

    Parameters
    ----------
    x : Tensor
        The places of the values along one axis.
    y : Tensor
        The values, of shape (n,), or (n, k) for k polynomials.
    degree : int
        The degree of the polynomials.
    weights : Tensor, optional
        A factor for each difference between a value and the polynomial; by default each is 1.
    rtol : float, optional
        Singular values of at most this fraction of the largest count as 0; by default the dtype's eps times n.

    Returns
    -------
    Tensor
        The coefficients, of shape (degree + 1,) or (degree + 1, k), that of the highest power first. The last axis of
        k polynomials has its name in y.

    Raises
    ------
    ShapeError
        For places of more axes or without elements, and for values or weights of another length.
    ArgumentError
        For a negative degree.

    Examples
    --------
    >>> line = tb.polyfit(tb.asarray([0.0, 1.0, 2.0]), tb.asarray([1.0, 3.0, 5.0]), 1)
    >>> tb.all_close(line, tb.asarray([2.0, 1.0]), atol=1e-5).item()
    True
    """
    count = integer(0, degree=degree) + 1
    x, y = operand_tensors(x, y)
    if x.ndim != 1 or not x.shape[0]:
        raise ShapeError(expected("places along one axis", x=x.template))
    if y.ndim not in (1, 2) or y.shape[0] != x.shape[0]:
        expectation = "a value for each place, along the first of one or two axes"
        remedy = "merge_axes() the others, or vmap() over one" if y.ndim > 2 else ""
        raise ShapeError(expected(expectation, remedy, x=x.template, y=y.template))
    dtype = to_floating(check_dtype(result_type([x.template, y.template]), "numeric"))
    work = promote_types(dtype, float32)
    places, values = astype(x.rename(None), work), astype(y.rename(None, *y.names[1:]), work)
    powers = [ones(x.shape, dtype=work, like=places)]
    for _ in range(count - 1):
        powers.append(powers[-1] * places)
    matrix = stack(powers[::-1], axis=1)
    if weights is not None:
        factors = astype(operand_tensor(weights, x), work).rename(None)
        if factors.shape != x.shape:
            raise ShapeError(expected("a weight for each place", x=x.template, weights=factors.template))
        matrix = matrix * expand_dims(factors, axis=1)
        values = values * (expand_dims(factors, axis=1) if y.ndim == 2 else factors)
    magnitudes = abs(matrix)
    scale = sqrt(sum(magnitudes * magnitudes, axis=0))
    scale = where(scale == 0, 1, scale)
    cut = x.shape[0] * finfo(work).eps if rtol is None else rtol
    found = lstsq(matrix / scale, values, rtol=cut).solution
    return astype(found / (expand_dims(scale, axis=1) if y.ndim == 2 else scale), dtype)


@declare_bound(Bound(64, "quotients of differences", "operand", tame=True))
@check_arguments
def sample_gradient(
    y: TensorLike, x: TensorLike | None = None, /, *, dx: float = 1.0, axis: Axis = -1, edge_order: int = 1
) -> Tensor:
    """The derivative of samples along an axis by differences of neighbours, as `numpy.gradient` computes it.

    Inside it is exact for polynomials of degree 2, also where distances differ; at both ends for those of degree
    `edge_order`. The derivative of a function is `grad`.

    Parameters
    ----------
    y : Tensor
        The samples.
    x, dx, axis
        As for `trapezoid`.
    edge_order : {1, 2}, default 1
        The degree of the polynomials for which the first and the last entry are exact.

    Returns
    -------
    Tensor
        A tensor with the shape and names of y, in the floating dtype to which the operands are promoted.

    Raises
    ------
    ShapeError
        For an axis with fewer than `edge_order` + 1 samples, and for places that do not fit.
    ArgumentError
        For another `edge_order`.

    Examples
    --------
    >>> tb.sample_gradient(tb.asarray([0.0, 1.0, 4.0, 9.0])).tolist()
    [1.0, 2.0, 4.0, 5.0]
    >>> tb.sample_gradient(tb.asarray([0.0, 1.0, 9.0]), tb.asarray([0.0, 1.0, 3.0]), edge_order=2).tolist()
    [0.0, 2.0, 6.0]
    """
    y = operand_tensor(y, x)
    x = None if x is None else operand_tensor(x, y)
    along = normalize_axis(y.template, axis)
    if edge_order not in (1, 2):
        raise ArgumentError(expected("edge_order to be 1 or 2", edge_order=edge_order))
    templates = [y.template] if x is None else [y.template, x.template]
    dtype = to_floating(check_dtype(result_type(templates), "numeric"))
    size = y.shape[along]
    if size <= edge_order:
        raise ShapeError(expected(f"at least {edge_order + 1} samples along axis {along}", y=y.template))
    work = promote_types(dtype, float32)
    y = astype(y, work)
    slopes = subtract(*neighbours(y, along))
    triples = [entries(y, along, start, size - 2) for start in range(3)]
    widths = None if x is None else subtract(*neighbours(astype(places_along(x, y, along), work), along))
    if widths is None:
        slopes = slopes / dx
        mean = (triples[2] - triples[0]) / (2 * dx)
    else:
        slopes = slopes / widths
        after, before = neighbours(widths, along)
        right, left = neighbours(slopes, along)
        mean = (before * right + after * left) / (before + after)
        even = all(widths == entries(widths, along, 0, 1), axis=along, keepdims=True)
        # At even places the sample in the middle has no part in the slope, not even an infinite one.
        triples_of_mean = [triples[0], where(even, 0, triples[1]), triples[2]]
        mean = _or_by_weights(mean, triples_of_mean, _weights_inside(before, after))
    ends = [entries(slopes, along, 0, 1), entries(slopes, along, size - 2, 1)]
    if edge_order == 2:  # the derivative of a parabola is a line, which has the slope in the middle between two samples
        for end, place in enumerate((0, size - 3)):
            slope = ends[end] * 2 - entries(mean, along, place, 1)
            samples = [entries(each, along, place, 1) for each in triples]
            if widths is None:
                one = two = full((), dx, dtype=to_real(work), like=y)
            else:
                one, two = (entries(widths, along, place + step, 1) for step in range(2))
            weights = _weights_at_end(two, one) if end else _weights_at_end(one, two)
            if end:  # from behind, where the differences have the other sign
                weights = [weight * -1 for weight in reversed(weights)]
            ends[end] = _or_by_weights(slope, samples, weights)
    return astype(concatenate([ends[0], mean, ends[1]], axis=along), dtype)


def _or_by_weights(slope: Tensor, samples: Sequence[Tensor], weights: Sequence[Tensor]) -> Tensor:
    """A slope by differences; where it is not finite, the weighted sum of the samples, which NumPy always takes.

    Differences of equal samples are exactly 0. But two differences to an infinite sample may cancel.
    """
    first, second, third = map(multiply, samples, weights)
    return where(isfinite(slope), slope, first + second + third)


def _weights_inside(before: Tensor, after: Tensor) -> list[Tensor]:
    """The weights of three samples in the slope at the second one."""
    total = before + after
    return [-(after / (before * total)), (after - before) / (before * after), before / (after * total)]


def _weights_at_end(one: Tensor, two: Tensor) -> list[Tensor]:
    """The weights of three samples in the slope at the first one."""
    total = one + two
    return [-((one + total) / (one * total)), total / (one * two), -(one / (two * total))]
