"""Random numbers: MLX adds and shifts integers of 32 bits as the algorithm needs it."""

from __future__ import annotations

from tensorbackend import Template
from tensorbackend.extending import PARITY, ROTATIONS

from .kernels import Function, MlxBase, kernel
from .library import Array, mx


class MlxRandom(MlxBase):
    """Overrides of composites that draw random numbers."""

    @kernel()
    def threefry2x32(self, out: tuple[Template, Template], key: Template, high: Template, low: Template) -> Function:
        """Encrypts the words of counters with a key."""
        shape = out[0].shape

        def encrypt(key: Array, high: Array, low: Array) -> tuple[Array, Array]:
            words = [key[0], key[1], key[0] ^ key[1] ^ mx.array(PARITY, mx.uint32)]
            first, second = mx.broadcast_to(high, shape) + words[0], mx.broadcast_to(low, shape) + words[1]
            for group in range(5):
                for bits in ROTATIONS[group % 2]:
                    first = first + second
                    second = (second << bits | second >> 32 - bits) ^ first
                first = first + words[(group + 1) % 3]
                second = second + words[(group + 2) % 3] + (group + 1)
            return first, second

        return encrypt
