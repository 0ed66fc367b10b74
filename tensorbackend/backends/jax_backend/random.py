"""Threefry-2x32, compiled in one piece."""

from __future__ import annotations

from ...protocol import Kernel, planned
from ...rules.random import threefry
from ...template import Template
from ..array_module.base import Array
from ..array_module.random import ArrayRandom
from .base import JaxBase


class JaxRandom(JaxBase, ArrayRandom):
    """Overrides of composites that draw random numbers."""

    @planned
    def threefry2x32(self, out: tuple[Template, Template], key: Template, high: Template, low: Template, /) -> Kernel:

        return lambda key, high, low: threefry(key, self.xp.broadcast_arrays(high, low), _rotate)


def _rotate(word: Array, bits: int) -> Array:
    return word << bits | word >> (32 - bits)
