"""Callbacks that move elements, by `jax.lax`."""

from __future__ import annotations

from ...protocol import Payload
from ...template import Template
from ...tensor import Tensor
from ..array_module.base import kernel
from ..array_module.shape import ArrayShaping
from .base import JaxBase


class JaxShaping(JaxBase, ArrayShaping):
    """Changes of shape and order."""

    @kernel
    def reshape(self, out: Template, x: Tensor, /) -> Payload:
        """The same elements in row-major order under another shape."""
        return x.data.reshape(out.shape)

    @kernel
    def squeeze(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...]) -> Payload:
        """Without `axes`."""
        return x.data.reshape(out.shape)

    @kernel
    def broadcast(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...]) -> Payload:
        """Repeated along the new axes and those of size 1."""
        return super().broadcast(out, x, axes=axes)

    @kernel
    def transpose(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...]) -> Payload:
        """Axis i of the result is axis `axes[i]` of x."""
        return x.data.transpose(axes)

    @kernel
    def pad(
        self, out: Template, x: Tensor, pad_value: Tensor, /, *, padding: tuple[tuple[int, int, int], ...]
    ) -> Payload:
        """x with elements of the pad value about and between its own."""
        return self.lax.pad(x.data, pad_value.data, padding)

    @kernel
    def reverse(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...]) -> Payload:
        """The order along `axes` turned round."""
        return self.lax.rev(x.data, axes)

    @kernel
    def concatenate(self, out: Template, tensors: tuple[Tensor, ...], /, *, axis: int) -> Payload:  # type: ignore[override] # the dispatcher gives a tuple
        """The tensors one after another along `axis`."""
        return self.lax.concatenate([x.data for x in tensors], axis)
