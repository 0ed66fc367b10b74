"""Threefry-2x32 in place, without an array for each of its hundred steps."""

from __future__ import annotations

from ...interchange import numpy_dtype
from ...protocol import Payload
from ...rules.random import PARITY, ROTATIONS
from ...template import Template
from ...tensor import Tensor
from .base import Array, ArrayBase, kernel


class ArrayRandom(ArrayBase):
    """Overrides of composites that draw random numbers."""

    @kernel
    def threefry2x32(self, out: tuple[Template, Template], key: Tensor, high: Tensor, low: Tensor, /) -> Payload:
        """The words into which a key turns those of counters."""
        first, second = (self.xp.empty(template.shape, numpy_dtype(template.dtype)) for template in out)
        first[...], second[...] = high.data, low.data
        self.encrypt(key.data, first.reshape(-1), second.reshape(-1))
        return first, second

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
