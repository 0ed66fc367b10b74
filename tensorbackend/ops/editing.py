"""Entries left out of a tensor and put between others, at positions that are known before data is."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from operator import itemgetter

from ..annotations import SoleAxis
from ..declarations.argument_errors import check_arguments
from ..errors import ArgumentError, ShapeError, expected
from ..rules.axes import sole_axis
from ..rules.plan import integer
from ..template import as_int
from ..tensor import Tensor, TensorLike
from .creation.filled import asarray, iota
from .creation.values import operand_tensor
from .elementwise.basic import astype, clip
from .indexing.taking import take_at
from .shape import broadcast_to, concatenate

_MOST_SLICED_RUNS = 16
"""Up to this number of runs, entries are sliced and concatenated; of more runs they are taken by position."""

Positions = int | Sequence[int] | slice | Tensor
"""One position, several of them, or a slice."""


def _places(positions: Positions, size: int, last: int) -> list[int]:
    """Positions along an axis of a size, counted from its start; `ArgumentError` for one that is not from -size to
    `last`."""
    if isinstance(positions, slice):
        return list(range(*positions.indices(size)))
    given = (positions,) if as_int(positions) is not None else positions
    places = [integer(position=position) for position in given]  # type: ignore[union-attr] # several
    for place in places:
        if not -size <= place <= last:
            raise ArgumentError(expected(f"positions from {-size} to {last}", positions=positions))
    return [place + size if place < 0 else place for place in places]


@check_arguments
def delete(x: TensorLike, positions: Positions, /, *, axis: SoleAxis = None) -> Tensor:
    """The tensor without the entries at some positions of an axis.

    Parameters
    ----------
    positions : int, sequence of int or slice
        The positions of entries that are left out, negative ones from the end; the same one may be given twice. A
        traced tensor, as under `vmap`, is one position; it is moved into the axis.

    Returns
    -------
    Tensor
        A tensor with fewer entries along the axis, in the dtype and with the names of x.

    Raises
    ------
    ArgumentError
        For a position that the axis does not have.

    Examples
    --------
    >>> tb.delete(tb.asarray([10, 20, 30, 40]), [0, -1]).tolist()
    [20, 30]
    """
    x = asarray(x)
    along = sole_axis(x.template, axis)
    size = x.shape[along]
    if isinstance(positions, Tensor) and not positions.backend.is_concrete(positions):
        return _delete_traced(x, positions, along)
    gone = sorted({*_places(positions, size, size - 1)})
    starts, stops = [0, *(place + 1 for place in gone)], [*gone, size]
    return _select_runs(x, along, list(zip(starts, stops, strict=True)))


def _select_runs(x: Tensor, along: int, runs: Sequence[tuple[int, int]]) -> Tensor:
    """Selects runs of entries along an axis, each from a start to a stop, and concatenates them."""
    runs = [(start, stop) for start, stop in runs if start < stop] or [(0, 0)]
    if len(runs) > _MOST_SLICED_RUNS:
        places = list(chain.from_iterable(range(start, stop) for start, stop in runs))
        return take_at(x, asarray(places, dtype="int64", backend=x.backend), axis=along, mode="clip").rename(*x.names)
    before = (slice(None),) * along
    parts = [x[(*before, slice(start, stop))] for start, stop in runs]
    return concatenate(parts, axis=along) if len(parts) > 1 else parts[0]


def _delete_traced(x: Tensor, position: Tensor, along: int) -> Tensor:
    """The tensor without the entry at a position that is known later; one that the axis does not have is clipped."""
    if position.ndim or not position.dtype.is_integer or not x.shape[along]:
        remedy = "give a traced tensor one axis less, or ints"
        raise ArgumentError(expected("one position of the axis", remedy, positions=position.template))
    size = x.shape[along]
    gone = astype(position, "int64")
    gone = clip(gone + astype(gone < 0, "int64") * size, 0, size - 1)
    places = iota((size - 1,), dtype="int64")
    places = places + astype(places >= gone, "int64")
    return take_at(x, places, axis=along, mode="clip").rename(*x.names)


@check_arguments
def insert(x: TensorLike, positions: Positions, values: TensorLike, /, *, axis: SoleAxis = None) -> Tensor:
    """The tensor with new entries before those at some positions of an axis.

    Parameters
    ----------
    positions : int, sequence of int or slice
        The positions in x before which entries are put, negative ones from the end; the size of the axis puts one at
        its end.
    values : Tensor
        The new entries, of the shape of x but with an entry for each position along the axis, or of one that broadcasts
        to that. They are promoted with x.

    Returns
    -------
    Tensor
        A tensor with more entries along the axis, with the names of x.

    Raises
    ------
    ArgumentError
        For a position that is not within the axis or at its end.
    ShapeError
        For values of another shape.

    Examples
    --------
    >>> tb.insert(tb.asarray([10, 20, 30]), [0, 2], tb.asarray([1, 2])).tolist()
    [1, 10, 20, 2, 30]
    """
    x = asarray(x)
    along = sole_axis(x.template, axis)
    size = x.shape[along]
    places = _places(positions, size, size)
    added = operand_tensor(values, x)
    shape = (*x.shape[:along], len(places), *x.shape[along + 1 :])
    if added.ndim > x.ndim:
        raise ShapeError(expected(f"values that broadcast to shape {shape}", values=added.template))
    joined = concatenate([x, broadcast_to(added, shape, names=x.names)], axis=along)
    # Before each place come its new entries, in the order in which they are given; they stand behind x in `joined`.
    runs, start = [], 0
    for number, place in sorted(enumerate(places), key=itemgetter(1)):
        runs += [(start, place), (size + number, size + number + 1)]
        start = place
    return _select_runs(joined, along, [*runs, (start, size)])
