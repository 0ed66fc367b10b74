"""Statistics of samples: functions that call ops, but are not ops themselves."""

from __future__ import annotations

import math

from ..declarations.argument_errors import check_arguments
from ..dtypes import float32, promote_types
from ..errors import ShapeError, expected
from ..rules.accuracy import Bound, declare_bound
from ..rules.broadcasting import result_type, to_floating
from ..tensor import Tensor, TensorLike
from .composite.contraction import matmul
from .composite.reduction import _mean
from .creation.values import operand_tensors
from .elementwise.binary import divide, subtract
from .elementwise.conversion import astype
from .elementwise.unary import conj
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
    centred = subtract(wide, astype(centre, work))
    if centred.shape != x.shape:
        raise ShapeError(expected(f"a mean that broadcasts to the rows of {x.template!r}", mean=centre.template))
    divisor = x.shape[-2] - float(correction)
    products = matmul(matrix_transpose(centred), conj(centred))
    return astype(divide(products, divisor if divisor > 0 else math.nan), dtype)
