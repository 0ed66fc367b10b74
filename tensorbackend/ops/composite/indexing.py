"""Positions of elements, written in public ops."""

from __future__ import annotations

from operator import index

from ...dispatch import composite
from ...errors import ArgumentError, TemplateDataError, expected
from ...tensor import Tensor, TensorLike
from ..creation.filled import asarray, full, iota, zeros
from ..elementwise.binary import floor_divide, less, remainder, subtract
from ..elementwise.conversion import astype
from ..elementwise.ternary import where
from ..indexing.scatter import indexed_put
from ..shape import expand_dims, laid_flat, reshape
from .cumulative import cumulative_sum
from .reduction import count_nonzero
from .shape.arranging import stack


def measured(count: Tensor, function: str) -> int:
    """The number in a tensor of one element, on which a shape depends; `TemplateDataError` where there is no data."""
    try:
        return int(count.item())  # type: ignore[arg-type] # an integer, by its dtype
    except TemplateDataError:
        remedy = "give a size, such as size=8, or for a mask use where()"
        raise TemplateDataError(
            expected(f"{function} of a tensor with data, as the result's shape depends on it", remedy)
        ) from None


def checked_size(size: int) -> int:
    """A size from 0 up; `ArgumentError` for another."""
    if index(size) < 0:
        raise ArgumentError(expected("a size from 0 up", size=size))
    return index(size)


@composite.calls("argwhere")
def _argwhere(x: Tensor, /, *, size: int, fill_value: int) -> Tensor:
    """See `argwhere`."""
    holds = astype(laid_flat(x), "bool")
    count = holds.size
    # The n-th true element writes its position to place n; the others, and those too many, write nothing.
    place = where(holds, subtract(cumulative_sum(holds, axis=0), 1), size)
    start = full(size, -1, dtype="int64")
    found = indexed_put(start, reshape(place, (count, 1)), iota(count), mode="fill")
    columns = []
    rest = found
    for length in reversed(x.shape):
        columns.append(remainder(rest, length))
        rest = floor_divide(rest, length)
    vectors = stack(columns[::-1], axis=1) if columns else zeros((size, 0), dtype="int64")
    return where(expand_dims(less(found, 0), axis=1), fill_value, vectors)


def argwhere(x: TensorLike, /, *, size: int | None = None, fill_value: int = 0) -> Tensor:
    """The index vectors of the elements that are not zero, row-major: of shape (their number, axes of x), int64.

    `gather` reads at such, and `indexed_put` writes.

    >>> import tensorbackend as tb
    >>> tb.argwhere(tb.asarray([[0, 1], [2, 0]])).tolist()
    [[0, 1], [1, 0]]
    """
    x = x if isinstance(x, Tensor) else asarray(x)
    count = measured(count_nonzero(x), "argwhere()") if size is None else checked_size(size)
    return _argwhere(x, size=count, fill_value=index(fill_value))
