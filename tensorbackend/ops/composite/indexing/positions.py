"""Positions of elements, written in public ops.

The shape of some results depends on data. Without a `size` the elements are counted first, which raises
`TemplateDataError` for a template tensor. With a `size` the shape is always known: missing entries are filled with
`fill_value`, and surplus entries are dropped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, TypeAlias

from ....declarations.argument_errors import check_arguments
from ....dispatch import composite
from ....dispatch.direct import direct
from ....dispatch.kernels import Shaped
from ....dispatch.ready_calls import ReadyCall
from ....dtypes import iinfo, int64, uint64
from ....errors import ShapeError, TemplateDataError, expected
from ....protocol.indexing import Mode
from ....rules.indexing import MODES, check_indices
from ....rules.plan import integer
from ....template import Shape, as_shape
from ....tensor import Tensor, TensorLike
from ...creation.filled import asarray, full, iota, zeros
from ...elementwise.basic import astype, clip, where
from ...elementwise.binary import logical_and, logical_or, minimum
from ...indexing.scatter import indexed_put
from ...indexing.taking import take_at
from ...shape import expand_dims, laid_flat, reshape
from ..cumulative import cumulative_sum
from ..reduction import count_nonzero
from ..shape.arranging import stack, unstack


def read_count(count: Tensor, function: str) -> int:
    """The number in a tensor of one element, on which a result's shape depends; `TemplateDataError` without data."""
    try:
        return int(count.item())  # type: ignore[arg-type] # an integer, by its dtype
    except TemplateDataError:
        remedy = f"pass a size, such as tb.{function[:-2]}(x, size=8), or for a mask use where()"
        raise TemplateDataError(
            expected(f"{function} of a tensor with data, as the result's shape depends on it", remedy)
        ) from None


def check_size(size: int) -> int:
    """A size of at least 0; `ArgumentError` for another."""
    return integer(0, size=size)


@composite.calls("argwhere")
def _argwhere(x: Tensor, /, *, size: int, fill_value: int) -> Tensor:
    """See `argwhere`."""
    holds = astype(laid_flat(x), "bool")
    count = holds.size
    # The n-th true element writes its position to place n; false elements, and true ones beyond `size`, write nothing.
    place = where(holds, cumulative_sum(holds, axis=0) - 1, size)
    start = full(size, -1, dtype="int64")
    positions = indexed_put(start, reshape(place, (count, 1)), iota(count), mode="fill")
    columns = []
    rest = positions
    for length in reversed(x.shape):
        columns.append(rest % length)
        rest = rest // length
    vectors = stack(columns[::-1], axis=1) if columns else zeros((size, 0), dtype="int64")
    return where(expand_dims(positions < 0, axis=1), fill_value, vectors)


@check_arguments
def argwhere(x: TensorLike, /, *, size: int | None = None, fill_value: int = 0) -> Tensor:
    """Return the index vectors (int64) of the nonzero elements, in row-major order.

    `gather` reads at such index vectors, and `indexed_put` writes at them.

    >>> tb.argwhere(tb.asarray([[0, 1], [2, 0]])).tolist()
    [[0, 1], [1, 0]]
    """
    x = x if isinstance(x, Tensor) else asarray(x)
    count = read_count(count_nonzero(x), "argwhere()") if size is None else check_size(size)
    return _argwhere(x, size=count, fill_value=integer(fill_value=fill_value))


# Conversions between index vectors and positions in a tensor laid flat


RavelMode: TypeAlias = Literal["error", "clip", "fill", "wrap"]
"""The handling of an index outside its axis: an error, the nearest one, a fill value, or the index modulo the size."""


def to_int64(indices: Tensor) -> Tensor:
    """Indices as int64; a uint64 that int64 cannot hold becomes the largest int64, which is outside any axis."""
    if indices.dtype is uint64:
        indices = minimum(indices, iinfo(int64).max)
    return astype(indices, int64)


def normalise_indices(indices: Tensor, size: int, mode: Mode) -> Tensor:
    """Indices into an axis as int64 from 0 to `size` - 1, or `size` for an index to be ignored."""
    numbers = to_int64(indices)
    if mode == "error":
        return take_at(iota(size, dtype="int64"), numbers, axis=0, mode="error")  # raises for an index outside
    if mode == "clip":
        return clip(numbers, 0, max(size - 1, 0))
    return where(logical_and(numbers >= 0, numbers < size), numbers, size)


def flat_positions(columns: Sequence[Tensor], shape: Shape, mode: Mode) -> Tensor:
    """The positions of index vectors in a flattened tensor; for a vector to be ignored, the tensor's size.

    Each of `columns` holds the vectors' entries for one axis.
    """
    size = math.prod(shape)
    number = zeros((), dtype="int64")
    outside = zeros((), dtype="bool")
    for column, length in zip(columns, shape, strict=True):
        entry = normalise_indices(column, length, mode)
        outside = logical_or(outside, entry == length)
        number = number * length + entry
    return where(outside, size, number)


