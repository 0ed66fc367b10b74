"""Contractions."""

from __future__ import annotations

from ...protocol import Kernel, planned
from ...protocol.workspace import takes
from ...template import Template, intern_template
from ..array_module.contraction import ArrayContraction, product_space
from ..array_module.precision import promoted
from ..array_module.space import brought


def _matmul_space(out: Template, x1: Template, x2: Template, /) -> int:
    left, right = (x.replace(dtype=out.dtype) for x in (x1, x2))
    return brought(out.dtype, *(x for x in (x1, x2) if x.dtype is not out.dtype)) + product_space(
        left, right, out.size, x1.shape[-1]
    )


class NumpyContraction(ArrayContraction):
    """Sums of products."""

    @takes(_matmul_space)
    @planned
    def matmul(self, out: Template, x1: Template, x2: Template, /) -> Kernel:
        """The product of stacks of matrices by NumPy's `matmul`, which broadcasts the leading axes."""
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


def _matrix(x: Template, shape: tuple[int, int]) -> Template:
    return intern_template(shape, x.dtype, (None, None))
