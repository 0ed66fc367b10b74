"""Joins, splits and repetitions, written in public ops."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, TypeAlias

from ....annotations import Axis
from ....declarations.argument_errors import check_arguments
from ....dispatch import composite
from ....errors import ArgumentError, AxisError, ShapeError, expected
from ....rules.axes import normalize_axes, normalize_axis
from ....rules.broadcasting import broadcast
from ....sizes import index
from ....template import as_shape
from ....tensor import Tensor, TensorLike
from ...creation.filled import iota, rename
from ...creation.values import operand_tensor
from ...elementwise.basic import astype
from ...indexing.slices import entries
from ...indexing.taking import take_at
from ...shape import broadcast_to, concatenate, expand_dims, laid_flat, permute_dims, reshape, squeeze


def as_vector(x: Tensor, what: str, remedy: str = "vmap() over the others") -> Tensor:
    """An operand that must have one axis, without its name."""
    if x.ndim != 1:
        raise ShapeError(expected(f"{what} along one axis", remedy if x.ndim else "", tensor=x.template))
    return x.rename(None)


@composite
def stack(arrays: Sequence[Tensor], /, *, axis: int = 0, name: str | None = None) -> Tensor:
    """Join tensors with equal shapes along a new axis, which may have a name.

    >>> tb.stack([tb.asarray([1, 2]), tb.asarray([3, 4])], axis=1, name="pair").template
    s64[2][pair: 2]
    """
    shapes = [x.template for x in arrays]
    for other in shapes[1:]:
        if other.shape != shapes[0].shape:
            raise ShapeError(expected("tensors of one shape", "use concatenate()", left=shapes[0], right=other))
    wide = [expand_dims(x, axis=axis, name=name) for x in arrays]
    position = index(axis)
    return concatenate(wide, axis=position % (len(shapes[0].shape) + 1) if shapes else 0)


@composite
def unstack(x: Tensor, /, *, axis: Axis = 0) -> tuple[Tensor, ...]:
    """Split a tensor into its entries along an axis; the entries no longer have that axis.

    >>> [entry.tolist() for entry in tb.unstack(tb.asarray([[1, 2], [3, 4]]), axis=1)]
    [[1, 3], [2, 4]]
    """
    along = normalize_axis(x.template, axis)
    return tuple(squeeze(entries(x, along, start, 1), along) for start in range(x.shape[along]))


@composite
def split(x: Tensor, /, sections: int | Sequence[int], *, axis: Axis = 0) -> tuple[Tensor, ...]:
    """Split along an axis into a number of equal parts, or at the given positions.

    Raises `ShapeError` for a number of sections that does not divide the size, or for positions out of order.

    >>> [part.tolist() for part in tb.split(tb.iota(4), 2)], [part.tolist() for part in tb.split(tb.iota(4), (1,))]
    ([[0, 1], [2, 3]], [[0], [1, 2, 3]])
    """
    along = normalize_axis(x.template, axis)
    size = x.shape[along]
    if isinstance(sections, Sequence):
        bounds = [0, *map(index, sections), size]
        if sorted(bounds) != bounds:
            raise ShapeError(expected(f"ascending positions from 0 to {size}", sections=tuple(sections)))
    else:
        count = index(sections)
        if count < 1 or size % count:
            raise ShapeError(expected(f"a number of sections that divides {size}", "give positions", sections=count))
        bounds = list(range(0, size + 1, size // count)) if size else [0] * (count + 1)
    return tuple(entries(x, along, low, high - low) for low, high in itertools.pairwise(bounds))


@composite.calls("roll")
def _roll(x: Tensor, /, shift: int | Sequence[int], *, axis: Axis | Sequence[Axis] | None = None) -> Tensor:
    """See `roll`."""
    if axis is None:
        return reshape(_roll(laid_flat(x), shift, axis=0), x.shape, names=x.names)
    several = list(axis) if isinstance(axis, Sequence) and not isinstance(axis, str) else [axis]
    shifts = [index(distance) for distance in shift] if isinstance(shift, Sequence) else [index(shift)] * len(several)
    if len(shifts) != len(several):
        raise ArgumentError(expected("one shift, or one for each axis", shift=shift, axis=axis))
    for rolled_axis, distance in zip(several, shifts, strict=True):
        along = normalize_axis(x.template, rolled_axis)
        size = x.shape[along]
        cut = -distance % size if size else 0
        if cut:
            x = concatenate([entries(x, along, cut, size - cut), entries(x, along, 0, cut)], axis=along)
    return x


Shift: TypeAlias = int | Tensor


@check_arguments
def roll(x: TensorLike, /, shift: Shift | Sequence[Shift], *, axis: Axis | Sequence[Axis] | None = None) -> Tensor:
    """Shift elements along axes; those moved beyond the end reappear at the start.

    `shift` is one integer, or one for each axis in the order given. A tensor without axes may be traced, as in
    a compiled function and under `vmap`. `axis=None` rolls the flattened tensor.

    >>> tb.roll(tb.iota(5), 2, axis=0).tolist()
    [3, 4, 0, 1, 2]
    """
    if isinstance(shift, int):
        return _roll(x, shift, axis=axis)
    distances = [*shift] if isinstance(shift, Sequence) else [shift]
    if not any(isinstance(distance, Tensor) and not distance.backend.is_concrete(distance) for distance in distances):
        given: int | list[int] = [*map(index, distances)] if isinstance(shift, Sequence) else index(shift)
        return _roll(x, given, axis=axis)
    x = operand_tensor(x)
    if axis is None:
        return reshape(roll(laid_flat(x), shift, axis=0), x.shape, names=x.names)
    several = list(axis) if isinstance(axis, Sequence) and not isinstance(axis, str) else [axis]
    distances = distances if isinstance(shift, Sequence) else distances * len(several)
    if len(distances) != len(several):
        raise ArgumentError(expected("one shift, or one for each axis", shift=shift, axis=axis))
    for rolled_axis, distance in zip(several, distances, strict=True):
        x = _roll_along(x, distance, normalize_axis(x.template, rolled_axis))
    return x


def _roll_along(x: Tensor, distance: Shift, along: int) -> Tensor:
    """The elements shifted along one axis by a number that may depend on data."""
    if not isinstance(distance, Tensor):
        return _roll(x, distance, axis=along)
    if distance.ndim or not distance.dtype.is_integer:
        raise ArgumentError(expected("a shift that is an integer without axes", shift=distance.template))
    size = x.shape[along]
    places = (iota((size,), dtype="int64") - astype(distance, "int64")) % max(size, 1)
    return rename(take_at(x, places, axis=along, mode="clip"), *x.names)


@composite
def tile(x: Tensor, repetitions: Sequence[int], /) -> Tensor:
    """Repeat x along each axis; repetitions and axes are aligned from the right.

    >>> tb.tile(tb.asarray([1, 2]), (2, 2)).tolist()
    [[1, 2, 1, 2], [1, 2, 1, 2]]
    """
    try:
        times = as_shape(repetitions)
    except ShapeError:
        frozen: Any = repetitions
        if not isinstance(frozen, tuple) or frozen[0] is not None:
            raise
        pairs = dict(frozen[1:])  # a mapping as the key of a call has it
        several = tuple(pairs.get(name, pairs.get(axis, 1)) for axis, name in enumerate(x.names))
        raise ShapeError(expected("repetitions for each axis", f"write {several}", repetitions=pairs)) from None
    rank = max(len(times), x.ndim)
    times = (1,) * (rank - len(times)) + times
    shape = (1,) * (rank - x.ndim) + x.shape
    names = (None,) * (rank - x.ndim) + x.names
    # (2, 3) three times and twice is (1, 2, 1, 3) broadcast to (3, 2, 2, 3), then read as (6, 6).
    apart = reshape(x, tuple(size for length in shape for size in (1, length)))
    wide = broadcast_to(apart, tuple(size for pair in zip(times, shape, strict=True) for size in pair))
    return reshape(wide, tuple(a * b for a, b in zip(times, shape, strict=True)), names=names)


@composite
def moveaxis(x: Tensor, source: Axis | Sequence[Axis], destination: int | Sequence[int], /) -> Tensor:
    """Move axes to other positions; the other axes keep their order.

    >>> tb.moveaxis(tb.zeros((2, 3, 4), names=("a", "b", "c")), "a", -1).names
    ('b', 'c', 'a')
    """
    moved = normalize_axes(x.template, source)
    places = [index(place) for place in destination] if isinstance(destination, Sequence) else [index(destination)]
    if len(moved) != len(places) or any(not -x.ndim <= place < x.ndim for place in places):
        raise AxisError(expected(f"a position of {x.template!r} for each axis", destination=destination))
    places = [place % x.ndim for place in places]
    if len(set(places)) != len(places):
        raise AxisError(expected("each position once", destination=destination))
    order = [axis for axis in range(x.ndim) if axis not in moved]
    for place, axis in sorted(zip(places, moved, strict=True)):
        order.insert(place, axis)
    return permute_dims(x, tuple(order))


@composite
def broadcast_arrays(*arrays: Tensor) -> tuple[Tensor, ...]:
    """Broadcast tensors against each other; the names of matching axes are merged.

    >>> [x.shape for x in tb.broadcast_arrays(tb.zeros((2, 1)), tb.zeros(3))]
    [(2, 3), (2, 3)]
    """
    shape, names = broadcast([x.template for x in arrays])
    return tuple(broadcast_to(x, shape, names=names) for x in arrays)
