"""Threefry-2x32 in place, without a new array for each of its hundred steps."""

from __future__ import annotations

from ...interchange import numpy_dtype
from ...protocol import Kernel, planned
from ...rules.random import threefry
from ...template import Template
from .base import Array, ArrayBase


class ArrayRandom(ArrayBase):
    """Overrides of composites that draw random numbers."""

    @planned
    def threefry2x32(self, out: tuple[Template, Template], key: Template, high: Template, low: Template, /) -> Kernel:
        """The words of counters, encrypted with a key."""
        empty, encrypt = self.xp.empty, self.encrypt
        words = [(template.shape, numpy_dtype(template.dtype)) for template in out]

        def kernel(key: Array, high: Array, low: Array) -> tuple[Array, Array]:
            first, second = (empty(shape, dtype) for shape, dtype in words)
            first[...], second[...] = high, low
            encrypt(key, first.reshape(-1), second.reshape(-1))
            return first, second

        return kernel

    def encrypt(self, key: Array, first: Array, second: Array) -> None:
        """Mixes the words of counters with a key, in place."""
        xp = self.xp
        moved = xp.empty_like(second)

        def rotate(word: Array, bits: int) -> Array:
            xp.left_shift(word, bits, out=moved)
            word >>= 32 - bits
            word |= moved
            return word

        threefry((key[:1], key[1:]), (first, second), rotate)
