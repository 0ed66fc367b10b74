"""Writes by NumPy itself to memory that an array owns, so that nobody else sees them. The caller holds the lock."""

from __future__ import annotations

from copy import copy
from typing import Any, Final

import numpy

from ..backends.numpy_backend.memory import own
from ..dtypes import ALL_DTYPES, bool_, complex128, finfo, float32, float64, int64, uint64
from ..template import Template
from ..tensor import Tensor
from .holders import Holder, release
from .keys import HOST
from .layouts import refuse_read_only

_WIDE: Final = frozenset({float64, complex128})
"""Dtypes that hold Python's floats exactly."""

_LARGEST_FLOAT32: Final = finfo(float32).max

_PLACES: Final = frozenset({dtype for dtype in ALL_DTYPES if dtype is bool_ or dtype.is_integer} - {uint64})
"""Dtypes of index arrays and masks; of uint64 NumPy takes the largest for negative ones."""

DOUBLE: Final = numpy.float64
"""The class of NumPy's numbers that have Python's floats as a base."""


def apart(t: Tensor) -> Tensor:
    """A tensor whose memory nothing else refers to, if the backend's memory is writeable."""
    return Tensor(t.template, t.backend, t.data.copy()) if t.data.__class__ is HOST else t


def as_written(t: Tensor, template: Template) -> Tensor:
    """What an array holds that gets all elements of a tensor; a trace sees the write by another object as its value."""
    return Tensor(template, t.backend, t.data if t.backend.holds_data else copy(t.data))


def is_exact(value: Any, t: Tensor) -> bool:
    """Whether NumPy casts a number to the dtype of a tensor as the library does."""
    kind, dtype = value.__class__, t.template.dtype
    if kind is float:
        return dtype in _WIDE or (dtype is float32 and -_LARGEST_FLOAT32 <= value <= _LARGEST_FLOAT32)
    if kind is int:
        return dtype is int64 or dtype in _WIDE
    return kind is t.data.dtype.type or (kind is bool and dtype is bool_)


def host_places(key: Holder) -> Any:
    """NumPy's array of an array of indices along one axis, or of a mask; `None` for others."""
    t = key._t
    if t is None or t.data.__class__ is not HOST or t.template.dtype not in _PLACES:
        return None
    return t.data if len(t.template.shape) == 1 or (t.template.dtype is bool_ and t.template.shape) else None


def written(t: Tensor, key: Any, v: Tensor) -> bool:
    """Whether NumPy has written a tensor to the elements at a plain key."""
    template, new = t.template, v.template
    if t.data.__class__ is not HOST or v.data.__class__ is not HOST or template.dtype is not new.dtype:
        return False
    if len(new.shape) > len(template.shape) or any(new.names):
        return False
    try:
        own(t)[key] = v.data
    except (ValueError, IndexError, TypeError):  # raised again in the library's words
        return False
    return True


def writeable_part(x: Holder) -> Tensor | None:
    """The tensor of a view in memory that its root owns; `None` if there is no such memory."""
    refuse_read_only(x)
    release(x._root)
    x._kept = x._seen = None
    t = x._root._t
    if t.data.__class__ is not HOST:
        return None
    own(t)
    read = x._read()
    return read if read.data.base is t.data and read.data.flags.writeable else None


def written_through(x: Holder, key: Any, v: Any) -> bool:
    """Whether NumPy has written a tensor or a number to the elements at a basic key of a view, in its root's memory."""
    kind = v.__class__
    read = writeable_part(x)
    if read is None or (kind is Tensor and v.data.__class__ is not HOST):
        return False
    part, template = read.data, read.template
    if kind is Tensor:
        new = v.template
        v = v.data
        if new.dtype is not template.dtype or len(new.shape) > len(template.shape) or any(new.names):
            return False
    elif not is_exact(v, read):
        return False
    try:
        part[key] = v
    except (ValueError, IndexError, TypeError, OverflowError):  # raised again in the library's words
        return False
    return True
