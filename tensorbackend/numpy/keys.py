"""Keys and shapes: which keys are those of basic indexing, and what such a key reads from a tensor."""

from __future__ import annotations

from operator import index
from types import EllipsisType, NoneType
from typing import Any, Final

import numpy

from ..caching.memos import remembers
from ..caching.option_keys import remember
from ..template import Shape, Template, TemplateKind, intern_template
from ..tensor import Tensor, blank_tensor, public_op

_getitem: Final = public_op("getitem")

HOST: Final = numpy.ndarray
"""The class of payloads whose elements can be read at once."""

INTS: Final = frozenset({int, *[dtype.type for dtype in map(numpy.dtype, "bhilqBHILQ")]})
"""The classes of ints, of Python and NumPy."""

PARTS: Final = frozenset({*INTS, slice, NoneType, EllipsisType})
"""The classes of parts of a key of basic indexing."""


BOUNDS: Final = frozenset({*INTS, NoneType})
"""The classes of bounds of slices that run no code of the user, who may read or change the array in an `__index__`."""


def has_only_ints(key: Any) -> bool:
    """Whether a key is an int or a tuple of ints."""
    return INTS.issuperset(map(type, key)) and bool(key) if key.__class__ is tuple else key.__class__ in INTS


def is_basic(key: Any) -> bool:
    """Whether a key is one of basic indexing, whose result is a view, and runs no code of the user."""
    if key.__class__ is slice:
        return key.start.__class__ in BOUNDS and key.stop.__class__ in BOUNDS and key.step.__class__ in BOUNDS
    if key.__class__ is not tuple:
        return key.__class__ in PARTS
    for part in key:
        if part.__class__ not in PARTS:
            return False
        if part.__class__ is slice and not (
            part.start.__class__ in BOUNDS and part.stop.__class__ in BOUNDS and part.step.__class__ in BOUNDS
        ):
            return False
    return True


def begins_with_indices(key: tuple[Any, ...]) -> bool:
    """Whether ints in front of a key leave the axes of its indices where they are."""
    return bool(key) and key[0].__class__ is Tensor


def holds_traced(key: Any, value: Any) -> bool:
    """Whether the value of an assignment, or a part of its key, is a tensor without data."""
    parts = (value, *key) if key.__class__ is tuple else (value, key)
    return any(part.__class__ is Tensor and not part.backend.holds_data for part in parts)


class _Cuts(dict[TemplateKind, dict[Shape, Template]]):
    """The templates of views by the kind of the base and the shape.

    Axes with names are left to the library's indexing. Two look-ups take less time than one by a pair.
    """

    def __missing__(self, kind: TemplateKind) -> dict[Shape, Template]:
        remember(self, kind, {})
        return self[kind]


CUTS: Final = _Cuts()

remembers("views of arrays", lambda: sum(map(len, list(CUTS.values()))), CUTS.clear)


def cut(t: Tensor, key: Any) -> Tensor:
    """The elements at a key of basic indexing; in NumPy's memory by NumPy itself, as most views are used once."""
    data = t.data
    if data.__class__ is HOST:
        kind = t.template.kind
        part = data[key]
        template = CUTS[kind].get(part.shape) or template_of_part(kind, part.shape)
        if template is None:
            return _getitem(t, key)
        made = blank_tensor()
        made.template = template
        made.backend = t.backend
        made.data = part
        return made
    return _getitem(t, key)


def template_of_part(kind: TemplateKind, shape: Shape) -> Template | None:
    """The template of a view of a base of some kind, by its shape; `None` for axes with names."""
    if any(kind.names):
        return None
    template = intern_template(shape, kind.dtype, (None,) * len(shape))
    remember(CUTS[kind], shape, template)
    return template


def coordinates(place: int, shape: Shape) -> tuple[int, ...]:
    """The coordinates of a place of the flat array. `numpy.unravel_index` takes ten times as long for one place.

    >>> coordinates(7, (2, 3, 2))
    (1, 0, 1)
    """
    found = []
    for size in reversed(shape[1:]):
        place, along = divmod(place, size or 1)
        found.append(along)
    return (place, *reversed(found)) if shape else ()


_INT: Final = frozenset({int})


def as_shape(shape: Any) -> tuple[int, ...]:
    """A shape of NumPy, an int or a sequence of ints, as a tuple."""
    if shape.__class__ is int:
        return (shape,)
    if shape.__class__ is tuple and _INT.issuperset(map(type, shape)):
        return shape
    try:
        return (index(shape),) if not isinstance(shape, bool) else (_size(shape),)
    except TypeError:
        if isinstance(shape, bool | float):
            raise
        return tuple(map(_size, shape))


def _size(size: Any) -> Any:
    """The size of an axis as an int; a symbolic size as it is."""
    if isinstance(size, bool):
        raise TypeError("an integer is required")
    return index(size) if hasattr(size, "__index__") or isinstance(size, str | float | NoneType) else size
