"""Products with a sparse matrix, of which only some entries are stored: tensors of values and of their places.

`first` and `second` hold the positions of the values, in one of three formats:

- `"coo"`: the row and the column of each value;
- `"csr"`: the position among the values at which each row begins, and the column of each value;
- `"csc"`: the position among the values at which each column begins, and the row of each value.

`tb.sparse` has matrices as objects, whose places are checked; here a place outside is treated as the nearest one
inside.
"""

from __future__ import annotations

from math import prod
from typing import Literal, NamedTuple, TypeAlias

from ....dispatch import composite
from ....dispatch.operands import nameless
from ....errors import ArgumentError, ShapeError, expected
from ....rules.accuracy import SUM
from ....rules.broadcasting import broadcast, check_dtype, result_type
from ....rules.indexing import check_indices
from ....rules.plan import choice
from ....template import Template
from ....tensor import Tensor
from ...creation.filled import full, iota, zeros
from ...elementwise.basic import astype
from ...elementwise.binary import maximum, minimum
from ...indexing.scatter import indexed_add
from ...indexing.slices import slice_basic
from ...indexing.taking import take_at
from ...shape import broadcast_to, expand_dims, reshape
from ..cumulative import cumulative_sum
from ..indexing.segments import segment_sum

Format: TypeAlias = Literal["coo", "csr", "csc"]

FORMATS: tuple[Format, ...] = ("coo", "csr", "csc")


class Places(NamedTuple):
    """The row and the column of each value, shape (n,), or (*batch, n) where matrices of a batch differ in them."""

    rows: Tensor
    columns: Tensor


def places(first: Tensor, second: Tensor, format: Format) -> Places:
    """The row and the column of each value, in any format."""
    if format == "coo":
        return Places(first, second)
    major = majors(first, second.shape[-1])
    return Places(major, second) if format == "csr" else Places(second, major)


def majors(pointers: Tensor, count: int) -> Tensor:
    """The row of each of `count` values, for rows that begin at `pointers`: [0, 2, 2, 3] has the rows 0, 0, 2.

    The row of a value is the number of rows that end at the value or before it, so the ends are counted and summed up.
    """
    batch, size = pointers.shape[:-1], pointers.shape[-1] - 1
    dtype = "int32" if max(size, prod(batch) * (count + 1)) < 2**31 else "int64"
    ends = minimum(maximum(slice_basic(pointers, (..., slice(1, None))), 0), count)
    if batch:  # each matrix counts in a row of its own
        starts = iota((prod(batch), 1), axis=0, dtype=dtype, backend=pointers.backend) * (count + 1)
        ends = reshape(astype(ends, dtype), (prod(batch), size)) + starts
    at = reshape(ends, (prod(batch) * size, 1))
    one = full((), 1, dtype=dtype, backend=pointers.backend)
    nothing = zeros((prod(batch) * (count + 1),), dtype=dtype, backend=pointers.backend)
    counts = reshape(indexed_add(nothing, at, broadcast_to(one, at.shape[:1]), mode="clip"), (*batch, count + 1))
    return slice_basic(cumulative_sum(counts, axis=-1, dtype=dtype), (..., slice(0, count)))


def _check(values: Tensor, first: Tensor, second: Tensor, x: Tensor, format: Format, rows: int, trailing: int) -> int:
    """The number of columns of the matrix, which is a size of x; raises for tensors that do not form a product."""
    choice(FORMATS, format=format)
    for indices in (first, second):
        check_indices(indices.template, "clip")
    result_type([values.template, x.template])
    check_dtype(values.dtype, "numeric")
    check_dtype(x.dtype, "numeric")
    if min(values.ndim, first.ndim, second.ndim, x.ndim - trailing) < 1:
        parts = {"values": values.template, "first": first.template, "second": second.template, "x": x.template}
        expectation = f"at least one axis in values, first and second, and {trailing + 1} in x"
        raise ShapeError(expected(expectation, **parts))
    if rows < 0:
        raise ArgumentError(expected("at least 0 rows", rows=rows))
    columns, beginnings = x.shape[x.ndim - 1 - trailing], first.shape[-1]
    expected_count = {"coo": values.shape[-1], "csr": rows + 1, "csc": columns + 1}[format]
    if second.shape[-1] != values.shape[-1] or beginnings != expected_count:
        text = f"{expected_count} numbers in first and {values.shape[-1]} in second"
        raise ShapeError(expected(text, first=first.template, second=second.template))
    if values.shape[-1] and not (rows and columns):
        raise ShapeError(expected("no values in an empty matrix", rows=rows, columns=columns, values=values.template))
    return columns


def _rest(x: Tensor, trailing: int) -> Template:
    """The template of x's batch axes: those before the last `trailing` axes."""
    return x.template.replace(shape=x.shape[: x.ndim - trailing], names=x.names[: x.ndim - trailing])


