"""Random words, from which all other random numbers are made."""

from __future__ import annotations

from array import array

from ...protocol import Backend, Payload
from ...template import Template
from ...tensor import Tensor
from ..threefry import encrypt
from .storage import broadcast_elements, elements, store

_LANES = 1 << 12
"""Counters in one integer: so many that Python's own work counts little, and few enough for the cache."""


class BinaryRandom(Backend):
    """The family `protocol.random`, of which only the words are worth an override."""

    def threefry2x32(self, out: tuple[Template, Template], key: Tensor, high: Tensor, low: Tensor, /) -> Payload:
        first, second = elements(key)
        counters = [array("Q", broadcast_elements(x, out[0].shape)) for x in (high, low)]
        mixed = array("Q"), array("Q")
        for start in range(0, out[0].size, _LANES):
            for whole, part in zip(
                mixed, encrypt((first, second), *(x[start : start + _LANES] for x in counters)), strict=True
            ):
                whole.extend(part)
        return tuple(store(words, template.dtype) for words, template in zip(mixed, out, strict=True))
