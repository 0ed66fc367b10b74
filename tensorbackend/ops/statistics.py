"""Statistics of samples: functions that call ops, but are not ops themselves."""

from __future__ import annotations

import math

from ..declarations.argument_errors import check_arguments
from ..dtypes import finfo, float32, promote_types
from ..errors import ShapeError, expected
from ..rules.accuracy import Bound, declare_bound
from ..rules.broadcasting import check_dtype, result_type, to_floating
from ..rules.plan import integer
from ..tensor import Tensor, TensorLike
from .composite.contraction import matmul
from .composite.elementwise.functions import complex
from .composite.linalg.matrices import diagonal
from .composite.linalg.systems import lstsq
from .composite.reduction import _mean
from .composite.shape.arranging import stack
from .creation.filled import ones
from .creation.values import operand_tensor, operand_tensors
from .elementwise.conversion import astype
from .elementwise.ternary import clip, where
from .elementwise.transcendental import sqrt
from .elementwise.unary import abs, conj, imag, real
from .reduction import sum
from .shape import expand_dims, matrix_transpose


@check_arguments
@declare_bound(Bound(16, "sums of products of differences", "square", tame=True))
def covariance(x: TensorLike, /, *, mean: TensorLike | None = None, correction: float = 0.0) -> Tensor:
    """The covariance matrix (..., d, d) of observations (..., n, d), with one variable per column.

    Entry (i, j) is the sum of (x_i - mean_i) * conj(x_j - mean_j) over the observations, divided by n - `correction`
    (NaN unless this is positive). `mean`, of shape (..., d), is by default the mean of x. The last two axes of the
    result have no names. Raises `ShapeError` for fewer than two axes.

    >>> import tensorbackend as tb
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

    >>> import tensorbackend as tb
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
    >>> import tensorbackend as tb
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
