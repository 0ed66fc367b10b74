"""Fall-backs that move elements, from `reshape` and `take`: index by index along the axes that change."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from ...caching.memos import remembers_calls
from ...dispatch.fallbacks import fallback
from ...dtypes import bool_, int64
from ...dtypes.packing import pack
from ...template import Shape, Template, intern_template
from ...tensor import Tensor
from ..creation.filled import from_binary
from ..elementwise.basic import where
from ..indexing.taking import take_at
from ..shape import broadcast_to, reshape
from .common import shape_along, strides_of, tensor_of_numbers


@fallback("squeeze")
def _squeeze(out: Template, x: Tensor, /, *, axes: tuple[int, ...]) -> Tensor:
    return reshape(x, out.shape)


@fallback("reverse")
def _reverse(out: Template, x: Tensor, /, *, axes: tuple[int, ...]) -> Tensor:
    for axis in axes:
        x = take_at(x, tensor_of_numbers(reversed(range(x.shape[axis]))), axis=axis, mode="clip")
    return x


@fallback("broadcast")
def _broadcast(out: Template, x: Tensor, /, *, axes: tuple[int, ...]) -> Tensor:
    sizes = [1] * out.ndim
    for axis, size in zip(axes, x.shape, strict=True):
        sizes[axis] = size
    x = reshape(x, sizes)
    for axis, size in enumerate(out.shape):
        if size != x.shape[axis]:
            x = take_at(x, tensor_of_numbers([0] * size), axis=axis, mode="clip")
    return x


@fallback("transpose")
def _transpose(out: Template, x: Tensor, /, *, axes: tuple[int, ...]) -> Tensor:
    order = from_binary(_transposed_positions(x.shape, axes), intern_template((x.size,), int64, (None,)))
    return reshape(take_at(reshape(x, (x.size,)), order, axis=0, mode="clip"), out.shape)


@lru_cache(maxsize=32)
def _transposed_positions(shape: Shape, axes: tuple[int, ...]) -> bytes:
    """The row-major positions of a tensor's elements in the order that they have in its transpose, as int64 bytes."""
    steps = strides_of(shape)
    places = [0]
    for axis in axes:
        offsets = range(0, shape[axis] * steps[axis], steps[axis] or 1)
        places = [place + offset for place in places for offset in offsets]
    return pack(places if math.prod(shape) else [], int64)


remembers_calls("transposed places of fall-backs", _transposed_positions)


@fallback("concatenate")
def _concatenate(out: Template, tensors: Sequence[Tensor], /, *, axis: int) -> Tensor:
    joined, start, total = tensors[0], 0, out.shape[axis]
    for tensor in tensors:
        size = tensor.shape[axis]
        if not size:
            continue
        spread = take_at(tensor, tensor_of_numbers([place - start for place in range(total)]), axis=axis, mode="clip")
        here = tensor_of_numbers([place >= start for place in range(total)], bool_, shape_along(axis, out.ndim, total))
        joined = where(here, spread, joined) if start else spread
        start += size
    return joined


@fallback("pad")
def _pad(out: Template, x: Tensor, pad_value: Tensor, /, *, padding: tuple[tuple[int, int, int], ...]) -> Tensor:
    for axis, (low, high, interior) in enumerate(padding):
        size = x.shape[axis]
        places = [-1] * max((size - 1) * (interior + 1) + 1, 0)
        places[:: interior + 1] = range(size)
        places = [-1] * low + places + [-1] * high
        places = places[max(-low, 0) : len(places) + min(high, 0)]
        if places == list(range(size)):
            continue
        if not size:
            x = broadcast_to(pad_value, (*x.shape[:axis], len(places), *x.shape[axis + 1 :]))
            continue
        spread = take_at(x, tensor_of_numbers(places), axis=axis, mode="clip")
        inside = tensor_of_numbers([place >= 0 for place in places], bool_, shape_along(axis, x.ndim, len(places)))
        x = where(inside, spread, pad_value)
    return x
