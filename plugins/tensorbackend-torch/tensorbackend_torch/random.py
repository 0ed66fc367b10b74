"""Threefry-2x32 in int32 arithmetic, whose sums have the same bits as those of uint32."""

from __future__ import annotations

from tensorbackend import Template
from tensorbackend.extending import PARITY, ROTATIONS

from .kernels import TorchBase, kernel
from .ways import Array


class TorchRandom(TorchBase):
    """Overrides of composites that draw random numbers."""

    @kernel(unsigned="bits")
    def threefry2x32(self, out: tuple[Template, Template], key: Array, high: Array, low: Array) -> tuple[Array, Array]:
        """Encrypts the words of counters with a key."""
        first, second = (word.expand(template.shape).clone() for word, template in zip((high, low), out, strict=True))
        schedule = [key[0], key[1], key[0] ^ key[1] ^ PARITY]
        first += schedule[0]
        second += schedule[1]
        for group in range(5):
            for bits in ROTATIONS[group % 2]:
                first += second
                # A right shift of int32 fills with the sign bit; the mask clears these bits.
                rotated = second << bits
                rotated |= (second >> 32 - bits) & ((1 << bits) - 1)
                second = rotated
                second ^= first
            first += schedule[(group + 1) % 3]
            second += schedule[(group + 2) % 3] + (group + 1)
        return first, second
