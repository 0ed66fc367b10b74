"""JAX: what changes nothing but the gradient changes that of JAX's own transformations too."""

from __future__ import annotations

from ...protocol import Payload
from ...template import Template
from ...tensor import Tensor
from .base import JaxBase


class JaxGradients(JaxBase):
    """Overrides of composites that give their operand."""

    def stop_gradient(self, out: Template, x: Tensor, /) -> Payload:
        """JAX's own."""
        return self.lax.stop_gradient(x.data)

    def scaled_gradient(self, out: Template, x: Tensor, scale: Tensor, /) -> Payload:
        """An identity with a derivative of its own."""
        if not x.dtype.is_inexact:
            return x.data
        same = self.jax.custom_jvp(lambda data, scale: data)
        same.defjvp(lambda primals, tangents: (primals[0], (tangents[0] * primals[1]).astype(primals[0].dtype)))
        return same(x.data, scale.data)
