"""Templates of gathers and scatters."""

from __future__ import annotations

from ..errors import ArgumentError, DTypeError, ShapeError, expected
from ..meaning import Axis, SoleAxis
from ..template import Names, Shape, Template, check_unique, intern_template, merge_names
from .axes import normalize_axis, sole_axis
from .broadcasting import check_dtype, result_type
from .plan import Plan

MODES = ("error", "clip", "fill")
"""What may happen to an index outside its axis; the protocol's `Mode` lists the same."""


def check_indices(indices: Template, mode: str) -> None:
    """Raises `DTypeError` for indices that are no integers, `ArgumentError` for a mode that is none."""
    if not indices.dtype.is_integer:
        remedy = "cast them with astype(), or use where() for a mask"
        raise DTypeError(expected("indices of an integer dtype", remedy, dtype=indices.dtype))
    if mode not in MODES:
        raise ArgumentError(expected("mode to be 'error', 'clip' or 'fill'", mode=mode))


def taken(x: Template, indices: Template, axis: SoleAxis, mode: str) -> Plan:
    """The plan of a take: (5, 6, 7) at indices of shape (2, 3) along axis 1 is (5, 2, 3, 7).

    Indices of one axis without a name keep the name of the axis.
    """
    check_indices(indices, mode)
    along = sole_axis(x, axis)
    shape = (*x.shape[:along], *indices.shape, *x.shape[along + 1 :])
    taken_names = (x.names[along],) if indices.names == (None,) else indices.names
    names = check_unique((*x.names[:along], *taken_names, *x.names[along + 1 :]))
    out = intern_template(shape, x.dtype, names)
    return Plan(out, (x.dtype, indices.dtype), {"axis": along, "mode": mode})


def taken_along(x: Template, indices: Template, axis: Axis, mode: str) -> Plan:
    """The plan of take_along_axis: the shape of the indices, whose other sizes are x's."""
    check_indices(indices, mode)
    along = normalize_axis(x, axis)
    others = [each for each in range(x.ndim) if each != along]
    if indices.ndim != x.ndim or any(indices.shape[each] != x.shape[each] for each in others):
        raise ShapeError(expected(f"indices with the sizes of {x!r} but along axis {along}", indices=indices))
    out = intern_template(indices.shape, x.dtype, merge_names(x, indices))
    return Plan(out, (x.dtype, indices.dtype), {"axis": along, "mode": mode})


def gathered(x: Template, indices: Template) -> tuple[Shape, Names]:
    """Shape and names of what lies at index vectors: the last axis of `indices` runs over x's leading axes.

    [a: 5][b: 6][c: 7] with [row: 2][column: 3][2] gives [row: 2][column: 3][c: 7].
    """
    depth = indices.shape[-1] if indices.ndim else x.ndim + 1
    if depth > x.ndim:
        remedy = "its last axis runs over the leading axes of x"
        raise ShapeError(expected(f"index vectors of at most {x.ndim} entries", remedy, indices=indices, x=x))
    return indices.shape[:-1] + x.shape[depth:], check_unique(indices.names[:-1] + x.names[depth:])


def scattered(x: Template, indices: Template, updates: Template, mode: str, accept: str) -> Plan:
    """The plan of a write at index vectors: x's template, in the dtype that it and the updates have in common.

    Raises `ShapeError` unless the updates have the shape of what `gather` reads at the same indices.
    """
    check_indices(indices, mode)
    dtype = check_dtype(result_type([x, updates]), accept)
    shape, names = gathered(x, indices)
    if updates.shape != shape:
        remedy = "broadcast_to() that shape"
        raise ShapeError(expected(f"updates of shape {shape}", remedy, updates=updates, x=x, indices=indices))
    merge_names(intern_template(shape, dtype, names), updates)
    return Plan(x.replace(dtype=dtype), (dtype, indices.dtype, dtype), {"mode": mode})
