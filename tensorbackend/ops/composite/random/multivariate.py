"""Random normal vectors with a mean and a covariance, drawn with a key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from ....declarations.argument_errors import check_arguments
from ....dispatch import composite
from ....dtypes import DTypeLike, as_dtype, scalar_kind
from ....errors import ShapeError, expected
from ....rules.accuracy import Bound
from ....rules.broadcasting import broadcast, result_type, to_floating
from ....rules.plan import choice
from ....rules.random import check_fits, check_floating, check_key
from ....template import NamesLike, Template, as_shape
from ....tensor import Tensor, TensorLike
from ...creation.filled import rename
from ...creation.values import operand_tensor, operand_tensors
from ...elementwise.basic import where
from ...elementwise.transcendental import sqrt
from ...linalg import cholesky, eigh, svd
from ...shape import expand_dims, matrix_transpose, squeeze
from ..contraction import matmul
from .continuous import parameter, standard_normal
from .threefry import name_axes

Method: TypeAlias = Literal["cholesky", "eigh", "svd"]
"""How a covariance is factorised."""

_METHODS: Final[tuple[Method, ...]] = ("cholesky", "eigh", "svd")


@composite.within(Bound(64, "a factor and a sum of products", "one"))
def _multivariate_normal(
    key: Tensor, mean: Tensor, cov: Tensor, /, *, shape: Sequence[int] | None, method: Method, names: NamesLike
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
    factor = _factor(rename(cov, *(None,) * cov.ndim), method)
    if cov.ndim == 2:  # one product of matrices for all vectors
        correlated = matmul(independent, matrix_transpose(factor))
    else:
        correlated = squeeze(matmul(factor, expand_dims(independent, axis=-1)), -1)
    return name_axes(mean + correlated, names)


def _factor(cov: Tensor, method: Method) -> Tensor:
    """A matrix whose product with its transpose is the covariance."""
    if method == "cholesky":
        return cholesky(cov)
    variances, vectors = eigh(cov) if method == "eigh" else svd(cov)[1::-1]
    # The symmetric root does not depend on which vectors a library returns for equal variances, nor on their signs.
    # A variance of 0, or one that is negative by rounding, has a root of 0 with a derivative of 0, not infinity.
    positive = variances > 0
    roots = where(positive, sqrt(where(positive, variances, 1)), 0)
    scaled = vectors * expand_dims(roots, axis=-2)
    return matmul(scaled, matrix_transpose(vectors))


@check_arguments
def multivariate_normal(
    key: TensorLike,
    /,
    mean: TensorLike,
    cov: TensorLike,
    shape: Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    method: Method = "cholesky",
    *,
    names: NamesLike = None,
) -> Tensor:
    """Random normal vectors along the last axis, with a mean and a covariance.

    Parameters
    ----------
    method : {"cholesky", "eigh", "svd"}, default "cholesky"
        How the covariance is factorised. "cholesky" is the fastest, and needs a positive definite matrix; the others
        also take a singular one, by its symmetric root; "eigh" is the faster of them. Their gradient by the covariance
        is NaN where two of its eigenvalues are equal.

    Returns
    -------
    Tensor
        The mean plus a factor of the covariance times independent standard normal numbers.

    Raises
    ------
    ArgumentError
        For another method.
    DataError
        With "cholesky", for a covariance that is not positive definite, whenever data can be read.
    DTypeError
        For a dtype that is not floating.
    ShapeError
        For an invalid key, and shapes that do not fit together.

    Examples
    --------
    >>> mean, cov = tb.zeros(2, names=("feature",)), tb.eye(2)
    >>> tb.random.multivariate_normal(tb.random.key(0), mean, cov, (5,)).template
    f32[5][feature: 2]
    >>> singular = tb.asarray([[1.0, 1.0], [1.0, 1.0]])
    >>> x = tb.random.multivariate_normal(tb.random.key(0), mean, singular, (5,), method="eigh")
    >>> bool(tb.all_close(x[:, 0], x[:, 1], atol=1e-5))
    True
    """
    choice(_METHODS, method=method)
    key = operand_tensor(key, mean, cov)
    moments = [x if scalar_kind(x) is not None else operand_tensors(key, x)[1] for x in (mean, cov)]
    tensors = [x.template for x in moments if isinstance(x, Tensor)]
    common = to_floating(result_type(tensors)) if dtype is None and tensors else None
    kind = check_floating(common if dtype is None else as_dtype(dtype))
    centre, spread = (parameter(x, kind, key) for x in moments)
    sizes = None if shape is None else as_shape(shape)
    return _multivariate_normal(key, centre, spread, shape=sizes, method=method, names=names)
