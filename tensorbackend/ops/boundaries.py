"""Values outside a tensor: the modes that `pad` and `grid_sample` share, for each side of each axis.

A mode says which element of the axis is repeated at a position outside it. A number, or the mode "constant", says that
one value is used at all such positions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from ..annotations import Axis
from ..dtypes import Scalar, scalar_kind
from ..errors import ArgumentError, AxisError, expected
from ..rules.axes import normalize_axis
from ..template import Template

Side: TypeAlias = str | Scalar
"""The values beyond one end of an axis."""

Sides: TypeAlias = tuple[Side, Side]
"""The values below the first element of an axis, and those above the last."""

Boundary: TypeAlias = Side | Sides | Mapping[Axis, Side | Sides]
"""A `Side` for all ends, a pair for the two ends of each axis, or a mapping of some axes, by name or position, to
either of these."""

CONSTANT: Final = "constant"


def _reflect(place: Any, size: int) -> Any:
    """... 2 1 0 1 2 1 0 ...: reflected at the ends, which are not repeated."""
    last = size - 1
    return last - abs(place % max(2 * last, 1) - last)


def _mirror(place: Any, size: int) -> Any:
    """... 1 0 0 1 2 2 1 ...: reflected at the ends, which are repeated."""
    last = 2 * size - 1
    return (last - abs(2 * (place % (2 * size)) - last)) // 2


def _wrap(place: Any, size: int) -> Any:
    """... 1 2 0 1 2 0 1 ...: repeated from the start."""
    return place % size


EXTENSIONS: Final[Mapping[str, Callable[[Any, int], Any]]] = {
    "edge": lambda place, size: min(max(place, 0), size - 1),
    "periodic": _wrap,
    "reflect": _reflect,
    "symmetric": _mirror,
    "wrap": _wrap,
}
"""By mode, the function that maps a position, inside or outside an axis of a size, to the element that is read there.

A place is an int or, except for "edge", a tensor of ints."""

WORDS: Final = (CONSTANT, *EXTENSIONS)


def sides_of(x: Template, boundary: Boundary, axes: Sequence[int], /, *, option: str) -> tuple[Sides, ...]:
    """The values below and above each of the given axes, for a boundary as a user passes it.

    For each axis it is a mode or a number for each side; an axis that a mapping leaves out has "constant". `option`
    names the argument in errors. Raises `ArgumentError` for an unknown mode, or a value that is neither a mode nor a
    number, and `AxisError` for a mapping with an axis that is not among `axes`.

    >>> sides_of(Template((2, 3), "f32", ("row", "column")), {"column": ("edge", 1.5)}, (0, 1), option="boundary")
    (('constant', 'constant'), ('edge', 1.5))
    """
    if not isinstance(boundary, Mapping):
        return (_pair(boundary, option),) * len(axes)
    sides_by_axis = {normalize_axis(x, axis): _pair(sides, option) for axis, sides in boundary.items()}
    if not sides_by_axis.keys() <= set(axes):
        others = sorted(sides_by_axis.keys() - set(axes))
        raise AxisError(expected(f"{option} only for the axes {tuple(axes)} of {x!r}", axes=tuple(others)))
    return tuple(sides_by_axis.get(axis, (CONSTANT, CONSTANT)) for axis in axes)


def _pair(boundary: Any, option: str) -> Sides:
    low, high = boundary if isinstance(boundary, tuple | list) and len(boundary) == 2 else (boundary, boundary)
    for side in (low, high):
        if side not in WORDS if isinstance(side, str) else scalar_kind(side) is None:
            *others, last = map(repr, WORDS)
            expectation = f"{option} to be {', '.join(others)}, {last} or a number, or a pair of these"
            raise ArgumentError(expected(expectation, "or pass a mapping from axes to these", **{option: boundary}))
    return low, high
