"""Contractions."""

from __future__ import annotations

from ...protocol import Kernel, planned
from ...template import Template
from ..array_module.base import Array
from ..array_module.contraction import ArrayContraction
from ..array_module.precision import computing_kernel
from .base import JaxBase


class JaxContraction(JaxBase, ArrayContraction):
    """Sums of products."""

    @planned
    def dot(
        self,
        out: Template,
        x1: Template,
        x2: Template,
        /,
        *,
        contract1: tuple[int, ...],
        batch1: tuple[int, ...],
        contract2: tuple[int, ...],
        batch2: tuple[int, ...],
    ) -> Kernel:
        """XLA's own contraction; complex numbers by their parts, as XLA does not define the results for infinities."""
        lax, dimensions = self.lax, ((contract1, contract2), (batch1, batch2))
        precision = self.precision

        def product(left: Array, right: Array) -> Array:
            return lax.dot_general(left, right, dimensions, precision=precision)

        def dot_parts(left: Array, right: Array) -> Array:
            a, b, c, d = left.real, left.imag, right.real, right.imag
            return lax.complex(product(a, c) - product(b, d), product(a, d) + product(b, c))

        return computing_kernel(dot_parts if out.dtype.is_complex else product, out, x1, x2)
