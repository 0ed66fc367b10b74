"""Threefry-2x32, compiled in one piece."""

from __future__ import annotations

from ...protocol import Payload
from ...rules.random import PARITY, ROTATIONS
from ...template import Template
from ...tensor import Tensor
from ..array_module.base import kernel
from ..array_module.random import ArrayRandom
from .base import JaxBase


class JaxRandom(JaxBase, ArrayRandom):
    """Overrides of composites that draw random numbers."""

    @kernel
    def threefry2x32(self, out: tuple[Template, Template], key: Tensor, high: Tensor, low: Tensor, /) -> Payload:
        """The words into which a key turns those of counters."""
        schedule = [key.data[0], key.data[1], key.data[0] ^ key.data[1] ^ PARITY]
        first, second = self.xp.broadcast_arrays(high.data, low.data)
        first, second = first + schedule[0], second + schedule[1]
        for group in range(5):
            for bits in ROTATIONS[group % 2]:
                first = first + second
                second = (second << bits | second >> (32 - bits)) ^ first
            first = first + schedule[(group + 1) % 3]
            second = second + schedule[(group + 2) % 3] + (group + 1)
        return first, second
