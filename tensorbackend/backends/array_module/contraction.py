"""Contractions."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from ...interchange import numpy_dtype
from ...protocol import Kernel, planned
from ...protocol.workspace import takes
from ...template import Shape, Template, intern_template
from .base import Array, ArrayBase
from .module import fits_float64
from .precision import computing_kernel, wide
from .workspace_bytes import narrow_copy_bytes, nbytes

LEAST_PRODUCTS_IN_FLOAT64 = 1 << 12
"""The number of multiplications of integers from which float64 copies of the factors pay."""


def product_space(x1: Template, x2: Template, size: int, terms: int) -> int:
    """The bytes that a matrix product of `size` elements takes: for many integers, 64-bit copies of both factors and of
    the product; for complex numbers, flags."""
    if x1.dtype.is_complex:
        return size
    if x1.dtype.is_inexact or terms == 1 or size * terms < LEAST_PRODUCTS_IN_FLOAT64:
        return narrow_copy_bytes(x1.replace(shape=(size,), names=(None,)), x1, x2)
    return 8 * (x1.size + x2.size + size)


_LEAST_PRODUCTS_ONE_BY_ONE = 1 << 14
"""From this number of multiplications on, matrices of a stack are multiplied one by one rather than copied into one."""


class _Side(NamedTuple):
    """The axes of one operand."""

    shape: Shape
    batch: tuple[int, ...]
    free: tuple[int, ...]
    contract: tuple[int, ...]

    def apart(self, strides: Sequence[int]) -> int:
        """The number of free axes, the first ones, that cannot be merged with the others in an array of these strides.

        It is 0 if the array must be copied anyway, as its contracted axes cannot be merged.
        """
        if _first_merged(self.shape, strides, self.contract):
            return 0
        return _first_merged(self.shape, strides, self.free)


def _first_merged(shape: Shape, strides: Sequence[int], axes: tuple[int, ...]) -> int:
    """The place in `axes` from which on they can be merged into one without a copy."""
    after: int | None = None
    for place in range(len(axes) - 1, -1, -1):
        axis = axes[place]
        if shape[axis] == 1:
            continue
        if after is not None and strides[axis] != strides[after] * shape[after]:
            return place + 1
        after = axis
    return 0


def _row_major(shape: Shape) -> list[int]:
    """The strides of an array in row-major order, in elements."""
    return [prod(shape[axis + 1 :]) for axis in range(len(shape))]


def _sides(
    x1: Template, x2: Template, /, *, contract1: tuple[int, ...], batch1: tuple[int, ...], contract2: tuple[int, ...],
    batch2: tuple[int, ...],
) -> tuple[_Side, _Side]:  # fmt: skip
    free1 = tuple(axis for axis in range(len(x1.shape)) if axis not in contract1 + batch1)
    free2 = tuple(axis for axis in range(len(x2.shape)) if axis not in contract2 + batch2)
    return _Side(x1.shape, batch1, free1, contract1), _Side(x2.shape, batch2, free2, contract2)


def _kept_apart(left: _Side, right: _Side, strides1: Sequence[int], strides2: Sequence[int]) -> tuple[int, int]:
    """The number of free axes of each operand that become axes of the stack of matrices."""
    apart1, apart2 = left.apart(strides1), right.apart(strides2)
    if apart1 or apart2:
        rows, columns = (
            prod(side.shape[axis] for axis in side.free[apart:]) for side, apart in ((left, apart1), (right, apart2))
        )
        if rows * columns * prod(left.shape[axis] for axis in left.contract) < _LEAST_PRODUCTS_ONE_BY_ONE:
            return 0, 0
    return apart1, apart2


def _dot_space(out: Template, x1: Template, x2: Template, /, **options: tuple[int, ...]) -> int:
    """The bytes of the product, and of copies of factors whose axes cannot be merged without a copy."""
    sides = _sides(x1, x2, **options)
    strides = [_row_major(x.shape) for x in (x1, x2)]
    copies = sum(
        nbytes(x.size, wide(x.dtype))
        for x, side, step, apart in zip((x1, x2), sides, strides, _kept_apart(*sides, *strides), strict=True)
        if any(_first_merged(x.shape, step, axes) for axes in (side.free[apart:], side.contract))
    )
    return copies + product_space(x1, x2, out.size, prod(x1.shape[axis] for axis in options["contract1"]))


class ArrayContraction(ArrayBase):
    """Sums of products."""

    @takes(_dot_space)
    @planned
    def dot(
        self, out: Template, x1: Template, x2: Template, /, *, contract1: tuple[int, ...], batch1: tuple[int, ...],
        contract2: tuple[int, ...], batch2: tuple[int, ...],
    ) -> Kernel:  # fmt: skip
        """A product of matrices, with axes merged into (batch, free, contracted) and (batch, contracted, free).

        Free axes that cannot be merged without a copy become axes of the stack: those of one operand repeat the other.
        """
        left, right = _sides(x1, x2, contract1=contract1, batch1=batch1, contract2=contract2, batch2=batch2)
        ready = _kept_apart(left, right, _row_major(left.shape), _row_major(right.shape))
        kernels = {ready: self._product(out, x1, x2, left, right, *ready)}
        planned_kernel = kernels[ready]
        if len(left.free) < 2 and len(right.free) < 2:
            return computing_kernel(planned_kernel, out, x1, x2)

        def multiply(a: Array, b: Array) -> Array:
            if a.flags.c_contiguous and b.flags.c_contiguous:
                return planned_kernel(a, b)
            apart = _kept_apart(left, right, a.strides, b.strides)
            if apart not in kernels:
                kernels[apart] = self._product(out, x1, x2, left, right, *apart)
            return kernels[apart](a, b)

        return computing_kernel(multiply, out, x1, x2)

    def _product(
        self, out: Template, x1: Template, x2: Template, left: _Side, right: _Side, apart1: int, apart2: int
    ) -> Kernel:
        """The kernel of `dot` where the first free axes of each operand are axes of the stack of matrices."""
        first, rows = left.free[:apart1], left.free[apart1:]
        second, columns = right.free[:apart2], right.free[apart2:]
        arrange1, matrices1 = _arrange(x1, (*left.batch, *first, *(None,) * apart2), rows, left.contract)
        arrange2, matrices2 = _arrange(x2, (*right.batch, *(None,) * apart1, *second), right.contract, columns)
        product, shape = self.matrix_product(matrices1, matrices2), out.shape
        start = len(left.batch) + apart1
        if apart2 and rows:  # the rows come before the second operand's axes in the result
            order = (*range(start), start + apart2, *range(start, start + apart2), start + apart2 + 1)
            return lambda a, b: product(arrange1(a), arrange2(b)).transpose(order).reshape(shape)
        if arrange1 is arrange2 is _same and (*matrices1.shape[:-1], matrices2.shape[-1]) == shape:
            return product
        return lambda a, b: product(arrange1(a), arrange2(b)).reshape(shape)

    def matrix_product(self, x1: Template, x2: Template) -> Kernel:
        """A kernel that multiplies stacks of matrices in their dtype, many integers in float64 where that is exact.

        Outer products, which have one term, take a quarter of the time as a multiplication.
        """
        xp, matmul, dtype, terms = self.xp, self.xp.matmul, numpy_dtype(wide(x1.dtype)), x1.shape[-1]
        if x1.dtype.is_complex:
            return xp.matrix_product  # type: ignore[no-any-return] # a function of arrays
        kernel: Kernel
        if terms == 1:
            kernel = xp.multiply
            return kernel
        if x1.dtype.is_inexact or x1.size * x2.shape[-1] < LEAST_PRODUCTS_IN_FLOAT64:
            kernel = matmul
            return kernel

        def whole(left: Array, right: Array) -> Array:
            if not fits_float64(xp, terms, left, right):
                return matmul(left, right)
            return matmul(left.astype("float64"), right.astype("float64")).astype("int64").astype(dtype)

        return whole


def _arrange(
    x: Template, stack: tuple[int | None, ...], rows: tuple[int, ...], columns: tuple[int, ...]
) -> tuple[Kernel, Template]:
    """A kernel that makes a stack of matrices of an array, and the template of its result.

    Axes are put in the order stack, rows, columns; then the rows are merged into one axis, and so are the columns. The
    stack has further axes of size 1, at each `None`.

    f32[2][3][4][5] with stack (0, None), rows (2,) and columns (1, 3) -> [2][4][3][5] -> [2][1][4][15].
    """
    order = (*(axis for axis in stack if axis is not None), *rows, *columns)
    shape = (
        *(1 if axis is None else x.shape[axis] for axis in stack),
        prod(x.shape[axis] for axis in rows),
        prod(x.shape[axis] for axis in columns),
    )
    template = intern_template(shape, x.dtype, (None,) * len(shape))
    moves, merges = order != tuple(range(len(order))), shape != tuple(x.shape[axis] for axis in order)
    if not moves:
        return (lambda values: values.reshape(shape)) if merges else _same, template
    if not merges:
        return lambda values: values.transpose(order), template
    return lambda values: values.transpose(order).reshape(shape), template


def _same(values: Array) -> Array:
    return values
