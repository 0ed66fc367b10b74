"""Searches in sorted tensors, the largest elements, and membership, written in public ops."""

from __future__ import annotations

from operator import index
from typing import Literal, NamedTuple, TypeAlias, overload

from ....annotations import Axis
from ....declarations.argument_errors import check_arguments
from ....dispatch import composite
from ....errors import ArgumentError, DTypeError, ShapeError, expected
from ....rules.axes import normalize_axes, normalize_axis
from ....rules.broadcasting import broadcast, check_dtype, result_type
from ....rules.plan import choice
from ....template import intern_template
from ....tensor import Tensor, TensorLike
from ....tensor.missing_names import explain_missing
from ...alignment import merge_axes
from ...creation.filled import asarray, full, iota, zeros
from ...creation.values import operand_tensors
from ...elementwise.basic import astype, isnan, where
from ...elementwise.binary import logical_and, logical_or
from ...indexing.slices import slice_
from ...indexing.taking import take, take_along_axis_at, take_at
from ...reduction import any
from ...reduction import max as max_
from ...shape import broadcast_to, expand_dims, flip, laid_flat, reshape
from ...sorting import argsort, sort
from ..indexing.positions import unravel_index
from ..shape.arranging import moveaxis

Side: TypeAlias = Literal["left", "right"]


@composite.calls("searchsorted")
def _searchsorted(x1: Tensor, x2: Tensor, /, *, side: Side) -> Tensor:
    """See `searchsorted`."""
    dtype = check_dtype(result_type([x1.template, x2.template]), "real or bool")
    x1, x2 = astype(x1.rename(None), dtype), astype(x2, dtype)
    length = x1.shape[0]
    # Bisect the interval [low, high) of all values at once.
    low = full(x2.shape, 0, dtype="int64", names=x2.names)
    high = full(x2.shape, length, dtype="int64", names=x2.names)
    for _ in range(length.bit_length()):
        middle = (low + high) // 2
        entry = take_at(x1, middle, axis=0, mode="clip")
        before = _precedes(entry, x2) if side == "left" else ~_precedes(x2, entry)
        open_ = low < high
        low = where(logical_and(open_, before), middle + 1, low)
        high = where(logical_and(open_, ~before), middle, high)
    return low


def _precedes(a: Tensor, b: Tensor) -> Tensor:
    """Whether a comes before b in an order in which NaN is the largest."""
    if not a.dtype.is_floating:
        return astype(a, "uint8") < astype(b, "uint8") if a.dtype.kind == "bool" else a < b
    return logical_or(a < b, logical_and(isnan(b), ~isnan(a)))


@check_arguments
def searchsorted(x1: TensorLike, x2: TensorLike, /, *, side: Side = "left", sorter: TensorLike | None = None) -> Tensor:
    """The indices at which values x2 would be inserted into a sorted x1 to keep it sorted.

    The values are inserted before equal elements ("left") or after them ("right"). NaN is the largest, as in `sort`. If
    x1 is not sorted, `sorter` must be the result of its `argsort`. Raises `ShapeError` unless x1 has one axis,
    `ArgumentError` for an unknown side.

    >>> x = tb.asarray([1, 3, 3, 5])
    >>> tb.searchsorted(x, tb.asarray([3, 6])).tolist(), tb.searchsorted(x, 3, side="right").item()
    ([1, 4], 3)
    """
    if isinstance(x2, bool | int | float):
        x1 = x1 if isinstance(x1, Tensor) else asarray(x1)
    else:
        x1, x2 = operand_tensors(x1, x2)
    if x1.ndim != 1:
        raise ShapeError(expected("a tensor of one axis to search in", tensor=x1.template))
    choice(("left", "right"), side=side)
    if sorter is not None:
        x1 = take(x1, sorter, axis=0)
    return _searchsorted(x1, x2, side=side)


