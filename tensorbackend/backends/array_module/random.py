"""Threefry-2x32 in place, without a new array for each of its hundred steps."""

from __future__ import annotations

from ...interchange import numpy_dtype
from ...protocol import Kernel, planned
from ...rules.random import PARITY, ROTATIONS
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
        schedule = [key[:1], key[1:], key[:1] ^ key[1:] ^ PARITY]
        moved = xp.empty_like(second)
        first += schedule[0]
        second += schedule[1]
        for group in range(5):
            for bits in ROTATIONS[group % 2]:
                first += second
                xp.left_shift(second, bits, out=moved)
                second >>= 32 - bits
                second |= moved
                second ^= first
            first += schedule[(group + 1) % 3]
            second += schedule[(group + 2) % 3] + (group + 1)
