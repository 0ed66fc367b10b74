"""Construction of sparse matrices from values and places, and from diagonals.

Places are checked at once if their data can be read. In a trace they are checked when the graph runs, as indices
are: an eager backend raises `IndexRangeError`, JAX takes the nearest place inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any, cast

import numpy

from ..declarations.argument_errors import check_arguments
from ..dispatch.operands import nameless
from ..dtypes import DTypeLike
from ..errors import ArgumentError, DTypeError, ShapeError, expected
from ..ops.composite.linalg.sparse import Format
from ..ops.creation.filled import iota, ones
from ..ops.creation.values import asarray, operand_tensors, tensor
from ..ops.elementwise.basic import astype as cast_to
from ..ops.shape import broadcast_to, concatenate
from ..protocol import BackendLike
from ..rules.broadcasting import result_type
from ..template import NamesLike, Template, as_names, as_shape
from ..tensor import Tensor, TensorLike
from .conversion import to_format
from .host import check_places
from .matrix import CLASSES, COO, CSC, CSR, SparseMatrix


@check_arguments
def coo(
    values: TensorLike | Sequence[Any],
    rows: TensorLike | Sequence[int],
    columns: TensorLike | Sequence[int],
    /,
    shape: Sequence[int],
    *,
    names: NamesLike = None,
) -> COO:
    """Make a sparse matrix from the row and the column of each value.

    Parameters
    ----------
    values : Tensor
        Shape (..., n), of a numeric dtype: the stored entries of one matrix, or of a batch. Entries at one place are
        added.
    rows, columns : Tensor or sequence of ints
        Shape (n,), or with the batch's axes in front if its matrices differ in structure. Of an integer dtype.

    Returns
    -------
    COO
        On the backend of the values.

    Raises
    ------
    ShapeError
        For tensors whose shapes do not match, and for a `shape` that is not a matrix's.
    DTypeError
        For places that are not integers, and for values of dtype bool.
    IndexRangeError
        For a place outside the matrix.

    Examples
    --------
    >>> a = tb.sparse.coo([1.0, 2.0, 3.0], [0, 0, 1], [0, 2, 2], shape=(2, 3))
    >>> a
    coo f32[2][3] numpy, 3 stored
    >>> a.to_dense().tolist()
    [[1.0, 0.0, 2.0], [0.0, 0.0, 3.0]]
    """
    return cast(COO, make_matrix("coo", values, rows, columns, shape, names))


@check_arguments
def csr(
    values: TensorLike | Sequence[Any],
    indices: TensorLike | Sequence[int],
    pointers: TensorLike | Sequence[int],
    /,
    shape: Sequence[int],
    *,
    names: NamesLike = None,
) -> CSR:
    """Make a sparse matrix of compressed rows.

    Parameters
    ----------
    values : Tensor
        Shape (..., n), of a numeric dtype: the stored entries, row by row. Entries at one place are added.
    indices : Tensor or sequence of ints
        Shape (n,), or with the batch's axes in front: the column of each value, in any order within a row.
    pointers : Tensor or sequence of ints
        Shape (rows + 1,), or with the batch's axes in front: where each row begins among the values, then n.

    Returns
    -------
    CSR
        On the backend of the values.

    Raises
    ------
    ShapeError, DTypeError, IndexRangeError
        As for `coo`.
    DataError
        For pointers that do not begin with 0, that decrease, or that do not end with n.

    Examples
    --------
    >>> tb.sparse.csr([1.0, 2.0, 3.0], [0, 2, 2], [0, 2, 3], shape=(2, 3)).to_dense().tolist()
    [[1.0, 0.0, 2.0], [0.0, 0.0, 3.0]]
    """
    return cast(CSR, make_matrix("csr", values, pointers, indices, shape, names))


@check_arguments
def csc(
    values: TensorLike | Sequence[Any],
    indices: TensorLike | Sequence[int],
    pointers: TensorLike | Sequence[int],
    /,
    shape: Sequence[int],
    *,
    names: NamesLike = None,
) -> CSC:
    """Make a sparse matrix of compressed columns: like `csr`, with rows and columns exchanged.

    Parameters
    ----------
    values : Tensor
        Shape (..., n), of a numeric dtype: the stored entries, column by column. Entries at one place are added.
    indices : Tensor or sequence of ints
        Shape (n,), or with the batch's axes in front: the row of each value, in any order within a column.
    pointers : Tensor or sequence of ints
        Shape (columns + 1,), or with the batch's axes in front: where each column begins among the values, then n.

    Returns
    -------
    CSC
        On the backend of the values.

    Raises
    ------
    ShapeError, DTypeError, IndexRangeError, DataError
        As for `csr`.

    Examples
    --------
    >>> tb.sparse.csc([1.0, 2.0, 3.0], [0, 0, 1], [0, 1, 1, 3], shape=(2, 3)).to_dense().tolist()
    [[1.0, 0.0, 2.0], [0.0, 0.0, 3.0]]
    """
    return cast(CSC, make_matrix("csc", values, pointers, indices, shape, names))


def make_matrix(
    format: Format, values: Any, first: Any, second: Any, shape: Sequence[int], names: NamesLike
) -> SparseMatrix:
    """The matrix of a format from its parts, after checks; `first` and `second` are those of `SparseMatrix`."""
    stored_values = values if isinstance(values, Tensor) else asarray(values)
    if stored_values.dtype.kind == "bool":
        raise DTypeError(
            expected("values of a numeric dtype", "cast them with astype()", values=stored_values.template)
        )
    if not stored_values.ndim:
        raise ShapeError(expected("values along an axis", values=stored_values.template))
    parts = [_places(part, name, stored_values) for part, name in ((first, "first"), (second, "second"))]
    size, matrix_names = _matrix(shape, names, stored_values)
    _check_sizes(format, stored_values, parts[0], parts[1], size)
    if format != "coo":
        dtype = result_type([parts[0].template, parts[1].template])  # libraries want one dtype for pointers and indices
        parts = [cast_to(part, dtype) for part in parts]
    batch = stored_values.names[:-1]
    if isinstance(names, (list, tuple)) and len(names) > 2:
        batch = tuple(names[len(names) - 2 - len(batch) : len(names) - 2])
    if stored_values.names != (*batch, None):
        stored_values = stored_values.rename(*batch, None)
    matrix = CLASSES[format](stored_values, *check_places(format, parts[0], parts[1], size), size, matrix_names)
    _check_shape(matrix, shape, names)
    return matrix


def _places(value: Any, name: str, values: Tensor) -> Tensor:
    """Places as a tensor without names; arrays and lists are copied, so that no other owner writes to it."""
    if isinstance(value, Tensor):
        x = value
    else:
        try:
            empty = not len(value)
        except TypeError:  # an array without axes
            empty = False
        x = tensor(value, dtype="int64" if empty else None, backend=values.backend)
    if not x.dtype.is_integer:
        raise DTypeError(expected("places of an integer dtype", "cast them with astype()", **{name: x.template}))
    if not x.ndim:
        raise ShapeError(expected("places along an axis", **{name: x.template}))
    return nameless(x)


def _matrix(
    shape: Sequence[int], names: NamesLike, values: Tensor
) -> tuple[tuple[int, int], tuple[str | None, str | None]]:
    """The numbers of rows and columns and their names."""
    sizes = tuple(map(index, shape))
    if len(sizes) < 2 or min(sizes) < 0:
        raise ShapeError(expected("a shape of rows and columns", shape=shape))
    last = as_names(names if names is None or isinstance(names, str) else tuple(names)[-2:], 2)
    Template((*values.shape[:-1], *sizes[-2:]), values.dtype, (*values.names[:-1], *last))
    return (sizes[-2], sizes[-1]), (last[0], last[1])


def _check_sizes(format: Format, values: Tensor, first: Tensor, second: Tensor, size: tuple[int, int]) -> None:
    count = values.shape[-1]
    first_length = {"coo": count, "csr": size[0] + 1, "csc": size[1] + 1}[format]
    if (first.shape[-1], second.shape[-1]) != (first_length, count):
        text = f"{count} rows and columns" if format == "coo" else f"{count} indices and {first_length} pointers"
        parts = ("rows", "columns") if format == "coo" else ("pointers", "indices")
        came = {parts[0]: first.template, parts[1]: second.template}
        raise ShapeError(expected(f"{text} for {count} values", shape=size, **came))
    if count and 0 in size:
        raise ShapeError(expected("no values in an empty matrix", shape=size, values=values.template))


def _check_shape(matrix: SparseMatrix, shape: Sequence[int], names: NamesLike) -> None:
    """Raises `ShapeError` if a shape or names that include the batch's axes are not the matrix's."""
    for requested, actual in ((shape, matrix.shape), (names, matrix.names)):
        if requested is not None and len(requested) > 2 and tuple(requested) != tuple(actual):
            raise ShapeError(
                expected(f"shape and names to match the parts, {matrix.template!r}", shape=shape, names=names)
            )


# Matrices from diagonals


@check_arguments
def eye(
    rows: int,
    columns: int | None = None,
    /,
    *,
    format: Format = "csr",
    dtype: DTypeLike | None = None,
    names: NamesLike = None,
    backend: BackendLike = None,
) -> SparseMatrix:
    """Make a sparse identity matrix.

    Parameters
    ----------
    rows : int
        The number of rows.
    columns : int, optional
        The number of columns, by default that of rows.
    dtype : dtype, optional
        The dtype of the values, by default the default floating dtype.
    backend : backend, optional
        The backend of the matrix, by default the default backend.

    Returns
    -------
    SparseMatrix
        A matrix that stores one entry for each element of the diagonal.

    Raises
    ------
    ArgumentError
        For a number below 0.

    Examples
    --------
    >>> tb.sparse.eye(2, 3).to_dense().tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    width = rows if columns is None else columns
    count = min(index(rows), index(width))
    if count < 0:
        raise ArgumentError(expected("at least 0 rows and columns", rows=rows, columns=columns))
    values = ones(count, dtype=dtype, backend=backend)
    place = iota(count, dtype="int32" if max(rows, width) < 2**31 else "int64", backend=values.backend)
    coordinate_form = COO(values, place, place, (rows, width), as_names(names, 2))  # type: ignore[arg-type] # two names
    return to_format(coordinate_form, format)


