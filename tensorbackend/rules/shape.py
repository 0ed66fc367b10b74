"""Templates of changes of shape and of basic indexing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache, reduce
from types import EllipsisType
from typing import Any, NamedTuple, TypeAlias

from ..annotations import Axis
from ..caching.memos import remembers_calls
from ..caching.option_keys import MEMO_LIMIT, freeze
from ..dtypes import DType
from ..errors import ArgumentError, AxisError, IndexRangeError, NamesError, OperandError, ShapeError, expected
from ..sizes import NeedsSizes, index, is_symbolic
from ..template import (
    Names,
    Shape,
    Template,
    as_int,
    as_names,
    as_shape,
    check_unique,
    intern_template,
    is_symbolic_template,
    merge_names,
)
from .axes import normalize_axes, normalize_axis
from .broadcasting import result_type
from .plan import Plan


@lru_cache(MEMO_LIMIT)
def template_without_names(shape: Shape, dtype: DType) -> Template:
    """The template of a valid shape without names.

    It is cached, because a template that only one result refers to is freed with it and made again for the next one.
    """
    return intern_template(shape, dtype, (None,) * len(shape))


def reshape_template(x: Template, shape: Sequence[int] | int, names: Sequence[str | None] | None) -> Template:
    """The template with another shape, in which one size may be -1, for the remaining size.

    f32[6] to (2, -1) becomes f32[2][3]. Axes that do not change keep their names, unless `names` are given. Raises
    `ShapeError` if the sizes do not multiply to the number of elements.
    """
    sizes = [index(shape)] if not isinstance(shape, Sequence) else [index(size) for size in shape]
    if sizes.count(-1) == 1:
        rest = math.prod(size for size in sizes if size != -1)
        if rest == 0 or x.size % rest:
            raise ShapeError(expected(f"sizes that divide the {x.size} elements of {x!r}", shape=tuple(sizes)))
        sizes[sizes.index(-1)] = x.size // rest
    target = as_shape(sizes)
    if math.prod(target) != x.size:
        raise ShapeError(expected(f"a shape of {x.size} elements for {x!r}", "use -1 for one size", shape=target))
    return Template(target, x.dtype, _names_after_reshape(x, target) if names is None else names)


def _names_after_reshape(x: Template, shape: Shape) -> Names:
    """The names that a reshape keeps: of axes with the same size and the same numbers of elements before and after.

    [a: 2][b: 3][c: 4] keeps c as (6, 4), and a as (2, 12). Neighbouring axes of size 1 keep their names, in order, if
    there are as many of them as before, and lose their names otherwise.
    """
    if not any(x.names):
        return (None,) * len(shape)
    if shape == x.shape:
        return x.names
    before, after = list(zip(_places(x.shape), x.names, strict=True)), _places(shape)
    names: list[str | None] = []
    for axis, place in enumerate(after):  # by comparisons, as sizes may be symbolic
        kept = [name for other, name in before if other == place]
        alike = [number for number, other in enumerate(after) if number == axis or other == place]
        names.append(kept[alike.index(axis)] if len(kept) == len(alike) else None)
    return tuple(names)


def _places(shape: Shape) -> list[tuple[int, int, int]]:
    """The product of the sizes before each axis, its size, and the product of those after it."""
    return [(math.prod(shape[:axis]), size, math.prod(shape[axis + 1 :])) for axis, size in enumerate(shape)]


def template_of_axes(x: Template, axes: Sequence[int]) -> Template:
    """The template of some or all axes of x in the given order, which keep their names."""
    return intern_template(tuple(x.shape[axis] for axis in axes), x.dtype, tuple(x.names[axis] for axis in axes))


def permutation(x: Template, axes: Sequence[int | str]) -> tuple[int, ...]:
    """Every axis once, as positions; `AxisError` otherwise."""
    order = normalize_axes(x, axes)
    if len(order) != x.ndim:
        raise AxisError(expected(f"each of the {x.ndim} axes of {x!r} once", axes=tuple(axes)))
    return order


def squeeze_template(x: Template, axes: tuple[int, ...]) -> Template:
    """The template without axes of size 1; `ShapeError` for one of another size."""
    for axis in axes:
        if x.shape[axis] != 1:
            raise ShapeError(expected(f"an axis of size 1 of {x!r}", "index or reduce it instead", axis=axis))
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    return template_of_axes(x, tuple(kept))


def broadcast_target(
    x: Template, shape: Shape, names: Names | None, axes: Sequence[int] | None = None
) -> tuple[Template, tuple[int, ...]]:
    """The template of x broadcast to a shape, and the positions of its axes in it: the last ones, or `axes`."""
    offset = len(shape) - x.ndim
    places = tuple(range(max(offset, 0), len(shape)) if axes is None else map(index, axes))
    if axes is not None and (len(places) != x.ndim or list(places) != sorted(set(places) & set(range(len(shape))))):
        expectation = f"an ascending position from 0 to {len(shape) - 1} for each axis of {x!r}"
        raise AxisError(expected(expectation, axes=tuple(axes)))
    fits = offset >= 0 and all(size in (1, shape[axis]) for size, axis in zip(x.shape, places, strict=True))
    if not fits:
        how = "aligned from the right" if axes is None else f"with its axes at {places}"
        raise ShapeError(expected(f"a shape that {x!r} broadcasts to, {how}", shape=shape))
    kept = dict(zip(places, x.names, strict=True))
    target_names = (
        as_names(names, len(shape)) if names is not None else tuple(kept.get(axis) for axis in range(len(shape)))
    )
    return intern_template(shape, x.dtype, target_names), places


def expand_template(x: Template, axes: int | Sequence[int], names: str | Sequence[str | None] | None) -> Template:
    """The template with new axes of size 1 at positions `axes` of the result, with a name for each or without names.

    (3, 4) with axes (0, -1) is (1, 3, 4, 1).
    """
    several = tuple(axes) if isinstance(axes, Sequence) else (axes,)
    new_names = (names,) * len(several) if names is None or isinstance(names, str) else tuple(names)
    rank = x.ndim + len(several)
    positions = [index(axis) for axis in several]
    for position in positions:
        if not -rank <= position < rank:
            raise AxisError(expected(f"an axis from {-rank} to {rank - 1} for {x!r}", axis=position))
    new = {position % rank: name for position, name in zip(positions, new_names, strict=False)}
    if len(new) != len(several):
        raise AxisError(expected("each new axis once, and a name for each or for none", axis=axes, name=names))
    old = iter(zip(x.shape, x.names, strict=True))
    pairs = [(1, new[position]) if position in new else next(old) for position in range(rank)]
    return intern_template(tuple(size for size, _ in pairs), x.dtype, check_unique(tuple(name for _, name in pairs)))


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


def align_axes(x: Template, names: Sequence[str]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes of x in the order of `names`, and the positions in `names` of those that x does not have."""
    absent = [name for name in x.names if name not in names]
    if absent or None in x.names:
        remedy = "name every axis with rename()" if None in x.names else "list every name"
        first: object = names[0] if names else None
        if isinstance(first, list | tuple):
            remedy = f"write the names themselves: align_to{tuple(first)!r}"
        raise NamesError(expected(f"names that hold all of {x!r}", remedy, names=tuple(names)))
    order = tuple(x.names.index(name) for name in names if name in x.names)
    return order, tuple(position for position, name in enumerate(names) if name not in x.names)


