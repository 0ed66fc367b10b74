"""Reductions by NumPy's ufuncs and methods, which are quicker than its functions of the same names."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, prod, sqrt
from operator import methodcaller
from typing import Final, Literal

from ...dtypes import DType, bool_
from ...interchange import numpy_dtype
from ...protocol import Kernel, kernel_of, planned
from ...protocol.workspace import takes
from ...sizes import apply
from ...template import Template
from ..array_module.base import Array
from ..array_module.linalg.norms import ArrayNorms, smallest_sure
from ..array_module.precision import promoting_kernel, wide
from ..array_module.workspace_bytes import brought, float32_copy_bytes, narrow_copy_bytes, nbytes
from .summation import partial_sums, sum_kernel

_UFUNCS: Final = {
    "all": "logical_and", "any": "logical_or", "cumprod": "multiply", "cumsum": "add", "max": "maximum",
    "min": "minimum", "nanmax": "fmax", "nanmin": "fmin", "prod": "multiply", "sum": "add",
}  # fmt: skip


_MOST_COUNTED_ELEMENTS: Final = 1 << 12
"""Up to this number of elements, counting is done before a reduction would have begun."""


def _sum_space(out: Template, x: Template, /, *, axes: tuple[int, ...], keepdims: bool) -> int:
    """The bytes of partial sums."""
    return float32_copy_bytes(out) + nbytes(partial_sums(x, axes), wide(out.dtype))


def _mean_space(out: Template, x: Template, /, *, axis: tuple[int, ...], keepdims: bool) -> int:
    """The bytes of the operand in the dtype to add in, and of partial sums."""
    return brought(out.dtype, x) + nbytes(partial_sums(x, axis), wide(out.dtype))


class NumpyReduction(ArrayNorms):
    """Callbacks that combine the elements along axes, or find one of them, and norms."""

    def fold_kernel(
        self, name: Literal["all", "any", "max", "min", "nanmax", "nanmin", "prod", "sum"], x: Template,
        axes: tuple[int, ...], keepdims: bool, dtype: DType,
    ) -> Kernel:  # fmt: skip
        """Folds by a ufunc, into an array where NumPy would return a number."""
        reduce, element, empty = getattr(self.xp, _UFUNCS[name]).reduce, numpy_dtype(dtype), self.xp.empty
        axis = None if len(axes) == len(x.shape) else axes[0] if len(axes) == 1 else axes
        if axis is None and not keepdims:
            if x.size and x.dtype is bool_ and name in ("all", "any"):
                return _bool_extreme_kernel("argmax" if name == "any" else "argmin")
            kernel: Kernel = lambda values: reduce(values, None, None, empty((), element))  # noqa: E731
        else:
            accumulator = element if name in ("prod", "sum") else None
            kernel = lambda values: reduce(values, axis, accumulator, None, keepdims)  # noqa: E731
        return sum_kernel(self.xp, kernel, x, axes, keepdims, dtype) if name == "sum" else kernel

    def position_kernel(self, name: Literal["argmax", "argmin"], axis: int | None) -> Kernel:
        """Finds by a method of the array."""
        return methodcaller(name, axis)

    def all_true(self, x: Template) -> Callable[[Array], bool]:
        """A function that says whether all elements are true; few elements are counted."""
        count = self.xp.count_nonzero
        if not x.shape:
            return bool
        if x.size <= _MOST_COUNTED_ELEMENTS:
            return lambda values: count(values) == values.size
        return lambda values: bool(values.all())

    @takes(_sum_space)
    @planned
    def sum(self, out: Template, x: Template, /, *, axes: tuple[int, ...], keepdims: bool) -> Kernel:
        """Sum; narrow floats are added in float32, and many terms by partial sums."""
        return kernel_of(super().sum, out, x, axes=axes, keepdims=keepdims)

    @takes(_mean_space)
    @planned
    def mean(self, out: Template, x: Template, /, *, axis: tuple[int, ...], keepdims: bool) -> Kernel:
        """Sum divided by the number of elements."""
        dtype = wide(out.dtype)
        total, size = self.fold_kernel("sum", x, axis, keepdims, dtype), apply(numpy_dtype(dtype).type, _count(x, axis))
        if not dtype.is_complex:
            return promoting_kernel(self, dtype, lambda values: total(values) / size, out, x)

        def mean_of_parts(values: Array) -> Array:
            sums = total(values)
            return self.xp.join(sums.real / size.real, sums.imag / size.real)

        return promoting_kernel(self, dtype, mean_of_parts, out, x)

    @takes(narrow_copy_bytes)
    @planned
    def nanmax(self, out: Template, x: Template, /, *, axis: tuple[int, ...], keepdims: bool) -> Kernel:
        """The largest of the elements that are not NaN."""
        find = self.fold_kernel("nanmax", x, axis, keepdims, wide(x.dtype))
        return self.extreme_kernel("max", out, x, axis, keepdims, find)

    @takes(narrow_copy_bytes)
    @planned
    def nanmin(self, out: Template, x: Template, /, *, axis: tuple[int, ...], keepdims: bool) -> Kernel:
        """The smallest of the elements that are not NaN."""
        find = self.fold_kernel("nanmin", x, axis, keepdims, wide(x.dtype))
        return self.extreme_kernel("min", out, x, axis, keepdims, find)

    def euclidean(self, out: Template, x: Template, axes: tuple[int, ...], keepdims: bool) -> Kernel:
        """Computes the norm from the sum of squares, unless that is so great or small that some square was lost."""
        numpy, dtype = self.xp, numpy_dtype(wide(out.dtype))
        careful, least = self.scaled_euclidean_norm(out, x, axes), smallest_sure(dtype, numpy)
        if len(axes) == len(x.shape) and not keepdims:
            vdot, root, number = numpy.vdot, sqrt, dtype.type

            def norm_of_all(values: Array) -> Array:
                squares = float(vdot(values, values).real)
                return number(root(squares)) if least < squares < inf else careful(values)

            return norm_of_all
        total, count = self.fold_kernel("sum", x, axes, keepdims, wide(out.dtype)), numpy.count_nonzero

        def norm(values: Array) -> Array:
            sizes = numpy.abs(values) if x.dtype.is_complex else values
            squares = total(sizes * sizes)
            if count((squares > least) & (squares < inf)) == out.size:
                return numpy.sqrt(squares)
            return careful(values)

        return norm


def _bool_extreme_kernel(name: Literal["argmax", "argmin"]) -> Kernel:
    """A kernel for the largest or least of bools: a search for it begins in less time than a reduction."""
    find = methodcaller(name)

    def decide(values: Array) -> Array:
        line = values.ravel("K")
        return line[find(line)]

    return decide


def _count(x: Template, axes: tuple[int, ...]) -> int:
    return prod(x.shape[axis] for axis in axes)
