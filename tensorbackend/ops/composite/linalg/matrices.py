"""Parts and rearrangements of matrices, and the cross product, written in public ops."""

from __future__ import annotations

from operator import index

from ....annotations import Axis
from ....dispatch import composite
from ....dtypes import DTypeLike, float32, promote_types
from ....errors import ShapeError, expected
from ....rules.accuracy import SUM, Bound
from ....rules.axes import normalize_axes, normalize_axis
from ....rules.broadcasting import check_dtype, result_type
from ....rules.linalg import check_matrix, diagonal_run
from ....tensor import Tensor
from ...elementwise.basic import astype, conj
from ...indexing.slices import slice_
from ...reduction import sum
from ...shape import concatenate, matrix_transpose, permute_dims, reshape
from ..contraction import matmul


@composite
def adjoint(x: Tensor, /) -> Tensor:
    """The conjugate transpose of the last two axes.

    >>> tb.linalg.adjoint(tb.asarray([[1 + 2j, 3j]])).tolist()
    [[(1-2j)], [-3j]]
    """
    check_matrix(x.template)
    return conj(matrix_transpose(x)) if x.dtype.is_complex else matrix_transpose(x)


@composite
def diagonal(x: Tensor, /, *, offset: int = 0) -> Tensor:
    """Return the diagonal of the last two axes, `offset` columns above the main one, with the name of the rows.

    >>> tb.linalg.diagonal(tb.asarray([[1, 2], [3, 4]])).tolist()
    [1, 4]
    >>> tb.linalg.diagonal(tb.asarray([[1, 2], [3, 4]]), offset=-1).tolist()
    [3]
    """
    rows, columns = check_matrix(x.template).shape[-2:]
    start, length = diagonal_run(rows, columns, index(offset))
    batch = x.shape[:-2]
    leading = (0,) * len(batch)
    return slice_(
        reshape(x, (*batch, rows * columns), names=x.names[:-1]),
        starts=(*leading, start),
        lengths=(*batch, length),
        strides=(*(1 for _ in batch), columns + 1),
    )


@composite.within(SUM)
def trace(
    x: Tensor, /, *, offset: int = 0, dtype: DTypeLike | None = None, axis1: Axis = -2, axis2: Axis = -1
) -> Tensor:
    """The sum along a diagonal of two axes, by default the last ones.

    Small integers are summed in 64 bits unless `dtype` is given.

    >>> tb.linalg.trace(tb.asarray([[1, 2], [3, 4]])).item()
    5
    """
    check_matrix(x.template)
    pair = normalize_axes(x.template, (axis1, axis2))
    x = permute_dims(x, (*(axis for axis in range(x.ndim) if axis not in pair), *pair))
    return sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


@composite.within(SUM)
def apply_matrix(x: Tensor, matrix: Tensor, /, *, axis: Axis = -1) -> Tensor:
    """Multiply the vectors along an axis of x by a matrix; the axis keeps its name.

    So a matrix can be applied again and again, whatever its axes are called. A product by names, such as `dot`, cannot:
    the axes of a square matrix have different names.

    Parameters
    ----------
    x : Tensor
        Vectors along an axis.
    matrix : Tensor
        A tensor of two axes: the entries of the result, and those of x.
    axis : int or str, default -1
        The axis of the vectors.

    Returns
    -------
    Tensor
        A tensor like x, with as many entries along the axis as the matrix has rows.

    Raises
    ------
    ShapeError
        For a matrix that has not two axes, or another number of columns than there are entries along the axis.

    Examples
    --------
    >>> step = tb.asarray([[0.0, 1.0], [1.0, 1.0]], names=("new", "old"))
    >>> x = tb.asarray([1.0, 1.0], names=("state",))
    >>> for _ in range(5):
    ...     x = tb.linalg.apply_matrix(x, step)
    >>> x
    f32[state: 2] numpy [8.0, 13.0]
    """
    along = normalize_axis(x.template, axis)
    if matrix.ndim != 2 or matrix.shape[1] != x.shape[along]:
        expectation = f"a matrix with {x.shape[along]} columns for axis {along} of {x.template!r}"
        raise ShapeError(expected(expectation, matrix=matrix.template))
    order = (*(other for other in range(x.ndim) if other != along), along)
    vectors = permute_dims(x, order)
    rows = matmul(vectors.rename(*[None] * x.ndim), matrix_transpose(matrix.rename(None, None)))
    back = tuple(order.index(place) for place in range(x.ndim))
    return permute_dims(rows.rename(*vectors.names), back)


@composite.within(complex=Bound(4, "differences of products of which some libraries fuse a step", "square", tame=True))
def cross(x1: Tensor, x2: Tensor, /, *, axis: int | str = -1) -> Tensor:
    """The cross product of vectors of three components along an axis; the other axes broadcast.

    The axis is counted in each operand, so it should be negative or a name if their ranks differ. Integers keep their
    dtype.
    Raises `ShapeError` for vectors of another length.

    >>> tb.linalg.cross(tb.asarray([1, 0, 0]), tb.asarray([0, 1, 0])).tolist()
    [0, 0, 1]
    """
    # `axis` is not annotated Axis, as the dispatcher would convert it to a position in x1.
    first, second = normalize_axis(x1.template, axis), normalize_axis(x2.template, axis)
    if x1.shape[first] != 3 or x2.shape[second] != 3:
        raise ShapeError(expected("vectors of 3 components", left=x1.template, right=x2.template, axis=axis))
    dtype = check_dtype(result_type([x1.template, x2.template]), "numeric")
    wide = promote_types(dtype, float32) if dtype.is_inexact else dtype
    a, b = (_components(astype(x, wide), along) for x, along in ((x1, first), (x2, second)))
    product = concatenate([a[i] * b[j] - a[j] * b[i] for i, j in ((1, 2), (2, 0), (0, 1))], axis=-1)
    place = product.ndim - (x1.ndim - first)
    order = list(range(product.ndim - 1))
    order.insert(place, product.ndim - 1)
    return astype(permute_dims(product, tuple(order)), dtype)


def _components(x: Tensor, axis: int) -> list[Tensor]:
    """The three components along an axis, each with that axis last and of size 1."""
    x = permute_dims(x, (*(other_axis for other_axis in range(x.ndim) if other_axis != axis), axis))
    zeros, ones = (0,) * (x.ndim - 1), (1,) * x.ndim
    lengths = (*x.shape[:-1], 1)
    return [slice_(x, starts=(*zeros, part), lengths=lengths, strides=ones) for part in range(3)]
