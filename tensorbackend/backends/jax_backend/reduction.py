"""Reductions. A maximum or minimum of zeros has the sign of the zero that wins."""

from __future__ import annotations

from functools import partial
from math import inf, prod
from typing import Literal

from ...dtypes import DType, promote_types
from ...interchange import numpy_dtype
from ...protocol import Kernel, kernel_of, planned
from ...template import Template
from ..array_module.base import Array
from ..array_module.linalg.norms import ArrayNorms, smallest_sure
from ..array_module.precision import wide
from .base import JaxBase
from .extremes import extreme, signed_maximum, signed_minimum


class JaxReduction(JaxBase, ArrayNorms):
    """Callbacks that combine the elements along axes, and norms, scaled where that is needed."""

    def fold_kernel(
        self, name: Literal["all", "any", "max", "min", "prod", "sum"], x: Template, axes: tuple[int, ...],
        keepdims: bool, dtype: DType,
    ) -> Kernel:  # fmt: skip
        """A function of `jax.numpy`; on a CPU sums of many floats along several axes are accumulated in float64.

        XLA's CPU compiler adds in pairs along one axis, and one by one along several: the mean of 30,000 equal
        numbers along three axes would be off by 1,200 roundings.
        """
        count = prod(x.shape[axis] for axis in axes)
        if name != "sum" or len(axes) < 2 or not self.adds_one_by_one(count, dtype):
            return super().fold_kernel(name, x, axes, keepdims, dtype)
        total = super().fold_kernel(name, x, axes, keepdims, promote_types(dtype, self.wide))
        narrow = numpy_dtype(dtype)
        return lambda values: total(values).astype(narrow)

    @planned
    def reduce_max(self, out: Template, x: Template, /, *, axes: tuple[int, ...], keepdims: bool) -> Kernel:
        """Largest element; 0.0 is above -0.0."""
        return extreme(self, signed_maximum, x, partial(self.xp.max, axis=axes, keepdims=keepdims))

    @planned
    def reduce_min(self, out: Template, x: Template, /, *, axes: tuple[int, ...], keepdims: bool) -> Kernel:
        """Least element; -0.0 is below 0.0."""
        return extreme(self, signed_minimum, x, partial(self.xp.min, axis=axes, keepdims=keepdims))

    @planned
    def product(self, out: Template, x: Template, /, *, axes: tuple[int, ...], keepdims: bool) -> Kernel:
        """Product, for the narrow floats in float32; for complex numbers in complex128, from the first to the last."""
        if not out.dtype.is_complex:
            return kernel_of(super().product, out, x, axes=axes, keepdims=keepdims)
        xp, lax, wide = self.xp, self.lax, self.xp.result_type(numpy_dtype(out.dtype), self.wide.name)
        order = axes + tuple(axis for axis in range(len(x.shape)) if axis not in axes)
        shape = prod(x.shape[axis] for axis in axes), out.size

        def step(total: Array, row: Array) -> tuple[Array, None]:
            return xp.product_by_parts(total, row), None

        def product(values: Array) -> Array:
            rows = values.transpose(order).reshape(shape).astype(wide)
            if not len(rows):
                return xp.ones(out.shape, wide)
            return lax.scan(step, rows[0], rows[1:])[0].reshape(out.shape)

        return product

    def euclidean(self, out: Template, x: Template, axes: tuple[int, ...], keepdims: bool) -> Kernel:
        """Computes the norm from the sum of squares, unless the sum shows that some square may have been lost."""
        xp, cond = self.xp, self.lax.cond
        careful = self.scaled_euclidean_norm(out, x, axes)
        total = self.fold_kernel("sum", x, axes, keepdims, wide(out.dtype))
        least = smallest_sure(numpy_dtype(wide(out.dtype)), xp)

        def norm(values: Array) -> Array:
            parts = (values.real, values.imag) if x.dtype.is_complex else (values,)
            squares = total(sum(part * part for part in parts))
            sure = ((squares > least) & (squares < inf)).all()
            return cond(sure, lambda values: xp.sqrt(squares), careful, values)

        return norm
