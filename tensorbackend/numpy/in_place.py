"""Writes by NumPy itself to memory that an array owns, so that nobody else sees them. The caller holds the lock."""

from __future__ import annotations

from copy import copy
from typing import Any, Final

import numpy

from ..backends.numpy_backend.memory import own
from ..dtypes import ALL_DTYPES, bool_, complex128, finfo, float32, float64, int64, uint64
from ..ops.indexing.assignment import locked
from ..template import Template
from ..tensor import Tensor, blank_tensor
from .dtypes import PLACES, numpy_dtype
from .holders import LASTING, Holder, Step, release
from .keys import HOST
from .layouts import LOCKED, refuse_read_only

_WIDE: Final = frozenset({float64, complex128})
"""Dtypes that hold Python's floats exactly."""

_LARGEST_FLOAT32: Final = finfo(float32).max

EXACT: Final = {
    dtype: frozenset({
        *([numpy_dtype(dtype).type] if numpy_dtype(dtype).type.__module__ == "numpy" else []),
        *([int, float] if dtype in _WIDE else [int] if dtype is int64 else [bool] if dtype is bool_ else []),
    })
    for dtype in ALL_DTYPES
}  # fmt: skip
"""For each dtype the classes of numbers that NumPy casts to it as the library does, whatever the number."""

_PLACES: Final = PLACES - {uint64}
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
    if kind is float and dtype is float32:
        return bool(-_LARGEST_FLOAT32 <= value <= _LARGEST_FLOAT32)
    return kind in EXACT[dtype] or kind is t.data.dtype.type


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
    root, how = x._root, x._how
    is_step, of_root = how.__class__ is Step, x._base is root
    if LOCKED or not of_root or (is_step and not how.writeable):
        refuse_read_only(x)
    if LASTING:
        release(root)
    x._kept = x._seen = None
    t = root._t
    if t.data.__class__ is not HOST:
        return None
    data = own(t)
    shows = x._shows
    if of_root and t.template is x._of:
        if shows is not None:
            read = blank_tensor()
            read.template = shows
            read.backend = t.backend
            read.data = data[how]
            return read
        read = how.read(t) if is_step else x._read()
    else:
        read = x._read()
    return read if read.data.base is data and read.data.flags.writeable else None


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
    elif kind not in EXACT[template.dtype] and not is_exact(v, read):
        return False
    try:
        part[key] = v
    except (ValueError, IndexError, TypeError, OverflowError):  # raised again in the library's words
        return False
    return True


@locked
def written_flat(x: Holder, place: Any, number: Any) -> bool:
    """Whether NumPy has written a number to a place of the flat array, in memory that the array or its root owns."""
    t = x._t
    if t is None:
        part = writeable_part(x)
        if part is None:
            return False
    else:
        if LASTING:
            release(x)
        if LOCKED:
            refuse_read_only(x)
        part = t
    if part.data.__class__ is not HOST or not is_exact(number, part):
        return False
    data = part.data if t is None else own(t)
    try:
        data.flat[place] = number
    except (IndexError, OverflowError):  # raised again in the library's words
        return False
    return True
