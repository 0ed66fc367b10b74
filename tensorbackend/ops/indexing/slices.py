"""Slices and blocks, also blocks whose position depends on data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ...declarations.argument_errors import check_arguments
from ...dispatch import primitive
from ...dtypes import iinfo
from ...errors import ShapeError, expected
from ...rules.axes import normalize_axis
from ...rules.indexing import parse_basic_key, plan_block_update
from ...rules.plan import Plan
from ...select import common_backend
from ...template import Template
from ...tensor import Tensor, TensorLike
from ..creation.filled import iota
from ..creation.foreign_arrays import is_array
from ..creation.values import operand_tensor, operand_tensors
from ..elementwise.basic import astype
from ..elementwise.binary import maximum, minimum
from ..shape import broadcast_to, concatenate, expand_dims, flip, reshape, squeeze
from .scatter import indexed_put

_INTS: Final = frozenset({int})
"""The class of starts that need no look at their kind."""


def first_entry(start: Tensor, room: int) -> Tensor:
    """A start in int64, clipped to the range from 0 to `room`; `ShapeError` unless it is an integer without axes."""
    _check_start(start)
    return maximum(astype(minimum(start, min(iinfo(start.dtype).max, room)), "int64"), 0)


def _check_start(start: Tensor) -> None:
    if start.ndim or not start.dtype.is_integer:
        raise ShapeError(expected("a start without axes, of an integer dtype", start=start.template))


def block_put(x: TensorLike, update: TensorLike, starts: Sequence[TensorLike]) -> Tensor:
    """`put_slice` where some of the starts are tensors."""
    x, update, *places = operand_tensors(x, update, *starts)
    # This raises the errors and returns the names of `put_slice`. The starts are zeros, as the real ones are not known.
    out = plan_block_update(x.template, update.template, (0,) * len(starts)).out
    assert isinstance(out, Template)
    if not update.size:
        return x.rename(*out.names)
    for start in places:
        _check_start(start)
    # Axes behind the last one that the update does not fill have no start to choose.
    depth = max((axis + 1 for axis in range(x.ndim) if x.shape[axis] != update.shape[axis]), default=0)
    if not depth:
        return astype(update, x.dtype).rename(*out.names)
    home, lengths = common_backend(places), update.shape[:depth]
    coordinates = []
    for axis, (start, size, length) in enumerate(zip(places[:depth], x.shape, lengths, strict=False)):
        entries = iota(length, backend=home) + first_entry(start, size - length)
        along = tuple(length if position == axis else 1 for position in range(depth))
        coordinates.append(reshape(broadcast_to(reshape(entries, along), lengths), (*lengths, 1)))
    vectors, replacement = concatenate(coordinates, axis=depth), astype(update, x.dtype)
    written = indexed_put(x, vectors, replacement.rename(*[None] * x.ndim), mode="clip")
    return written.rename(*out.names)


@check_arguments
def put_slice(
    x: TensorLike, update: TensorLike, /, *, starts: Sequence[TensorLike] | Mapping[str, TensorLike]
) -> Tensor:
    """Replace the block of x that begins at `starts` by `update`.

    The starts are one for each axis, or a dictionary by the names of axes; the axes that it leaves out start at 0.

    If all starts are ints, negative ones count from the end. If one is a tensor or an array without axes, the position
    depends on data, and all starts are moved so that the block is within x; negative ones become 0. The update is
    promoted to x's dtype; raises `DTypeError` if its dtype is wider. The axes have the names of x, and axes without a
    name those of the update. Raises `ShapeError` for a block that is not within x.

    >>> tb.put_slice(tb.zeros(4, dtype="int64"), tb.asarray([7, 8]), starts=(1,)).tolist()
    [0, 7, 8, 0]
    >>> tb.put_slice(tb.zeros(4), tb.ones(2), starts=(tb.asarray(9),)).tolist()
    [0.0, 0.0, 1.0, 1.0]
    >>> x = tb.zeros((2, 3), names=("batch", "time"))
    >>> tb.put_slice(x, tb.ones((2, 1)), starts={"time": 1}).tolist()
    [[0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]
    """
    if isinstance(starts, Mapping):
        x = operand_tensor(x, update)
        by_axis = {normalize_axis(x.template, axis): start for axis, start in starts.items()}
        starts = [by_axis.get(axis, 0) for axis in range(x.ndim)]
    if not _INTS.issuperset(map(type, starts)) and any(
        isinstance(start, Tensor) or is_array(start) for start in starts
    ):
        return block_put(x, update, starts)
    return put_block(x, update, starts=starts)  # type: ignore[arg-type] # ints


@primitive.calls("slice")
def slice_(x: Template, /, *, starts: tuple[int, ...], lengths: tuple[int, ...], strides: tuple[int, ...]) -> Plan:
    """Take `lengths[i]` elements along axis i, from `starts[i]` on, with strides `strides[i]`.

    The lengths are the sizes of the result, whereas Nx's `slice` counts the elements that the strides span.

    >>> tb.slice_(tb.iota(6), starts=(1,), lengths=(2,), strides=(3,)).tolist()
    [1, 4]
    """
    if not len(starts) == len(lengths) == len(strides) == x.ndim:
        raise ShapeError(expected(f"one start, length and stride for each axis of {x!r}", starts=starts))
    for size, start, length, stride in zip(x.shape, starts, lengths, strides, strict=True):
        if min(start, length) < 0 or stride < 1 or (length and start + (length - 1) * stride >= size):
            raise ShapeError(expected(f"slices within {x!r}", starts=starts, lengths=lengths, strides=strides))
    out = x.replace(shape=tuple(lengths))
    # Where nothing is taken, or one element, the numbers may be too large for a library's ints.
    starts = tuple([min(start, size) for start, size in zip(starts, x.shape, strict=True)])
    strides = tuple([stride if length > 1 else 1 for stride, length in zip(strides, lengths, strict=True)])
    return Plan(out, (x.dtype,), {"starts": starts, "lengths": lengths, "strides": strides})


@primitive.calls("put_slice")
def _put_slice(x: Template, update: Template, /, *, starts: Sequence[int]) -> Plan:
    return plan_block_update(x, update, starts)


put_block = _put_slice
"""`put_slice` where all starts are ints."""


def entries(x: Tensor, axis: int, start: int, count: int) -> Tensor:
    """`count` entries along an axis, from `start` on."""
    starts, lengths = [0] * x.ndim, list(x.shape)
    starts[axis], lengths[axis] = start, count
    return slice_(x, starts=tuple(starts), lengths=tuple(lengths), strides=(1,) * x.ndim)


def slice_basic(x: Tensor, key: Any) -> Tensor:
    """Basic indexing: an int drops its axis, a slice keeps it, None makes a new axis, ... stands for the axes that are
    left. The result is always a new tensor."""
    parts = parse_basic_key(x.template, key)
    selection = x
    if parts.cuts:
        selection = slice_(selection, starts=parts.starts, lengths=parts.lengths, strides=parts.strides)
    if parts.reversed:
        selection = flip(selection, axis=parts.reversed)
    if parts.dropped:
        selection = squeeze(selection, parts.dropped)
    for position in parts.new:
        selection = expand_dims(selection, axis=position)
    # A new tensor, even if nothing was cut: an assignment to one must not be seen in the other.
    return Tensor(x.template, x.backend, x.data) if selection is x else selection
