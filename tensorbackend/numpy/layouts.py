"""Where NumPy would keep the elements of an array: strides and flags, and whether a reshape is a view or a copy.

A *layout* is an array of NumPy's with the shape, dtype and strides that NumPy's array would have, but without its
memory: it is never read. The layout of a root is contiguous; that of a view is what NumPy's own indexing, transposing
or reshaping makes of the layout of its base. So NumPy itself decides, on every backend and in traces.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, TypeAlias
from weakref import ref

import numpy

from ..caching.memos import remembers_calls
from ..errors import ArgumentError, ShapeError, expected
from ..interchange import numpy_dtype
from ..sizes import is_size
from .holders import Holder, Step
from .keys import has_only_ints

Layout: TypeAlias = numpy.ndarray[Any, Any]


class LayoutError(ShapeError, AttributeError):
    """A view that cannot be given another shape without a copy."""


_NOTHING: Final = numpy.zeros(16, dtype=numpy.uint8)
"""The memory at which all layouts begin, as large as the largest element."""


_INT: Final = frozenset({int})


def plain_shape(shape: Any) -> tuple[int, ...]:
    """A shape as ints. Of a symbolic size it is noted whether it is 1, as strides along such an axis do not count."""
    if _INT.issuperset(map(type, shape)):
        return tuple(shape)
    return tuple([size.value if is_size(size) and (size == 1) is not None else size for size in shape])


@lru_cache(1024)
def _contiguous(shape: tuple[int, ...], dtype: numpy.dtype[Any]) -> Layout:
    steps, step = [], dtype.itemsize
    for size in reversed(shape):
        steps.append(step)
        step *= size
    steps = [0] * len(shape) if 0 in shape else steps
    start = _NOTHING[: dtype.itemsize].view(dtype)
    return numpy.lib.stride_tricks.as_strided(start, shape, tuple(reversed(steps)))


remembers_calls("layouts of arrays", _contiguous)


def layout_of(x: Holder, below: Holder | None = None, start: Layout | None = None) -> Layout:
    """The layout of an array: contiguous for a root, that of its base and how it is read for a view.

    Parameters
    ----------
    x
        The array.
    below, start : optional
        An array that the view shows, and another layout for it, which has memory.

    Returns
    -------
    numpy.ndarray
        The layout.
    """
    if start is not None and x is below:
        return start
    t = x._t
    if t is not None:
        return _contiguous(plain_shape(t.template.shape), numpy_dtype(t.template.dtype))
    layout = layout_of(x._base, below, start)
    shape, how = plain_shape(x._of.shape), x._how
    if layout.shape != shape:  # the base was given another shape since
        layout = layout.reshape(shape, copy=False)
    if how.__class__ is not Step:
        return _part(layout, how, x)
    if how.lay is not None:
        made: Layout = how.lay(layout)
        return made
    shape = plain_shape(x._template().shape)
    return _contiguous(shape, layout.dtype) if start is None else layout.reshape(shape)


def _part(layout: Layout, key: Any, x: Holder) -> Layout:
    """The layout at a key of basic indexing. A bound in a trace does not count: the strides are the same for all."""
    parts = key if key.__class__ is tuple else (key,)
    if has_only_ints(key):
        parts = (*parts, ...)  # not a number
    try:
        part: Layout = layout[parts]
    except Exception:
        known = [slice(None, None, each.step) if each.__class__ is slice else each for each in parts]
        shape = plain_shape(x._template().shape)
        part = numpy.lib.stride_tricks.as_strided(layout[tuple(known)], shape)
    return part


def start_of(layout: Layout) -> int:
    """The bytes in front of the first element of a layout."""
    return layout.__array_interface__["data"][0] - _NOTHING.__array_interface__["data"][0]  # type: ignore[no-any-return]


def fits(layout: Layout, shape: tuple[int, ...], order: str = "C") -> bool:
    """Whether an array of a layout can be shown in another shape without a copy."""
    try:
        if order == "F":
            layout.T.reshape(shape[::-1], copy=False)
        else:
            layout.reshape(shape, copy=False)
    except ValueError:
        return False
    return True


def axes_in_memory(layout: Layout) -> tuple[int, ...]:
    """The axes of an array in the order `"K"`: from the longest step in memory to the shortest."""
    if layout.flags.c_contiguous:
        return tuple(range(layout.ndim))
    if layout.flags.f_contiguous:
        return tuple(range(layout.ndim))[::-1]
    return tuple(sorted(range(layout.ndim), key=lambda axis: -abs(layout.strides[axis])))


def axes_in_order(layout: Layout, order: str | None) -> tuple[int, ...]:
    """The axes of an array in an order of NumPy's, `"C"`, `"F"`, `"A"` or `"K"`: from the first in memory on."""
    if order is None or order == "K":
        return axes_in_memory(layout)
    if order not in ("C", "F", "A"):
        raise ArgumentError(expected("an order: 'C', 'F', 'A' or 'K'", order=order))
    columns = order == "F" or (order == "A" and layout.flags.f_contiguous and not layout.flags.c_contiguous)
    axes = tuple(range(layout.ndim))
    return axes[::-1] if columns else axes


