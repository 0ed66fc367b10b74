"""Templates of changes of shape."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache, reduce
from typing import Any, TypeAlias

from ..annotations import Axis
from ..caching.memos import remembers_calls
from ..caching.option_keys import MEMO_LIMIT, freeze
from ..dtypes import DType
from ..errors import ArgumentError, AxisError, AxisKindError, NamesError, ShapeError, expected
from ..sizes import index
from ..template import (
    Names,
    NamesLike,
    Shape,
    Template,
    as_int,
    as_names,
    as_shape,
    check_unique,
    intern_template,
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


def reshape_template(x: Template, shape: Sequence[int] | int, names: NamesLike) -> Template:
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


def align_axes(x: Template, names: Sequence[str]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes of x in the order of `names`, and the positions in `names` of those that x does not have."""
    absent = [name for name in x.names if name not in names]
    if absent or None in x.names:
        remedy = "list every name; aligned(x, y, outer=True) gives two tensors the axes of both"
        first: object = names[0] if names else None
        if None in x.names:
            remedy = "name every axis with rename()"
        elif isinstance(first, list | tuple):
            remedy = f"write all names, one by one, as in align_to{tuple(first)!r}"
        elif not all(isinstance(name, str) for name in names):  # or ...
            remedy = f"write all names, one by one, as in {', '.join(map(repr, x.names))}"
        raise NamesError(expected(f"names that hold all of {x!r}", remedy, names=tuple(names)))
    order = tuple(x.names.index(name) for name in names if name in x.names)
    return order, tuple(position for position, name in enumerate(names) if name not in x.names)


Paddings: TypeAlias = int | Sequence[int] | Sequence[Sequence[int]] | Mapping[Axis, int | Sequence[int]]
"""(low, high) or (low, high, interior) for each axis, or for some axes by name or position, where an int is both sides;
one pair for all axes, or one int for all sides."""


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
        by_axis = {normalize_axis(x, axis): _both_sides(entry) for axis, entry in paddings[1:]}
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


def _both_sides(entry: Any) -> Any:
    """An int as (low, high), any other padding as it is."""
    side = as_int(entry)
    return entry if side is None else (side, side)


def plan_concatenation(tensors: Sequence[Template], axis: Axis) -> Plan:
    """The plan of joining tensors along an axis: (6, 3) for (2, 3) and (4, 3) along 0."""
    if not tensors:
        raise ArgumentError(expected("at least one tensor"))
    first = tensors[0]
    if isinstance(axis, str) and axis not in first.names:
        error = AxisError if any(first.names) else AxisKindError
        raise error(expected(f"an axis name of {first!r}", f"stack(..., name={axis!r}) makes an axis", axis=axis))
    if not first.ndim:
        raise ShapeError(expected("tensors with axes", "stack() joins numbers along a new axis", tensor=first))
    along = normalize_axis(first, axis)
    different = list(dict.fromkeys(tensors))  # of many tensors, most are alike
    dtype = result_type(different)
    for other in different[1:]:
        apart = [position for position in range(first.ndim) if position != along]
        if other.ndim != first.ndim or any(other.shape[position] != first.shape[position] for position in apart):
            remedy = (
                "give each the same number of axes by reshape() or expand_dims()" if other.ndim != first.ndim else ""
            )
            expectation = f"sizes that are equal except along axis {along}"
            raise ShapeError(expected(expectation, remedy, left=first, right=other))
    names = reduce(lambda left, right: left.replace(names=merge_names(left, right)), different).names
    shape = list(first.shape)
    shape[along] = sum(tensor.shape[along] for tensor in tensors)
    return Plan(intern_template(tuple(shape), dtype, names), (dtype,) * len(tensors), {"axis": along})


remembers_calls("shapes", template_without_names)
