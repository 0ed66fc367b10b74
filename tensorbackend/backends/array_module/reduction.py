"""Reductions, and the positions of maxima and minima."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

from ...dtypes import DType, bool_
from ...interchange import numpy_dtype
from ...protocol import Kernel, planned
from ...protocol.reduction import TieBreak
from ...protocol.workspace import takes
from ...sizes import apply
from ...template import Template
from . import complex_functions
from .base import Array, ArrayBase
from .precision import computing_kernel, int64_kernel, promoting_kernel, rounding_kernel, wide
from .workspace_bytes import brought, float32_copy_bytes, narrow_copy_bytes, nbytes


def _position_space(out: Template, x: Template, /, *, axis: int | None, keepdims: bool, tie_break: TieBreak) -> int:
    """The bytes of a copy, which NumPy makes unless elements along the axis are contiguous and read in order."""
    in_order = tie_break == "low" and (axis is None or math.prod(x.shape[axis + 1 :]) == 1)
    copied = float32_copy_bytes(x) + (0 if in_order else nbytes(x.size, wide(x.dtype)))
    return max(copied, out.nbytes) if tie_break == "high" else copied


def _softmax_space(out: Template, x: Template, /, *, axis: tuple[int, ...]) -> int:
    """The bytes of the powers and of their sums."""
    sums = math.prod(size for position, size in enumerate(x.shape) if position not in axis)
    return brought(out.dtype, x) + nbytes(out.size + sums, wide(out.dtype)) + float32_copy_bytes(out)


class ArrayReduction(ArrayBase):
    """Callbacks that combine the elements along axes, or find one of them."""

    # Steps for which a module may have a quicker way

    def fold_kernel(
        self, name: Literal["all", "any", "max", "min", "prod", "sum"], x: Template, axes: tuple[int, ...],
        keepdims: bool, dtype: DType,
    ) -> Kernel:  # fmt: skip
        """A kernel that combines elements by a function of the module; sums and products are accumulated in `dtype`."""
        function = getattr(self.xp, name)
        if name in ("prod", "sum"):
            accumulator = numpy_dtype(dtype)
            return lambda values: function(values, axis=axes, dtype=accumulator, keepdims=keepdims)
        return lambda values: function(values, axis=axes, keepdims=keepdims)

    def position_kernel(self, name: Literal["argmax", "argmin"], axis: int | None) -> Kernel:
        """A kernel that finds the position of the first largest or least element, by a function of the module."""
        function = getattr(self.xp, name)
        return lambda values: function(values, axis=axis)

    def all_true(self, x: Template) -> Callable[[Array], bool]:
        """A function that says whether no element is zero."""
        return lambda values: bool(values.all())

    # Reductions

    @takes(lambda out, x, **options: 0 if x.dtype is bool_ else x.size)
    @planned
    def all(self, out: Template, x: Template, /, *, axes: tuple[int, ...], keepdims: bool) -> Kernel:
        """Whether every element is true."""
        return self._logical(self.fold_kernel("all", x, axes, keepdims, bool_), x)

    @takes(lambda out, x, **options: 0 if x.dtype is bool_ else x.size)
    @planned
    def any(self, out: Template, x: Template, /, *, axes: tuple[int, ...], keepdims: bool) -> Kernel:
        """Whether some element is true."""
        return self._logical(self.fold_kernel("any", x, axes, keepdims, bool_), x)

    @takes(lambda out, x, **options: float32_copy_bytes(out))
    @planned
    def sum(self, out: Template, x: Template, /, *, axes: tuple[int, ...], keepdims: bool) -> Kernel:
        """Sum; narrow floats are added in float32."""
        return rounding_kernel(self.fold_kernel("sum", x, axes, keepdims, wide(out.dtype)), out)

    @takes(lambda out, x, **options: float32_copy_bytes(out))
    @planned
    def product(self, out: Template, x: Template, /, *, axes: tuple[int, ...], keepdims: bool) -> Kernel:
        """Product; narrow floats are multiplied in float32, complex64 in complex128."""
        if out.dtype.is_complex:
            xp, dtype = self.xp, numpy_dtype(out.dtype)
            return lambda values: complex_functions.product(xp, values, axes, keepdims).astype(dtype, copy=False)
        return rounding_kernel(self.fold_kernel("prod", x, axes, keepdims, wide(out.dtype)), out)

    @takes(narrow_copy_bytes)
    @planned
    def reduce_max(self, out: Template, x: Template, /, *, axes: tuple[int, ...], keepdims: bool) -> Kernel:
        """Largest element; 0.0 is above -0.0."""
        return self.extreme_kernel("max", out, x, axes, keepdims)

    @takes(narrow_copy_bytes)
    @planned
    def reduce_min(self, out: Template, x: Template, /, *, axes: tuple[int, ...], keepdims: bool) -> Kernel:
        """Least element; -0.0 is below 0.0."""
        return self.extreme_kernel("min", out, x, axes, keepdims)

    @takes(_position_space)
    @planned
    def argmax(self, out: Template, x: Template, /, *, axis: int | None, keepdims: bool, tie_break: TieBreak) -> Kernel:
        """Index of the largest element."""
        return self._position("argmax", out, x, axis, tie_break)

    @takes(_position_space)
    @planned
    def argmin(self, out: Template, x: Template, /, *, axis: int | None, keepdims: bool, tie_break: TieBreak) -> Kernel:
        """Index of the minimum."""
        return self._position("argmin", out, x, axis, tie_break)

    # Overrides of composites

    @takes(_softmax_space)
    @planned
    def softmax(self, out: Template, x: Template, /, *, axis: tuple[int, ...]) -> Kernel:
        """exp(x) divided by its sum, after the maximum of x is subtracted so that nothing overflows."""
        exp, dtype = self.xp.exp, wide(out.dtype)
        if not x.size:
            zeros, narrow = self.xp.zeros, numpy_dtype(out.dtype)
            return lambda values: zeros(out.shape, narrow)
        largest = self.fold_kernel("max", x, axis, True, dtype)
        total = self.fold_kernel("sum", x, axis, True, dtype)

        def softmax(values: Array) -> Array:
            power = exp(values - largest(values))
            return power / total(power)

        return promoting_kernel(self, out.dtype, softmax, out, x)

    @takes(lambda out, x, **options: brought(out.dtype, x) + nbytes(x.size, wide(out.dtype)))
    @planned
    def var(self, out: Template, x: Template, /, *, axis: tuple[int, ...], correction: float, keepdims: bool) -> Kernel:
        """Sum of squared distances from the mean, divided by the count less `correction`."""
        dtype, number = wide(out.dtype), numpy_dtype(wide(out.dtype)).type
        count = math.prod(x.shape[reduced_axis] for reduced_axis in axis)
        size, divisor = apply(number, count), apply(number, count - correction if count > correction else math.nan)
        total = self.fold_kernel("sum", x, axis, True, dtype)
        total_of_squares = self.fold_kernel("sum", x, axis, keepdims, dtype)

        def variance(values: Array) -> Array:
            deviation = values - total(values) / size
            deviation *= deviation  # in place, where the module has that
            return total_of_squares(deviation) / divisor

        return promoting_kernel(self, out.dtype, variance, out, x)

    # Helpers

    def _logical(self, fold: Kernel, x: Template) -> Kernel:
        return fold if x.dtype is bool_ else lambda values: fold(values != 0)

    def extreme_kernel(
        self, name: Literal["max", "min"], out: Template, x: Template, axes: tuple[int, ...], keepdims: bool,
        find: Kernel | None = None,
    ) -> Kernel:  # fmt: skip
        """The largest or least element; a zero has the sign that wins (0.0 for "max"), if any zero has that sign.

        `find` may give a zero of the wrong sign; by default it is the module's function.
        """
        find = find or self.fold_kernel(name, x, axes, keepdims, wide(x.dtype))
        if not x.dtype.is_floating:
            return find
        where, some_zero_wins = self.xp.where, self.fold_kernel("any", x, axes, keepdims, bool_)
        nowhere_zero = self.all_true(out)
        floats = numpy_dtype(wide(x.dtype))
        zero = floats.type(0.0 if name == "max" else -0.0)
        integers = f"int{8 * floats.itemsize}"
        winner = zero.view(integers)

        def extreme(values: Array) -> Array:
            extremes = find(values)
            if nowhere_zero(extremes):
                return extremes
            wins = some_zero_wins(values.view(integers) == winner)
            return where((extremes == 0) & wins, zero, extremes)

        return computing_kernel(extreme, out, x)

    def _position(
        self, name: Literal["argmax", "argmin"], out: Template, x: Template, axis: int | None, tie_break: TieBreak
    ) -> Kernel:
        shape, along = out.shape, 0 if axis is None else axis
        if tie_break == "low":
            find = self.position_kernel(name, axis)
        else:
            flip, last = self.xp.flip, (x.size if axis is None else x.shape[axis]) - 1
            flat, first = axis is None, self.position_kernel(name, along)
            find = lambda values: last - first(flip(values.reshape(-1) if flat else values, along))  # noqa: E731
        if shape and len(shape) == len(x.shape):  # with the axis kept
            find_without_axis = find
            find = lambda values: find_without_axis(values).reshape(shape)  # noqa: E731 # one of several forms
        return int64_kernel(computing_kernel(find, out, x))

    @takes(
        lambda out, x, *, axis, keepdims: (
            0 if len(axis) == x.ndim and not keepdims else x.size + min(8 * x.size, 1 << 16)
        )
    )
    @planned
    def count_nonzero(self, out: Template, x: Template, /, *, axis: tuple[int, ...], keepdims: bool) -> Kernel:
        """The number of nonzero elements; over all axes by the module's function, which reads each element once."""
        count, add, dtype = self.xp.count_nonzero, self.xp.sum, numpy_dtype(out.dtype)
        if len(axis) == x.ndim and not keepdims:
            return lambda values: count(values)
        return lambda values: add(values.astype(bool), axis=axis, dtype=dtype, keepdims=keepdims)
