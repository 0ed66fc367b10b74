"""Conversions from and to lists and lengths, masks, and changes of an axis's size or of the examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..annotations import Axis
from ..declarations.argument_errors import check_arguments
from ..errors import ArgumentError, AxisError, DataError, DTypeError, NamesError, ShapeError, expected
from ..ops.composite.shape.arranging import stack
from ..ops.creation.filled import asarray
from ..ops.indexing.getitem import isel
from ..ops.indexing.taking import take as take_entries
from ..ops.padding import pad
from ..rules.plan import integer
from ..tensor import Tensor, TensorLike
from .lengths import as_tensor, check_lengths, clip_lengths, length_mask, map_lengths, read
from .value import Ragged, as_ragged, position_of, ragged_axis, ragged_or_tensor


@check_arguments
def sequence_mask(lengths: TensorLike, size: int, *, name: str = "time") -> Tensor:
    """Make a mask of the positions below each length.

    Parameters
    ----------
    lengths : integer Tensor
        The lengths.
    size : int
        The size of the new axis.
    name : str, default "time"
        The name of the new axis, the last one.

    Returns
    -------
    Tensor
        bool, with the axes of the lengths and the new axis.

    Raises
    ------
    DTypeError
        For lengths that are not integers.

    References
    ----------
    TensorFlow's `tf.sequence_mask`.

    Examples
    --------
    >>> tb.ragged.sequence_mask(tb.asarray([2, 0], names=("batch",)), 3)
    pred[batch: 2][time: 3] numpy
    [[ True,  True, False],
     [False, False, False]]
    """
    x = asarray(lengths)
    if not x.dtype.is_integer:
        raise DTypeError(expected("lengths of an integer dtype", "cast them with astype()", lengths=x.template))
    return length_mask(x, name, integer(0, size=size))


@check_arguments
def with_lengths(values: Ragged | TensorLike, **lengths: Any) -> Ragged:
    """Add lengths to some axes of a tensor, one for each example; elements beyond the lengths become padding.

    Parameters
    ----------
    values : Tensor or array
        The padded values. An axis with lengths has a name, as its position changes under `tb.vmap` and reductions and
        its name does not.
    **lengths : integer tensor or list, by the name of the axis
        The lengths, from 0 to the size of the axis. They are over other axes of the values, which they name; axes
        without names are the first axes of the values. The lengths of one axis may be over another axis with
        lengths.

    Returns
    -------
    Ragged
        The values with int64 lengths. In a trace, where lengths cannot be read, they are clipped to the range from 0 to
        the size of the axis.

    Raises
    ------
    DTypeError
        For lengths that are not integers.
    DataError
        For lengths below 0 or beyond the axis, where they can be read.
    AxisError, NamesError, ShapeError
        For an axis that the values do not have, for axes without names, and for lengths over axes of other sizes.
    ArgumentError
        If there are no lengths, and for axes whose lengths are over one another.

    Examples
    --------
    >>> values = tb.zeros((2, 5, 4), names=("batch", "time", "feature"))
    >>> tb.ragged.with_lengths(values, time=[5, 2])
    ragged f32[batch: 2][time: 5][feature: 4] numpy, time=[5, 2]
    """
    if isinstance(values, Ragged):
        lengths = {**values.lengths, **lengths}
        values = values.values
    x = asarray(values)
    if not lengths:
        raise ArgumentError(expected("the lengths of at least one axis", "write with_lengths(values, time=lengths)"))
    return Ragged(x, check_lengths(x, lengths))


@check_arguments
def from_list(
    arrays: Sequence[Any], *, axis: str = "time", batch: str = "batch", size: int | None = None, fill: TensorLike = 0
) -> Ragged:
    """Combine arrays of different lengths into one tensor, padded at their ends.

    Parameters
    ----------
    arrays : list of Tensor, array or list
        One or more arrays with the same shape except for the first axis, whose sizes become the lengths. Different
        dtypes are promoted to their common dtype.
    axis : str, default "time"
        The name of the axis with lengths.
    batch : str, default "batch"
        The name of the axis of the examples, which comes first.
    size : int, optional
        The size of the axis with lengths, by default the maximum of the lengths.
    fill : number, default 0
        The value of the padding.

    Returns
    -------
    Ragged
        With the axes (batch, axis, the others).

    Raises
    ------
    ArgumentError
        If there are no arrays.
    ShapeError
        For an array without axes, one longer than `size`, and arrays whose other axes differ.
    NamesError
        For a first axis of another name.

    Examples
    --------
    >>> tb.ragged.from_list([[1, 2, 3], [4]], axis="letter", batch="word")
    ragged s64[word: 2][letter: 3] numpy, letter=[3, 1]
    """
    if not arrays:
        raise ArgumentError(expected("at least one array", "use with_lengths() for an empty batch", arrays=arrays))
    parts = [array if isinstance(array, Tensor) else asarray(array) for array in arrays]
    for part in parts:
        if not part.ndim:
            raise ShapeError(expected("arrays with an axis of their entries", array=part.template))
        if part.names[0] not in (None, axis):
            raise NamesError(expected(f"a first axis named {axis!r} or without a name", array=part.template))
    lengths = [part.shape[0] for part in parts]
    bound = max(lengths) if size is None else integer(0, size=size)
    if max(lengths) > bound:
        raise ShapeError(expected(f"arrays of at most {bound} entries", "leave size out", lengths=lengths))
    rows = [
        pad(part.rename(axis, *part.names[1:]), {0: (0, bound - length)}, value=fill)
        for part, length in zip(parts, lengths, strict=True)
    ]
    return with_lengths(stack(rows, name=batch), **{axis: lengths})


@check_arguments
def to_list(x: Ragged | Tensor) -> Any:
    """Split x into its examples, each without its padding.

    Parameters
    ----------
    x : Ragged
        A tensor whose lengths can be read; not a value of a trace.

    Returns
    -------
    list of Tensor
        A tensor for each position on the axes that lengths are over: nested lists if there are several such axes. An
        axis that itself has lengths has as many positions as its length. If the lengths are over no axes, the result
        is a single tensor.

    Raises
    ------
    TemplateDataError
        For lengths in a trace or on templates.

    Examples
    --------
    >>> [example.tolist() for example in tb.ragged.to_list(tb.ragged.from_list([[1, 2], [3]]))]
    [[1, 2], [3]]
    """
    return _examples(as_ragged(x))


def _examples(x: Ragged) -> Any:
    if not x.lengths:
        return x.values
    over = {name for lengths in x.lengths.values() for name in lengths.names}
    examples = next((name for name in x.names if name in over and name not in x.lengths), None)
    if examples is not None:
        count = x.size_of(examples)
        return [_examples(_entries(x, examples, position)) for position in range(count)]
    axis = next(name for name, lengths in x.lengths.items() if not lengths.ndim)
    return _examples(_entries(x, axis, slice(int(x.lengths[axis].item()))))  # type: ignore[arg-type] # an int


def _entries(x: Ragged, axis: str, key: Any) -> Ragged:
    """Index the values, and the lengths over an axis, with `key`; the axis itself loses its lengths."""
    lengths = {name: other_lengths for name, other_lengths in x.lengths.items() if name != axis}

    def entries(part: Tensor) -> Tensor:
        return isel(part, **{axis: key})

    return Ragged(entries(x.values), map_lengths(lengths, axis, entries))


@check_arguments
def resize(x: Ragged, size: int, *, axis: Axis, fill: TensorLike = 0) -> Ragged:
    """Change the size of an axis with lengths; the lengths stay the same.

    Parameters
    ----------
    x : Ragged
        A tensor with lengths.
    size : int
        The new size of the axis.
    axis : int or str
        An axis with lengths.
    fill : number, default 0
        The value of new padding.

    Returns
    -------
    Ragged
        x with another size of the axis.

    Raises
    ------
    DataError
        For a size below a length, where lengths can be read. In a trace, the lengths are clipped to the size.

    Examples
    --------
    >>> tb.ragged.resize(tb.ragged.from_list([[1, 2], [3]]), 4, axis="time")
    ragged s64[batch: 2][time: 4] numpy, time=[2, 1]
    """
    name = ragged_axis(x, axis, "tb.pad(values, ...) within apply()")
    size, before = integer(0, size=size), x.size_of(name)
    axis_lengths = x.lengths[name]
    if size < before:
        axis_lengths = fit_lengths(axis_lengths, size, name)
    padding: dict[Axis, tuple[int, int]] = {name: (0, size - before)}
    lengths = map_lengths(x.lengths, name, lambda part: pad(part, padding, value=0))
    return Ragged(pad(x.values, padding, value=fill), {**lengths, name: axis_lengths})


def fit_lengths(lengths: Tensor, size: int, axis: str) -> Tensor:
    """Lengths of at most `size`: raises `DataError` for larger ones that can be read, and clips others."""
    data = read(lengths)
    if data is None:
        return lengths if lengths.backend.template_only else clip_lengths(lengths, size)
    largest = max(_numbers(data), default=0)
    if largest > size:
        raise DataError(expected(f"room for {largest} entries on the axis {axis!r}", "pass a larger size", size=size))
    return lengths


def _numbers(data: Any) -> list[int]:
    return [data] if isinstance(data, int) else [number for row in data for number in _numbers(row)]


@check_arguments
def take(x: Ragged | Tensor, indices: TensorLike | Sequence[int], *, axis: Axis) -> Any:
    """Take entries along an axis without lengths, such as examples, together with the lengths over that axis.

    Parameters
    ----------
    indices : integer Tensor or list of int
        With one axis, or with none to drop `axis`. Negative indices count from the end.
    axis : int or str
        An axis without lengths.

    Returns
    -------
    Ragged or Tensor
        x with the taken entries along the axis.

    Raises
    ------
    AxisError
        For an axis with lengths, whose entries `slice_along_axis` and `select` take.

    Examples
    --------
    >>> tb.ragged.take(tb.ragged.from_list([[1, 2], [3]]), [1], axis="batch")
    ragged s64[batch: 1][time: 2] numpy, time=[1]
    """
    ragged = as_ragged(x)
    position = position_of(ragged, axis)
    name = ragged.names[position]
    if name in ragged.lengths:
        remedy = "take runs of entries with slice_along_axis(), or entries that a mask chooses with select()"
        raise AxisError(expected("an axis without lengths", remedy, axis=axis))
    places = as_tensor(indices, ragged.values)
    if places.ndim > 1:
        raise ShapeError(expected("indices of at most one axis", "take one row of them at a time", indices=places))
    if places.ndim:
        places = places.rename(name)
    values = take_entries(ragged.values, places, axis=position)
    lengths = map_lengths(ragged.lengths, name, lambda part: take_entries(part, places, axis=part.names.index(name)))
    return ragged_or_tensor(values, lengths)
