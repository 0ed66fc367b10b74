"""Callbacks that move elements and compute nothing."""

from __future__ import annotations

from collections.abc import Sequence

from ..template import Template
from ..tensor import Tensor
from .core import callback
from .planned import Payload


class Shaping:
    """Changes of shape and order. Payloads may share memory: nothing ever changes one in place."""

    @callback(cost="view", reach="reshaped")
    def reshape(self, out: Template, x: Tensor, /) -> Payload:
        """The same elements in row-major order under another shape."""

    @callback(cost="view", reach="reshaped")
    def squeeze(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...]) -> Payload:
        """Removes `axes`, which have size 1."""

    @callback(cost="strided view", reach="placed")
    def broadcast(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...]) -> Payload:
        """Repeated to `out.shape`: axis i of x is axis `axes[i]` of the result, of the same size or 1."""

    @callback(cost="strided view", reach="ordered")
    def transpose(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...]) -> Payload:
        """Axis i of the result is axis `axes[i]` of x."""

    @callback(cost="move", reach="kept")
    def pad(
        self, out: Template, x: Tensor, pad_value: Tensor, /, *, padding: tuple[tuple[int, int, int], ...]
    ) -> Payload:
        """Puts (low, high, interior) elements of `pad_value` before, after and between x's, for each axis.

        Negative low or high take elements away, after the interior padding, as in XLA's Pad.
        """

    @callback(cost="strided view", reach="kept")
    def reverse(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...]) -> Payload:
        """The order along `axes` turned round."""

    @callback(cost="move", reach="kept")
    def concatenate(self, out: Template, tensors: Sequence[Tensor], /, *, axis: int) -> Payload:
        """The tensors, one or more, one after another along `axis`."""
