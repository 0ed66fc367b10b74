"""Threefry-2x32, compiled in one piece."""

from __future__ import annotations

from ...protocol import Kernel, planned
from ...rules.random import PARITY, ROTATIONS
from ...template import Template
from ..array_module.base import Array
from ..array_module.random import ArrayRandom
from .base import JaxBase


class JaxRandom(JaxBase, ArrayRandom):
    """Overrides of composites that draw random numbers."""

    @planned
    def threefry2x32(self, out: tuple[Template, Template], key: Template, high: Template, low: Template, /) -> Kernel:
        """The words of counters, encrypted with a key."""

        def kernel(key: Array, high: Array, low: Array) -> tuple[Array, Array]:
            schedule = [key[0], key[1], key[0] ^ key[1] ^ PARITY]
            first, second = self.xp.broadcast_arrays(high, low)
            first, second = first + schedule[0], second + schedule[1]
            for group in range(5):
                for bits in ROTATIONS[group % 2]:
                    first = first + second
                    second = (second << bits | second >> (32 - bits)) ^ first
                first = first + schedule[(group + 1) % 3]
                second = second + schedule[(group + 2) % 3] + (group + 1)
            return first, second

        return kernel
