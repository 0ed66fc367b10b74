"""Fourier transforms: an even length is split into halves; an odd one is a product with the matrix of the transform.

So the time grows with the square of the largest odd factor of the length.
"""

from __future__ import annotations

import cmath
import math
from functools import lru_cache

from ...caching.memos import remembers_calls
from ...dispatch.fallbacks import fallback
from ...dtypes import DType, complex128
from ...dtypes.packing import pack
from ...rules.fourier import Norm
from ...template import Template, intern_template
from ...tensor import Tensor
from ..contraction import dot
from ..creation.filled import from_binary, full
from ..elementwise.basic import astype
from ..elementwise.binary import add, divide, multiply, subtract
from ..indexing.slices import entries, slice_
from ..shape import concatenate, pad_with, permute_dims, reshape

_SHORT = 32
"""Up to this length a product with the matrix is quicker than a split into halves."""


@fallback("fft")
def _fft(out: Template, x: Tensor, /, *, axis: int, length: int, norm: Norm) -> Tensor:
    return _transform(out, x, axis, length, -1, {"backward": 1.0, "ortho": math.sqrt(length), "forward": length}[norm])


@fallback("ifft")
def _ifft(out: Template, x: Tensor, /, *, axis: int, length: int, norm: Norm) -> Tensor:
    return _transform(out, x, axis, length, 1, {"backward": length, "ortho": math.sqrt(length), "forward": 1.0}[norm])


def _transform(out: Template, x: Tensor, axis: int, length: int, sign: int, divisor: float) -> Tensor:
    """The sum over n of x[n] exp(sign 2 pi i k n / length), divided by a number."""
    wide = complex128 if complex128 in x.backend.dtypes else out.dtype
    size = x.shape[axis]
    if size > length:
        x = entries(x, axis, 0, length)
    elif size < length:
        around = tuple((0, length - size if position == axis else 0, 0) for position in range(x.ndim))
        x = pad_with(x, full((), 0, dtype=x.dtype), padding=around)
    others = [other_axis for other_axis in range(x.ndim) if other_axis != axis]
    rows = reshape(permute_dims(astype(x, wide), (*others, axis)), (out.size // length, length))
    spectrum = divide(_spectrum(rows, sign), divisor)
    order = [*range(x.ndim - 1)]
    order.insert(axis, x.ndim - 1)
    moved = reshape(spectrum, (*(out.shape[other_axis] for other_axis in others), length))
    return astype(permute_dims(moved, order), out.dtype)


def _spectrum(rows: Tensor, sign: int) -> Tensor:
    """The transform of each row; an even length is split into even and odd places (Cooley and Tukey, 1965)."""
    count, length = rows.shape
    if length % 2 or length <= _SHORT:
        return dot(rows, _roots(length, length, sign, rows.dtype), contract=([1], [0]))
    half = length // 2
    even, odd = (
        _spectrum(slice_(rows, starts=(0, start), lengths=(count, half), strides=(1, 2)), sign) for start in (0, 1)
    )
    turned = multiply(odd, entries(entries(_roots(2, length, sign, rows.dtype), 0, 1, 1), 1, 0, half))
    return concatenate([add(even, turned), subtract(even, turned)], axis=1)


def _roots(size: int, length: int, sign: int, dtype: DType) -> Tensor:
    """exp(sign 2 pi i k n / length) for each n below `size` and each k below `length`."""
    return from_binary(_root_bytes(size, length, sign, dtype), intern_template((size, length), dtype, (None, None)))


@lru_cache(maxsize=32)
def _root_bytes(size: int, length: int, sign: int, dtype: DType) -> bytes:
    turn = [cmath.exp(sign * 2j * math.pi * step / length) for step in range(length)]
    return pack([turn[n * k % length] for n in range(size) for k in range(length)], dtype)


remembers_calls("roots of unity of fall-backs", _root_bytes)
