"""Templates of what puts blocks together: padding, joining, writing a block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import index
from typing import Any, TypeAlias

from ..errors import ArgumentError, DTypeError, ShapeError, expected
from ..meaning import Axis
from ..memo import freeze
from ..template import Template, intern_template, merge_names
from .axes import normalize_axis
from .broadcasting import result_type
from .plan import Plan

Paddings: TypeAlias = Sequence[Sequence[int]] | Mapping[Axis, Sequence[int]]
"""(low, high) or (low, high, interior) for each axis, or for some axes by name or position."""


def padded(x: Template, padding: Paddings) -> tuple[Template, tuple[tuple[int, int, int], ...]]:
    """The template with elements put about those of each axis, and the paddings as (low, high, interior).

    5 with (1, -2, 1) is 1 + (5 + 4) - 2 = 8.
    """
    frozen: Any = freeze(padding)
    given: list[Any] = list(frozen)
    if given and given[0] is None:
        by_axis = {normalize_axis(x, axis): each for axis, each in given[1:]}
        given = [by_axis.get(axis, (0, 0)) for axis in range(x.ndim)]
    if len(given) != x.ndim:
        remedy = "or map some axes, such as {'time': (0, 1)}"
        raise ArgumentError(expected(f"a padding for each axis of {x!r}", remedy, padding=tuple(given)))
    triples: list[tuple[int, int, int]] = []
    sizes = []
    for size, each in zip(x.shape, given, strict=True):
        try:
            low, high, interior = (*map(index, each), 0)[:3] if len(each) in (2, 3) else (0, 0, -1)
        except TypeError:
            low, high, interior = 0, 0, -1
        if interior < 0:
            raise ArgumentError(expected("(low, high) or (low, high, interior) with interior from 0 up", padding=each))
        total = low + size + max(size - 1, 0) * interior + high
        if total < 0:
            raise ShapeError(expected(f"a padding that leaves a size from 0 up of {x!r}", padding=each, size=size))
        triples.append((low, high, interior))
        sizes.append(total)
    return x.replace(shape=tuple(sizes)), tuple(triples)


def concatenated(tensors: Sequence[Template], axis: Axis) -> Plan:
    """The plan of joining tensors along an axis: (2, 3) and (4, 3) along 0 give (6, 3)."""
    if not tensors:
        raise ArgumentError(expected("one tensor or more"))
    first = tensors[0]
    along = normalize_axis(first, axis)
    dtype = result_type(tensors)
    for other in tensors[1:]:
        apart = [each for each in range(first.ndim) if each != along]
        if other.ndim != first.ndim or any(other.shape[each] != first.shape[each] for each in apart):
            raise ShapeError(expected(f"sizes that are equal but along axis {along}", left=first, right=other))
    names = reduce(lambda left, right: left.replace(names=merge_names(left, right)), tensors).names
    shape = list(first.shape)
    shape[along] = sum(each.shape[along] for each in tensors)
    return Plan(intern_template(tuple(shape), dtype, names), (dtype,) * len(tensors), {"axis": along})


def check_update(x: Template, update: Template) -> None:
    """Raises `DTypeError` for an update of a dtype that promotion does not bring to x's."""
    if result_type([x, update]) is not x.dtype:
        remedy = "cast one of them with astype()"
        raise DTypeError(expected(f"an update of a dtype that {x.dtype} holds", remedy, dtype=update.dtype))


def check_assigned(x: Template, update: Template) -> None:
    """Raises `DTypeError` for what `x[...] = update` does not take: a wider kind, or integers that could wrap.

    A floating or complex update of another width is rounded.
    """
    rounded = update.dtype.is_floating if x.dtype.is_floating else x.dtype.is_complex and update.dtype.is_inexact
    if not rounded:
        check_update(x, update)


def block_written(x: Template, update: Template, starts: Sequence[int]) -> Plan:
    """The plan of writing a block: its template is x's, with the names of the update where x has none."""
    if update.ndim != x.ndim or len(starts) != x.ndim:
        wanted = f"an update and starts with the {x.ndim} axes of {x!r}"
        raise ShapeError(expected(wanted, update=update, starts=tuple(starts)))
    check_update(x, update)
    names = merge_names(x, update)
    first = []
    for size, length, start in zip(x.shape, update.shape, map(index, starts), strict=True):
        low = start + size if start < 0 else start
        if low < 0 or low + length > size:
            raise ShapeError(expected(f"a block within {x!r}", update=update, starts=tuple(starts)))
        first.append(low)
    return Plan(x.replace(names=names), (x.dtype, x.dtype), {"starts": tuple(first)})
