"""Fourier transforms of any length in O(n log n): mixed radix, and Bluestein's algorithm for large prime factors.

- Mixed radix: J. W. Cooley and J. W. Tukey, "An algorithm for the machine calculation of complex Fourier
  series", Mathematics of Computation 19 (1965), decimated in time.
- Large prime factors: L. I. Bluestein, "A linear filtering approach to the computation of discrete Fourier
  transform", IEEE Transactions on Audio and Electroacoustics 18 (1970).

All numbers are computed in complex128 and rounded once to the dtype.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import repeat
from operator import add, mul, sub
from typing import Any

from ...caching.memos import remembers_calls
from ...protocol import Backend, Payload
from ...rules.fourier import Norm
from ...template import Template
from ...tensor import Tensor
from .storage import elements, store

_DIRECT = 32
"""The largest radix of a step; for a larger factor Bluestein's algorithm is faster."""


def root(numerator: int, denominator: int) -> complex:
    """exp(-2 pi i numerator / denominator), good to an ulp.

    The fraction of a turn is brought to the first octant exactly, so that 1, 1j and their like are exact.
    """
    eighths = 8 * (numerator % denominator)
    octant, rest = divmod(eighths, denominator)
    # Odd octants are measured back from their end.
    part = denominator - rest if octant % 2 else rest
    angle = math.pi / 4 * (part / denominator)
    cosine, sine = math.cos(angle), math.sin(angle)
    if part == denominator:  # sine and cosine of the float nearest to pi / 4 differ
        cosine = sine = math.sqrt(0.5)
    if octant in (1, 2, 5, 6):
        cosine, sine = sine, cosine
    return complex(-cosine if 2 <= octant < 6 else cosine, sine if octant >= 4 else -sine)


@lru_cache(maxsize=64)
def _roots(length: int) -> Sequence[complex]:
    """All powers of the primitive root of unity of order `length`, in order."""
    return [root(power, length) for power in range(length)]


def _smallest_factor(length: int) -> int:
    """The radix of a step: 4 where it divides, else the smallest prime factor."""
    if length % 4 == 0:
        return 4
    return next((p for p in range(2, math.isqrt(length) + 1) if length % p == 0), length)


def transform(values: list[complex]) -> list[complex]:
    """The discrete Fourier transform of a list, unscaled.

    >>> transform([1, 0, -1, 0])
    [0j, (2+0j), 0j, (2+0j)]
    """
    length = len(values)
    if length == 1:
        return [complex(values[0])]
    radix = _smallest_factor(length)
    if radix > _DIRECT:
        return _bluestein(values)
    if radix == length:
        return _sums(values)
    twiddles = _roots(length)
    parts = [transform(values[start::radix]) for start in range(radix)]
    count = length // radix
    turned = [parts[0]]
    for order in range(1, radix):
        # Powers order * k for k below count, all below the length.
        turned.append(list(map(mul, parts[order], twiddles[: order * count : order])))
    return [number for column in _butterfly(turned) for number in column]


def _sums(values: list[complex]) -> list[complex]:
    """The transform of a short list, as one butterfly."""
    return [column[0] for column in _butterfly([[complex(value)] for value in values])]


def _butterfly(columns: list[list[complex]]) -> list[list[complex]]:
    """Transforms of length len(columns) across columns, one for each place in a column."""
    radix = len(columns)
    if radix == 2:
        first, second = columns
        return [list(map(add, first, second)), list(map(sub, first, second))]
    if radix == 4:
        even, odd = _butterfly(columns[0::2]), _butterfly(columns[1::2])
        quarter = [complex(number.imag, -number.real) for number in odd[1]]
        return [
            list(map(add, even[0], odd[0])),
            list(map(add, even[1], quarter)),
            list(map(sub, even[0], odd[0])),
            list(map(sub, even[1], quarter)),
        ]
    twiddles = _roots(radix)
    totals = []
    for order in range(radix):
        total = columns[0]
        for position, column in enumerate(columns[1:], 1):
            twiddle = twiddles[order * position % radix]
            total = list(map(add, total, map(mul, column, repeat(twiddle)) if order else column))
        totals.append(total)
    return totals


@lru_cache(maxsize=16)
def _chirp(length: int) -> tuple[Sequence[complex], Sequence[complex]]:
    """exp(-pi i k**2 / length) for each k, and the transform of their conjugates laid out as a filter."""
    chirp = [root(k * k % (2 * length), 2 * length) for k in range(length)]
    conjugates = [number.conjugate() for number in chirp]
    size = 1 << (2 * length - 2).bit_length()
    zeros = [0j] * (size - 2 * length + 1)
    return chirp, transform([*conjugates, *zeros, *conjugates[:0:-1]])


remembers_calls("roots of unity of BinaryBackend", _roots, _chirp)


def _bluestein(values: list[complex]) -> list[complex]:
    """The transform as a convolution with a chirp, by transforms whose length is a power of two.

    2 k n = k**2 + n**2 - (k - n)**2, so that exp(-2 pi i k n / length) is a product of chirps.
    """
    length = len(values)
    chirp, filtered = _chirp(length)
    size = len(filtered)
    padded = list(map(mul, values, chirp)) + [0j] * (size - length)
    product = list(map(mul, transform(padded), filtered))
    # The inverse transform is the transform of the numbers in reverse order, over the size.
    back = transform([product[0], *product[:0:-1]])[:length]
    scale = 1 / size  # a power of two: exact
    return [number * turn * scale for number, turn in zip(back, chirp, strict=True)]


class BinaryFourier(Backend):
    """The family `protocol.fourier`."""

    def fft(self, out: Template, x: Tensor, /, *, axis: int, length: int, norm: Norm) -> Payload:
        divisor = {"backward": 1.0, "ortho": math.sqrt(length), "forward": float(length)}[norm]
        return _transform_along(out, x, axis, length, False, divisor)

    def ifft(self, out: Template, x: Tensor, /, *, axis: int, length: int, norm: Norm) -> Payload:
        divisor = {"backward": float(length), "ortho": math.sqrt(length), "forward": 1.0}[norm]
        return _transform_along(out, x, axis, length, True, divisor)


def _transform_along(out: Template, x: Tensor, axis: int, length: int, inverse: bool, divisor: float) -> bytes:
    """The transform of each run along an axis."""
    values: Sequence[Any] = elements(x)
    size, inner = x.shape[axis], math.prod(x.shape[axis + 1 :])
    taken = min(size, length)
    padding = [0.0] * (length - taken)
    result = [0j] * out.size
    for outer in range(math.prod(x.shape[:axis])):
        for within in range(inner):
            start = outer * size * inner + within
            run = [*values[start : start + taken * inner : inner], *padding]
            transformed = transform([run[0], *run[:0:-1]] if inverse else run)
            if divisor != 1.0:
                transformed = [complex(number.real / divisor, number.imag / divisor) for number in transformed]
            place = outer * length * inner + within
            result[place : place + length * inner : inner] = transformed
    return store(result, out.dtype)
