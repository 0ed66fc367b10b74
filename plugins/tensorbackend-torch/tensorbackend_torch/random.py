"""Threefry-2x32 in int32 arithmetic, whose sums have the same bits as those of uint32."""

from __future__ import annotations

from tensorbackend import Template
from tensorbackend.extending import threefry

from .kernels import TorchBase, kernel
from .ways import Array


class TorchRandom(TorchBase):
    """Overrides of composites that draw random numbers."""

    @kernel(unsigned="bits")
    def threefry2x32(self, out: tuple[Template, Template], key: Array, high: Array, low: Array) -> tuple[Array, Array]:
        """Encrypts the words of counters with a key."""
        words = (word.expand(template.shape).clone() for word, template in zip((high, low), out, strict=True))
        return threefry(key, words, _rotate)  # type: ignore[no-any-return] # two words, as the counters


def _rotate(word: Array, bits: int) -> Array:
    # A right shift of int32 fills with the sign bit; the mask clears these bits.
    rotated = word << bits
    rotated |= (word >> 32 - bits) & ((1 << bits) - 1)
    return rotated
