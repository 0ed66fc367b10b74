"""Templates of gathers and scatters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from types import EllipsisType, NoneType
from typing import Any, TypeAlias

from ..annotations import Axis, SoleAxis
from ..dtypes import int64
from ..errors import DTypeError, ShapeError, expected
from ..sizes import index
from ..template import Names, Shape, Template, check_unique, intern_template, merge_names
from .axes import normalize_axis, sole_axis
from .broadcasting import broadcast, check_dtype, result_type
from .plan import Plan, choice

Structure: TypeAlias = tuple[Any, ...]
"""The parts of a key of `x[...]` without data: the template for an index tensor or a mask, the class for others."""

MODES = ("error", "clip", "fill")
"""The ways to handle an index outside its axis, which are those of the protocol's `Mode`."""


def check_indices(indices: Template, mode: str) -> None:
    """Raises `DTypeError` for indices that are not integers, `ArgumentError` for an unknown mode."""
    if not indices.dtype.is_integer:
        remedy = "cast them with astype(), or use where() for a mask"
        raise DTypeError(expected("indices of an integer dtype", remedy, dtype=indices.dtype))
    choice(MODES, mode=mode)


def plan_take(x: Template, indices: Template, axis: SoleAxis, mode: str) -> Plan:
    """The plan of a take: (5, 6, 7) at indices of shape (2, 3) along axis 1 is (5, 2, 3, 7).

    If the indices have one axis, without a name, the axis of x keeps its name.
    """
    check_indices(indices, mode)
    along = sole_axis(x, axis)
    shape = (*x.shape[:along], *indices.shape, *x.shape[along + 1 :])
    taken_names = (x.names[along],) if indices.names == (None,) else indices.names
    names = check_unique((*x.names[:along], *taken_names, *x.names[along + 1 :]))
    out = intern_template(shape, x.dtype, names)
    return Plan(out, (x.dtype, indices.dtype), {"axis": along, "mode": mode})


def plan_take_along(x: Template, indices: Template, axis: Axis, mode: str) -> Plan:
    """The plan of take_along_axis: the result has the shape of the indices; off the axis, their sizes must be x's."""
    check_indices(indices, mode)
    along = normalize_axis(x, axis)
    others = [other_axis for other_axis in range(x.ndim) if other_axis != along]
    if indices.ndim != x.ndim or any(indices.shape[other_axis] != x.shape[other_axis] for other_axis in others):
        raise ShapeError(expected(f"indices with the sizes of {x!r} except along axis {along}", indices=indices))
    out = intern_template(indices.shape, x.dtype, merge_names(x, indices))
    return Plan(out, (x.dtype, indices.dtype), {"axis": along, "mode": mode})


def gather_shape(x: Template, indices: Template) -> tuple[Shape, Names]:
    """Shape and names of the elements or blocks at index vectors, whose entries are positions in x's leading axes.

    [a: 5][b: 6][c: 7] with [row: 2][column: 3][2] results in [row: 2][column: 3][c: 7].
    """
    depth = indices.shape[-1] if indices.ndim else x.ndim + 1
    if depth > x.ndim:
        remedy = "the last axis of the indices runs over the leading axes of x"
        raise ShapeError(expected(f"index vectors of at most {x.ndim} entries", remedy, indices=indices, x=x))
    return indices.shape[:-1] + x.shape[depth:], check_unique(indices.names[:-1] + x.names[depth:])


def plan_scatter(x: Template, indices: Template, updates: Template, mode: str, accept: str) -> Plan:
    """The plan of a write at index vectors: x's template, in the common dtype of it and the updates.

    Raises `ShapeError` unless the updates have the shape of the result of `gather` at the same indices.
    """
    check_indices(indices, mode)
    dtype = check_dtype(result_type([x, updates]), accept)
    shape, names = gather_shape(x, indices)
    if updates.shape != shape:
        remedy = "broadcast_to() that shape"
        raise ShapeError(expected(f"updates of shape {shape}", remedy, updates=updates, x=x, indices=indices))
    merge_names(intern_template(shape, dtype, names), updates)
    return Plan(x.replace(dtype=dtype), (dtype, indices.dtype, dtype), {"mode": mode})


# x[...]


def is_mask(kind: Any) -> bool:
    """Whether a part of a structure is a mask."""
    return isinstance(kind, Template) and kind.dtype.kind == "bool"


