"""Windows on lists of elements.

The first elements of all windows make one column, their second elements the next, and so on. Each column is a few
slices. The elements at one place of all columns are a window, and `zip` and `map` collect them in C.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import chain, product
from operator import itemgetter
from typing import Any, NamedTuple

from ...dtypes import DType
from ...template import Shape, Template, intern_template
from ...tensor import Tensor
from .shape import steps

_HELD = 1 << 20
"""The largest number of elements, of all columns together, that are held at once."""

_SHORT = 8
"""Runs shorter than this are not worth a slice each."""


class Axis(NamedTuple):
    """The positions of windows along one axis."""

    window: int
    stride: int
    dilation: int

    def places(self, size: int) -> int:
        """The number of windows that fit into an axis of this size."""
        room = size - ((self.window - 1) * self.dilation + 1 if self.window else 0)
        return room // self.stride + 1 if room >= 0 else 0


class Runs(NamedTuple):
    """Positions where windows begin: one run from each start, all of the same length and step."""

    starts: list[int]
    length: int
    step: int

    def columns(self, values: Sequence[Any], offsets: Sequence[int]) -> list[Sequence[Any]]:
        """One column for each offset: the elements at that offset from the positions."""
        span, step = (self.length - 1) * self.step + 1, self.step
        if len(self.starts) == 1:
            start = self.starts[0]
            return [values[start + offset : start + offset + span : step] for offset in offsets]
        if self.length < _SHORT:
            low, high = self.starts[0], self.starts[-1] + span
            take = itemgetter(*(start - low + along for start in self.starts for along in range(0, span, step)))
            return [take(values[low + offset : high + offset]) for offset in offsets]
        return [
            list(chain.from_iterable([values[start + offset : start + offset + span : step] for start in self.starts]))
            for offset in offsets
        ]


def window_offsets(axes: Sequence[Axis], apart: Sequence[int]) -> list[int]:
    """The offsets of a window's elements from its first, row-major, with neighbours `apart` along the axes."""
    hops = [(axis.window, axis.dilation * step) for axis, step in zip(axes, apart, strict=True)]
    return list(map(sum, product(*([place * hop for place in range(window)] for window, hop in hops))))


def runs(axes: Sequence[Axis], shape: Shape, width: int) -> Iterator[Runs]:
    """Yields where the windows of a shape begin, row-major, in parts so small that `width` columns can be held."""
    counts = [axis.places(size) for axis, size in zip(axes, shape, strict=True)]
    if 0 in counts:
        return
    paces = [axis.stride * step for axis, step in zip(axes, steps(shape), strict=True)]
    outer, length, step = len(axes), 1, 1
    while outer:  # a run continues along the axis before it if that axis continues its steps
        if length == 1:
            step = paces[outer - 1]
        elif counts[outer - 1] > 1 and length * step != paces[outer - 1]:
            break
        outer -= 1
        length *= counts[outer]
    places = zip(counts[:outer], paces[:outer], strict=True)
    starts = list(map(sum, product(*([place * pace for place in range(size)] for size, pace in places))))
    most = max(1, _HELD // max(width, 1))
    if length > most:
        for start in starts:
            for done in range(0, length, most):
                yield Runs([start + done * step], min(most, length - done), step)
        return
    together = most // length
    for begin in range(0, len(starts), together):
        yield Runs(starts[begin : begin + together], length, step)


def columns(values: Sequence[Any], axes: Sequence[Axis], shape: Shape) -> Iterator[list[Sequence[Any]]]:
    """Yields for each part of the windows of a shape, row-major, one column for each element of a window."""
    offsets = window_offsets(axes, steps(shape))
    for part in runs(axes, shape, len(offsets)):
        yield part.columns(values, offsets)


# Floats as integers in the order that extremes need


def _scale(dtype: DType) -> tuple[str, int]:
    """The type code of signed integers as wide as a floating dtype, and the smallest such integer."""
    return {16: "h", 32: "i", 64: "q"}[dtype.bits], -(1 << (dtype.bits - 1))


def order_keys(data: bytes, dtype: DType, nan_is_largest: bool) -> list[int]:
    """Integers in the order of floats, -0.0 below 0.0 and NaN at one end: the bits, in reverse order below zero."""
    letter, least = _scale(dtype)
    bits = memoryview(data).cast("B").cast(letter)  # type: ignore[call-overload] # any letter
    keys = [number if number >= 0 else least - 1 - number for number in bits]
    infinity = ((1 << dtype.exponent_bits) - 1) << (dtype.bits - 1 - dtype.exponent_bits)
    if keys and (max(keys) > infinity or min(keys) < -infinity - 1):
        quiet = infinity + (1 << (dtype.bits - 2 - dtype.exponent_bits))
        nan = quiet if nan_is_largest else -quiet - 1
        keys = [key if -infinity - 1 <= key <= infinity else nan for key in keys]
    return keys


def from_order_keys(keys: Sequence[int], dtype: DType) -> bytes:
    """The bytes of the floats of keys."""
    letter, least = _scale(dtype)
    return array(letter, [key if key >= 0 else least - 1 - key for key in keys]).tobytes()


def pad(x: Tensor, value: Any, padding: Sequence[tuple[int, int, int]]) -> Tensor:
    """A tensor padded with a value, by (low, high, interior) elements along each axis."""
    if not any(chain.from_iterable(padding)):
        return x
    sizes = zip(x.shape, padding, strict=True)
    shape = tuple(low + size + max(size - 1, 0) * interior + high for size, (low, high, interior) in sizes)
    out = intern_template(shape, x.dtype, x.names)
    scalar: Template = intern_template((), x.dtype, ())
    filling = Tensor(scalar, x.backend, x.backend.constant(scalar, value=value))
    return Tensor(out, x.backend, x.backend.pad(out, x, filling, padding=tuple(padding)))
