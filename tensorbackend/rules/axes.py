"""Axes by position or by name, as non-negative positions."""

from __future__ import annotations

from ..annotations import Axes, Axis, SoleAxis
from ..errors import AxisError, AxisKindError, expected, shown
from ..template import Template, as_int


def normalize_axis(x: Template, axis: Axis) -> int:
    """The position of one axis; `AxisError` if the tensor does not have it.

    >>> x = Template((2, 3), "f32", ("batch", "feature"))
    >>> normalize_axis(x, -1), normalize_axis(x, "batch")
    (1, 0)
    """
    if isinstance(axis, str):
        if axis not in x.names:
            named = ", ".join(repr(name or axis) for name in x.names)
            remedy = f"rename({named}) names the axis without a name" if x.names.count(None) == 1 else ""
            if x.ndim > 1 and not any(x.names):
                remedy = "name its axes with rename(), or write a position"
            error = AxisError if any(x.names) else AxisKindError
            raise error(expected(f"an axis name of {x!r}", remedy, axis=axis))
        return x.names.index(axis)
    position = as_int(axis)
    if position is None:
        given: object = axis
        remedy = "moveaxis(x, source, destination) leaves the other axes in their order" if given is ... else ""
        if isinstance(given, list | tuple) and len(given) == 1:
            remedy = f"write {shown(given[0])}"
        elif isinstance(given, list | tuple) and given:
            remedy = f"merge_axes(x, {shown(tuple(given))}, name=...) makes one axis of them"
        raise AxisKindError(expected("an axis as an int or a name", remedy, axis=axis))
    if not -x.ndim <= position < x.ndim:
        expectation = (
            f"an axis from {-x.ndim} to {x.ndim - 1} of {x!r}" if x.ndim else "no axis, as the tensor has none"
        )
        raise AxisError(expected(expectation, axis=position))
    return position % x.ndim


def normalize_axes(x: Template, axes: Axes) -> tuple[int, ...]:
    """The positions of several axes in their given order, all of them for `None`; `AxisError` for a repeated one.

    >>> normalize_axes(Template((2, 3), "f32", ("batch", "feature")), ["feature", 0])
    (1, 0)
    """
    if axes is None:
        return tuple(range(x.ndim))
    try:
        several = (axes,) if isinstance(axes, str) else tuple(axes)  # type: ignore[arg-type] # or a TypeError
    except TypeError:  # not an iterable, or an array without axes
        several = (axes,)  # type: ignore[assignment] # a single axis, else `normalize_axis` raises
    positions = tuple(normalize_axis(x, axis) for axis in several)
    if len(set(positions)) != len(positions):
        raise AxisError(expected(f"each axis of {x!r} once", axes=axes))
    return positions


def sorted_axes(x: Template, axes: Axes) -> tuple[int, ...]:
    """The positions of several axes whose order does not matter, as in a reduction."""
    return tuple(sorted(normalize_axes(x, axes)))


def sole_axis(x: Template, axis: SoleAxis) -> int:
    """The position of an axis that may be omitted if the tensor has only one; `AxisError` otherwise.

    >>> sole_axis(Template((2,), "f32"), None)
    0
    """
    if axis is None:
        if x.ndim != 1:
            raise AxisError(
                expected(f"an axis of {x!r}", "pass one: an axis is optional only for a tensor of one axis", axis=axis)
            )
        return 0
    return normalize_axis(x, axis)