identity = eye
"""The identity as a sparse matrix: `eye`."""


@check_arguments
def diagonals(
    values: Sequence[TensorLike | Sequence[Any]],
    offsets: Sequence[int],
    /,
    shape: Sequence[int],
    *,
    format: Format = "csr",
    names: NamesLike = None,
) -> SparseMatrix:
    """Make a sparse matrix from the elements of its diagonals.

    Parameters
    ----------
    values : sequence of Tensors
        For each diagonal, all of its elements from the top left on, or one number for all of them.
    offsets : sequence of int
        The number of each diagonal: 0 is the main one, 1 the next above, -1 the next below.

    Returns
    -------
    SparseMatrix
        A matrix of the common dtype of the values.

    Raises
    ------
    ShapeError
        If the number of values of a diagonal is not its length, and for a shape that is not a matrix's.
    ArgumentError
        If the numbers of offsets and diagonals differ, or are 0.

    Examples
    --------
    >>> tb.sparse.diagonals([-2.0, [1.0, 1.0]], [0, 1], (3, 3)).to_dense().tolist()
    [[-2.0, 1.0, 0.0], [0.0, -2.0, 1.0], [0.0, 0.0, -2.0]]
    """
    if not len(values) or len(values) != len(offsets):
        raise ArgumentError(expected("an offset for each diagonal, at least one", values=len(values), offsets=offsets))
    sizes = as_shape(shape)
    if len(sizes) != 2:
        raise ShapeError(expected("the numbers of rows and columns", shape=shape))
    rows, columns = sizes
    parts, places = [], []
    for diagonal, offset in zip(operand_tensors(*map(_tensor, values)), offsets, strict=True):
        start = numpy.arange(max(0, min(rows + min(offset, 0), columns - max(offset, 0))))
        if diagonal.shape not in ((), (1,), start.shape):
            raise ShapeError(expected(f"{len(start)} elements on diagonal {offset}", values=diagonal.template))
        parts.append(broadcast_to(diagonal, start.shape))
        places.append((start - min(offset, 0), start + max(offset, 0)))
    dtype = result_type([part.template for part in parts])
    small = "int32" if max(rows, columns) < 2**31 else "int64"
    stored = concatenate([cast_to(part, dtype) for part in parts], axis=0)
    first, second = (
        asarray(numpy.concatenate(pieces).astype(small), backend=stored.backend) for pieces in zip(*places, strict=True)
    )
    coordinate_form = coo(stored, first, second, shape=(rows, columns), names=names)
    return to_format(coordinate_form, format)


def _tensor(value: Any) -> Any:
    """A list or tuple as a tensor; numbers, tensors and arrays unchanged."""
    return asarray(value) if isinstance(value, (list, tuple)) else value
