"""Where elements are: positions of what is not zero, of values in a sorted tensor, of the greatest.

The shape of some results depends on data. Without a `size` the data is counted first, which a template tensor cannot
do: `TemplateDataError`. With a `size` the shape is known everywhere: what is missing is filled up with `fill_value`,
what is too much is left out.
"""

from __future__ import annotations

from operator import index
from typing import Any, Literal, NamedTuple, TypeAlias

from ..dispatch import composite
from ..dtypes import int64
from ..entry import entry
from ..errors import ShapeError, TemplateDataError, expected
from ..memo import remember
from ..protocol import Kernel
from ..rules.axes import normalize_axis
from ..rules.broadcasting import check_dtype, result_type
from ..rules.plan import choice, integer
from ..template import intern_template
from ..tensor import Axes, Axis, Tensor, TensorLike
from .composite.cumulative import cumulative_sum
from .composite.shaping import moveaxis, stack, unstack
from .conversion import astype
from .creation import asarray, full, iota, zeros
from .elementwise_binary import add, floor_divide, less, logical_and, logical_or, remainder, subtract
from .elementwise_ternary import where
from .elementwise_unary import bitwise_invert, isnan
from .indexing import take, take_along_axis_at, take_at
from .reduction import sum
from .scatter import indexed_put
from .shape import expand_dims, laid_flat, reshape, slice_
from .sorting import argsort

Side: TypeAlias = Literal["left", "right"]


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
    return integer(0, size=size)


@composite
def count_nonzero(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """How many elements are not zero along some axes (int64); NaN is none.

    >>> import tensorbackend as tb
    >>> tb.count_nonzero(tb.asarray([[0, 3], [1, 1]]), axis=1).tolist()
    [1, 2]
    """
    return sum(astype(x, "bool"), axis=axis, keepdims=keepdims)


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
    return _argwhere(x, size=count, fill_value=integer(fill_value=fill_value))


def nonzero(x: TensorLike, /, *, size: int | None = None, fill_value: int = 0) -> tuple[Tensor, ...]:
    """The indices of the elements that are not zero, row-major: one int64 tensor for each axis.

    With `size` each has so many entries, filled up with `fill_value`. Raises `ShapeError` for a tensor without axes,
    `TemplateDataError` on templates without a size.

    >>> import tensorbackend as tb
    >>> [each.tolist() for each in tb.nonzero(tb.asarray([[0, 1], [2, 0]]))]
    [[0, 1], [1, 0]]
    >>> tb.nonzero(tb.asarray([0, 5, 6]), size=3, fill_value=-1)[0].tolist()
    [1, 2, -1]
    """
    x = x if isinstance(x, Tensor) else asarray(x)
    if not x.ndim:
        raise ShapeError(expected("a tensor with axes", "reshape() it to one element", tensor=x.template))
    found = _positions(x) if size is None else None
    if found is not None:
        return found
    count = measured(count_nonzero(x), "nonzero()") if size is None else checked_size(size)
    return unstack(_argwhere(x, size=count, fill_value=integer(fill_value=fill_value)), axis=1)


_finding: dict[Any, Kernel | None] = {}


def _positions(x: Tensor) -> tuple[Tensor, ...] | None:
    """What `nonzero` gives, where the backend finds the positions at once."""
    template, backend = x.template, x.backend
    try:
        finding = _finding[template, backend]
    except KeyError:
        finding = backend.positions(template)
        remember(_finding, (template, backend), finding)
    if finding is None:
        return None
    arrays = finding(x.data)
    out = intern_template((len(arrays[0]),), int64, (None,))
    return tuple([Tensor(out, backend, array) for array in arrays])


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
    x1, x2 = asarray(x1), x2 if isinstance(x2, bool | int | float) else asarray(x2)
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
