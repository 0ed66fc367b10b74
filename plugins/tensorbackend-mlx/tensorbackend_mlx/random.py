"""Random numbers: MLX adds and shifts integers of 32 bits as the algorithm needs it."""

from __future__ import annotations

from tensorbackend import Template
from tensorbackend.extending import PARITY, threefry

from .kernels import Function, MlxBase, kernel
from .library import Array, mx


class MlxRandom(MlxBase):
    """Overrides of composites that draw random numbers."""

    @kernel()
    def threefry2x32(self, out: tuple[Template, Template], key: Template, high: Template, low: Template) -> Function:
        """Encrypts the words of counters with a key."""
        shape = out[0].shape

        def encrypt(key: Array, high: Array, low: Array) -> tuple[Array, Array]:
            words = mx.broadcast_to(high, shape), mx.broadcast_to(low, shape)
            return threefry(key, words, _rotate, mx.array(PARITY, mx.uint32))  # type: ignore[no-any-return] # as words

        return encrypt


def _rotate(word: Array, bits: int) -> Array:
    return word << bits | word >> 32 - bits
