"""Callbacks that only move elements."""

from __future__ import annotations

from collections.abc import Sequence

from ..template import Template
from ..tensor import Tensor
from .callbacks import callback
from .planned import Payload


class Shaping:
    """Changes of shape and order. Payloads may share memory: nothing ever changes one in place."""

    @callback(cost="view", reach="reshaped")
    def reshape(self, out: Template, x: Tensor, /) -> Payload:
        """The same elements in row-major order in another shape."""

    @callback(cost="view", reach="reshaped")
    def squeeze(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...]) -> Payload:
        """Removes `axes`, which have size 1."""

    @callback(cost="strided view", reach="placed")
    def broadcast(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...]) -> Payload:
        """Repeats x to `out.shape`: axis i of x, of the same size or 1, becomes axis `axes[i]` of the result."""

    @callback(cost="strided view", reach="ordered")
    def transpose(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...]) -> Payload:
        """Axis i of the result is axis `axes[i]` of x."""

    @callback(cost="move", reach="kept")
    def pad(
        self, out: Template, x: Tensor, pad_value: Tensor, /, *, padding: tuple[tuple[int, int, int], ...]
    ) -> Payload:
        """Inserts (low, high, interior) elements `pad_value` before, after and between those of x along each axis.

        A negative low or high removes elements, after the interior padding, as in XLA's Pad.
        """

    @callback(cost="strided view", reach="kept")
    def reverse(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...]) -> Payload:
        """Reverses the order of elements along `axes`."""

    @callback(cost="move", reach="kept")
    def concatenate(self, out: Template, tensors: Sequence[Tensor], /, *, axis: int) -> Payload:
        """Joins one or more tensors along `axis`."""
