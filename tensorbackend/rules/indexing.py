"""Templates of `x[...]`, of gathers and of scatters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from types import EllipsisType, NoneType
from typing import Any, NamedTuple, TypeAlias

from ..annotations import Axis, SoleAxis
from ..caching.memos import remembers_calls
from ..dtypes import int64
from ..errors import ArgumentError, DTypeError, IndexRangeError, OperandError, ShapeError, expected
from ..sizes import NeedsSizes, index, is_symbolic
from ..template import Names, Shape, Template, as_int, check_unique, intern_template, is_symbolic_template, merge_names
from .axes import normalize_axis, sole_axis
from .broadcasting import broadcast, check_dtype, result_type
from .plan import Plan, choice

Structure: TypeAlias = tuple[Any, ...]
"""The parts of a key of `x[...]` without data: the template for an index tensor or a mask, the class for others."""

MODES = ("error", "clip", "fill")
"""The ways to handle an index outside its axis, which are those of the protocol's `Mode`."""


class Span(NamedTuple):
    """The part of one axis that a key selects."""

    start: int
    length: int
    stride: int
    reversed: bool = False
    dropped: bool = False


class Slices(NamedTuple):
    """The parts that a basic key of `x[...]` selects.

    `starts`, `lengths` and `strides` have an entry for each axis of x; `reversed` and `dropped` are positions of axes.
    """

    starts: tuple[int, ...]
    lengths: tuple[int, ...]
    strides: tuple[int, ...]
    reversed: tuple[int, ...]
    dropped: tuple[int, ...]
    new: tuple[int, ...]
    """The positions of new axes in the result."""
    cuts: bool
    """Whether the key selects less than all elements, or not in steps of 1."""


def parse_basic_key(x: Template, key: Any) -> Slices:
    """Reads a basic key: ints, slices, None and `...`. The result is cached if all numbers are of type int.

    f32[2][3] by `[1, ::2]` has starts (1, 0), lengths (1, 2) and strides (1, 2), and drops axis 0. Raises
    `IndexRangeError`, `ArgumentError` for a step of 0, and `OperandError` for a part of another kind.
    """
    parts = []
    for part in key if isinstance(key, tuple) else (key,):
        kind = type(part)
        if kind is slice:
            part = part.start, part.stop, part.step
            if not all(entry is None or type(entry) is int for entry in part):
                return _parse(x, key)
        elif not (kind is int or part is None or part is ...):
            return _parse(x, key)
        parts.append(part)
    if is_symbolic_template(x):  # no memo may hold it
        return _parse(x, key)
    return _cached_parse(x, tuple(parts), isinstance(key, tuple))


@lru_cache(maxsize=4096)
def _cached_parse(x: Template, parts: tuple[Any, ...], several: bool) -> Slices:
    key = tuple(slice(*part) if type(part) is tuple else part for part in parts)
    return _parse(x, key if several else key[0])


def _parse(x: Template, key: Any) -> Slices:
    keys = list(key) if isinstance(key, tuple) else [key]
    used = sum(1 for part in keys if part is not None and not isinstance(part, EllipsisType))
    if used > x.ndim:
        raise IndexRangeError(expected(f"at most {x.ndim} indices for {x!r}", key=key))
    if sum(1 for part in keys if isinstance(part, EllipsisType)) > 1:
        raise IndexRangeError(expected("at most one ...", key=key))
    if not any(isinstance(part, EllipsisType) for part in keys):
        keys.append(...)
    spans: list[Span] = []
    new: list[int] = []
    for part in keys:
        if part is None:
            new.append(len(spans) - sum(span.dropped for span in spans) + len(new))
        elif isinstance(part, EllipsisType):
            spans += [_span(x, len(spans) + more, slice(None)) for more in range(x.ndim - used)]
        else:
            spans.append(_span(x, len(spans), part))
    starts, lengths, strides = (tuple(span[field] for span in spans) for field in range(3))
    return Slices(
        starts,
        lengths,
        strides,
        tuple(axis for axis, span in enumerate(spans) if span.reversed),
        tuple(axis for axis, span in enumerate(spans) if span.dropped),
        tuple(new),
        lengths != x.shape or any(starts) or any(stride != 1 for stride in strides),
    )


def _span(x: Template, axis: int, key: Any) -> Span:
    size = x.shape[axis]
    if isinstance(key, slice):
        if key.step == 0:
            raise ArgumentError(expected("a step other than 0", key=key))
        try:
            start, length, step = _positions(key, size)
        except NeedsSizes:
            raise
        except TypeError:
            raise OperandError(expected("a slice between ints", key=key)) from None
        if step < 0:
            return Span(start + (length - 1) * step if length else 0, length, -step if length > 1 else 1, reversed=True)
        # The step to a second element that there is not may be too large for a library's ints.
        return Span(start if length else 0, length, step if length > 1 else 1)
    position = as_int(key)
    if position is None:
        remedy = "or give a mask or an integer tensor"
        if isinstance(key, str | Mapping):
            remedy = "write x.isel(time=0) for an axis by its name"
        raise OperandError(expected("an int, a slice, None or ... as an index", remedy, key=key))
    if not -size <= position < size:
        raise IndexRangeError(expected(f"an index from {-size} to {size - 1} for axis {axis} of {x!r}", index=position))
    return Span(position % size, 1, 1, dropped=True)


def _positions(key: slice, size: int) -> tuple[int, int, int]:
    """The first position, the number of positions and the step of a slice of an axis, whose size may be symbolic."""
    if not is_symbolic((size, key.start, key.stop)):
        positions = range(*key.indices(size))
        return positions.start, len(positions), positions.step
    step = 1 if key.step is None else index(key.step)
    low, high = (0, size) if step > 0 else (-1, size - 1)

    def clamp_bound(bound: Any, default: int) -> int:
        if bound is None:
            return default
        place = index(bound)
        if place < 0:
            place += size
            return low if place < low else place
        return high if place > high else place

    start, stop = clamp_bound(key.start, low if step > 0 else high), clamp_bound(key.stop, high if step > 0 else low)
    if step > 0:
        return start, (stop - start + step - 1) // step if start < stop else 0, step
    return start, (start - stop - step - 1) // -step if stop < start else 0, step


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
        remedy = "their last axis runs over the leading axes of x; write indices[..., None] for indices along the first"
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


remembers_calls("slices", _cached_parse)