@composite
def ravel_multi_index(
    indices: Sequence[Tensor], /, shape: Sequence[int], *, mode: RavelMode = "error", fill_value: int = -1
) -> Tensor:
    """Convert an index for each axis to positions in the flattened tensor, in row-major order.

    Parameters
    ----------
    indices : sequence of Tensor
        For each axis the indices along it, of integer dtypes; they broadcast.
    mode : {"error", "clip", "fill", "wrap"}, default "error"
        How to treat an index outside its axis: "error" raises `IndexRangeError`, "clip" takes the nearest index,
        "fill" uses `fill_value` as the position, "wrap" takes the index modulo the size of the axis.
    fill_value : int, default -1
        The position for an index outside its axis, with `mode="fill"`.

    Returns
    -------
    Tensor
        An int64 tensor, with the shape and names to which the indices broadcast.

    Raises
    ------
    ShapeError
        For a shape without axes, for another number of tensors than the shape has axes, and with `mode="wrap"` for an
        axis of size 0.
    DTypeError
        For indices that are not integers.
    IndexRangeError
        For an index outside its axis, with `mode="error"`.

    Examples
    --------
    >>> tb.ravel_multi_index((tb.asarray([0, 1]), tb.asarray([2, 0])), (2, 3)).tolist()
    [2, 3]
    >>> tb.ravel_multi_index((tb.asarray([0, 5]), tb.asarray([2, -1])), (2, 3), mode="wrap").tolist()
    [2, 5]

    See Also
    --------
    unravel_index : The inverse.
    """
    sizes = as_shape(shape)
    if not sizes or len(indices) != len(sizes):
        raise ShapeError(expected("a shape with axes, and a tensor for each", shape=sizes, tensors=len(indices)))
    for column in indices:
        check_indices(column.template, MODES[0] if mode == "wrap" else mode)
    if mode == "wrap":
        if 0 in sizes:
            raise ShapeError(expected("axes with entries, as an index is taken modulo their size", shape=sizes))
        indices = [astype(column, int64) % size for column, size in zip(indices, sizes, strict=True)]
        return flat_positions(indices, sizes, "clip")
    number = flat_positions(indices, sizes, mode)
    return where(number == math.prod(sizes), fill_value, number) if mode == "fill" else number


@composite
def unravel_index(indices: Tensor, /, shape: Sequence[int], *, mode: Mode = "error") -> tuple[Tensor, ...]:
    """Convert positions in the flattened tensor, in row-major order, to an index for each axis.

    Parameters
    ----------
    indices : Tensor
        Positions, of an integer dtype.
    mode : {"error", "clip", "fill"}, default "error"
        How to treat a position outside the shape: "error" raises `IndexRangeError`, "clip" takes the nearest position,
        "fill" uses index 0 along each axis.

    Returns
    -------
    tuple of Tensor
        For each axis an int64 tensor with the shape and names of the positions.

    Raises
    ------
    DTypeError
        For positions that are not integers.
    IndexRangeError
        For a position outside, with `mode="error"`.

    Examples
    --------
    >>> row, column = tb.unravel_index(tb.asarray([2, 3]), (2, 3))
    >>> row.tolist(), column.tolist()
    ([0, 1], [2, 0])

    See Also
    --------
    ravel_multi_index : The inverse.
    """
    check_indices(indices.template, mode)
    sizes = as_shape(shape)
    total = math.prod(sizes)
    rest = normalise_indices(indices, total, mode)
    if mode == "fill":
        rest = where(rest < total, rest, 0)
    columns = []
    for size in reversed(sizes):
        columns.append(rest % max(size, 1))
        rest = rest // max(size, 1)
    return tuple(reversed(columns))


def _plan_nonzero(
    result: tuple[Tensor, ...], x: TensorLike, /, *, size: int | None = None, fill_value: int = 0
) -> ReadyCall | None:
    kernel = None
    if size is None and isinstance(x, Tensor) and not x.dtype.is_narrow:
        kernel = x.backend.positions(x.template)
    return None if kernel is None else ReadyCall(tuple([Shaped(indices.template) for indices in result]), kernel)


@direct(_plan_nonzero)
def nonzero(x: TensorLike, /, *, size: int | None = None, fill_value: int = 0) -> tuple[Tensor, ...]:
    """Return the indices of the nonzero elements, in row-major order: one int64 tensor for each axis.

    With `size` each tensor has `size` entries, padded with `fill_value`. Raises `ShapeError` for a tensor without axes,
    and `TemplateDataError` for a template tensor without a `size`.

    >>> [indices.tolist() for indices in tb.nonzero(tb.asarray([[0, 1], [2, 0]]))]
    [[0, 1], [1, 0]]
    >>> tb.nonzero(tb.asarray([0, 5, 6]), size=3, fill_value=-1)[0].tolist()
    [1, 2, -1]
    """
    x = x if isinstance(x, Tensor) else asarray(x)
    if not x.ndim:
        raise ShapeError(expected("a tensor with axes", "reshape() it to one element", tensor=x.template))
    count = read_count(count_nonzero(x), "nonzero()") if size is None else check_size(size)
    return unstack(_argwhere(x, size=count, fill_value=integer(fill_value=fill_value)), axis=1)
