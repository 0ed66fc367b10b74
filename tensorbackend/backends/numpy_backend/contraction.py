"""Contractions."""

from __future__ import annotations

from ...protocol import Kernel, planned
from ...template import Template
from ..array_module.contraction import ArrayContraction
from ..array_module.precision import promoted
from .linalg.factorisations import _matrix


class NumpyContraction(ArrayContraction):
    """Sums of products."""

    @planned
    def matmul(self, out: Template, x1: Template, x2: Template, /) -> Kernel:
        """NumPy's own, which broadcasts the leading axes."""
        left, right = (x.replace(dtype=out.dtype) for x in (x1, x2))
        if len(x1.shape) == 1:
            left = _matrix(left, (1, *x1.shape))
        if len(x2.shape) == 1:
            right = _matrix(right, (*x2.shape, 1))
        product = self.matrix_product(left, right)
        if product is not self.xp.matmul and (len(x1.shape) == 1 or len(x2.shape) == 1):
            matrices, first, second = product, left.shape, right.shape
            product = lambda a, b: matrices(a.reshape(first), b.reshape(second)).reshape(out.shape)  # noqa: E731
        return promoted(self, out.dtype, product, out, x1, x2)