def places_in_order(layouts: Sequence[Layout], order: Any) -> list[tuple[int, ...]] | None:
    """The places of elements in the order in which NumPy's loops pass them; `None` if it is row-major."""
    plain = order == "C" or (order != "F" and all(each.flags.c_contiguous for each in layouts))
    if plain or not layouts or not all(each.size for each in layouts):
        return None
    loop = numpy.nditer(list(layouts), flags=["multi_index"], order=order)
    return [loop.multi_index for _ in loop]


def key_and_axes(places: Sequence[tuple[int, ...]]) -> tuple[tuple[slice, ...], tuple[int, ...]]:
    """A key and an order of axes with which an array has its elements in the order of such places."""
    first = places[0]
    key = tuple([slice(None, None, -1 if place else None) for place in first])
    runs = [next((n for n, place in enumerate(places) if place[axis] != start), 0) for axis, start in enumerate(first)]
    return key, tuple(sorted(range(len(first)), key=lambda axis: -runs[axis]))


def is_ordered(axes: tuple[int, ...]) -> bool:
    """Whether axes are in row-major order."""
    return all(first < second for first, second in pairwise(axes))


# What may be written to

LOCKED: Final[dict[int, ref[Any]]] = {}
"""The roots that a program made read-only, by their `id`."""


def is_writeable(x: Holder) -> bool:
    """Whether NumPy would write to an array: not if it, or what it shows, is read-only."""
    while x._t is None:
        how = x._how
        if how.__class__ is Step and not how.writeable:
            return False
        x = x._base
    return not (LOCKED and id(x) in LOCKED)


def refuse_read_only(x: Holder) -> None:
    """Raises `ArgumentError`, which is a `ValueError`, if an array is read-only."""
    if not is_writeable(x):
        remedy = "write to a copy: x.copy()"
        raise ArgumentError(expected("an array that may be written to, not a read-only one", remedy, shape=x.shape))


def lock(x: Holder, locked: bool) -> None:
    """Makes a root read-only, or not."""
    if locked:
        key = id(x)
        LOCKED[key] = ref(x, lambda _: LOCKED.pop(key, None))
    else:
        LOCKED.pop(id(x), None)


# Views whose elements overlap


def overlapping(x: Holder) -> Holder | None:
    """The array of which a view shows elements more than once; `None` if each is shown at most once."""
    found = None
    while x._t is None:
        how = x._how
        if how.__class__ is Step and how.overlaps:
            found = x._base
        x = x._base
    return found


def places_in(x: Holder, base: Holder) -> Layout:
    """For each element of a view its place in the flat array that it shows."""
    shape = plain_shape(base._template().shape)
    return layout_of(x, base, numpy.arange(numpy.prod(shape, dtype=int)).reshape(shape))
