"""Callbacks that move elements, where JAX has a function of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...protocol import Kernel, planned
from ...template import Shape, Template
from ..array_module.base import Array
from ..array_module.shape import ArrayShaping
from .base import JaxBase

Triples = Sequence[tuple[int, int, int]]
"""The padding (low, high, interior) of each axis."""


class JaxShaping(JaxBase, ArrayShaping):
    """Changes of shape and order."""

    @planned
    def pad(
        self, out: Template, x: Template, pad_value: Template, /, *, padding: tuple[tuple[int, int, int], ...]
    ) -> Kernel:
        """x with elements of the pad value around and between its own."""
        return padding_function(self.lax, x.shape, padding, on_mesh=self.lays_by_name)

    @planned
    def reverse(self, out: Template, x: Template, /, *, axes: tuple[int, ...]) -> Kernel:
        """x with the order of its elements along `axes` reversed."""
        rev = self.lax.rev
        return lambda values: rev(values, axes)


def padding_function(lax: Any, shape: Shape, padding: Triples, *, on_mesh: bool) -> Callable[[Array, Array], Array]:
    """A function that pads an array of a shape with a value.

    XLA gets interior padding wrong in two cases. If an axis has fewer than two elements, between which there is
    nothing, a window of the result is wrong. If devices divide the axis, so is the result itself, or XLA aborts the
    process. So such padding is left out, and on a mesh each element gets its padding along a new axis instead.
    """
    pad = lax.pad
    triples = [
        (low, high, interior if size > 1 else 0) for size, (low, high, interior) in zip(shape, padding, strict=True)
    ]
    if not on_mesh or not any(interior for _, _, interior in triples):
        return lambda values, value: pad(values, value, triples)
    apart, after, whole = [], [], []
    for size, (_, _, interior) in zip(shape, triples, strict=True):
        apart += [size, 1]
        after += [(0, 0, 0), (0, interior, 0)]
        whole.append(size * (interior + 1))
    around = [(low, high - interior, 0) for low, high, interior in triples]

    def spread(values: Array, value: Array) -> Array:
        return pad(pad(values.reshape(apart), value, after).reshape(whole), value, around)

    return spread
