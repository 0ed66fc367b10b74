"""Where values are in sorted tensors, and the greatest of them, written in public ops."""

from __future__ import annotations

from operator import index
from typing import Literal, NamedTuple, TypeAlias

from ....dispatch import composite
from ....entry import entry
from ....errors import ShapeError, expected
from ....rules.axes import normalize_axis
from ....rules.broadcasting import check_dtype, result_type
from ....rules.plan import choice
from ....tensor import Axis, Tensor, TensorLike
from ...creation.filled import asarray, full, zeros
from ...creation.values import together
from ...elementwise.binary import add, equal, floor_divide, less, logical_and, logical_or
from ...elementwise.conversion import astype
from ...elementwise.ternary import where
from ...elementwise.unary import bitwise_invert, isnan
from ...indexing.slices import slice_
from ...indexing.taking import take, take_along_axis_at, take_at
from ...reduction import any
from ...shape import expand_dims, laid_flat
from ...sorting import argsort, sort
from ..shape.arranging import moveaxis

Side: TypeAlias = Literal["left", "right"]


@composite.calls("searchsorted")
def _searchsorted(x1: Tensor, x2: Tensor, /, *, side: Side) -> Tensor:
    """See `searchsorted`."""
    dtype = check_dtype(result_type([x1.template, x2.template]), "real or bool")
    x1, x2 = astype(x1.rename(None), dtype), astype(x2, dtype)
    length = x1.shape[0]
    # Bisection of [low, high) for all values at once.
    low = full(x2.shape, 0, dtype="int64", names=x2.names)
    high = full(x2.shape, length, dtype="int64", names=x2.names)
    for _ in range(length.bit_length()):
        middle = floor_divide(add(low, high), 2)
        entry = take_at(x1, middle, axis=0, mode="clip")
        before = _before(entry, x2) if side == "left" else bitwise_invert(_before(x2, entry))
        open_ = less(low, high)
        low = where(logical_and(open_, before), add(middle, 1), low)
        high = where(logical_and(open_, bitwise_invert(before)), middle, high)
    return low


def _before(a: Tensor, b: Tensor) -> Tensor:
    """Whether a comes before b where NaN is greatest."""
    if not a.dtype.is_floating:
        return less(astype(a, "uint8"), astype(b, "uint8")) if a.dtype.kind == "bool" else less(a, b)
    return logical_or(less(a, b), logical_and(isnan(b), bitwise_invert(isnan(a))))


def searchsorted(x1: TensorLike, x2: TensorLike, /, *, side: Side = "left", sorter: TensorLike | None = None) -> Tensor:
    """Where values x2 would go into a sorted x1 of one axis so that it stays sorted: indices from 0 to its size.

    Before equal elements ("left") or after them ("right"); NaN is greatest, as `sort` has it. `sorter` is what
    `argsort` gives for an x1 that is not sorted. Raises `ShapeError`, `ArgumentError` for another side.

    >>> import tensorbackend as tb
    >>> x = tb.asarray([1, 3, 3, 5])
    >>> tb.searchsorted(x, tb.asarray([3, 6])).tolist(), tb.searchsorted(x, 3, side="right").item()
    ([1, 4], 3)
    """
    if isinstance(x2, bool | int | float):
        x1 = x1 if isinstance(x1, Tensor) else asarray(x1)
    else:
        x1, x2 = together(x1, x2)
    if x1.ndim != 1:
        raise ShapeError(expected("a tensor of one axis to search in", tensor=x1.template))
    choice(("left", "right"), side=side)
    if sorter is not None:
        x1 = take(x1, sorter, axis=0)
    return _searchsorted(x1, x2, side=side)


class TopK(NamedTuple):
    """What `top_k` gives."""

    values: Tensor
    indices: Tensor


@composite.calls("top_k")
def _top_k(x: Tensor, /, *, k: int) -> TopK:
    """See `top_k`."""
    order = argsort(x, axis=-1, descending=True)
    lead = x.shape[:-1]
    best = slice_(order, starts=(0,) * x.ndim, lengths=(*lead, k), strides=(1,) * x.ndim)
    return TopK(take_along_axis_at(x, best, axis=-1, mode="clip"), best)


@entry
def top_k(x: TensorLike, k: int, /, *, axis: Axis = -1) -> TopK:
    """The k greatest elements along an axis in descending order, and their indices (int64).

    NaN counts as greatest, and of equal elements the first comes first. Raises `ShapeError` for more than there are.

    >>> import tensorbackend as tb
    >>> values, indices = tb.top_k(tb.asarray([1, 9, 3, 9]), 3)
    >>> values.tolist(), indices.tolist()
    ([9, 9, 3], [1, 3, 2])
    """
    x = asarray(x)
    check_dtype(x.dtype, "real or bool")
    along = normalize_axis(x.template, axis)
    if not 0 <= index(k) <= x.shape[along]:
        raise ShapeError(expected(f"a number k from 0 to {x.shape[along]} for axis {along} of {x.template!r}", k=k))
    if along == x.ndim - 1:
        return _top_k(x, k=index(k))
    values, indices = _top_k(moveaxis(x, along, -1), k=index(k))
    return TopK(moveaxis(values, -1, along), moveaxis(indices, -1, along))


@composite
def isin(x1: Tensor, x2: Tensor, /, *, invert: bool = False) -> Tensor:
    """Whether each element of x1 is equal to some element of x2, or with `invert` to none; NaN is equal to none.

    >>> import tensorbackend as tb
    >>> tb.isin(tb.asarray([1, 2, 3]), tb.asarray([[3, 5], [1, 1]])).tolist()
    [True, False, True]
    """
    dtype = result_type([x1.template, x2.template])
    x1, among = astype(x1, dtype), laid_flat(astype(x2, dtype))
    if not among.size:
        found = zeros(x1.shape, dtype="bool", names=x1.names)
    elif dtype.is_complex:
        found = any(equal(expand_dims(x1, axis=-1), among), axis=-1)
    else:
        among = sort(among)
        found = equal(x1, take_at(among, searchsorted(among, x1), axis=0, mode="clip"))
    return bitwise_invert(found) if invert else found
