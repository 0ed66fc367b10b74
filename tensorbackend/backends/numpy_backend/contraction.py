"""Contractions."""

from __future__ import annotations

from math import prod

from ...interchange import numpy_dtype
from ...protocol import Kernel, planned
from ...protocol.workspace import takes
from ...rules.broadcasting import broadcast_two
from ...template import Shape, Template, intern_template
from ..array_module.base import Array
from ..array_module.contraction import ArrayContraction, product_space
from ..array_module.precision import WIDER, promoting_kernel, wide
from ..array_module.workspace_bytes import brought


def _matmul_space(out: Template, x1: Template, x2: Template, /) -> int:
    left, right = (x.replace(dtype=out.dtype) for x in (x1, x2))
    return brought(out.dtype, *(x for x in (x1, x2) if x.dtype is not out.dtype)) + product_space(
        left, right, out.size, x1.shape[-1]
    )


MOST_TERMS_AT_ONCE = 1 << 13
"""Above this number of terms, a sum of products is computed in parts."""

_TERMS = 1 << 11
"""The number of terms of a part; an eighth of it for complex numbers, for which the library has fewer lanes."""


class NumpyContraction(ArrayContraction):
    """Sums of products."""

    def matrix_product(self, x1: Template, x2: Template) -> Kernel:
        """Products of long vectors of float32 or complex64 are added up from parts: the library adds one by one in each
        lane of the processor. It computes products of matrices block by block itself."""
        product, terms = super().matrix_product(x1, x2), x1.shape[-1]
        if wide(x1.dtype) not in WIDER or terms <= MOST_TERMS_AT_ONCE or x1.shape[-2] * x2.shape[-1] != 1:
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
        """The product of stacks of matrices by NumPy's `matmul`, which broadcasts the leading axes.

        It calls the library for each matrix, so leading axes that only one operand has are merged with its rows or
        columns where that needs no copy.
        """
        left, right = (x.replace(dtype=out.dtype) for x in (x1, x2))
        if len(x1.shape) == 1:
            left = _matrix(left, (1, *x1.shape))
        if len(x2.shape) == 1:
            right = _matrix(right, (*x2.shape, 1))
        product = self._stacks(left, right)
        if product is not self.xp.matmul and (len(x1.shape) == 1 or len(x2.shape) == 1):
            matrices, first, second = product, left.shape, right.shape
            product = lambda a, b: matrices(a.reshape(first), b.reshape(second)).reshape(out.shape)  # noqa: E731
        return promoting_kernel(self, out.dtype, product, out, x1, x2)

    def _stacks(self, left: Template, right: Template) -> Kernel:
        """The product of two stacks of matrices."""
        plain = self.matrix_product(left, right)
        rows, columns = left.shape[-2], right.shape[-1]
        own, others = _lacking(left.shape, right.shape), _lacking(right.shape, left.shape)
        if _pays(prod(left.shape[-2 - own : -2]), left, columns):
            first = (*left.shape[: -2 - own], prod(left.shape[-2 - own : -1]), left.shape[-1])
            second = (*right.shape[: max(len(right.shape) - 2 - own, 0)], *right.shape[-2:])
            shape = (*_leading(left, right), rows, columns)
            folded, few = self.matrix_product(_stack(left, first), _stack(right, second)), rows < _LEAST_ROWS_BY_MATRIX

            def fold(a: Array, b: Array) -> Array:
                if few or a.flags.c_contiguous:
                    return folded(a.reshape(first), b.reshape(second)).reshape(shape)
                return plain(a, b)

            return fold
        if columns == 1 and _pays(prod(right.shape[-2 - others : -2]), right, rows):
            first = (*left.shape[: max(len(left.shape) - 2 - others, 0)], *left.shape[-2:])
            second = (*right.shape[: -2 - others], prod(right.shape[-2 - others : -2]), right.shape[-2])
            shape = (*_leading(left, right), rows, columns)
            turned = _stack(left, (*first[:-2], first[-1], first[-2]))
            vectors = self.matrix_product(_stack(right, second), turned)
            return lambda a, b: vectors(b.reshape(second), a.reshape(first).mT).reshape(shape)
        return plain


_LEAST_ROWS_BY_MATRIX = 32
"""Below this number of rows, a copy of the left operand takes less time than a product for each of its matrices."""


def _pays(matrices: int, x: Template, others: int) -> bool:
    """Whether to merge the axes of some matrices of x, each of which would be multiplied by that many vectors alone."""
    return matrices >= 8 or (matrices > 1 and x.size * others >= 1 << 16)


def _lacking(shape: Shape, other: Shape) -> int:
    """The number of leading axes, the last ones, that the stack of another shape lacks or has with size 1."""
    count = 0
    while count < len(shape) - 2 and (count >= len(other) - 2 or other[-3 - count] == 1):
        count += 1
    return count


def _leading(left: Template, right: Template) -> Shape:
    return broadcast_two(_stack(left, left.shape[:-2]), _stack(right, right.shape[:-2]))


def _stack(x: Template, shape: Shape) -> Template:
    return intern_template(shape, x.dtype, (None,) * len(shape))


def _matrix(x: Template, shape: tuple[int, int]) -> Template:
    return intern_template(shape, x.dtype, (None, None))
