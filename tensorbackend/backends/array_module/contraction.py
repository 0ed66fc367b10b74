"""Contractions."""

from __future__ import annotations

from itertools import pairwise
from math import prod

from ...interchange import numpy_dtype
from ...protocol import Kernel, planned
from ...protocol.workspace import takes
from ...template import Template
from .base import Array, ArrayBase
from .linalg.factorisations import _MANY, _merge_matrices, _same
from .precision import computing_kernel, wide
from .shortcuts import fits_float64
from .workspace_bytes import narrow_copy_bytes, nbytes


def product_space(x1: Template, x2: Template, size: int, terms: int) -> int:
    """The bytes that a matrix product of `size` elements takes: for many integers, 64-bit copies of both factors and of
    the product; for complex numbers, flags."""
    if x1.dtype.is_complex:
        return size
    if x1.dtype.is_inexact or size * terms < _MANY:
        return narrow_copy_bytes(x1.replace(shape=(size,), names=(None,)), x1, x2)
    return 8 * (x1.size + x2.size + size)


def _dot_space(
    out: Template, x1: Template, x2: Template, /, *, contract1: tuple[int, ...], batch1: tuple[int, ...],
    contract2: tuple[int, ...], batch2: tuple[int, ...],
) -> int:  # fmt: skip
    """The bytes of the product, and of copies of factors whose axes cannot be merged without a copy."""
    free1 = tuple(axis for axis in range(x1.ndim) if axis not in contract1 + batch1)
    free2 = tuple(axis for axis in range(x2.ndim) if axis not in contract2 + batch2)
    copies = sum(
        nbytes(x.size, wide(x.dtype))
        for x, groups in ((x1, (free1, contract1)), (x2, (contract2, free2)))
        if not all(_merges(x, axes) for axes in groups)
    )
    return copies + product_space(x1, x2, out.size, prod(x1.shape[axis] for axis in contract1))


def _merges(x: Template, axes: tuple[int, ...]) -> bool:
    """Whether axes of an array in row-major order can be merged into one without a copy."""
    long = [axis for axis in axes if x.shape[axis] > 1]
    return all(after > axis and prod(x.shape[axis + 1 : after]) == 1 for axis, after in pairwise(long))


class ArrayContraction(ArrayBase):
    """Sums of products."""

    @takes(_dot_space)
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
        """One matrix product, with axes merged into (batch, free, contracted) and (batch, contracted, free)."""
        free1 = tuple(axis for axis in range(len(x1.shape)) if axis not in contract1 + batch1)
        free2 = tuple(axis for axis in range(len(x2.shape)) if axis not in contract2 + batch2)
        arrange1, left = _merge_matrices(x1, batch1, free1, contract1)
        arrange2, right = _merge_matrices(x2, batch2, contract2, free2)
        product = self.matrix_product(left, right)
        if not arrange1 and not arrange2 and (*left.shape[:-1], right.shape[-1]) == out.shape:
            return computing_kernel(product, out, x1, x2)
        first, second = arrange1 or _same, arrange2 or _same
        return computing_kernel(lambda a, b: product(first(a), second(b)).reshape(out.shape), out, x1, x2)

    def matrix_product(self, x1: Template, x2: Template) -> Kernel:
        """A kernel that multiplies stacks of matrices in their dtype, many integers in float64 where that is exact."""
        xp, matmul, dtype = self.xp, self.xp.matmul, numpy_dtype(wide(x1.dtype))
        if x1.dtype.is_complex:
            return xp.matrix_product  # type: ignore[no-any-return] # a function of arrays
        if x1.dtype.is_inexact or x1.size * x2.shape[-1] < _MANY:
            kernel: Kernel = matmul
            return kernel
        terms = x1.shape[-1]

        def whole(left: Array, right: Array) -> Array:
            if not fits_float64(xp, terms, left, right):
                return matmul(left, right)
            return matmul(left.astype("float64"), right.astype("float64")).astype("int64").astype(dtype)

        return whole
