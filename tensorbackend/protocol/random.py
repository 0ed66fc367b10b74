"""Callbacks that draw random numbers from a key. All are composites: every backend draws the same bits."""

from __future__ import annotations

from ..template import Template
from ..tensor import Tensor
from .core import Payload, optional_callback


class Random:
    """Draws by counter from Threefry-2x32 (Salmon et al., 2011)."""

    @optional_callback
    def random_uniform(self, out: Template, key: Tensor, low: Tensor, high: Tensor, /) -> Payload:
        """Uniform numbers from `low` up to but not `high`."""

    @optional_callback
    def random_normal(self, out: Template, key: Tensor, mean: Tensor, deviation: Tensor, /) -> Payload:
        """Normal numbers of a mean and a standard deviation."""
