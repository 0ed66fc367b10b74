"""Reductions, accumulations and orderings."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product as index_product
from typing import Any

from ...dtypes import DType, float32
from ...interchange import numpy_dtype
from ...protocol import Payload
from ...protocol.reduction import TieBreak
from ...select import default_backend
from ...template import Template, intern_template
from ...tensor import Tensor
from ..functional import calling
from . import complex_functions, extremes
from .base import NARROW, Array, ArrayBase, kernel


class ArrayReduction(ArrayBase):
    """What combines or orders the elements along axes."""

    @kernel
    def all(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Payload:
        """Whether every element is true."""
        return self.xp.all(x.data != 0, axis=axes, keepdims=keepdims)

    @kernel
    def any(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Payload:
        """Whether some element is true."""
        return self.xp.any(x.data != 0, axis=axes, keepdims=keepdims)

    @kernel
    def sum(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Payload:
        """Sum, of the narrow floats in float32."""
        dtype = numpy_dtype(self._accumulator(out))
        return self.narrowed(self.xp.sum(x.data, axis=axes, dtype=dtype, keepdims=keepdims), out)

    @kernel
    def product(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Payload:
        """Product, of the narrow floats in float32, of complex64 in complex128."""
        if out.dtype.is_complex:
            values = complex_functions.product(self.xp, x.data, axes, keepdims)
            return values.astype(numpy_dtype(out.dtype), copy=False)
        dtype = numpy_dtype(self._accumulator(out))
        return self.narrowed(self.xp.prod(x.data, axis=axes, dtype=dtype, keepdims=keepdims), out)

    @kernel
    def reduce_max(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Payload:
        """Greatest element; 0.0 is above -0.0."""
        return self.narrowed(extremes.greatest(self.xp, self.widened(x), axes, keepdims), out)

    @kernel
    def reduce_min(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Payload:
        """Least element; -0.0 is below 0.0."""
        return self.narrowed(extremes.least(self.xp, self.widened(x), axes, keepdims), out)

    @kernel
    def argmax(self, out: Template, x: Tensor, /, *, axis: int | None, keepdims: bool, tie_break: TieBreak) -> Payload:
        """Index of the greatest element."""
        return self._position(self.xp.argmax, out, x, axis, tie_break)

    @kernel
    def argmin(self, out: Template, x: Tensor, /, *, axis: int | None, keepdims: bool, tie_break: TieBreak) -> Payload:
        """Index of the least element."""
        return self._position(self.xp.argmin, out, x, axis, tie_break)

    def reduce(
        self,
        out: Template,
        x: Tensor,
        initial: Tensor,
        /,
        *,
        axes: tuple[int, ...],
        keepdims: bool,
        function: Callable[[Tensor, Tensor], Tensor],
    ) -> Payload:
        """Folds a Python function over the elements, one call an element."""
        kept = tuple(axis for axis in range(len(x.shape)) if axis not in axes)
        rows = x.data.transpose(kept + axes).reshape((out.size, x.size // max(out.size, 1)))
        template, call = intern_template((), x.dtype, ()), calling(self, function)
        result = self.xp.empty(out.size, numpy_dtype(out.dtype))
        with default_backend(self):
            for position in range(out.size):
                folded = initial
                for element in range(rows.shape[1]):
                    folded = call(folded, Tensor(template, self, rows[position, element, ...]))
                result[position] = folded.data
        return result.reshape(out.shape)

    def map(self, out: Template, x: Tensor, /, *, function: Callable[[Tensor], Tensor]) -> Payload:
        """A Python function of each element, one call an element."""
        template, call = intern_template((), x.dtype, ()), calling(self, function)
        result = self.xp.empty(out.shape, numpy_dtype(out.dtype))
        with default_backend(self):
            for index in index_product(*map(range, x.shape)):
                result[index] = call(Tensor(template, self, x.data[(*index, ...)])).data
        return result

    # Order

    @kernel
    def sort(self, out: Template, x: Tensor, /, *, axis: int, descending: bool) -> Payload:
        """Elements in order: descending is ascending from the other end, both ways round."""
        values = self.widened(x)
        if descending:
            values = self.xp.flip(self.in_order(self.xp.flip(values, axis), axis), axis)
        else:
            values = self.in_order(values, axis)
        return self.narrowed(values, out)

    @kernel
    def argsort(self, out: Template, x: Tensor, /, *, axis: int, descending: bool) -> Payload:
        """Indices that would sort: descending is ascending from the other end, both ways round."""
        values = self.widened(x)
        if descending:
            order = x.shape[axis] - 1 - self.xp.flip(self.order_of(self.xp.flip(values, axis), axis), axis)
        else:
            order = self.order_of(values, axis)
        return order.astype(numpy_dtype(out.dtype), copy=False)

    def in_order(self, values: Array, axis: int) -> Array:
        """Values ascending along an axis, equal ones in the order in which they come."""
        return self.xp.sort(values, axis=axis, kind="stable")

    def order_of(self, values: Array, axis: int) -> Array:
        """The indices that bring values into that order."""
        return self.xp.argsort(values, axis=axis, kind="stable")

    # Overrides of composites

    @kernel
    def cumulative_sum(
        self, out: Template, x: Tensor, /, *, axis: int, dtype: DType | None, include_initial: bool, reverse: bool
    ) -> Payload:
        """Sums of the elements up to each."""
        return self._accumulate(self.xp.cumsum, 0, out, x, axis, reverse)

    @kernel
    def cumulative_product(
        self, out: Template, x: Tensor, /, *, axis: int, dtype: DType | None, include_initial: bool, reverse: bool
    ) -> Payload:
        """Products of the elements up to each."""
        if out.dtype.is_complex:

            def running(values: Array, axis: int, dtype: Any) -> Array:
                return complex_functions.cumulative_product(self.xp, values, axis)

            return self._accumulate(running, 1, out, x, axis, reverse)
        return self._accumulate(self.xp.cumprod, 1, out, x, axis, reverse)

    @kernel
    def softmax(self, out: Template, x: Tensor, /, *, axis: tuple[int, ...]) -> Payload:
        """exp(x) over its sum, from x less its maximum so that nothing overflows."""
        values = self.promoted(x, out)
        if not values.size:
            return self.xp.zeros(out.shape, numpy_dtype(out.dtype))
        power = self.xp.exp(values - self.xp.max(values, axis=axis, keepdims=True))
        return self.narrowed(power / self.xp.sum(power, axis=axis, keepdims=True), out)

    @kernel
    def var(self, out: Template, x: Tensor, /, *, axis: tuple[int, ...], correction: float, keepdims: bool) -> Payload:
        """Mean squared distance from the mean, over the count less `correction`."""
        values = self.promoted(x, out)
        count = 1
        for each in axis:
            count *= x.shape[each]
        deviation = values - self.xp.sum(values, axis=axis, keepdims=True) / values.dtype.type(count)
        squares = deviation * deviation
        divisor = values.dtype.type(count - correction if count > correction else math.nan)
        return self.narrowed(self.xp.sum(squares, axis=axis, keepdims=keepdims) / divisor, out)

    # Helpers

    def _accumulator(self, out: Template) -> DType:
        return float32 if out.dtype in NARROW else out.dtype

    def _position(
        self, find: Callable[..., Array], out: Template, x: Tensor, axis: int | None, tie_break: TieBreak
    ) -> Array:
        values = self.widened(x)
        if axis is None:
            values, axis = values.reshape(-1), 0
        if tie_break == "high":
            found = values.shape[axis] - 1 - find(self.xp.flip(values, axis), axis=axis)
        else:
            found = find(values, axis=axis)
        return self.xp.asarray(found).astype(numpy_dtype(out.dtype)).reshape(out.shape)

    def _accumulate(
        self, accumulate: Callable[..., Array], initial: int, out: Template, x: Tensor, axis: int, reverse: bool
    ) -> Array:
        values = self.cast(x.data, x.dtype, self._accumulator(out))
        if out.shape[axis] > x.shape[axis]:
            before = self.xp.full((*x.shape[:axis], 1, *x.shape[axis + 1 :]), initial, values.dtype)
            values = self.xp.concatenate((values, before) if reverse else (before, values), axis=axis)
        if reverse:
            values = self.xp.flip(values, axis)
        values = accumulate(values, axis=axis, dtype=values.dtype)
        return self.narrowed(self.xp.flip(values, axis) if reverse else values, out)
