"""Sparse matrices from dense tensors, from SciPy's sparse matrices, and back to SciPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..annotations import NamesLike
from ..declarations.argument_errors import check_arguments
from ..dispatch.operands import nameless
from ..errors import OperandError, ShapeError, TemplateDataError, expected
from ..ops.composite.linalg.sparse import Format
from ..ops.creation.filled import full
from ..ops.creation.values import asarray
from ..ops.elementwise.basic import astype
from ..ops.indexing.taking import take_at
from ..ops.reduction import any as any_
from ..ops.searching import nonzero
from ..ops.shape import reshape
from ..protocol import BackendLike
from ..tensor import Tensor, TensorLike
from .construction import make_matrix
from .host import compress_to_size, to_host_arrays
from .matrix import CLASSES, COO, SparseMatrix, bind


@check_arguments
def from_dense(x: TensorLike | Sequence[Any], /, *, format: Format = "csr", size: int | None = None) -> SparseMatrix:
    """Convert a dense tensor to a sparse matrix, which stores the nonzero elements.

    Parameters
    ----------
    x : Tensor
        Shape (..., rows, columns). In a batch, every matrix stores each place where at least one matrix is not 0.
    size : int, optional
        The number of stored entries. If given, no data is read, so that `jit` knows the shapes; the rest is zeros
        stored at the last place. By default the number of those places.

    Returns
    -------
    SparseMatrix
        A matrix with x's names. Its entries are sorted by row, or by column for `"csc"`.

    Raises
    ------
    ShapeError
        For fewer than two axes.
    DataError
        For more elements than `size`. In a trace, all stored values are then NaN, or the smallest integer.
    TemplateDataError
        For an x without data, if no `size` is given.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> a = tb.sparse.from_dense([[0.0, 2.0], [1.0, 0.0]])
    >>> a, a.indices.tolist(), a.pointers.tolist()
    (csr f32[2][2] numpy, 2 stored, [1, 0], [0, 1, 2])
    """
    dense = x if isinstance(x, Tensor) else asarray(x)
    if dense.ndim < 2:
        raise ShapeError(expected("a matrix", x=dense.template))
    if format == "csc":
        return from_dense(dense.mT, format="csr", size=size).T
    rows, columns = dense.shape[-2:]
    bare = nameless(dense)
    mask = reshape(bare != 0, (-1, rows * columns)) if bare.size else full((1, rows * columns), False, like=bare)
    (flat,) = nonzero(any_(mask, axis=0), size=size, fill_value=max(rows * columns - 1, 0))
    values = take_at(reshape(bare, (*bare.shape[:-2], rows * columns)), flat, axis=-1, mode="clip")
    if size is not None:
        values = compress_to_size(values, any_(mask, axis=0), size)
    dtype = "int32" if max(rows, columns) < 2**31 else "int64"
    places = [astype(coordinate, dtype) for coordinate in (flat // max(columns, 1), flat % max(columns, 1))]
    if dense.ndim > 2:
        values = values.rename(*dense.names[:-2], None)
    coordinate_form = COO(values, places[0], places[1], (rows, columns), (dense.names[-2], dense.names[-1]))
    return coordinate_form if format == "coo" else coordinate_form.to_csr()


@check_arguments
def from_scipy(matrix: Any, /, *, names: NamesLike = None, backend: BackendLike = None) -> SparseMatrix:
    """Convert a matrix of `scipy.sparse`.

    Parameters
    ----------
    matrix : scipy.sparse array or matrix
        A matrix in any of SciPy's formats. The memory is shared if the backend supports that.
    names : sequence of names, optional
        The names of rows and columns.
    backend : backend, optional
        The backend of the matrix, by default the default backend.

    Returns
    -------
    SparseMatrix
        In the same format; in compressed rows if SciPy's format is not COO, CSR or CSC.

    Raises
    ------
    OperandError
        For anything but a matrix of `scipy.sparse`.

    Examples
    --------
    >>> import scipy.sparse, tensorbackend as tb
    >>> tb.sparse.from_scipy(scipy.sparse.csr_array([[0.0, 2.0], [1.0, 0.0]]))
    csr f64[2][2] numpy, 2 stored
    """
    if not (hasattr(matrix, "format") and hasattr(matrix, "tocsr")):
        raise OperandError(expected("a matrix of scipy.sparse", matrix=matrix))
    supported = matrix if matrix.format in CLASSES else matrix.tocsr()
    first, second = (
        (supported.row, supported.col) if supported.format == "coo" else (supported.indptr, supported.indices)
    )
    values, first, second = (asarray(part, backend=backend) for part in (supported.data, first, second))
    return make_matrix(supported.format, values, first, second, supported.shape, names)


@bind
@check_arguments
def to_scipy(matrix: SparseMatrix, /) -> Any:
    """Convert a matrix to an array of `scipy.sparse`.

    Parameters
    ----------
    matrix : SparseMatrix
        Of two axes, in any format.

    Returns
    -------
    scipy.sparse.coo_array, csr_array or csc_array
        An array in the matrix's format, without its names. The memory is shared if possible.

    Raises
    ------
    ShapeError
        For a batch of matrices, which SciPy does not have.
    TemplateDataError
        For a matrix without data.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> tb.sparse.eye(2).to_scipy().toarray().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    from scipy import sparse

    if matrix.ndim > 2:
        raise ShapeError(expected("one matrix, as SciPy has no batches", matrix=matrix.template))
    read = to_host_arrays(matrix.values, matrix.first, matrix.second)
    if read is None:
        raise TemplateDataError(expected("a matrix with data", matrix=matrix.template))
    values, first, second = read
    if matrix.format == "coo":
        return sparse.coo_array((values, (first, second)), shape=matrix.matrix_size)
    kind = sparse.csr_array if matrix.format == "csr" else sparse.csc_array
    return kind((values, second, first), shape=matrix.matrix_size)