Paddings: TypeAlias = int | Sequence[int] | Sequence[Sequence[int]] | Mapping[Axis, Sequence[int]]
"""(low, high) or (low, high, interior) for each axis, or for some axes by name or position; one pair for all axes,
or one int for all sides."""


def pad_template(x: Template, padding: Paddings) -> tuple[Template, tuple[tuple[int, int, int], ...]]:
    """The template after padding, and for each axis its padding as (low, high, interior).

    A size of 5 with (1, -2, 1) becomes 1 + (5 + 4) - 2 = 8.
    """
    frozen: Any = freeze(padding)
    if (side := as_int(frozen)) is not None:
        frozen = ((side, side),) * x.ndim
    elif isinstance(frozen, tuple) and len(frozen) == 2 and None not in (pair := (*map(as_int, frozen),)):
        frozen = (pair,) * x.ndim
    paddings: list[Any] = list(frozen)
    if paddings and paddings[0] is None:
        by_axis = {normalize_axis(x, axis): entry for axis, entry in paddings[1:]}
        paddings = [by_axis.get(axis, (0, 0)) for axis in range(x.ndim)]
    if len(paddings) != x.ndim:
        remedy = "or pass a mapping, such as {'time': (0, 1)}"
        raise ArgumentError(expected(f"a padding for each axis of {x!r}", remedy, padding=tuple(paddings)))
    triples: list[tuple[int, int, int]] = []
    sizes = []
    for size, entry in zip(x.shape, paddings, strict=True):
        try:
            low, high, interior = (*map(index, entry), 0)[:3] if len(entry) in (2, 3) else (0, 0, -1)
        except TypeError:
            low, high, interior = 0, 0, -1
        if interior < 0:
            raise ArgumentError(
                expected(
                    "(low, high) or (low, high, interior) with interior of at least 0",
                    f"write {(entry, entry)}" if as_int(entry) is not None else "",
                    padding=entry,
                )
            )
        total = low + size + max(size - 1, 0) * interior + high
        if total < 0:
            raise ShapeError(expected(f"a padding that leaves no negative size of {x!r}", padding=entry, size=size))
        triples.append((low, high, interior))
        sizes.append(total)
    return x.replace(shape=tuple(sizes)), tuple(triples)


def plan_concatenation(tensors: Sequence[Template], axis: Axis) -> Plan:
    """The plan of joining tensors along an axis: (6, 3) for (2, 3) and (4, 3) along 0."""
    if not tensors:
        raise ArgumentError(expected("at least one tensor"))
    first = tensors[0]
    if isinstance(axis, str) and axis not in first.names:
        raise AxisError(expected(f"an axis name of {first!r}", f"stack(..., name={axis!r}) makes an axis", axis=axis))
    along = normalize_axis(first, axis)
    dtype = result_type(tensors)
    for other in tensors[1:]:
        apart = [position for position in range(first.ndim) if position != along]
        if other.ndim != first.ndim or any(other.shape[position] != first.shape[position] for position in apart):
            raise ShapeError(expected(f"sizes that are equal except along axis {along}", left=first, right=other))
    names = reduce(lambda left, right: left.replace(names=merge_names(left, right)), tensors).names
    shape = list(first.shape)
    shape[along] = sum(tensor.shape[along] for tensor in tensors)
    return Plan(intern_template(tuple(shape), dtype, names), (dtype,) * len(tensors), {"axis": along})


remembers_calls("shapes and slices", template_without_names, _cached_parse)
