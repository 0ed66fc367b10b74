"""Contractions."""

from __future__ import annotations

from ...interchange import numpy_dtype
from ...protocol import Kernel, planned
from ...protocol.workspace import takes
from ...template import Template, intern_template
from ..array_module.base import Array
from ..array_module.contraction import ArrayContraction, product_space
from ..array_module.precision import WIDER, promoting_kernel, wide
from ..array_module.workspace_bytes import brought


def _matmul_space(out: Template, x1: Template, x2: Template, /) -> int:
    left, right = (x.replace(dtype=out.dtype) for x in (x1, x2))
    return brought(out.dtype, *(x for x in (x1, x2) if x.dtype is not out.dtype)) + product_space(
        left, right, out.size, x1.shape[-1]
    )


_LONG = 1 << 13
"""Above this number of terms, a sum of products is computed in parts."""

_TERMS = 1 << 11
"""The number of terms of a part; an eighth of it for complex numbers, for which the library has fewer lanes."""


class NumpyContraction(ArrayContraction):
    """Sums of products."""

    def matrix_product(self, x1: Template, x2: Template) -> Kernel:
        """Products of long vectors of float32 or complex64 are added up from parts: the library adds one by one in each
        lane of the processor. It computes products of matrices block by block itself."""
        product, terms = super().matrix_product(x1, x2), x1.shape[-1]
        if wide(x1.dtype) not in WIDER or terms <= _LONG or x1.shape[-2] * x2.shape[-1] != 1:
            return product
        add, wider, element = self.xp.add.reduce, numpy_dtype(WIDER[wide(x1.dtype)]), numpy_dtype(wide(x1.dtype))
        part = _TERMS // 8 if x1.dtype.is_complex else _TERMS
        count, rest = divmod(terms, part)
        end = terms - rest

        def multiply_parts(left: Array, right: Array) -> Array:
            rows = left[..., :end].reshape(*left.shape[:-1], count, part).swapaxes(-2, -3)
            columns = right[..., :end, :].reshape(*right.shape[:-2], count, part, right.shape[-1])
            total = add(product(rows, columns), -3, wider)
            if rest:
                total += product(left[..., end:], right[..., end:, :])
            return total.astype(element)

        return multiply_parts

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
        return promoting_kernel(self, out.dtype, product, out, x1, x2)


def _matrix(x: Template, shape: tuple[int, int]) -> Template:
    return intern_template(shape, x.dtype, (None, None))