def axes_of_parts(x: Template, structure: Structure) -> list[range]:
    """The axes of x that each part of a structure indexes: for a mask as many as it has, for `...` the rest."""
    widths = [
        kind.ndim if is_mask(kind) else 0 if kind in (NoneType, EllipsisType) else 1
        for kind in structure
    ]  # fmt: skip
    rest, ranges, axis = x.ndim - sum(widths), [], 0
    for kind, width in zip(structure, widths, strict=True):
        end = axis + (rest if kind is EllipsisType else width)
        ranges.append(range(axis, end))
        axis = end
    return ranges


def getitem_template(x: Template, structure: Structure, sizes: Sequence[int]) -> Template:
    """The template of `x[...]` for a key of a structure that matches x.

    `sizes` are the lengths of the slices, then the counts of the masks. For [a: 5][b: 6][c:
    7], (slice, index of [3]) and the size 2 it is [a: 2][b: 3][c: 7].
    """
    if EllipsisType not in structure:
        structure = (*structure, EllipsisType)
    parts = list(zip(structure, axes_of_parts(x, structure), strict=True))
    lengths, counts = iter(sizes), iter(sizes[structure.count(slice) :])
    tensors = [_index(x, kind, axes, counts) for kind, axes in parts if isinstance(kind, Template)]
    chosen_shape, chosen_names = _together(tensors)
    chooses = [place for place, kind in enumerate(structure) if kind is int or isinstance(kind, Template)]
    # The axes of index tensors are put where the first int or index tensor is; in front if these are not neighbours.
    apart = any(after != place + 1 for place, after in pairwise(chooses))
    shape, names = list(chosen_shape if apart else ()), list(chosen_names if apart else ())
    for place, (kind, axes) in enumerate(parts):
        if kind is NoneType:
            shape.append(1)
            names.append(None)
        elif kind is slice:
            shape.append(next(lengths))
            names.append(x.names[axes.start])
        elif kind is EllipsisType:
            shape += x.shape[axes.start : axes.stop]
            names += x.names[axes.start : axes.stop]
        elif place == chooses[0] and not apart:
            shape += chosen_shape
            names += chosen_names
    return intern_template(tuple(shape), x.dtype, check_unique(tuple(names)))


def _index(x: Template, kind: Template, axes: range, counts: Iterator[int]) -> tuple[Template, str | None]:
    """The template of an index tensor, or of the positions of a mask's true elements, and the name of its axis of x."""
    mask = is_mask(kind)
    index_template = intern_template((next(counts),), int64, (None,)) if mask else kind
    return index_template, x.names[axes.start] if len(axes) == 1 else None


def _together(indices: Sequence[tuple[Template, str | None]]) -> tuple[Shape, Names]:
    """The shape and names of index tensors broadcast together; each comes with the name of its axis of x."""
    with_axes = [pair for pair in indices if pair[0].ndim]
    if len(with_axes) == 1 and with_axes[0][0].names == (None,):
        ((index, name),) = with_axes
        return index.shape, (name,)
    return broadcast([index for index, _ in indices]) if indices else ((), ())


def check_update(x: Template, update: Template) -> None:
    """Raises `DTypeError` unless the dtype of x is the promotion of its own and the update's."""
    if result_type([x, update]) is not x.dtype:
        remedy = "cast one of them with astype()"
        raise DTypeError(expected(f"an update of a dtype that {x.dtype} holds", remedy, dtype=update.dtype))


def check_assignment(x: Template, update: Template) -> None:
    """Raises `DTypeError` for an update that `x[...] = update` refuses: of a wider kind, or integers that could wrap.

    A floating or complex update of another width is rounded.
    """
    rounded = update.dtype.is_floating if x.dtype.is_floating else x.dtype.is_complex and update.dtype.is_inexact
    if not rounded:
        check_update(x, update)


def plan_block_update(x: Template, update: Template, starts: Sequence[int]) -> Plan:
    """The plan of writing a block: the result has x's template, with the names of the update where x has none."""
    if update.ndim != x.ndim or len(starts) != x.ndim:
        expectation = f"an update and starts with the {x.ndim} axes of {x!r}"
        raise ShapeError(expected(expectation, update=update, starts=tuple(starts)))
    check_update(x, update)
    names = merge_names(x, update)
    first = []
    for size, length, start in zip(x.shape, update.shape, map(index, starts), strict=True):
        low = start + size if start < 0 else start
        if low < 0 or low + length > size:
            raise ShapeError(expected(f"a block within {x!r}", update=update, starts=tuple(starts)))
        first.append(low)
    return Plan(x.replace(names=names), (x.dtype, x.dtype), {"starts": tuple(first)})
