"""NumPy's arrays as tensors and arrays: without a copy, where nothing else refers to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

import tensorbackend as tb

from ..caching.option_keys import remember
from ..errors import expected
from ..ops.creation.foreign_arrays import shared_templates
from ..tensor import Tensor, blank_tensor
from .arrays import blank, box, ndarray, new_array, tensor_of
from .dtypes import HostOnlyError, dtype_of, is_host_only
from .keys import CUTS, HOST, template_of_part


def from_numpy(array: numpy.ndarray[Any, Any], copy: bool = False) -> Tensor:
    """NumPy's array as a tensor on the default backend; `HostOnlyError` for one that no tensor can hold."""
    dtype_of(array.dtype.newbyteorder("="))
    if array.__class__ is not numpy.ndarray and is_host_only(array):
        raise HostOnlyError(expected("a plain array", "convert it with np.asarray", value=type(array).__name__))
    return tb.tensor(array) if copy else tb.asarray(array)


def array_of_new(made: numpy.ndarray[Any, Any], default: Any, key: tuple[Any, ...] | None = None) -> ndarray:
    """NumPy's array, which nothing else refers to, as an array on the default backend.

    `key` stands for its dtype and shape, and has the backend in it, where a caller has one that is found sooner.
    """
    try:
        template, shares = shared_templates[key or (HOST, made.dtype, made.shape, default)]
    except (KeyError, TypeError):  # a shape that is a list has no hash
        shares = False
    if not shares:
        t = from_numpy(made)
        if key is not None and t.data is made and type(key[0]) in (int, tuple):
            remember(shared_templates, key, (t.template, True))
        return new_array(t)
    t = blank_tensor()
    t.template = template
    t.backend = default
    t.data = made
    array = blank()
    array._t = t
    if not template.shape:
        array._how = True
    return array


def stack_on_host(values: Sequence[ndarray]) -> ndarray | None:
    """Arrays in NumPy's memory, of one template without names, along a new first axis; `None` for others."""
    parts = []
    first = tensor_of(values[0])
    template, backend = first.template, first.backend
    for value in values:
        t = value._t
        if t is None:
            t = value._read()
        data = t.data
        if t.template is not template or t.backend is not backend or data.__class__ is not HOST:
            return None
        parts.append(data)
    shape, kind = (len(parts), *template.shape), template.kind
    shows = CUTS[kind].get(shape) or template_of_part(kind, shape)
    if shows is None:
        return None
    t = blank_tensor()
    t.template = shows
    t.backend = backend
    t.data = numpy.array(parts)
    return box(t)
