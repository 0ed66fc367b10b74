"""Merging axes with lengths, packing examples without padding, and the inverses of both."""

from __future__ import annotations

from collections.abc import Sequence

from ..annotations import Axis
from ..declarations.argument_errors import check_arguments
from ..dtypes import int64
from ..errors import AxisError, expected
from ..ops import alignment
from ..ops.composite.cumulative import cumulative_sum
from ..ops.composite.elementwise.functions import logical_not
from ..ops.composite.shape.arranging import moveaxis
from ..ops.elementwise.basic import astype
from ..ops.elementwise.binary import logical_and
from ..ops.padding import pad
from ..ops.shape import broadcast_to
from ..ops.sorting import argsort
from ..rules.axes import normalize_axis
from ..rules.plan import integer
from ..template import Template
from ..tensor import Tensor
from .construction import fit_lengths, resize
from .lengths import check_equal, laid_out, length_mask
from .moving import gather_along, gather_ragged
from .value import Ragged, ragged_axis

PACKED = "packed"


def _mask_over(x: Ragged, names: Sequence[str]) -> Tensor:
    """Mask the positions within the lengths of some axes, and within the lengths of the axes that these are over.

    The result has the axes that the lengths are over first, then those in `names`.
    """
    over = [name for name in x.names if name is not None and name in axes_over(x, names)]
    axes = (*over, *names)
    like = Template([x.size_of(name) for name in axes], "bool", axes)
    mask: Tensor | None = None
    for name in x.lengths:
        if name in axes:
            axis_mask = laid_out(length_mask(x.lengths[name], name, x.size_of(name)), like)
            mask = axis_mask if mask is None else logical_and(mask, axis_mask)
    assert mask is not None  # some axis has lengths
    return broadcast_to(mask, like.shape, names=axes)


def axes_over(x: Ragged, names: Sequence[str]) -> set[str]:
    """Find the axes, other than `names`, that the lengths of `names` are over, directly or through other lengths."""
    over: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in x.lengths:
            fresh = {str(axis) for axis in x.lengths[name].names} - over - set(names)
            over |= fresh
            waiting += fresh
    return over


def front_order(mask: Tensor, axis: str = "", size: int | None = None) -> tuple[Tensor, Tensor]:
    """Order the positions on the last axis so that those for which a mask is true come first; count them.

    With a size, the order has so many entries along `axis`, and the counts are at most that.
    """
    order, counts = argsort(astype(logical_not(mask), "uint8"), axis=-1), astype(mask, int64).sum(axis=-1)
    room = mask.shape[-1]
    if size is not None and integer(0, size=size) != room:
        order = pad(order, {axis: (0, size - room)}, value=0)
        counts = fit_lengths(counts, size, axis) if size < room else counts
    return order, counts


def _merge(x: Tensor, names: Sequence[str], name: str) -> Tensor:
    """Merge some axes, in the order of `names`, into one axis at the position of the leftmost of them."""
    merged, place = alignment.merge_axes(x, names, name=name), min(map(x.names.index, names))
    return merged if merged.names[place] == name else moveaxis(merged, name, place)


@check_arguments
def merge_axes(x: Ragged, axes: Sequence[Axis], /, *, name: str, size: int | None = None) -> Ragged:
    """Merge axes, of which one or more have lengths, into one: its entries are those within the lengths, in order.

    Parameters
    ----------
    x : Ragged
        A tensor with lengths.
    axes : list of int or str
        Two or more axes, the slowest first. An axis with lengths comes after the axes that its lengths are over.
    name : str
        The name of the new axis, which takes the position of the leftmost of them.
    size : int, optional
        The size of the new axis. By default the product of the sizes, which has room for all entries.

    Returns
    -------
    Ragged
        x with the new axis. Its lengths, the numbers of merged entries, are over the remaining axes of the examples.

    Raises
    ------
    AxisError
        For axes without names, or if none of them has lengths.
    DataError
        For a size below a length, where lengths can be read. In a trace, the lengths are clipped to the size.

    Examples
    --------
    >>> values = tb.asarray([[[1, 2], [3, 0]], [[4, 0], [0, 0]]], names=("batch", "word", "letter"))
    >>> x = tb.ragged.with_lengths(values, word=[2, 1], letter=[[2, 1], [1, 0]])
    >>> text = tb.ragged.merge_axes(x, ["word", "letter"], name="text")
    >>> [example.tolist() for example in tb.ragged.to_list(text)]
    [[1, 2, 3], [4]]
    """
    names = _axis_names(x, axes)
    if not any(axis_name in x.lengths for axis_name in names):
        remedy = "merge other axes with tb.reshape() within apply()"
        raise AxisError(expected(f"an axis with lengths, one of {sorted(x.lengths)}", remedy, axes=tuple(axes)))
    mask = _mask_over(x, names)
    flat = _merge(mask, names, name)
    order, counts = front_order(flat, name, size)
    values = _merge(x.values, names, name)
    lengths = {
        other: _merge_lengths(x, other_lengths, names, name)
        for other, other_lengths in x.lengths.items()
        if other not in names
    }
    return gather_ragged(Ragged(values, {**lengths, name: counts}), order, name, counts)


def _axis_names(x: Ragged, axes: Sequence[Axis]) -> list[str]:
    names = [x.names[normalize_axis(x.template, axis)] for axis in axes]
    if None in names or len(set(names)) != len(names) or len(names) < 2:
        raise AxisError(expected("at least two named axes, each once", "name them with rename()", axes=tuple(axes)))
    return [str(name) for name in names]


