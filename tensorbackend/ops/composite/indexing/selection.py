"""Selections of entries by data: entries are repeated or omitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ....annotations import Axis
from ....declarations.argument_errors import check_arguments
from ....dispatch import composite
from ....dtypes import Scalar, bool_, scalar_kind
from ....errors import ArgumentError, ArgumentKindError, ShapeError, expected
from ....rules.axes import normalize_axis
from ....rules.plan import integer
from ....template import as_shape, intern_template, merge_names
from ....tensor import Tensor, TensorLike
from ...creation.filled import asarray, full, iota
from ...creation.values import beside, operand_tensor, operand_tensors
from ...elementwise.basic import astype, where
from ...indexing.taking import take_at
from ...shape import broadcast_to, laid_flat, reshape
from ..cumulative import cumulative_sum
from ..reduction import count_nonzero
from ..sorting.searching import searchsorted
from .positions import argwhere, check_size, read_count


@composite.calls("repeat")
def _repeat(x: Tensor, /, repeats: int, *, axis: Axis) -> Tensor:
    """x with each entry along an axis repeated `repeats` times in a row."""
    along = normalize_axis(x.template, axis)
    times = as_shape(repeats)
    apart = reshape(x, (*x.shape[: along + 1], 1, *x.shape[along + 1 :]))
    wide = broadcast_to(apart, (*x.shape[: along + 1], *times, *x.shape[along + 1 :]))
    return reshape(wide, (*x.shape[:along], x.shape[along] * times[0], *x.shape[along + 1 :]), names=x.names)


def _repeat_each(x: Tensor, repeats: Tensor, along: int, size: int) -> Tensor:
    """Repeats each entry by its own count, up to `size` entries: the last one fills the rest, surplus ones are cut."""
    ends = cumulative_sum(astype(repeats, "int64"), axis=0)
    # A place shows the first entry that ends after it: if entries end at 1, 3 and 5, place 3 shows the one ending at 5.
    shown = searchsorted(ends, iota(size, dtype="int64", backend=ends.backend), side="right")
    return take_at(x, shown, axis=along, mode="clip")


@check_arguments
def repeat(
    x: TensorLike, repeats: TensorLike | Sequence[int], /, *, axis: Axis | None = None, size: int | None = None
) -> Tensor:
    """Repeat each entry along an axis; `axis=None` repeats the elements of the flattened tensor.

    Parameters
    ----------
    repeats : int, sequence of int or Tensor
        The number of repetitions of each entry: one number for all entries, or one for each, at least 0.
    size : int, optional
        The number of entries of the result. If it is given, no data is read, so that `jit` and dry runs know the shape;
        the last entry fills the remaining positions, and surplus entries are dropped. By default it is the sum of
        `repeats`, whose data is then read.

    Returns
    -------
    Tensor
        A tensor like x with another size of the axis.

    Raises
    ------
    ShapeError
        If the number of repeats is not the number of entries of the axis.
    ArgumentError
        For negative repeats, where their data is read, and for a negative size.
    TemplateDataError
        For repeats without data, if no size is given.

    Examples
    --------
    >>> tb.repeat(tb.asarray([1, 2]), 2).tolist(), tb.repeat(tb.asarray([1, 2]), tb.asarray([0, 3])).tolist()
    ([1, 1, 2, 2], [2, 2, 2])
    >>> tb.jit(lambda x, n: tb.repeat(x, n, size=4))(tb.asarray([1, 2]), tb.asarray([1, 2])).tolist()
    [1, 2, 2, 2]
    """
    x = operand_tensor(x, repeats)
    if axis is None:
        x, axis = laid_flat(x), 0
    if repeats.__class__ is int and size is None:
        return _repeat(x, repeats, axis=axis)
    along = normalize_axis(x.template, axis)
    if not isinstance(repeats, Tensor) and not isinstance(repeats, Sequence) and not hasattr(repeats, "__array__"):
        if isinstance(repeats, Mapping) and len(repeats) == 1:
            ((name, count),) = repeats.items()
            raise ArgumentKindError(expected("repeats of one axis", f"write {count}, axis={name!r}", repeats=repeats))
        if size is None:
            return _repeat(x, integer(repeats=repeats), axis=axis)
        repeats = [integer(repeats=repeats)]
    repeats = repeats if isinstance(repeats, Tensor) else beside(repeats, x.backend)
    if repeats.ndim > 1 or (repeats.size not in (1, x.shape[along])) or not repeats.dtype.is_integer:
        expectation = f"one integer, or {x.shape[along]}, as repeats"
        raise ShapeError(expected(expectation, repeats=repeats.template))
    if size is not None:
        if not x.shape[along] and check_size(size):
            raise ShapeError(
                expected(f"at least one entry along axis {along} of {x.template!r} to repeat up to the size", size=size)
            )
        entry_repeats = broadcast_to(laid_flat(repeats), (x.shape[along],))
        return _repeat_each(x, entry_repeats, along, check_size(size))
    counts: list[int] = laid_flat(repeats).tolist()
    if any(count < 0 for count in counts):
        raise ArgumentError(expected("repeats of at least 0", repeats=min(counts)))
    if len(counts) == 1:
        return _repeat(x, counts[0], axis=axis)
    chosen = [entry for entry, count in enumerate(counts) for _ in range(count)]
    return take_at(x, asarray(chosen, dtype="int64", backend=x.backend), axis=along, mode="clip")


@composite.calls("compress")
def _compress(x: Tensor, condition: Tensor, /, *, axis: Axis, size: int, fill_value: Scalar) -> Tensor:
    """See `compress`; the condition is a bool for each entry along the axis."""
    along = normalize_axis(x.template, axis)
    count = x.shape[along]
    at = reshape(argwhere(condition, size=size, fill_value=count), (size,))
    chosen = take_at(x, at, axis=along, mode="clip")
    shape = [1] * x.ndim
    shape[along] = size
    value = bool(fill_value) if x.dtype is bool_ and scalar_kind(fill_value) is not None else fill_value
    return where(reshape(at < count, tuple(shape)), chosen, full((), value, dtype=x.dtype))


@check_arguments
def compress(
    condition: TensorLike,
    x: TensorLike,
    /,
    *,
    axis: Axis | None = None,
    size: int | None = None,
    fill_value: Scalar = 0,
) -> Tensor:
    """Select the entries along an axis for which a condition is true.

    Parameters
    ----------
    condition : Tensor
        Shape (n,) where the axis has n entries, of any dtype: nonzero elements are true.
    size : int, optional
        The number of entries of the result. If it is given, no data is read, so that `jit` and dry runs know the shape;
        missing entries are `fill_value`, and surplus entries are dropped. By default it is the number of true elements,
        for which data is read.
    fill_value : scalar, default 0
        The elements of missing entries.

    Returns
    -------
    Tensor
        A tensor like x with another size of the axis, which keeps its name.

    Raises
    ------
    ShapeError
        For a condition of another shape.
    NamesError
        For a condition along an axis of another name.
    TemplateDataError
        For a condition without data, if no size is given.

    Examples
    --------
    >>> x = tb.asarray([[1, 2, 3], [4, 5, 6]])
    >>> tb.compress(tb.asarray([True, False, True]), x, axis=1).tolist()
    [[1, 3], [4, 6]]
    >>> tb.compress(x[0] > 1, x[1], size=3, fill_value=-1).tolist()
    [5, 6, -1]
    """
    condition, x = operand_tensors(condition, x)
    if axis is None:
        x, axis = laid_flat(x), 0
    along = normalize_axis(x.template, axis)
    if condition.shape != (x.shape[along],):
        expectation = f"a condition for each of the {x.shape[along]} entries of axis {along} of {x.template!r}"
        raise ShapeError(expected(expectation, condition=condition.template))
    merge_names(intern_template(condition.shape, x.dtype, (x.names[along],)), condition.template)
    holds = condition.rename(None)
    count = read_count(count_nonzero(holds), "compress()") if size is None else check_size(size)
    return _compress(x, holds, axis=along, size=count, fill_value=fill_value)
