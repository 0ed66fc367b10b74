"""Windows: the elements at one place in all windows are a strided slice of the padded tensor."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product as every

from ...dispatch.fallbacks import fallback
from ...dtypes import Scalar, value_range
from ...protocol.window import Windows
from ...select import move
from ...template import Template
from ...tensor import Tensor
from ..creation.filled import full, zeros
from ..elementwise.basic import astype
from ..elementwise.binary import add, maximum, minimum, multiply
from ..indexing.scatter import indexed_add
from ..indexing.slices import slice_
from ..indexing.taking import take_along_axis_at, take_at
from ..reduction import argmax, argmin
from ..shape import _pad as pad_with
from ..shape import broadcast_to, concatenate, reshape
from .common import accumulator_dtype, scalar, strides_of, tensor_of_numbers

OfTwo = Callable[[Tensor, Tensor], Tensor]


def _combine_windows(out: Template, x: Tensor, function: OfTwo, identity: Scalar, windows: Windows) -> Tensor:
    """Combines the elements of each window by a function, with its identity as the padding."""
    if not out.size:
        return zeros(out.shape, dtype=x.dtype)
    padded = x
    if windows.is_padded:
        padded = pad_with(x, full((), identity, dtype=x.dtype), padding=windows.edges)
    combined: Tensor | None = None
    for place in every(*map(range, windows.sizes)):
        starts = tuple(offset * apart for offset, apart in zip(place, windows.dilations, strict=True))
        part = slice_(padded, starts=starts, lengths=out.shape, strides=windows.strides)
        combined = part if combined is None else function(combined, part)
    assert combined is not None  # a window has at least one element
    return combined


@fallback("window_sum")
def _window_sum(out: Template, x: Tensor, /, *, windows: Windows) -> Tensor:
    wide = astype(x, accumulator_dtype(x.dtype))
    return astype(_combine_windows(out, wide, add, 0, windows), x.dtype)


@fallback("window_product", "real")
def _window_product(out: Template, x: Tensor, /, *, windows: Windows) -> Tensor:
    wide = astype(x, accumulator_dtype(x.dtype))
    return astype(_combine_windows(out, wide, multiply, 1, windows), x.dtype)


@fallback("window_max", "real")
def _window_max(out: Template, x: Tensor, /, *, windows: Windows) -> Tensor:
    return _combine_windows(out, x, maximum, value_range(x.dtype)[0], windows)


@fallback("window_min", "real")
def _window_min(out: Template, x: Tensor, /, *, windows: Windows) -> Tensor:
    return _combine_windows(out, x, minimum, value_range(x.dtype)[1], windows)


def _positions(out: Template, x: Tensor, windows: Windows) -> Iterator[list[int]]:
    """The row-major positions of the elements in each window, without those of the padding."""
    steps = strides_of(x.shape)
    for corner in every(*map(range, out.shape)):
        columns = []
        for axis, (size, stride, dilation) in enumerate(windows.along):
            before, after = windows.padding[axis]
            first = corner[axis] * stride - before
            # Negative padding takes elements away at either end.
            low, high = max(-before, 0), x.shape[axis] + min(after, 0)
            places = [first + offset * dilation for offset in range(size)]
            columns.append([place * steps[axis] for place in places if low <= place < high])
        yield [sum(offsets) for offsets in every(*columns)]


@fallback("window_reduce")
def _window_reduce(out: Template, x: Tensor, initial: Tensor, /, *, windows: Windows, function: OfTwo) -> Tensor:
    line = reshape(x, (x.size,))
    results = []
    for positions in _positions(out, x, windows):
        folded = initial
        for place in positions:
            element = scalar(slice_(line, starts=(place,), lengths=(1,), strides=(1,)))
            folded = move(function(folded, element), x.backend)
        results.append(reshape(folded, (1,)))
    return reshape(concatenate(results), out.shape) if results else zeros(out.shape, dtype=out.dtype)


def _scatter(x: Tensor, source: Tensor, initial: Tensor, chosen: Callable[..., Tensor], windows: Windows) -> Tensor:
    """`initial` everywhere, plus each element of `source` at the element of its window that `chosen` finds."""
    result = broadcast_to(initial, (x.size,))
    filled = list(_positions(source.template, x, windows))
    present = [place for place, window in enumerate(filled) if window]
    if not present:
        return reshape(result, x.shape)
    width = max(map(len, filled))
    # A shorter window is filled up with its first element. The copies come after it, so they are never chosen.
    rows = [window + window[:1] * (width - len(window)) for window in filled if window]
    places = tensor_of_numbers([place for row in rows for place in row], shape=(len(rows), width))
    values = take_at(reshape(x, (x.size,)), places, axis=0, mode="clip")
    targets = take_along_axis_at(places, chosen(values, axis=1, keepdims=True), axis=1, mode="clip")
    added = take_at(reshape(source, (source.size,)), tensor_of_numbers(present), axis=0, mode="clip")
    return reshape(indexed_add(result, targets, added), x.shape)


@fallback("window_scatter_max", "real")
def _window_scatter_max(out: Template, x: Tensor, source: Tensor, initial: Tensor, /, *, windows: Windows) -> Tensor:
    return _scatter(x, source, initial, argmax, windows)


@fallback("window_scatter_min", "real")
def _window_scatter_min(out: Template, x: Tensor, source: Tensor, initial: Tensor, /, *, windows: Windows) -> Tensor:
    return _scatter(x, source, initial, argmin, windows)
