"""Triangles, diagonals and grids, written in public ops."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index

from ....declarations.argument_errors import check_arguments
from ....dispatch import composite
from ....errors import ArgumentError, ShapeError, expected
from ....rules.broadcasting import result_type
from ....rules.plan import choice
from ....tensor import Tensor, TensorLike
from ...creation.filled import asarray, eye, full, iota
from ...elementwise.basic import astype, where
from ...indexing.slices import slice_
from ...padding import pad
from ...shape import broadcast_to, expand_dims, reshape


def _matrix(x: Tensor) -> tuple[int, int]:
    """The rows and columns of a stack of matrices; `ShapeError` for fewer than two axes."""
    if x.ndim < 2:
        raise ShapeError(expected("a tensor of at least two axes", tensor=x.template))
    return x.shape[-2], x.shape[-1]


def _lower_mask(rows: int, columns: int, k: int) -> Tensor:
    """A mask of a matrix: whether column - row <= k."""
    row, column = iota((rows, 1)), iota((1, columns))
    return row + k >= column


def _zero(x: Tensor) -> Tensor:
    return full((), False if x.dtype.kind == "bool" else 0, dtype=x.dtype)


@composite
def tril(x: Tensor, /, *, k: int = 0) -> Tensor:
    """The lower triangles of matrices up to the k-th diagonal (above the main one for positive k), zeros elsewhere.

    >>> tb.tril(tb.ones((2, 3), dtype="int64")).tolist()
    [[1, 0, 0], [1, 1, 0]]
    """
    return where(_lower_mask(*_matrix(x), index(k)), x, _zero(x))


@composite
def triu(x: Tensor, /, *, k: int = 0) -> Tensor:
    """The upper triangles of matrices from the k-th diagonal on (above the main one for positive k), zeros elsewhere.

    >>> tb.triu(tb.ones((2, 3), dtype="int64"), k=1).tolist()
    [[0, 1, 1], [0, 0, 1]]
    """
    return where(_lower_mask(*_matrix(x), index(k) - 1), _zero(x), x)


# Diagonals


def _diagonal_length(x: Tensor, offset: int) -> int:
    rows, columns = _matrix(x)
    length = min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns)
    if length < 0:
        raise ArgumentError(expected(f"an offset from {-rows} to {columns} for {x.template!r}", offset=offset))
    return length


@composite
def take_diagonal(x: Tensor, /, *, offset: int = 0) -> Tensor:
    """Take the diagonals of matrices (..., n, m), above the main one for a positive offset: (..., k).

    The last axis has the name of the rows. Raises `ArgumentError` for an offset beyond the matrices.

    >>> tb.take_diagonal(tb.asarray([[1, 2], [3, 4]])).tolist()
    [1, 4]
    """
    length = _diagonal_length(x, index(offset))
    rows, columns = _matrix(x)
    lead, names = x.shape[:-2], x.names[:-1]
    start = offset if offset >= 0 else -offset * columns
    flat = reshape(x, (*lead, rows * columns), names=names)
    first = (*(0 for _ in lead), start if length else 0)
    # Neighbours on a diagonal are a row and a column apart.
    return slice_(flat, starts=first, lengths=(*lead, length), strides=(*(1 for _ in lead), columns + 1))


@composite
def make_diagonal(x: Tensor, /, *, offset: int = 0) -> Tensor:
    """Make square matrices (..., n + |offset|, n + |offset|) with x (..., n) on a diagonal and zeros elsewhere.

    The rows have the name of x's last axis.

    >>> tb.make_diagonal(tb.asarray([1, 2]), offset=1).tolist()
    [[0, 1, 0], [0, 0, 2], [0, 0, 0]]
    """
    if not x.ndim:
        raise ShapeError(expected("a tensor of at least one axis", tensor=x.template))
    size = x.shape[-1] + abs(index(offset))
    zero = _zero(x)
    blank = broadcast_to(zero, (*x.shape[:-1], size, size)).rename(*x.names, None)
    return _write_diagonal(blank, x, offset)


@composite
def put_diagonal(x: Tensor, diagonal: Tensor, /, *, offset: int = 0) -> Tensor:
    """Replace a diagonal of matrices (..., n, m), above the main one for a positive offset.

    The result has the dtype to which both are promoted. Raises `ShapeError` for a diagonal of another length,
    `ArgumentError` for an offset beyond the matrices.

    >>> tb.put_diagonal(tb.zeros((2, 2)), tb.asarray([1, 2])).tolist()
    [[1.0, 0.0], [0.0, 2.0]]
    """
    length = _diagonal_length(x, index(offset))
    if diagonal.shape != (*x.shape[:-2], length):
        shape = (*x.shape[:-2], length)
        remedy = f"write tb.full({shape}, value, dtype=x.dtype)" if not diagonal.ndim else ""
        raise ShapeError(expected(f"a diagonal of shape {shape}", remedy, diagonal=diagonal.template))
    dtype = result_type([x.template, diagonal.template])
    return _write_diagonal(astype(x, dtype), astype(diagonal, dtype), offset)


def _write_diagonal(x: Tensor, diagonal: Tensor, offset: int) -> Tensor:
    """x with a diagonal written, which has the right length and the dtype of x."""
    rows, columns = _matrix(x)
    # Element i is written to column i + max(offset, 0) of every row, and the mask keeps it in its row only.
    low = max(offset, 0)
    padding = (*((0, 0) for _ in diagonal.shape[:-1]), (low, columns - low - diagonal.shape[-1]))
    spread = expand_dims(pad(diagonal.rename(*x.names[:-2], None), padding, value=_zero(x)), axis=-2)
    return where(eye(rows, columns, k=offset, dtype="bool"), spread, x)


@composite.calls("meshgrid")
def _meshgrid(arrays: Sequence[Tensor], /, *, indexing: str) -> tuple[Tensor, ...]:
    """See `meshgrid`."""
    choice(("xy", "ij"), indexing=indexing)
    for x in arrays:
        if x.ndim != 1:
            raise ShapeError(expected("tensors of one axis", tensor=x.template))
    result_type([x.template for x in arrays])
    rank = len(arrays)
    places = [1, 0, *range(2, rank)] if indexing == "xy" and rank > 1 else list(range(rank))
    order = [arrays[places[axis]] for axis in range(rank)]
    shape, names = tuple(x.shape[0] for x in order), tuple(x.names[0] for x in order)
    lines = (
        reshape(x, tuple(x.shape[0] if axis == place else 1 for axis in range(rank)))
        for x, place in zip(arrays, places, strict=True)
    )
    return tuple(broadcast_to(line, shape, names=names) for line in lines)


@check_arguments
def meshgrid(*arrays: TensorLike, indexing: str = "xy") -> tuple[Tensor, ...]:
    """Coordinates of a grid: repeat each tensor of one axis along the axes of the others.

    With `"ij"` the i-th tensor runs along axis i; `"xy"` swaps the first two axes. The axes keep the tensors'
    names. Raises `ShapeError` unless each tensor has one axis, `ArgumentError` for an unknown indexing.

    >>> x, y = tb.meshgrid(tb.asarray([1, 2, 3]), tb.asarray([4, 5]))
    >>> x.tolist(), y.tolist()
    ([[1, 2, 3], [1, 2, 3]], [[4, 4, 4], [5, 5, 5]])
    """
    return _meshgrid([asarray(x) for x in arrays], indexing=indexing) if arrays else ()
