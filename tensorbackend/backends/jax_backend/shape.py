"""Callbacks that move elements, where JAX has a function of its own."""

from __future__ import annotations

from ...protocol import Kernel, planned
from ...template import Template
from ..array_module.shape import ArrayShaping
from .base import JaxBase


class JaxShaping(JaxBase, ArrayShaping):
    """Changes of shape and order."""

    @planned
    def pad(
        self, out: Template, x: Template, pad_value: Template, /, *, padding: tuple[tuple[int, int, int], ...]
    ) -> Kernel:
        """x with elements of the pad value around and between its own."""
        pad = self.lax.pad
        return lambda values, value: pad(values, value, padding)

    @planned
    def reverse(self, out: Template, x: Template, /, *, axes: tuple[int, ...]) -> Kernel:
        """x with the order of its elements along `axes` reversed."""
        rev = self.lax.rev
        return lambda values: rev(values, axes)