@composite
def digitize(x: Tensor, bins: Tensor, /, *, right: bool = False) -> Tensor:
    """The number of the bin into which each element falls: for ascending `bins`, how many edges are at most x.

    With `right` only edges below x count. For descending `bins` it is how many edges are greater than x, or with
    `right` at least x. Bins in no order give results without a meaning. NaN counts as the largest number, as in
    `sort`. Raises `ShapeError` unless there is a vector of bins.

    >>> tb.digitize(tb.asarray([0.2, 6.4, 1.0]), tb.asarray([0.0, 1.0, 2.5])).tolist()
    [1, 3, 2]
    """
    if bins.ndim != 1:
        raise ShapeError(expected("the edges of bins along one axis", bins=bins.template))
    check_dtype(result_type([x.template, bins.template]), "real or bool")
    bins, count = bins.rename(None), bins.shape[0]
    side: Side = "left" if right else "right"
    ascending = searchsorted(bins, x, side=side)
    if count < 2:
        return ascending
    first, last = (reshape(slice_(bins, starts=(at,), lengths=(1,), strides=(1,)), ()) for at in (0, count - 1))
    descending = count - searchsorted(flip(bins), x, side=side)
    return where(_precedes(last, first), descending, ascending)


@explain_missing
class TopKResult(NamedTuple):
    """The result of `top_k` along one axis."""

    values: Tensor
    indices: Tensor


@explain_missing
class TopKOfAxesResult(NamedTuple):
    """The result of `top_k` along several axes."""

    values: Tensor
    indices: tuple[Tensor, ...]
    """The index along each axis."""


@composite.calls("top_k")
def _top_k(x: Tensor, /, *, k: int) -> TopKResult:
    """See `top_k`."""
    order = argsort(x, axis=-1, descending=True)
    lead = x.shape[:-1]
    best = slice_(order, starts=(0,) * x.ndim, lengths=(*lead, k), strides=(1,) * x.ndim)
    return TopKResult(take_along_axis_at(x, best, axis=-1, mode="clip"), best)


@overload
def top_k(
    x: TensorLike, k: int | Tensor, /, *, axis: Axis = -1, size: int | None = None, largest: bool = True
) -> TopKResult: ...


@overload
def top_k(
    x: TensorLike,
    k: int | Tensor,
    /,
    *,
    axis: tuple[Axis, ...] | list[Axis],
    size: int | None = None,
    largest: bool = True,
) -> TopKOfAxesResult: ...


@check_arguments
def top_k(
    x: TensorLike,
    k: int | Tensor,
    /,
    *,
    axis: Axis | tuple[Axis, ...] | list[Axis] = -1,
    size: int | None = None,
    largest: bool = True,
) -> TopKResult | TopKOfAxesResult:
    """The k largest elements along an axis, or among several axes together, in descending order, and their indices.

    With `largest=False` it is the k smallest, in ascending order. NaN counts as the largest. Equal elements keep their
    order.

    Parameters
    ----------
    x : Tensor
        A tensor of a real dtype or bool.
    k : int or Tensor
        The number of elements: an int, or a tensor of integers with a number for each position on the other axes, to
        which it broadcasts. The tensor may hold numbers greater than the number of elements, and negative ones are
        treated as 0.
    axis : int, str, or tuple or list of these, default -1
        One axis; or several, whose elements are all compared with each other, such as the beams and words of a search.
    size : int, optional
        The size of the result's axis if k is a tensor. By default it is the largest number in k, whose data is then
        read. The entries from k on are 0.
    largest : bool, default True
        Whether to find the largest elements, or the smallest.

    Returns
    -------
    TopKResult
        The values, and their indices along the axis (int64). The axis keeps its position and name. Several axes are
        replaced by one without a name at the position of the first, and the indices are a tuple with a tensor for each
        axis.

    Raises
    ------
    ShapeError
        For a number k or a size that is negative or greater than the number of elements, and for a tensor k that does
        not broadcast.
    DTypeError
        For an x without an order, and for a tensor k that does not hold integers.

    Examples
    --------
    >>> values, indices = tb.top_k(tb.asarray([1, 9, 3, 9]), 3)
    >>> values.tolist(), indices.tolist()
    ([9, 9, 3], [1, 3, 2])
    >>> tb.top_k(tb.asarray([4.0, 9.0, 3.0]), 2, largest=False).values.tolist()
    [3.0, 4.0]
    >>> scores = tb.asarray([[[1.0, 5.0], [7.0, 2.0]]], names=("batch", "beam", "word"))
    >>> values, (beam, word) = tb.top_k(scores, 2, axis=("beam", "word"))
    >>> values.tolist(), beam.tolist(), word.tolist()
    ([[7.0, 5.0]], [[1, 0]], [[0, 1]])
    """
    x = asarray(x)
    check_dtype(x.dtype, "real or bool")
    if largest not in (True, False):
        raise ArgumentError(expected("largest to be True or False", largest=largest))
    if not isinstance(axis, tuple | list):
        return _top_k_along(x, k, normalize_axis(x.template, axis), size, largest)
    axes = normalize_axes(x.template, axis)
    whole = merge_axes(x, axes)
    place = sum(position < axes[0] for position in range(x.ndim) if position not in axes)
    values, flat = _top_k_along(whole, k, place, size, largest)
    sizes = tuple(x.shape[position] for position in axes)
    return TopKOfAxesResult(values, unravel_index(flat, sizes, mode="clip"))


