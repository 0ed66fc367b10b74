"""Random normal vectors with a mean and a covariance, drawn with a key."""

from __future__ import annotations

from collections.abc import Sequence

from ....declarations.argument_errors import check_arguments
from ....dispatch import composite
from ....dtypes import DTypeLike, as_dtype, scalar_kind
from ....errors import ShapeError, expected
from ....rules.accuracy import Bound
from ....rules.broadcasting import broadcast, result_type, to_floating
from ....rules.random import check_fits, check_floating, check_key
from ....template import Template, as_shape
from ....tensor import Tensor, TensorLike
from ...creation.filled import rename
from ...creation.values import operand_tensor, operand_tensors
from ...elementwise.binary import add
from ...linalg import cholesky
from ...shape import expand_dims, matrix_transpose, squeeze
from ..contraction import matmul
from .continuous import parameter, standard_normal
from .threefry import name_axes


@composite.within(Bound(64, "a factor and a sum of products", "one"))
def _multivariate_normal(
    key: Tensor,
    mean: Tensor,
    cov: Tensor,
    /,
    *,
    shape: Sequence[int] | None,
    names: Sequence[str | None] | None,
) -> Tensor:
    """See `multivariate_normal`."""
    check_key(key.template)
    dtype = check_floating(mean.dtype)
    if not mean.shape or cov.shape[-2:] != mean.shape[-1:] * 2:
        expectation = "a mean of shape (..., n) and a covariance of shape (..., n, n)"
        raise ShapeError(expected(expectation, mean=mean.template, cov=cov.template))
    batches = Template(mean.shape[:-1], dtype), Template(cov.shape[:-2], dtype)
    sizes = broadcast(batches)[0] if shape is None else as_shape(shape)
    check_fits(sizes, *batches)
    independent = standard_normal(key, (*sizes, *mean.shape[-1:]), dtype)
    factor = cholesky(rename(cov, *(None,) * cov.ndim))
    if cov.ndim == 2:  # one product of matrices for all vectors
        correlated = matmul(independent, matrix_transpose(factor))
    else:
        correlated = squeeze(matmul(factor, expand_dims(independent, axis=-1)), -1)
    return name_axes(add(mean, correlated), names)


@check_arguments
def multivariate_normal(
    key: TensorLike,
    /,
    mean: TensorLike,
    cov: TensorLike,
    shape: Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    *,
    names: Sequence[str | None] | None = None,
) -> Tensor:
    """Random normal vectors along the last axis, with a mean (..., n) and a positive definite covariance (..., n, n).

    `shape` is the shape of the leading axes; by default it is the one to which the leading axes of the mean and the
    covariance broadcast. The axes have the names of the mean unless others are given. A vector is the mean plus the
    Cholesky factor of the covariance times independent standard normal numbers. Raises `DTypeError`, `ShapeError`, and
    `DataError` for a covariance without a Cholesky factor.

    >>> import tensorbackend as tb
    >>> mean, cov = tb.zeros(2, names=("feature",)), tb.eye(2)
    >>> tb.random.multivariate_normal(tb.random.key(0), mean, cov, (5,)).template
    f32[5][feature: 2]
    """
    key = operand_tensor(key, mean, cov)
    moments = [x if scalar_kind(x) is not None else operand_tensors(key, x)[1] for x in (mean, cov)]
    tensors = [x.template for x in moments if isinstance(x, Tensor)]
    common = to_floating(result_type(tensors)) if dtype is None and tensors else None
    kind = check_floating(common if dtype is None else as_dtype(dtype))
    centre, spread = (parameter(x, kind, key) for x in moments)
    return _multivariate_normal(key, centre, spread, shape=None if shape is None else as_shape(shape), names=names)