def _merge_lengths(x: Ragged, lengths: Tensor, names: Sequence[str], name: str) -> Tensor:
    """The lengths after a merge: over the new axis, if they were over some of the merged axes."""
    if not set(lengths.names) & set(names):
        return lengths
    missing = [axis for axis in names if axis not in lengths.names]
    if missing:
        others = [axis for axis in lengths.names if axis not in names]
        axes = [*others, *names]
        like = Template([x.size_of(str(axis)) for axis in axes], int64, axes)
        lengths = broadcast_to(laid_out(lengths, like), like.shape, names=axes)
    return _merge(lengths, names, name)


@check_arguments
def unmerge_axis(x: Ragged, axis: Axis, /, *, axes: Sequence[str], like: Ragged) -> Ragged:
    """Undo `merge_axes`: spread the entries of an axis over several axes, within the lengths of another tensor.

    Parameters
    ----------
    x : Ragged
        The result of `merge_axes`, or one computed from it position by position.
    axis : int or str
        The axis that was merged.
    axes : list of str
        The axes that were merged into it, in the same order.
    like : Ragged
        A tensor with those axes and their lengths.

    Returns
    -------
    Ragged
        x with the axes of `like`, and their lengths, in place of the axis.

    Raises
    ------
    ShapeError
        If the lengths of the axis, where they can be read, are not those of `like` with the axes merged.

    Examples
    --------
    >>> x = tb.ragged.from_list([[1, 2], [3]])
    >>> text = tb.ragged.merge_axes(x, ["batch", "time"], name="text")
    >>> tb.ragged.unmerge_axis(text, "text", axes=["batch", "time"], like=x).filled(0).tolist()
    [[1, 2], [3, 0]]
    """
    name = ragged_axis(x, axis, "tb.reshape() within apply()")
    names = _axis_names(like, axes)
    mask = _mask_over(like, names)
    flat = _merge(mask, names, name)
    check_equal(name, x.lengths[name], astype(flat, int64).sum(axis=-1), trusting=True)
    ranks = cumulative_sum(astype(flat, int64), axis=-1) - 1
    sizes = [like.size_of(axis_name) for axis_name in names]

    def split(part: Tensor) -> Tensor:
        return alignment.split_axis(gather_along(part, ranks, name), name, sizes, names=names)

    lengths = {axis_name: like.lengths[axis_name] for axis_name in names if axis_name in like.lengths}
    for other, other_lengths in x.lengths.items():
        if other != name:
            lengths[other] = split(other_lengths) if name in other_lengths.names else other_lengths
    return Ragged(split(x.values), lengths)


@check_arguments
def pack(x: Ragged, /, *, axis: Axis, name: str = PACKED, size: int | None = None) -> Ragged:
    """Concatenate all examples along one axis, without padding in between.

    Parameters
    ----------
    x : Ragged
        A tensor with lengths.
    axis : int or str
        An axis with lengths. It is merged with all axes that its lengths are over.
    name : str, default "packed"
        The name of the new axis.
    size : int, optional
        The size of the new axis, which by default has room for all entries.

    Returns
    -------
    Ragged
        A tensor with a single length, over no axes: the sum of the lengths. A function that works position by position
        then computes only `size` positions.

    Raises
    ------
    DataError
        For a size below the sum, where lengths can be read.

    Examples
    --------
    >>> x = tb.ragged.from_list([[1, 2, 3], [4]])
    >>> tb.ragged.pack(x, axis="time", size=4)
    ragged s64[packed: 4] numpy, packed=4
    """
    axis_name = ragged_axis(x, axis, "tb.reshape()")
    return (
        merge_axes(x, _axes_to_pack(x, axis_name), name=name, size=size)
        if x.lengths[axis_name].ndim
        else _alone(x, axis_name, name, size)
    )


def _axes_to_pack(x: Ragged, axis: str) -> list[str]:
    over = axes_over(x, [axis])
    return [*(name for name in x.names if name is not None and name in over), axis]


def _alone(x: Ragged, axis: str, name: str, size: int | None) -> Ragged:
    """x with an axis, whose single length is over no axes, renamed and resized."""
    renamed = x.rename(**{axis: name})
    return renamed if size is None else resize(renamed, size, axis=name)


@check_arguments
def unpack(x: Ragged, /, *, like: Ragged, axis: str, packed: str = PACKED) -> Ragged:
    """Undo `pack`: restore the position and the padding of each example.

    Parameters
    ----------
    x : Ragged
        The result of `pack`, or one computed from it position by position.
    like : Ragged
        The tensor that was packed, or another tensor with its lengths.
    axis : str
        The axis of `like` that was packed.
    packed : str, default "packed"
        The name of the packed axis of x.

    Returns
    -------
    Ragged
        x with the axes of `like` that were packed.

    Raises
    ------
    ShapeError
        If the length of x, where it can be read, is not the sum of the lengths of `like`.

    Examples
    --------
    >>> x = tb.ragged.from_list([[1, 2, 3], [4]])
    >>> tb.ragged.unpack(tb.ragged.pack(x, axis="time") * 2, like=x, axis="time").filled(0).tolist()
    [[2, 4, 6], [8, 0, 0]]
    """
    axis_name = ragged_axis(like, axis, "the axis that was packed")
    if like.lengths[axis_name].ndim:
        return unmerge_axis(x, packed, axes=_axes_to_pack(like, axis_name), like=like)
    return _alone(x, packed, axis_name, like.size_of(axis_name))