def _top_k_along(x: Tensor, k: int | Tensor, along: int, size: int | None, largest: bool) -> TopKResult:
    """`top_k` along one axis."""
    length = x.shape[along]
    if not isinstance(k, Tensor) or (not k.ndim and size is None):
        if not 0 <= index(k) <= length:
            raise ShapeError(expected(f"a number k from 0 to {length} for axis {along} of {x.template!r}", k=k))
        return _first(x, index(k), along, largest)
    if not k.dtype.is_integer:
        raise DTypeError(expected("a number k, or a tensor of integers", k=k.template))
    others = intern_template(
        x.shape[:along] + x.shape[along + 1 :], k.dtype, x.names[:along] + x.names[along + 1 :]
    )  # fmt: skip
    if broadcast([others, k.template])[0] != others.shape:
        raise ShapeError(expected(f"a tensor k that broadcasts to {others!r}", k=k.template))
    count = min(length, max(0, int(max_(k)) if k.size else 0)) if size is None else index(size)
    if not 0 <= count <= length:
        raise ShapeError(expected(f"a size from 0 to {length} for axis {along} of {x.template!r}", size=size))
    top = _first(x, count, along, largest)
    limits = broadcast_to(k, others.shape, names=others.names)
    places = reshape(iota(count, dtype="int64", like=k), (count, *(1,) * (x.ndim - 1 - along)))
    inside = places < astype(expand_dims(limits, axis=along), "int64")
    return TopKResult(*(where(inside, part, zeros((), dtype=part.dtype, like=part)) for part in top))


def _first(x: Tensor, k: int, along: int, largest: bool) -> TopKResult:
    """The first k elements along an axis in descending order, or in ascending order."""
    if not largest:
        lead = x.ndim - 1
        order = argsort(x, axis=along)  # NaN comes last, which no order of the largest elements gives
        lengths = (*x.shape[:along], k, *x.shape[along + 1 :])
        first = slice_(order, starts=(0,) * x.ndim, lengths=lengths, strides=(1,) * (lead + 1))
        return TopKResult(take_along_axis_at(x, first, axis=along, mode="clip"), first)
    if along == x.ndim - 1:
        return _top_k(x, k=k)
    values, indices = _top_k(moveaxis(x, along, -1), k=k)
    return TopKResult(moveaxis(values, -1, along), moveaxis(indices, -1, along))


@composite
def isin(x1: Tensor, x2: Tensor, /, *, invert: bool = False) -> Tensor:
    """Test whether each element of x1 is in x2, or with `invert`, whether it is not. NaN equals nothing.

    >>> tb.isin(tb.asarray([1, 2, 3]), tb.asarray([[3, 5], [1, 1]])).tolist()
    [True, False, True]
    """
    dtype = result_type([x1.template, x2.template])
    x1, among = astype(x1, dtype), laid_flat(astype(x2, dtype))
    if not among.size:
        membership = zeros(x1.shape, dtype="bool", names=x1.names)
    elif dtype.is_complex:
        membership = any(expand_dims(x1, axis=-1) == among, axis=-1)
    else:
        among = sort(among)
        membership = x1 == take_at(among, searchsorted(among, x1), axis=0, mode="clip")
    return ~membership if invert else membership
