"""Products of sparse matrices with dense tensors and with each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..caching.option_keys import holds_entries, remember
from ..declarations.argument_errors import check_arguments
from ..errors import OperandError, ShapeError, expected
from ..ops.composite.contraction import matmul as dense_matmul
from ..ops.composite.cumulative import cumulative_sum
from ..ops.composite.indexing.selection import repeat
from ..ops.composite.linalg.sparse import sparse_matmul, sparse_matvec
from ..ops.creation.filled import iota
from ..ops.creation.values import asarray
from ..ops.elementwise.basic import astype, where
from ..ops.indexing.taking import take_at
from ..ops.shape import matrix_transpose
from ..select import get_backend
from ..template import Template
from ..tensor import Tensor, TensorLike
from .conversion import sum_duplicates, to_csr, to_format
from .host import to_host_arrays, zero_beyond_count
from .matrix import COO, SparseMatrix, bind, entries, shares_places

_products: dict[tuple[Template, Template], Template] = {}
holds_entries("templates of sparse products", _products)


def product_template(left: Template, right: Template) -> Template:
    """The template of the product of dense matrices: its rules for shapes, dtypes and names hold here too."""
    template = _products.get((left, right))
    if template is None:
        shapes_only = get_backend("template")
        template = dense_matmul(Tensor(left, shapes_only, None), Tensor(right, shapes_only, None)).template
        remember(_products, (left, right), template)
    return template


@bind
@check_arguments
def matmul(x1: Any, x2: Any, /, *, size: int | None = None) -> Any:
    """Product of two matrices, or of a matrix and a vector, with at least one sparse operand: `x1 @ x2`.

    Parameters
    ----------
    x1, x2 : SparseMatrix or Tensor
        Shapes, dtypes and names combine as in `tb.matmul`: a dense operand with one axis is a vector, one with more
        axes is a stack of matrices.
    size : int, optional
        The number of entries that the product of two sparse matrices stores. If given, no data is read, so that `jit`
        knows the shapes. Several products at one place then stay separate, and the rest is zeros stored at the last
        place. By default the product has one value for each place.

    Returns
    -------
    Tensor or SparseMatrix
        A dense tensor if one operand is dense; otherwise a matrix in the format of x1.

    Raises
    ------
    ShapeError, NamesError
        As for `tb.matmul`.
    DataError
        For more products than `size`. In a trace, all stored values are then NaN, or the smallest integer.
    TemplateDataError
        For two sparse matrices whose places have no data, if no `size` is given.

    Examples
    --------
    >>> a = tb.sparse.from_dense([[0.0, 2.0], [1.0, 0.0]])
    >>> (a @ tb.asarray([1.0, 10.0])).tolist(), (a @ a).to_dense().tolist()
    ([20.0, 1.0], [[2.0, 0.0], [0.0, 2.0]])
    """
    if isinstance(x1, SparseMatrix):
        if isinstance(x2, SparseMatrix):
            return _multiply_sparse(x1, x2, size)
        return _multiply_dense(x1, _operand(x2, x1))
    if not isinstance(x2, SparseMatrix):
        raise OperandError(expected("a sparse matrix among the operands", "use tb.matmul()", x1=x1, x2=x2))
    x = _operand(x1, x2)
    if x.ndim < 2:
        return _multiply_dense(x2.mT, x)
    return matrix_transpose(_multiply_dense(x2.mT, matrix_transpose(x)))


def _operand(x: Any, like: SparseMatrix) -> Tensor:
    return x if isinstance(x, Tensor) else asarray(x, backend=like.values.backend)


def _multiply_dense(matrix: SparseMatrix, x: Tensor) -> Tensor:
    out = product_template(matrix.template, x.template)
    values, bare = matrix.values, x
    if any(out.names):
        values, bare = values.rename(*(None,) * values.ndim), x.rename(*(None,) * x.ndim)
    product = sparse_matvec if len(x.template.shape) == 1 else sparse_matmul
    unnamed_product = product(
        values, matrix.first, matrix.second, bare, format=matrix.format, rows=matrix.matrix_size[0]
    )
    return unnamed_product.rename(*out.names) if any(out.names) else unnamed_product


@check_arguments
def matvec(matrix: SparseMatrix, x: TensorLike | Sequence[Any], /) -> Tensor:
    """Product of a matrix with vectors along the last axis; each matrix of a batch multiplies its own vector.

    Parameters
    ----------
    matrix : SparseMatrix
        Shape (..., rows, columns).
    x : Tensor
        Shape (..., columns); the batch's axes broadcast, as in `tb.matmul`.

    Returns
    -------
    Tensor
        Shape (..., rows).

    Examples
    --------
    >>> a = tb.sparse.coo([[1.0, 2.0], [3.0, 4.0]], [0, 1], [1, 0], shape=(2, 2))
    >>> tb.sparse.matvec(a, [[1.0, 10.0], [1.0, 10.0]]).tolist()
    [[10.0, 2.0], [30.0, 4.0]]
    """
    dense = _operand(x, matrix)
    if not dense.ndim:
        raise ShapeError(expected("vectors along the last axis", x=dense.template))
    vectors = dense.template
    apart = vectors.replace(shape=(*vectors.shape, 1), names=(*vectors.names, None))
    out = product_template(matrix.template, apart)
    values, bare = matrix.values, dense
    if any(out.names) or any(dense.names):
        values, bare = values.rename(*(None,) * values.ndim), dense.rename(*(None,) * dense.ndim)
    unnamed_product = sparse_matvec(
        values, matrix.first, matrix.second, bare, format=matrix.format, rows=matrix.matrix_size[0]
    )
    return unnamed_product.rename(*out.names[:-1]) if any(out.names) else unnamed_product


def _multiply_sparse(left: SparseMatrix, right: SparseMatrix, size: int | None) -> SparseMatrix:
    """The product of two sparse matrices: each entry (i, k) of `left` times every entry in row k of `right`."""
    out = product_template(left.template, right.template)
    if not (shares_places(left) and shares_places(right)):
        expectation = "batches whose matrices share their places, for a product of two sparse matrices"
        raise ShapeError(expected(expectation, "multiply the matrices in a loop", x1=left.template, x2=right.template))
    rows, inner = entries(left)
    right_rows = to_csr(right)
    starts = take_at(right_rows.first, inner, axis=0, mode="clip")
    ends = take_at(right_rows.first, inner + 1, axis=0, mode="clip")
    lengths = astype(ends - starts, "int64")
    count = lengths.sum()
    length = int(count) if size is None else size
    names = (out.names[-2], out.names[-1])
    shape = (left.matrix_size[0], right.matrix_size[1])
    if not (left.nnz and right.nnz):
        nothing = rows[:0]
        values = (left.values[..., :0] * 1) * (right.values[..., :0] * 1)
        return to_format(COO(values, nothing, nothing, shape, names), left.format)
    # Repeat each entry of `left` for every entry in the row of `right` by which it is multiplied. `before` says how
    # many products come before those of an entry.
    entry = repeat(iota(left.nnz, dtype="int64", backend=rows.backend), lengths, size=length)
    before = cumulative_sum(lengths, axis=0) - lengths
    step = iota(length, dtype="int64", backend=rows.backend)
    place = take_at(astype(starts, "int64") - before, entry, axis=0, mode="clip") + step
    values = take_at(left.values, entry, axis=-1, mode="clip") * take_at(right_rows.values, place, axis=-1, mode="clip")
    new_rows, new_columns = (
        take_at(rows, entry, axis=0, mode="clip"),
        take_at(right_rows.second, place, axis=0, mode="clip"),
    )
    if size is not None:
        inside = step < count
        values = zero_beyond_count(values, count, size)
        new_rows, new_columns = where(inside, new_rows, shape[0] - 1), where(inside, new_columns, shape[1] - 1)
    product = COO(values, new_rows, new_columns, shape, names)
    if size is None and to_host_arrays(new_rows, new_columns) is not None:
        product = sum_duplicates(product)
    return to_format(product, left.format)
