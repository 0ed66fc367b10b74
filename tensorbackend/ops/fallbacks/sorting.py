"""Orderings: the position of an element is the number of elements that come before it.

Time and memory grow with the square of the axis' size.
"""

from __future__ import annotations

from ...dispatch.fallbacks import fallback
from ...dtypes import bool_, int64
from ...template import Template
from ...tensor import Tensor
from ..elementwise.basic import astype, bitwise_invert, isnan, where
from ..elementwise.binary import equal, less, logical_and, logical_or
from ..indexing.taking import take_along_axis_at
from ..reduction import sum as total
from ..shape import expand_dims, permute_dims
from ..sorting import argsort
from .common import tensor_of_numbers


@fallback("argsort")
def _argsort(out: Template, x: Tensor, /, *, axis: int, descending: bool) -> Tensor:
    last_to = [*range(x.ndim - 1)]
    last_to.insert(axis, x.ndim - 1)
    order = [other_axis for other_axis in range(x.ndim) if other_axis != axis] + [axis]
    line = permute_dims(x, order)
    size = x.shape[axis]
    element, other = expand_dims(line, axis=-1), expand_dims(line, axis=-2)
    before = less(element, other) if descending else less(other, element)
    same = equal(element, other)
    if x.dtype.is_floating:
        element_nan, other_nan = isnan(element), isnan(other)
        first, second = (other_nan, element_nan) if descending else (element_nan, other_nan)
        before = logical_or(before, logical_and(first, bitwise_invert(second)))
        same = logical_or(same, logical_and(element_nan, other_nan))
    square = (size, size)
    earlier = tensor_of_numbers([other < place for place in range(size) for other in range(size)], bool_, square)
    before = logical_or(before, logical_and(same, earlier))
    rank = total(astype(before, int64), axis=-1)
    here = equal(expand_dims(rank, axis=-2), tensor_of_numbers(range(size), shape=(size, 1)))
    places = total(where(here, tensor_of_numbers(range(size)), 0), axis=-1)
    return permute_dims(places, last_to)


@fallback("sort")
def _sort(out: Template, x: Tensor, /, *, axis: int, descending: bool) -> Tensor:
    return take_along_axis_at(x, argsort(x, axis=axis, descending=descending), axis=axis, mode="clip")