def _product(
    values: Tensor, first: Tensor, second: Tensor, x: Tensor, format: Format, rows: int, trailing: int
) -> Tensor:
    """The product with x of shape (..., columns) if `trailing` is 0, or (..., columns, n) if it is 1."""
    columns = _check(values, first, second, x, format, rows, trailing)
    batch, names = broadcast([_rest(values, 1), _rest(first, 1), _rest(second, 1), _rest(x, 1 + trailing)])
    dtype = result_type([values.template, x.template])
    after = x.names[x.ndim - trailing :]
    values, x = astype(nameless(values), dtype), astype(nameless(x), dtype)
    first, second = nameless(first), nameless(second)
    if first.ndim == second.ndim == 1:
        product = _sum_by_row(values, places(first, second, format), x, rows, trailing)
    else:
        # Matrices with different structures become the diagonal blocks of one, of shape (b * rows, b * columns).
        count, total = values.shape[-1], prod(batch)
        flat = reshape(broadcast_to(values, (*batch, count)), (total * count,))
        where = _blocks(places(first, second, format), batch, (rows, columns))
        width = x.shape[x.ndim - trailing :]
        laid = reshape(broadcast_to(x, (*batch, columns, *width)), (total * columns, *width))
        product = reshape(_sum_by_row(flat, where, laid, total * rows, trailing), (*batch, rows, *width))
    product = broadcast_to(product, (*batch, *product.shape[product.ndim - 1 - trailing :]))
    names = (*names, None, *after)
    return product.rename(*names) if any(names) else product


def _sum_by_row(values: Tensor, where: Places, x: Tensor, rows: int, trailing: int) -> Tensor:
    """The products of values with the entries of x in their columns, summed in their rows."""
    axis = -1 - trailing
    entries = take_at(x, where.columns, axis=axis, mode="clip")
    terms = (expand_dims(values, axis=-1) if trailing else values) * entries
    return segment_sum(terms, where.rows, size=rows, axis=axis, mode="clip")


def _blocks(where: Places, batch: tuple[int, ...], size: tuple[int, int]) -> Places:
    """The places of the values in one matrix whose diagonal blocks are the matrices of a batch."""
    total = prod(batch)

    def shift(places: Tensor, length: int) -> Tensor:
        inside = minimum(maximum(astype(places, "int64"), 0), max(length - 1, 0))
        wide = reshape(broadcast_to(inside, (*batch, places.shape[-1])), (total, places.shape[-1]))
        starts = iota((total, 1), axis=0, dtype="int64", backend=places.backend) * length
        return reshape(wide + starts, (total * places.shape[-1],))

    return Places(shift(where.rows, size[0]), shift(where.columns, size[1]))


def _operations(
    out: Template, values: Template, first: Template, second: Template, x: Template, *, format: Format, rows: int
) -> int:
    """The cost: a multiplication and an addition for each value and each column of the result."""
    return 2 * values.shape[-1] * (out.size // max(rows, 1))


@composite.within(SUM).costing(_operations)
def sparse_matvec(values: Tensor, first: Tensor, second: Tensor, x: Tensor, /, *, format: Format, rows: int) -> Tensor:
    """Product of a sparse matrix with a vector.

    Parameters
    ----------
    values : Tensor
        Shape (..., n): the stored entries. Entries at the same place are added.
    first, second : Tensor
        Shape (..., n) or (..., size + 1), depending on the format, of integer dtypes. Without batch axes they apply to
        all matrices.
    x : Tensor
        Shape (..., columns). The batch axes of all tensors broadcast.
    format : {"coo", "csr", "csc"}
        What `first` and `second` hold: the rows and the columns of the values (coo); where each row begins, and the
        columns (csr); where each column begins, and the rows (csc).
    rows : int
        The number of rows.

    Returns
    -------
    Tensor
        Shape (..., rows), of the common dtype.

    Raises
    ------
    ShapeError
        For tensors whose shapes do not match.
    DTypeError
        For places that are not integers, and for values or an x of bools.

    Examples
    --------
    >>> values, pointers, columns = tb.asarray([1.0, 2.0, 3.0]), tb.asarray([0, 2, 3]), tb.asarray([0, 1, 1])
    >>> tb.linalg.sparse_matvec(values, pointers, columns, tb.asarray([10.0, 1.0]), format="csr", rows=2).tolist()
    [12.0, 3.0]
    """
    return _product(values, first, second, x, format, rows, 0)


@composite.within(SUM).costing(_operations)
def sparse_matmul(values: Tensor, first: Tensor, second: Tensor, x: Tensor, /, *, format: Format, rows: int) -> Tensor:
    """Product of a sparse matrix with a matrix.

    Like `sparse_matvec`, with an x of shape (..., columns, k) and a result of shape (..., rows, k).

    >>> values, rows, columns = tb.asarray([1.0, 2.0, 3.0]), tb.asarray([0, 0, 1]), tb.asarray([0, 1, 1])
    >>> tb.linalg.sparse_matmul(values, rows, columns, tb.eye(2), format="coo", rows=2).tolist()
    [[1.0, 2.0], [0.0, 3.0]]
    """
    return _product(values, first, second, x, format, rows, 1)
