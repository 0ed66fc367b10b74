"""Keys and shapes: which keys are those of basic indexing, and what such a key reads from a tensor."""

from __future__ import annotations

from operator import index
from types import EllipsisType, NoneType
from typing import Any, Final

import numpy

from ..caching.option_keys import holds_entries, remember
from ..template import Shape, Template, TemplateKind, intern_template
from ..tensor import Tensor, blank_tensor, public_op

_getitem: Final = public_op("getitem")

HOST: Final = numpy.ndarray
"""The class of payloads whose elements can be read at once."""

INTS: Final = 1
BASIC: Final = 2
OTHER: Final = 0
STRUCTURES: Final[dict[tuple[type, ...], int]] = {}
"""Whether the classes of a key's parts make it one of ints, one of basic indexing, or another."""

holds_entries("keys of arrays", STRUCTURES)

_PLAIN: Final = frozenset({slice, NoneType, EllipsisType})


def structure(key: tuple[Any, ...]) -> int:
    """Whether a key has only ints, is one of basic indexing, or another; remembered by the classes of its parts."""
    kinds = tuple(map(type, key))
    found = STRUCTURES.get(kinds)
    if found is None:
        ints = [kind is int or issubclass(kind, numpy.integer) for kind in kinds]
        plain = [is_int or kind in _PLAIN for is_int, kind in zip(ints, kinds, strict=True)]
        found = INTS if kinds and all(ints) else BASIC if all(plain) else OTHER
        remember(STRUCTURES, kinds, found)
    return found


def is_basic(key: Any) -> bool:
    """Whether a plain key is one of basic indexing, whose result is a view."""
    return all(
        part.__class__ in (int, slice, NoneType, EllipsisType) for part in (key if type(key) is tuple else (key,))
    )


_CUTS: Final[dict[tuple[TemplateKind, Shape], Template]] = {}
"""The templates of views by the kind of the base and the shape; axes with names are left to the library's indexing."""

holds_entries("views of arrays", _CUTS)


def cut(t: Tensor, key: Any) -> Tensor:
    """The elements at a key of basic indexing; in NumPy's memory by NumPy itself, as most views are used once."""
    data = t.data
    if data.__class__ is HOST:
        kind = t.template.kind
        part = data[key]
        shape = part.shape
        template = _CUTS.get((kind, shape))
        if template is None:
            if any(kind.names):
                return _getitem(t, key)
            template = intern_template(shape, kind.dtype, (None,) * len(shape))
            remember(_CUTS, (kind, shape), template)
        made = blank_tensor()
        made.template = template
        made.backend = t.backend
        made.data = part
        return made
    return _getitem(t, key)


def as_shape(shape: Any) -> tuple[int, ...]:
    """A shape of NumPy, an int or a sequence of ints, as a tuple."""
    if shape.__class__ is int:
        return (shape,)
    if shape.__class__ is tuple and all(size.__class__ is int for size in shape):
        return shape
    try:
        return (index(shape),)
    except TypeError:
        return tuple([size if not hasattr(size, "__index__") else index(size) for size in shape])
