"""Elements of two results side by side, on NumPy: how far apart they are in ulps, and what ranges operands have."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import numpy

from ...dtypes import DType, as_dtype, finfo, float32, int8
from ...ops.elementwise.basic import astype
from ...select import get_backend, move
from ...template import Template
from ...tensor import Tensor

Array: TypeAlias = "numpy.ndarray[Any, Any]"

NEAR_ZERO: Final = 128
"""Backends that read subnormals as zeros make errors of some of the smallest normal numbers, in ops that round."""


class Range(NamedTuple):
    """The values of an operand."""

    template: Template
    low: float | None
    """The smallest element that is not NaN; `None` if there is none, or if the elements are complex."""
    high: float | None
    nans: int
    infinities: int

    def __str__(self) -> str:
        text = str(self.template)
        if self.low is not None:
            text += f" of {self.low:.9g}" if self.low == self.high else f" from {self.low:.9g} to {self.high:.9g}"
        counts = [f"{count} {what}" for count, what in ((self.nans, "NaN"), (self.infinities, "infinite")) if count]
        return f"{text}, {' and '.join(counts)}" if counts else text


def array_of(x: Tensor) -> Array:
    """The elements as an array: of inexact dtypes in 64 bits, so that nothing is rounded."""
    numpy_backend = get_backend("numpy")
    x = move(x, numpy_backend)
    if x.dtype.is_narrow:
        x = astype(x, float32 if x.dtype.is_floating else int8)
    elif x.dtype.name == "bfloat16":
        x = astype(x, float32)
    array = numpy_backend.to_numpy(x, None, None)
    if x.dtype.is_inexact:
        return array.astype(numpy.complex128 if x.dtype.is_complex else numpy.float64)
    return array


def tensor_of(array: Array, like: Tensor) -> Tensor:
    """A tensor with the template and on the backend of another one, its elements rounded from an array."""
    if not like.dtype.is_complex and array.dtype.kind == "c":
        array = array.real
    with numpy.errstate(all="ignore"):
        wide = Tensor(like.template.replace(dtype=as_dtype(array.dtype.name)), get_backend("numpy"), array)
        data = astype(wide, like.dtype).data
    return move(Tensor(like.template, get_backend("numpy"), data), like.backend)


def range_of(x: Tensor) -> Range:
    """The range of a tensor's elements."""
    array = array_of(x)
    if array.dtype.kind not in "fc":
        nan = infinite = numpy.zeros(array.shape, bool)
    else:
        nan, infinite = numpy.isnan(array), numpy.isinf(array)
    low = high = None
    if array.dtype.kind != "c" and not nan.all():
        kept = array[~nan]
        low, high = float(kept.min()), float(kept.max())
    return Range(x.template, low, high, int(nan.sum()), int(infinite.sum()))


def units(size: Array, dtype: DType) -> Array:
    """The distance between adjacent floats of a dtype at magnitudes; at 0, between its smallest floats."""
    info = finfo(dtype)
    _, exponents = numpy.frexp(numpy.clip(size, info.smallest_normal, info.max))
    return numpy.asarray(numpy.ldexp(float(info.eps), exponents - 1))


def apart(first: Array, second: Array, dtype: DType) -> tuple[Array, Array]:
    """The distances of elements: absolute and in ulps; infinite between NaN and a number.

    The parts of a complex number count together, in ulps of its larger part.
    """
    if not dtype.is_inexact:
        differs = numpy.where(first == second, 0.0, numpy.inf)
        return differs, differs
    if dtype.is_complex:
        error = numpy.maximum(_error(first.real, second.real, dtype), _error(first.imag, second.imag, dtype))
        size = numpy.maximum(_size(first), _size(second))
    else:
        error, size = _error(first, second, dtype), numpy.maximum(abs(first), abs(second))
    with numpy.errstate(all="ignore"):
        return error, error / units(numpy.nan_to_num(size, nan=0.0), dtype)


def _size(array: Array) -> Array:
    return numpy.asarray(numpy.maximum(abs(array.real), abs(array.imag)))


def _error(first: Array, second: Array, dtype: DType) -> Array:
    """The absolute distances of floats, where infinity is the next number after the largest one."""
    exponent = math.frexp(finfo(dtype).max)[1]
    next_one = 2.0**exponent if exponent < 1024 else math.inf
    with numpy.errstate(all="ignore"):
        ends = [numpy.where(numpy.isinf(x), numpy.copysign(next_one, x), x) for x in (first, second)]
        error = abs(ends[0] - ends[1])
    same = (first == second) | (numpy.isnan(first) & numpy.isnan(second))
    error = numpy.where(same, 0.0, numpy.where(numpy.isnan(error), numpy.inf, error))
    return numpy.asarray(error)


def beyond(first: Array, second: Array, dtype: DType, ulps: float, absolute: Array | float = 0.0) -> Array:
    """Where elements are farther apart than a number of ulps and than an absolute error.

    With 0 ulps and no error the zeros of two signs differ. Whatever lies below the smallest normal number may be 0.
    """
    error, distance = apart(first, second, dtype)
    if not dtype.is_inexact:
        return numpy.asarray((error > 0) & ~numpy.broadcast_to(numpy.asarray(absolute) == numpy.inf, error.shape))
    wrong = (distance > ulps) & ~(error <= absolute)
    info = finfo(dtype)
    least = info.smallest_normal if info.smallest_normal < 1e-30 else 0.0  # narrower dtypes keep their subnormals
    if ulps:
        return numpy.asarray(wrong & ~(error <= NEAR_ZERO * least))
    wrong &= ~((error <= least) & (error > 0))
    if not numpy.any(absolute):
        wrong |= (error == 0) & other_zeros(first, second)
    return numpy.asarray(wrong)


def other_zeros(first: Array, second: Array) -> Array:
    """Where zeros differ in sign."""
    minus = [[(part == 0) & numpy.signbit(part) for part in parts_of(x)] for x in (first, second)]
    return numpy.asarray(numpy.any([(a != b) for a, b in zip(*minus, strict=True)], axis=0))


def parts_of(array: Array) -> list[Array]:
    """The real and imaginary part of a complex array; the array itself for others."""
    return [array.real, array.imag] if array.dtype.kind == "c" else [array]


def array_from(parts: Sequence[Array]) -> Array:
    """The array of a real and an imaginary part, or of one part alone."""
    if len(parts) == 1:
        return parts[0]
    whole = numpy.empty(parts[0].shape, numpy.complex128)
    whole.real, whole.imag = parts
    return whole


def flushed(x: Tensor) -> Tensor:
    """The tensor with zeros of their sign in place of subnormals; the tensor itself if it has none."""
    if not x.dtype.is_inexact or x.dtype.is_narrow:
        return x
    array = array_of(x)
    least = finfo(x.dtype).smallest_normal
    parts = parts_of(array)
    low = [(part != 0) & (abs(part) < least) for part in parts]
    if not any(part.any() for part in low):
        return x
    parts = [numpy.where(at, numpy.copysign(0.0, part), part) for at, part in zip(low, parts, strict=True)]
    return tensor_of(array_from(parts), x)
